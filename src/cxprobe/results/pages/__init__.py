"""The report as pages of HTML: what each model knows of each construction, asked in three ways.

`inputs` reads what the reports that ran have left, `findings` gives each rate with the best baseline beside it and a
verdict by a stated rule, and `pages` fills the templates. What did not run is "not asked", never zero. The pages open
from a disk, without a network.
"""
