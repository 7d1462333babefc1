import io
from itertools import product

import numpy as np
import pandas as pd
import pytest

from conftest import ROOT
from cxprobe.lm.params import Member, ModelSpec, Rule
from cxprobe.scenarios.figures import scenario_figure
from cxprobe.scenarios.report import published_rates, scenario_words, scenarios_beside_published
from cxprobe.scenarios.rules import load_scenarios

TABLE = "model\tscenario\tnone\tS5_short\nBig-One\tS1\t40.0\t55.55\nBig-One\tS2\t60\t\nOther\tS1\t50\t50\n"

SPEC = ModelSpec(name="m", revision=None, sha256=None, dtype="float32")
REAL, OTHER = Member("mine", SPEC, "mine"), Member("big-one", SPEC, "big-one")
TWIN = Member("twin", ModelSpec(**SPEC.model_dump() | {"weights": "random", "seed": 1}), "twin")
BLIND = Member("copier", Rule(kind="copier"), "panel")


def published() -> pd.DataFrame:
    return published_rates(pd.read_csv(io.StringIO(TABLE), sep="\t"))


def rates(**columns) -> pd.DataFrame:
    rows = product(("mine", "big-one"), ("none", "S5", "PMI"), ("S1", "S2", "S3"))
    table = pd.DataFrame(rows, columns=["model", "calibration", "scenario"])
    return table.assign(accuracy=0.5, low=0.45, high=0.55547, n=100, ties=0.0, **columns)


def test_published_percentages_become_rates_and_what_is_absent_is_not_zero():
    table = published().set_index(["model", "scenario", "calibration"])["published"].to_dict()
    big = {("S1", "none"): 0.4, ("S2", "none"): 0.6, ("S1", "S5"): 0.5555}
    expected = {("Big-One", *cell): rate for cell, rate in big.items()}
    assert table == pytest.approx(expected | {("Other", "S1", name): 0.5 for name in ("none", "S5")})


def test_published_rates_stand_below_the_model_that_ran_and_those_outside_its_interval_are_marked():
    table = scenarios_beside_published(rates(), "accuracy", published(), "A paper, Table 1")
    assert table.columns.tolist() == ["model", "scenario", "source", "n", "none", "S5", "PMI"]
    assert set(table.loc[table["source"] == "this run", "n"]) == {str(rates()["n"].iloc[0])}
    assert table[["model", "scenario", "source"]].to_numpy().tolist() == [
        *[["mine", scenario, "this run"] for scenario in ("S1", "S2", "S3")],
        *[["big-one", scenario, "this run"] for scenario in ("S1", "S2", "S3")],
        *[["Big-One", scenario, "A paper, Table 1"] for scenario in ("S1", "S2")],
        ["Other", "S1", "A paper, Table 1"],
    ]
    cells = table.drop(columns=["source", "n"]).set_index(["model", "scenario"])
    assert cells.loc[("big-one", "S1")].tolist() == [
        "50.0 (45.0 to 55.5) *",
        "50.0 (45.0 to 55.5)",  # 55.55 as printed may be 55.545
        "50.0 (45.0 to 55.5)",
    ]
    assert cells.loc[("big-one", "S2"), "none"].endswith("*")
    assert not any(cell.endswith("*") for cell in cells.loc["mine", "none"])
    assert cells.loc[("Big-One", "S2")].tolist() == ["60.00", "", ""]


@pytest.mark.parametrize("file", ["weissweiler2022_table4_accuracy.tsv", "weissweiler2022_table5_decision_flip.tsv"])
def test_every_published_percentage_is_a_whole_number_out_of_3620(file):
    table = published_rates(pd.read_csv(ROOT / "published" / file, sep="\t"))
    assert table["model"].nunique() == 8
    items = (table["published"] * 3620).round()
    np.testing.assert_array_equal((100 * items / 3620).round(2), (100 * table["published"]).round(2))


def test_a_panel_for_each_calibration_with_models_published_rates_and_the_chance_line():
    files = [load_scenarios("comparative-correlative", ROOT / "constructions")]
    figure = scenario_figure(rates(), "accuracy", files, [REAL, OTHER], "toy", published())
    assert [panel.get_title() for panel in figure.axes] == [
        "not calibrated",
        "calibrated by S5: without the construction",
        "calibrated by PMI: the last sentence alone",
    ]
    (legend,) = figure.legends
    labels = [text.get_text() for text in legend.get_texts()]
    assert set(labels) == {"chance", "mine", "big-one", "hollow: published", "Other (published)"}
    first = figure.axes[0]
    below = ["S1: base text", "S2: order of the\nsentences", "S3: the other\nword right"]
    texts = [text.get_text() for text in figure.texts]
    assert [text for text in texts if "n = " in text] == [f"{text}\nn = 100" for text in below] * 3
    assert any(np.ptp(line.get_ydata()) == 0 and line.get_ydata()[0] == 0.5 for line in first.get_lines())
    lines = [collection for bars in first.containers for collection in bars.lines[2]]
    bars = [segment for collection in lines for segment in collection.get_segments()]
    assert len(bars) == 6
    assert {tuple(bar[:, 1].round(4)) for bar in bars} == {(0.45, 0.5555)}


def test_twins_say_what_they_are_and_the_best_blind_model_is_a_tick_in_every_panel():
    files = [load_scenarios("comparative-correlative", ROOT / "constructions")]
    every = pd.concat([rates()[rates()["model"] == "mine"].assign(model=name) for name in ("mine", "twin", "copier")])
    shown = every[every["calibration"].isin(["none", "S5"])]
    best = pd.DataFrame({"scenario": ["S1", "S3"], "model": "copier", "accuracy": [1.0, 0.9]})
    figure = scenario_figure(shown, "accuracy", files, [REAL, TWIN, BLIND], "x", best=best)
    assert [text.get_text() for text in figure.legends[0].get_texts()] == [
        "mine",
        "twin (random weights)",
        "best blind",
        "chance",
    ]
    for axes in figure.axes:
        (ticks,) = [own for own in axes.collections if own.get_label() == "best blind"]
        places = [(segment[:, 0].mean(), segment[0, 1]) for segment in ticks.get_segments()]
        np.testing.assert_allclose(places, [(0, 1.0), (2, 0.9)])


def test_the_words_of_scenarios_say_where_the_right_one_stands_and_how_often_each_is_right():
    rule = "The taller you are, the {} you are. The shorter you are, the {} you are. Ann is [MASK] than Bob."
    there, turned = rule.format("wiser", "duller"), rule.format("duller", "wiser")
    texts = pd.DataFrame({"scenario": ["S1", "S1", "S2", "S5"], "text": [there, turned, turned, "Ann is [MASK]."]})
    texts = texts.assign(first=["wiser", "duller", "wiser", "wiser"], second=["duller", "wiser", "duller", "duller"])
    texts = texts.assign(right=["wiser", "duller", "wiser", ""])
    tables = scenario_words(texts, "toy")
    composition = tables["card_composition"].set_index(["dataset", "label"])["n"]
    assert composition.to_dict() == {("toy, S1", "right word first"): 2, ("toy, S2", "right word last"): 1}
    words = tables["card_words"].set_index(["dataset", "label", "word"])["count"]
    assert words["toy, S1", "right", "wiser"] == words["toy, S1", "wrong", "wiser"] == 1
    assert words["toy, S2", "right", "duller"] == 0
