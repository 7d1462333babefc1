"""Scenarios: short texts with a gap that can be filled correctly only by the meaning of a construction.

`enumerate_items` combines the words of a construction's scenarios.yaml into items, and `fill_texts` makes the texts of
each item's tests and calibrations.
"""

from cxprobe.make.scenarios.items import enumerate_items
from cxprobe.make.scenarios.texts import fill_texts

__all__ = [
    "enumerate_items",
    "fill_texts",
]
