import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

from cxprobe.params import Series
from cxprobe.report import (
    accuracies_of_meaning,
    along_series,
    dots_of_run,
    earlier_checkpoints,
    pair_figures,
    pairs_along_series,
    series_figures,
    series_runs,
)

TRAINING = Series(axis="training_tokens", models={"late": 2e6, "early": 1e3})
SIZES = Series(axis="parameters", models={"small": 1e6, "large": 1e9})


def judged(constructions=(("let-alone", "meaning"), ("npi", "form")), models=("early", "late", "other")):
    """Return judged pairs of several models, half of them with pseudowords."""
    rng = np.random.default_rng(0)
    rows = [
        {"construction": name, "tests": tests, "words": words, "model": model, "cluster_frame": str(frame)}
        for name, tests in constructions
        for model in models
        for words in ("real", "pseudo")
        for frame in range(10)
    ]
    return pd.DataFrame(rows).assign(accuracy=rng.choice([0.0, 0.5, 1.0], size=len(rows)))


def test_accuracies_of_meaning_leave_out_form_and_pseudowords():
    items = judged((("let-alone", "meaning"), ("conative", "meaning"), ("npi", "form")))
    rates = accuracies_of_meaning(items).set_index(["construction", "model"])["accuracy"]
    assert rates.index.get_level_values(0).unique().tolist() == ["all pairs of meaning", "let-alone", "conative"]
    own = items[(items["tests"] == "meaning") & (items["words"] == "real") & (items["model"] == "late")]
    assert rates["all pairs of meaning", "late"] == own["accuracy"].mean()
    assert rates["conative", "late"] == own.loc[own["construction"] == "conative", "accuracy"].mean()


def test_a_series_has_the_accuracies_of_its_models_with_their_quantities():
    items = judged()
    along = along_series(items, {"training": TRAINING, "sizes": SIZES}, "construction")
    assert set(along["series"]) == {"training"}  # no model of the other series ran
    assert along[["model", "quantity", "construction"]].to_numpy().tolist() == [
        ["early", 1e3, "let-alone"],
        ["late", 2e6, "let-alone"],
        ["early", 1e3, "npi"],
        ["late", 2e6, "npi"],
    ]
    own = items[(items["model"] == "late") & (items["construction"] == "npi")]
    assert along["accuracy"].iloc[-1] == own["accuracy"].mean()
    assert along["tie_rate"].iloc[-1] == (own["accuracy"] == 0.5).mean()


def test_one_model_is_no_series():
    assert along_series(judged(models=("late", "other")), {"training": TRAINING}, "construction").empty


def test_pairs_along_a_series_have_real_words_and_all_means_all_of_meaning():
    items = judged()
    along, overall = pairs_along_series(items, {"training": TRAINING})
    assert along["construction"].unique().tolist() == ["let-alone", "npi"]
    assert along["n"].unique().tolist() == [10]
    assert overall["construction"].unique().tolist() == ["all"]
    meaning = along[along["construction"] == "let-alone"]
    assert overall["accuracy"].tolist() == meaning["accuracy"].tolist()


def test_a_run_of_a_series_goes_through_its_models_by_quantity():
    along = along_series(judged(), {"training": TRAINING}, "construction")
    runs = series_runs(along, "construction")
    assert [(run["model"], run["construction"], run["items"]) for run in runs] == [
        ("training", "let-alone", 20),
        ("training", "npi", 20),
    ]
    rates = along.set_index(["construction", "model"])
    for run in runs:
        for name, points in run["series"].items():
            values = rates.loc[run["construction"], name.removeprefix("by_training_tokens.")]
            assert points == [(1000, values["early"]), (2000000, values["late"])]
        assert run["facts"].kind == "series"
        assert run["facts"].weights == "early, late"


def test_only_the_last_checkpoint_of_a_training_stands_beside_other_models():
    assert earlier_checkpoints({"training": TRAINING, "sizes": SIZES}) == {"early"}


def rates(**columns):
    return pd.DataFrame(
        [{"model": model, "construction": "let-alone", "tests": "meaning", "words": "real"} for model in ("a", "b")]
    ).assign(accuracy=0.5, low=0.4, high=0.6, **columns)


def test_the_figures_are_those_of_which_there_are_pairs():
    biases = rates(noun_type="name", compares="variant", bias=0.1, changed=0.2, changed_low=0.1, changed_high=0.3)
    tables = {
        "constructions": rates(),
        "variants": rates(variant="A"),
        "noun_types": rates(noun_type="name"),
        "biases": biases,
    }
    assert list(pair_figures(tables, "sum")) == ["meaning_by_variant", "meaning_by_noun_type", "bias_variant"]
    both = pd.concat([rates(), rates(words="pseudo"), rates(construction="npi", tests="form")], ignore_index=True)
    figures = pair_figures(tables | {"constructions": both, "biases": biases.assign(compares="order")}, "sum")
    assert list(figures) == [
        "meaning_by_variant",
        "meaning_by_noun_type",
        "form",
        "pseudowords",
        "bias_order",
        "changed_with_order",
    ]


def test_a_model_that_is_left_out_is_in_no_figure():
    tables = {name: rates(variant="A", noun_type="name") for name in ("constructions", "variants", "noun_types")}
    biases = rates(noun_type="name", compares="variant", bias=0.1, changed=0.2, changed_low=0.1, changed_high=0.3)
    [legend] = pair_figures(tables | {"biases": biases}, "sum", {"a"})["bias_variant"].legends
    assert [text.get_text() for text in legend.texts] == ["b"]


def test_a_series_has_a_figure_with_a_panel_for_each_construction():
    along = along_series(judged(), {"training": TRAINING}, "construction")
    [(name, figure)] = series_figures(along, "construction", "per token").items()
    assert name == "series_training"
    assert [axes.get_title() for axes in figure.axes] == ["let alone", "npi"]
    assert figure.axes[0].lines[0].get_xdata().tolist() == [1e3, 2e6]


@pytest.mark.parametrize("groups", [["all"], ["all", "variant.A", "noun_type.female-name"]])
def test_the_figure_of_a_run_has_a_row_for_each_group_with_its_interval(groups):
    table = pd.DataFrame({"group": groups, "accuracy": 0.5, "low": 0.4, "high": 0.7, "n": 1200})
    figure = dots_of_run(table, "mini, all")
    assert isinstance(figure, Figure)
    [axes] = figure.axes
    names = ["all (1,200)", "variant: A (1,200)", "noun type: female name (1,200)"]
    assert [label.get_text() for label in axes.get_yticklabels()] == names[: len(groups)]
    assert axes.get_title() == "mini, all"
    [intervals] = axes.collections
    assert [line.vertices[:, 0].tolist() for line in intervals.get_paths()] == [[0.4, 0.7]] * len(groups)
