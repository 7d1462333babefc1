import numpy as np
import pandas as pd
import pytest

from cxprobe.interventions.judge import (
    base_accuracy,
    effect_by_place,
    metrics_of_run,
    selectivity_by,
    series_by_layer,
    sum_up,
    with_effects,
)
from cxprobe.interventions.measure import is_changed, spaced_layers
from cxprobe.interventions.names import INTERVENTIONS


@pytest.fixture(scope="module")
def effects() -> pd.DataFrame:
    rng, rows = np.random.default_rng(0), []
    for item in range(12):
        for layer in (2, 4, 6):
            for region in ("subject", "last"):
                for name in INTERVENTIONS:
                    for labels in ("true", "control"):
                        before, after = rng.normal(1, 1), rng.normal(layer * (region == "last"), 1)
                        place = {"id": f"i{item}", "sentence": "one", "cluster_frame": f"f{item % 4}", "layer": layer}
                        numbers = {"before": before, "after": after, "changed": float(after > 0)}
                        rows.append(place | {"region": region, "intervention": name, "labels": labels} | numbers)
    return with_effects(pd.DataFrame(rows).assign(model="m", construction="c"))


def by_hand(effects: pd.DataFrame, name: str, labels: str) -> float:
    """Mean over items, maximum over regions within a layer, mean over layers."""
    rows = effects[(effects["intervention"] == name) & (effects["labels"] == labels)]
    best = []
    for layer in (2, 4, 6):
        means = [
            np.mean([row.before + row.after for row in rows.itertuples() if (row.layer, row.region) == (layer, region)])
            for region in ("subject", "last")
        ]
        best.append(max(means))
    return float(np.mean(best))


def test_an_effect_is_a_mean_over_items_a_maximum_over_regions_and_a_mean_over_layers(effects):
    table = sum_up(effects).set_index(["intervention", "labels"])
    for name in INTERVENTIONS:
        for labels in ("true", "control"):
            assert table.loc[(name, labels), "effect"] == pytest.approx(by_hand(effects, name, labels))
    assert set(table["n"]) == {12}
    assert set(table["frames"]) == {4}
    assert ((table["low"] < table["effect"]) & (table["effect"] < table["high"])).all()
    assert table["changed"].between(0, 1).all()


def test_selectivity_is_the_difference_from_control_words(effects):
    table = selectivity_by(effects).set_index("intervention")["selectivity"]
    for name in INTERVENTIONS:
        assert table[name] == pytest.approx(by_hand(effects, name, "true") - by_hand(effects, name, "control"))


def test_each_place_has_its_mean_and_a_run_at_most_forty_numbers(effects):
    assert len(effect_by_place(effects)) == 6 * 2 * 3 * 2
    series = series_by_layer(effects)
    assert [step for step, _ in series["by_layer.das"]] == [2, 4, 6]
    metrics = metrics_of_run(base_accuracy(effects), sum_up(effects), selectivity_by(effects))
    assert len(metrics) + len(series) <= 40
    assert {"accuracy", "low", "high", "n", "effect.das", "changed.whole", "selectivity.random"} <= metrics.keys()


def test_an_answer_changes_where_another_one_is_preferred_than_before():
    before, after = np.array([1.0, 1.0, -1.0, -1.0, 0.0]), np.array([2.0, -2.0, 2.0, -2.0, 2.0])
    assert is_changed(before, after).tolist() == [1, 0, 0, 1, 0.5]


@pytest.mark.parametrize(
    ("blocks", "asked", "layers"), [(6, 3, [2, 4, 6]), (6, None, [1, 2, 3, 4, 5, 6]), (2, 5, [1, 2]), (30, 1, [30])]
)
def test_layers_are_evenly_spaced_and_the_last_one_is_among_them(blocks, asked, layers):
    assert spaced_layers(blocks, asked) == layers
