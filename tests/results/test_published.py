import io

import pandas as pd
import pytest

from conftest import ROOT
from cxprobe.results.published import NUMBER, Beside, beside_published, read_published
from cxprobe.results.rates import ALL
from cxprobe.results.schema import KEYS, MEASURES

KEY = {"task": "toy", "construction": "c", "source": "own", "measure": "accuracy"}
TABLE = """\
task	construction	source	measure	scenario	model	value	items	paper
toy	c	own	accuracy	S1	big	0.4000		A, Table 1
toy	c	own	accuracy	S2	big	0.5555		A, Table 1
toy	c	own	accuracy	S2	other	0.60	48	A, Table 1
toy	all	theirs	effect	S1	big	1.50		B
"""


def rate(model: str, scenario: str, measure: str = "accuracy", layer: str = "", **numbers: float) -> dict[str, object]:
    of_it = {"value": 0.5, "low": 0.45, "high": 0.55547, "n": 100} | numbers
    return KEY | {"model": model, "scenario": scenario, "measure": measure, "layer": layer} | of_it


def test_a_published_number_stands_beside_the_rate_with_its_key_and_is_marked_where_it_differs():
    effect = rate("mine", "S1", "effect", value=2.0, low=-1.0, high=5.0, n=4)
    ours = [*(rate(model, name) for model in ("mine", "big") for name in ("S1", "S2", "S3")), effect]
    ours += [rate("big", "S1", layer="3"), rate("big", "S1", "flips")]  # of what nothing is published
    beside = beside_published(pd.DataFrame(ours), read_published(io.StringIO(TABLE)))
    assert beside.drop(columns=["construction", "source", "measure"]).to_numpy().tolist() == [
        ["S1", "big", "", "", "1.50", "", "B"],
        ["S1", "big", "50.0 (45.0 to 55.5) *", 100, "40.00", "", "A, Table 1"],
        ["S1", "mine", "50.0 (45.0 to 55.5)", 100, "", "", ""],
        ["S2", "big", "50.0 (45.0 to 55.5)", 100, "55.55", "", "A, Table 1"],  # as printed it may be 55.545
        ["S2", "mine", "50.0 (45.0 to 55.5)", 100, "", "", ""],
        ["S2", "other", "", "", "60", "48", "A, Table 1"],
        ["S1", "mine", "2.00 (-1.00 to 5.00)", 4, "", "", ""],
    ]


@pytest.mark.parametrize("task", ["scenarios", "pairs", "interventions"])
def test_published_numbers_have_keys_of_their_own_and_values_of_their_measure(task):
    table = read_published(ROOT / "published" / f"{task}.tsv")
    key = table.columns.drop(NUMBER)
    assert {*KEYS, "measure"} < {*key}
    assert not table.duplicated([*key]).any()
    assert set(table["task"]) == {task}
    for measure, value in zip(table["measure"], table["value"].astype(float), strict=True):
        assert MEASURES[measure].least <= value <= MEASURES[measure].greatest


def test_every_published_rate_of_scenarios_is_a_whole_number_out_of_3620():
    table = read_published(ROOT / "published" / "scenarios.tsv")
    assert len(table) == 168
    value = table["value"].astype(float)
    pd.testing.assert_series_equal(((value * 3620).round() / 3620).round(4), value)


BESIDE = pd.DataFrame(
    [
        ("x", "own", "a", "50.0", None),
        ("x", "own", "b", None, "40.0"),
        ("y", "own", "a", "60.0", None),
        ("z", "own", "a", "70.0", "80.0"),
        (ALL, "own", "b", None, "30.0"),
    ],
    columns=["construction", "origin", "model", "this_run", "published"],
)


@pytest.mark.parametrize(
    ("how", "shown"),
    [
        (Beside(), {"x": [0, 1], "y": [], "z": [3], ALL: [4]}),
        (Beside(of_both=True), {"x": [], "y": [], "z": [3], ALL: []}),
        (Beside(is_whole=True), {"x": [0, 1], "y": [], "z": [3], ALL: [0, 1, 2, 3, 4]}),
    ],
)
def test_a_page_has_all_rows_about_what_has_a_published_number_or_those_that_a_task_says(how, shown):
    assert {name: how.rows_about(name, BESIDE).index.tolist() for name in shown} == shown


def test_a_page_does_not_repeat_its_construction_but_where_it_has_several():
    assert [*Beside(left_out="origin").rows_about("x", BESIDE)] == ["model", "this_run", "published"]
    assert [*Beside(is_whole=True).rows_about(ALL, BESIDE)] == [*BESIDE]
