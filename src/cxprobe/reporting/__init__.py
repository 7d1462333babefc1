"""Reporting: finished predictions become tidy tables, and tidy tables become figures."""

from cxprobe.reporting.plots import SOURCE_NAMES, accuracy_per_layer, accuracy_per_value, accuracy_side_by_side
from cxprobe.reporting.tables import accuracy_by, highlights, layer_series

__all__ = [
    "SOURCE_NAMES",
    "accuracy_by",
    "accuracy_per_layer",
    "accuracy_per_value",
    "accuracy_side_by_side",
    "highlights",
    "layer_series",
]
