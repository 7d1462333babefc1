"""Reporting: finished predictions become tidy tables, and tidy tables become figures."""

from cxprobe.reporting.dots import curves, dots
from cxprobe.reporting.plots import SOURCE_NAMES, accuracy_per_layer, accuracy_per_value, accuracy_side_by_side
from cxprobe.reporting.scenarios import beside_published, published_rates, rates_by_scenario, scenario_rates
from cxprobe.reporting.tables import accuracy_by, highlights, layer_series

__all__ = [
    "SOURCE_NAMES",
    "accuracy_by",
    "accuracy_per_layer",
    "accuracy_per_value",
    "accuracy_side_by_side",
    "beside_published",
    "curves",
    "dots",
    "highlights",
    "layer_series",
    "published_rates",
    "rates_by_scenario",
    "scenario_rates",
]
