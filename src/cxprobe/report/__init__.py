"""Reporting: judged items of all models become tables and figures side by side, next to published values.

Each line of work has a module (`recognition`, `scenarios`, `pairs`, `prompts`), which takes tables of rates as judging
makes them. `dots`, `curves` and `dots_of_run` draw any rates with their intervals; `plots` draws those of probes by
layer, and `series` handles models that differ in one quantity. Colour-blind readers can tell all colours apart (Okabe &
Ito 2008; viridis).
"""

from cxprobe.report.dots import curves, dots, dots_of_run
from cxprobe.report.pairs import accuracies_of_meaning, pair_figures, pairs_along_series, pairs_beside_published
from cxprobe.report.plots import accuracy_per_layer, accuracy_per_value, accuracy_side_by_side
from cxprobe.report.prompts import (
    PublishedResults,
    accuracy_beside_published,
    load_published_prompts,
    prompt_accuracy_figure,
    prompt_figures,
    prompts_beside_published,
    published_inference,
    published_reasoning,
    published_spread,
    settings_beside_published,
    settings_figures,
    with_published_names,
)
from cxprobe.report.recognition import figures_of_grid, figures_of_model
from cxprobe.report.scenarios import published_rates, rates_by_scenario, scenario_figure, scenarios_beside_published
from cxprobe.report.series import along_series, earlier_checkpoints, series_figures, series_runs

__all__ = [
    "PublishedResults",
    "accuracies_of_meaning",
    "accuracy_beside_published",
    "accuracy_per_layer",
    "accuracy_per_value",
    "accuracy_side_by_side",
    "along_series",
    "curves",
    "dots",
    "dots_of_run",
    "earlier_checkpoints",
    "figures_of_grid",
    "figures_of_model",
    "load_published_prompts",
    "pair_figures",
    "pairs_along_series",
    "pairs_beside_published",
    "prompt_accuracy_figure",
    "prompt_figures",
    "prompts_beside_published",
    "published_inference",
    "published_rates",
    "published_reasoning",
    "published_spread",
    "rates_by_scenario",
    "scenario_figure",
    "scenarios_beside_published",
    "series_figures",
    "series_runs",
    "settings_beside_published",
    "settings_figures",
    "with_published_names",
]
