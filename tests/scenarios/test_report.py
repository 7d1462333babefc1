import io
from itertools import product
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from conftest import ROOT
from cxprobe.lines import LINES
from cxprobe.scenarios.report import published_rates, scenario_figure, scenario_words, scenarios_beside_published
from cxprobe.scenarios.rules import load_scenarios

TABLE = "model\tscenario\tnone\tS5_short\nBig-One\tS1\t40.0\t55.55\nBig-One\tS2\t60\t\nOther\tS1\t50\t50\n"


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


LABELS = {"mine": "mine", "big-one": "big-one"}
NONE_BLIND = pd.DataFrame(columns=["scenario", "accuracy"])


def marks(axes) -> dict[str, int]:
    """Return how many marks of each label a panel has."""
    lines = [line for line in axes.get_lines() if not line.get_label().startswith("_")]
    return {line.get_label(): len(line.get_xdata()) for line in lines}


def test_a_panel_for_each_calibration_with_models_published_rates_and_what_each_scenario_changes():
    scenarios = load_scenarios("comparative-correlative", ROOT / "constructions")
    figure = scenario_figure(rates(), "accuracy", scenarios, LABELS, "toy", published(), NONE_BLIND)
    assert [panel.get_title().replace("\n", " ") for panel in figure.axes] == [
        "not calibrated",
        "calibrated by S5: without the construction",
        "calibrated by PMI: the last sentence alone",
    ]
    assert [label.get_text() for label in figure.axes[0].get_yticklabels()] == [
        "S1\nbase text",
        "S2\norder of the sentences",
        "S3\nthe other word right",
    ]
    theirs = {"Big-One (published)": 2, "Other (published)": 1}
    assert [marks(axes) for axes in figure.axes] == [
        {"mine": 3, "big-one": 3, **theirs, "chance": 2},
        {"mine": 3, "big-one": 3, "Big-One (published)": 1, "Other (published)": 1, "chance": 2},
        {"mine": 3, "big-one": 3, "chance": 2},
    ]


def test_the_best_blind_model_of_a_scenario_is_a_tick_in_every_panel():
    scenarios = load_scenarios("comparative-correlative", ROOT / "constructions")
    best = pd.DataFrame({"scenario": ["S1", "S3"], "model": "copier", "accuracy": [1.0, 0.9]})
    figure = scenario_figure(rates(), "accuracy", scenarios, {"mine": "mine"}, "x", published_rates(None), best)
    for axes in figure.axes:
        (ticks,) = [own for own in axes.collections if own.get_label() == "best blind"]
        places = [(segment[0, 0], segment[:, 1].mean()) for segment in ticks.get_segments()]
        np.testing.assert_allclose(places, [(1.0, 0), (0.9, 2)])


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


def test_numbers_of_deberta_beside_published_ones_say_that_its_decoder_is_left_out():
    def titles(*models):
        table = scenarios_beside_published(rates().replace("mine", models[0]), "accuracy", published(), "A paper")
        of_run = {
            "toy": SimpleNamespace(
                items={"scenarios": load_scenarios("comparative-correlative", ROOT / "constructions")}
            )
        }
        inputs = SimpleNamespace(constructions=of_run, table=lambda _: table)
        shown = LINES["scenarios"].published("toy", inputs, SimpleNamespace(mocks=(), earlier=()))
        return [one.title for one in shown]

    assert all("without its enhanced mask decoder" in title for title in titles("deberta-base"))
    assert not any("decoder" in title for title in titles("roberta-base"))
