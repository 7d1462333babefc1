"""What the reports of all lines share, and the site.

`dots` draws rates with their intervals, as dots over categories or curves over a quantity; `cards` says what data sets
consist of and what baselines get on them; `comparisons` holds models against each other on the same items; `tables`
writes numbers for reading. Colour-baseline readers can tell all colours apart (Okabe & Ito 2008).
"""
