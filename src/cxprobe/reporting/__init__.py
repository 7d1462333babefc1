"""Reporting: finished predictions become tidy tables, and tidy tables become figures."""

from cxprobe.reporting.dots import curves, dots
from cxprobe.reporting.plots import accuracy_per_layer, accuracy_per_value
from cxprobe.reporting.tables import accuracy_by, highlights, layer_series

__all__ = ["accuracy_by", "accuracy_per_layer", "accuracy_per_value", "curves", "dots", "highlights", "layer_series"]
