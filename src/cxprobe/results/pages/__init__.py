"""The report as pages of HTML: the rates of each model on each construction, with their verdicts.

What did not run is "not asked", never zero. The pages open
from a disk, without a network.
"""
