import numpy as np
import pandas as pd
import pytest

from conftest import PAIRS, PEOPLE
from cxprobe.errors import DataError
from cxprobe.pairs import (
    accuracy_by,
    bias_by,
    credit_margins,
    load_pairs,
    load_people,
    pair_table,
    paired_focus_shifts,
    render_pairs,
)
from cxprobe.stats import estimate_rate


def scored(margin, items=40, seed=0):
    """Return a table of scored pairs, two noun types x two variants x two orders, whose margins ``margin`` gives."""
    rng = np.random.default_rng(seed)
    rows = [
        {
            "id": f"{kind}-{item}-{variant}-{order}",
            "item": f"{kind}-{item}",
            "noun_type": kind,
            "variant": variant,
            "order": order,
            "cluster_frame": f"f{item % 8}",
            "margin": margin(rng, kind, variant, order),
        }
        for kind in ("female", "male")
        for item in range(items)
        for variant in ("A", "B")
        for order in ("original", "switched")
    ]
    return pd.DataFrame(rows)


def test_a_tie_is_half_and_a_margin_that_is_not_finite_is_an_error():
    assert credit_margins(np.array([2.0, -0.1, 0.0, 1e-300])).tolist() == [1, 0, 0.5, 1]
    with pytest.raises(DataError, match="the margin at row 1 is nan"):
        credit_margins(np.array([1.0, np.nan]))


def test_a_constant_model_is_half_right_and_all_ties_without_bias():
    table = scored(lambda *_: 0.0)
    accuracy = accuracy_by(table, ["noun_type", "variant", "order"])
    assert accuracy["accuracy"].tolist() == [0.5] * 8
    assert accuracy["tie_rate"].tolist() == [1.0] * 8
    assert accuracy["n"].tolist() == [40] * 8
    for column in ("order", "variant"):
        bias = bias_by(table, column, ["noun_type"])
        assert bias["bias"].tolist() == [0, 0]
        assert bias["low"].tolist() == [0, 0]


def test_a_column_may_name_the_groups_twice_and_rows_may_come_in_any_order():
    table = scored(lambda rng, *_: rng.normal())
    shuffled = table.sample(frac=1, random_state=0)
    once = accuracy_by(table, ["noun_type", "order"]).set_index(["noun_type", "order"])
    twice = accuracy_by(shuffled, ["noun_type", "order", "order"])
    assert twice.columns.tolist()[:3] == ["noun_type", "order", "order"]
    rates = twice.set_axis(["noun_type", "order", "again", *once.columns], axis=1).set_index(["noun_type", "order"])
    pd.testing.assert_frame_equal(rates.loc[once.index, list(once.columns)], once)


def test_accuracy_is_that_of_each_group_with_its_clustered_interval():
    table = scored(lambda rng, *_: rng.choice([-1.0, 0.0, 1.0]))
    result = accuracy_by(table, ["noun_type", "order"]).set_index(["noun_type", "order"])
    for key, group in table.groupby(["noun_type", "order"]):
        margins = group["margin"].to_numpy()
        expected = estimate_rate(
            np.where(margins == 0, 0.5, (margins > 0).astype(float)), group[["cluster_frame"]].to_numpy(object)
        )
        row = result.loc[key]
        assert (row["accuracy"], row["low"], row["high"]) == (expected.value, expected.low, expected.high)
        assert row["ties"] == (margins == 0).sum()


def test_a_model_that_always_names_the_first_person_is_half_right_and_wholly_biased():
    table = scored(lambda _, kind, variant, order: 1.0 if order == "original" else -1.0)
    assert accuracy_by(table, ["noun_type"])["accuracy"].tolist() == [0.5, 0.5]
    order = bias_by(table, "order", ["noun_type"])
    assert order["bias"].tolist() == [1, 1]
    assert (order["low"] > 0.7).all()
    assert order[["first", "second"]].to_numpy().tolist() == [["original", "switched"]] * 2
    assert order["n"].tolist() == [80, 80]  # each of 40 items in both variants
    assert order["changed"].tolist() == [1, 1]
    assert bias_by(table, "variant", ["noun_type"])["bias"].tolist() == [0, 0]


def test_a_liking_for_one_name_in_either_seat_is_no_bias_of_means_and_changes_every_decision(tmp_path):
    folder = tmp_path / "x"
    folder.mkdir()
    (folder / "pairs.yaml").write_text(PAIRS)
    (tmp_path / "people.yaml").write_text(PEOPLE)
    people = load_people(tmp_path / "people.yaml")
    pairs = render_pairs("x", load_pairs("x", people, tmp_path), people, 9, seed=0).pairs
    table = pair_table([pair for pair in pairs if pair.groups["variant"] == "A"])
    named = table[["good", "bad"]].map(lambda text: text.split()[-1])  # the person that each member names
    liking = np.where(named["good"] < named["bad"], 1.0, -1.0)  # for whoever comes first in the alphabet
    bias = bias_by(table.assign(margin=liking), "order", ["construction"])
    assert bias["changed"].tolist() == [1]
    assert bias["bias"].item() < 0.5
    assert accuracy_by(table.assign(margin=liking), ["construction"])["accuracy"].tolist() == [0.5]


def test_a_bias_is_a_size_whichever_way_it_goes():
    def only(variant):
        return lambda _, kind, which, order: 1.0 if which == variant else -1.0

    first, second = (bias_by(scored(only(variant)), "variant", ["noun_type"]) for variant in "AB")
    pd.testing.assert_frame_equal(first, second)
    assert first["bias"].tolist() == [1, 1]


def test_a_bias_needs_both_ways_of_every_item():
    table = scored(lambda *_: 1.0)
    with pytest.raises(DataError, match=r"female: a bias compares two values of order, and there are 1"):
        bias_by(table[table["order"] == "original"], "order", ["noun_type"])
    with pytest.raises(DataError, match="male: some items have not both original and switched"):
        bias_by(table.iloc[:-1], "order", ["noun_type"])


def focus(margins):
    rows = [
        {"item": item, "row": row, "cluster_verb": item, "margin": margin}
        for item, pair in margins.items()
        for row, margin in zip(("construction", "control"), pair, strict=True)
    ]
    return pd.DataFrame(rows)


def test_paired_focus_asks_whether_the_construction_shifts_the_odds_the_expected_way():
    shifts = paired_focus_shifts(focus({"up": (0.2, -1.0), "down": (0.5, 1.0), "same": (-3.0, -3.0)}))
    assert shifts.set_index("item")["margin"].to_dict() == {"up": 1.2, "down": -0.5, "same": 0}
    accuracy = accuracy_by(shifts, ["row"])
    assert accuracy[["row", "accuracy", "n", "ties"]].to_numpy().tolist() == [["construction", 0.5, 3, 1]]


def test_paired_focus_needs_the_control_of_every_row():
    with pytest.raises(DataError, match="one row of the construction and one of the control"):
        paired_focus_shifts(focus({"one": (1.0, 0.0), "two": (1.0, 0.0)}).iloc[:-1])
