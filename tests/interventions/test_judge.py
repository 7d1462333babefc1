from itertools import pairwise

import numpy as np
import pandas as pd
import pytest

from cxprobe.interventions.judge import (
    base_accuracy,
    beside_controls,
    differences,
    sum_up,
    transfer,
    uses,
    with_effects,
)
from cxprobe.interventions.measure import is_changed, spaced_layers
from cxprobe.interventions.names import DIRECTIONS, INTERVENTIONS, NEUTRAL, ORDER, TRANSFERRED, tried_on_itself

LAYERS, ITEMS = (2, 4, 6), 12
REGIONS = {"c": ("subject", "verb", "last"), "d": ("giver", "last"), NEUTRAL: ("middle", "last")}


@pytest.fixture(scope="module")
def effects() -> pd.DataFrame:
    """Numbers that are drawn; of each intervention c is asked after c was learnt, d and neutral sentences too."""
    rng, rows = np.random.default_rng(0), []
    for construction, regions in REGIONS.items():
        for item in range(ITEMS):
            readable = rng.integers(3) / 2
            for layer in LAYERS:
                for region in regions:
                    for name in TRANSFERRED if construction == "d" else INTERVENTIONS:
                        for labels in ("true", "control") if construction == "c" else ("true",):
                            before, after = rng.normal(1, 1), rng.normal(layer * (region == "last"), 1)
                            place = {"construction": construction, "learnt": "c", "id": f"{construction}{item}"}
                            place |= {"sentence": "one", "cluster_frame": f"{construction}{item % 4}", "layer": layer}
                            place |= {"region": region, "intervention": name, "labels": labels, "readable": readable}
                            rows.append(place | {"before": before, "after": after, "changed": float(after > 0)})
    return with_effects(pd.DataFrame(rows).assign(model="m"))


def by_hand(effects: pd.DataFrame, name: str, labels: str, construction: str = "c", regions=None) -> float:
    """Mean over items, maximum over regions within a layer, mean over layers."""
    rows = effects[(effects["intervention"] == name) & (effects["labels"] == labels)]
    rows = rows[rows["construction"] == construction]
    best = []
    for layer in LAYERS:
        means = [
            np.mean([row.before + row.after for row in rows.itertuples() if (row.layer, row.region) == (layer, region)])
            for region in regions or REGIONS[construction]
        ]
        best.append(max(means))
    return float(np.mean(best))


def test_an_effect_is_a_mean_over_items_a_maximum_over_regions_and_a_mean_over_layers(effects):
    table = sum_up(effects).set_index(["intervention", "labels"])
    for name in INTERVENTIONS:
        for labels in ("true", "control"):
            assert table.loc[(name, labels), "effect"] == pytest.approx(by_hand(effects, name, labels))
    assert (set(table["n"]), set(table["frames"])) == ({ITEMS}, {4})
    assert ((table["low"] < table["effect"]) & (table["effect"] < table["high"])).all()


def test_selectivity_is_the_difference_from_control_words_and_broken_is_the_loss_of_neutral_words(effects):
    table = sum_up(effects)[lambda rows: rows["labels"] == "true"].set_index("intervention")
    for name in INTERVENTIONS:
        expected = by_hand(effects, name, "true") - by_hand(effects, name, "control")
        assert table.loc[name, "selectivity"] == pytest.approx(expected)
        assert table.loc[name, "broken"] == pytest.approx(by_hand(effects, name, "true", NEUTRAL))
        assert table.loc[name, "broken_low"] < table.loc[name, "broken"] < table.loc[name, "broken_high"]


def test_a_transfer_compares_the_first_and_the_last_region_of_every_construction(effects):
    table = transfer(effects).set_index(["learnt", "construction", "intervention"])["effect"]
    assert len(table) == 2 * len(TRANSFERRED)
    for name in TRANSFERRED:
        assert table["c", "c", name] == pytest.approx(by_hand(effects, name, "true", "c", ("subject", "last")))
        assert table["c", "d", name] == pytest.approx(by_hand(effects, name, "true", "d"))


def test_differences_are_paired(effects):
    table = differences(effects).set_index(["first", "second", "labels"])
    for first, second in pairwise(ORDER):
        by_labels = {
            labels: by_hand(effects, first, labels) - by_hand(effects, second, labels) for labels in ("true", "control")
        }
        for labels, expected in by_labels.items():
            assert table.loc[(first, second, labels), "difference"] == pytest.approx(expected)
        left = table.loc[(first, second, "true less control"), "difference"]
        assert left == pytest.approx(by_labels["true"] - by_labels["control"])


def test_what_is_used_is_said_of_the_place_and_direction_with_the_largest_selective_effect(effects):
    [row] = uses(effects).to_dict("records")
    mine = tried_on_itself(effects)
    directions = mine[mine["intervention"].isin(DIRECTIONS)]
    means = directions.groupby(["intervention", "layer", "region", "labels"])["effect"].mean().unstack()
    best = means["true"] - means["control"]
    place = best.idxmax()
    assert (row["intervention"], row["layer"], row["region"]) == place
    assert row["used"] == pytest.approx(best[place])
    here = mine[(mine["layer"] == place[1]) & (mine["region"] == place[2]) & (mine["labels"] == "true")]
    assert row["readable"] == pytest.approx(here[here["intervention"] == place[0]]["readable"].mean())
    assert row["changed"] == pytest.approx(here[here["intervention"] == place[0]]["changed"].mean())
    assert row["random_changed"] == pytest.approx(here[here["intervention"] == "random"]["changed"].mean())
    assert row["whole_changed"] == pytest.approx(here[here["intervention"] == "whole"]["changed"].mean())
    assert row["expected"] == base_accuracy(effects).set_index("construction").loc["c", "accuracy"]
    assert (row["n"], row["frames"]) == (ITEMS, 4)


def test_what_is_used_stands_beside_what_is_expected_where_plain_words_say_it(effects):
    accuracy, used = base_accuracy(effects), uses(effects)
    [row] = beside_controls(used.assign(control="d"), accuracy).to_dict("records")
    of_d = accuracy.set_index("construction").loc["d"]
    names = ("control_expected", "control_expected_low", "control_expected_high", "control_n")
    assert [row[name] for name in names] == list(of_d[["accuracy", "low", "high", "n"]])
    assert row["used"] == used["used"].item()
    assert beside_controls(used.assign(control=""), accuracy)["control_expected"].isna().all()


def test_an_answer_changes_where_another_one_is_preferred_than_before():
    before, after = np.array([1.0, 1.0, -1.0, -1.0, 0.0]), np.array([2.0, -2.0, 2.0, -2.0, 2.0])
    assert is_changed(before, after).tolist() == [1, 0, 0, 1, 0.5]


def test_layers_are_evenly_spaced_and_the_last_one_is_among_them():
    assert [spaced_layers(6, 3), spaced_layers(2, 5), spaced_layers(30, 1)] == [[2, 4, 6], [1, 2], [30]]
