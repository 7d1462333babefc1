import io
from itertools import product

import numpy as np
import pandas as pd
import pytest

from conftest import ROOT
from cxprobe.tasks.scenarios.evaluate import published_rates, scenarios_beside_published

TABLE = "model\tscenario\tnone\tS5_short\nBig-One\tS1\t40.0\t55.55\nBig-One\tS2\t60\t\nOther\tS1\t50\t50\n"


def published() -> pd.DataFrame:
    return published_rates(pd.read_csv(io.StringIO(TABLE), sep="\t"))


def rates(**columns) -> pd.DataFrame:
    rows = product(("mine", "big-one"), ("none", "S5", "PMI"), ("S1", "S2", "S3"))
    table = pd.DataFrame(rows, columns=["model", "calibration", "scenario"])
    return table.assign(value=0.5, low=0.45, high=0.55547, n=100, **columns)


def test_published_percentages_become_rates_and_what_is_absent_is_not_zero():
    table = published().set_index(["model", "scenario", "calibration"])["published"].to_dict()
    big = {("S1", "none"): 0.4, ("S2", "none"): 0.6, ("S1", "S5"): 0.5555}
    expected = {("Big-One", *cell): rate for cell, rate in big.items()}
    assert table == pytest.approx(expected | {("Other", "S1", name): 0.5 for name in ("none", "S5")})


def test_published_rates_stand_below_the_model_that_ran_and_those_outside_its_interval_are_marked():
    table = scenarios_beside_published(rates(), published(), "A paper, Table 1")
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
