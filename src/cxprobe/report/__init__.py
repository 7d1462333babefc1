"""Reporting: judged items of all models become tables and figures side by side, next to published values.

Each line of work has a module (`recognition`, `scenarios`, `pairs`, `prompts`), which takes tables of rates as judging
makes them. `dots`, `curves` and `dots_of_run` draw any rates with their intervals; `plots` draws those of probes by
layer, and `series` handles models that differ in one quantity. `cards` says what data sets consist of and what blind
models get on them. Colour-blind readers can tell all colours apart (Okabe & Ito 2008; viridis).
"""

from cxprobe.report.cards import card_figure, card_table, composition_table, word_table
from cxprobe.report.dots import curves, dots, dots_of_run
from cxprobe.report.pairs import (
    accuracies_of_meaning,
    benchmark_cards,
    benchmark_figures,
    biases_along_series,
    comparable_pairs,
    pair_cards,
    pair_figures,
    pairs_along_series,
    pairs_beside_published,
    pairs_in_groups,
)
from cxprobe.report.plots import accuracy_per_layer, accuracy_per_value, accuracy_side_by_side
from cxprobe.report.prompts import (
    PublishedResults,
    accuracy_beside_published,
    load_published_prompts,
    prompt_accuracy_figure,
    prompt_cards,
    prompt_figures,
    prompts_beside_published,
    published_inference,
    published_reasoning,
    published_spread,
    read_published_prompts,
    settings_beside_published,
    settings_figures,
    with_published_names,
)
from cxprobe.report.recognition import figures_of_grid, figures_of_model, judged_items, recognition_cards
from cxprobe.report.scenarios import (
    published_rates,
    rates_by_scenario,
    read_published_rates,
    scenario_cards,
    scenario_figure,
    scenario_words,
    scenarios_beside_published,
)
from cxprobe.report.series import (
    OWN,
    along_series,
    earlier_checkpoints,
    rates_by_source,
    series_figures,
    series_runs,
    side_by_side,
    with_series,
)
from cxprobe.report.tables import with_blanks
from cxprobe.report.ways import ways_figure

__all__ = [
    "OWN",
    "PublishedResults",
    "accuracies_of_meaning",
    "accuracy_beside_published",
    "accuracy_per_layer",
    "accuracy_per_value",
    "accuracy_side_by_side",
    "along_series",
    "benchmark_cards",
    "benchmark_figures",
    "biases_along_series",
    "card_figure",
    "card_table",
    "comparable_pairs",
    "composition_table",
    "curves",
    "dots",
    "dots_of_run",
    "earlier_checkpoints",
    "figures_of_grid",
    "figures_of_model",
    "judged_items",
    "load_published_prompts",
    "pair_cards",
    "pair_figures",
    "pairs_along_series",
    "pairs_beside_published",
    "pairs_in_groups",
    "prompt_accuracy_figure",
    "prompt_cards",
    "prompt_figures",
    "prompts_beside_published",
    "published_inference",
    "published_rates",
    "published_reasoning",
    "published_spread",
    "rates_by_scenario",
    "rates_by_source",
    "read_published_prompts",
    "read_published_rates",
    "recognition_cards",
    "scenario_cards",
    "scenario_figure",
    "scenario_words",
    "scenarios_beside_published",
    "series_figures",
    "series_runs",
    "settings_beside_published",
    "settings_figures",
    "side_by_side",
    "ways_figure",
    "with_blanks",
    "with_published_names",
    "with_series",
    "word_table",
]
