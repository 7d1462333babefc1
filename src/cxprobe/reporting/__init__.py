"""Reporting: finished predictions become tidy tables, and tidy tables become figures."""

from cxprobe.reporting.plots import accuracy_per_layer, accuracy_per_value
from cxprobe.reporting.scenarios import beside_published, published_rates, rates_by_scenario, scenario_rates
from cxprobe.reporting.tables import accuracy_by, highlights, layer_series

__all__ = [
    "accuracy_by",
    "accuracy_per_layer",
    "accuracy_per_value",
    "beside_published",
    "highlights",
    "layer_series",
    "published_rates",
    "rates_by_scenario",
    "scenario_rates",
]
