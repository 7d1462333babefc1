"""Reporting: finished predictions become tidy tables, and tidy tables become figures."""

from cxprobe.reporting.dots import curves, dots
from cxprobe.reporting.pairs import ALL, pairs_beside_published
from cxprobe.reporting.plots import SOURCE_NAMES, accuracy_per_layer, accuracy_per_value, accuracy_side_by_side
from cxprobe.reporting.prompts import (
    accuracy_beside_published,
    load_published_prompts,
    prompted_beside_published,
    prompted_figures,
    published_inference,
    published_reasoning,
    published_spread,
    with_published_names,
)
from cxprobe.reporting.scenarios import beside_published, published_rates, rates_by_scenario, scenario_rates
from cxprobe.reporting.tables import accuracy_by, highlights, layer_series

__all__ = [
    "ALL",
    "SOURCE_NAMES",
    "accuracy_beside_published",
    "accuracy_by",
    "accuracy_per_layer",
    "accuracy_per_value",
    "accuracy_side_by_side",
    "beside_published",
    "curves",
    "dots",
    "highlights",
    "layer_series",
    "load_published_prompts",
    "pairs_beside_published",
    "prompted_beside_published",
    "prompted_figures",
    "published_inference",
    "published_rates",
    "published_reasoning",
    "published_spread",
    "rates_by_scenario",
    "scenario_rates",
    "with_published_names",
]
