from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from cxprobe.results.rates import columns_of, rates_of
from cxprobe.results.schema import OF_CONTROL, OF_DIFFERENCE
from cxprobe.results.task import findings_of
from cxprobe.stats import Estimate
from cxprobe.tasks.interventions.evaluate import ELSEWHERE, FACETS, intervention_responses, with_verdicts_on_use
from cxprobe.tasks.interventions.params import DIRECTIONS, INTERVENTIONS, NEUTRAL, TRANSFERRED
from cxprobe.tasks.interventions.task import InterventionsTask

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
    return pd.DataFrame(rows)


@pytest.fixture(scope="module")
def rates(effects) -> pd.DataFrame:
    responses = intervention_responses(effects, {"c": "d"})
    return rates_of(responses.assign(task="interventions", model="m"), FACETS)


def rate(rates: pd.DataFrame, measure: str, construction: str = "c", **facets: str) -> dict[str, float]:
    """Return the one rate of these names that nothing else divides."""
    wanted = {"measure": measure, "construction": construction, **dict.fromkeys(columns_of(FACETS), ""), **facets}
    [row] = rates[(rates[[*wanted]] == [*wanted.values()]).all(axis=1)].to_dict("records")
    return row


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


def test_an_effect_is_a_mean_over_items_a_maximum_over_regions_and_a_mean_over_layers(effects, rates):
    for name in INTERVENTIONS:
        for labels, facets in (("true", {}), ("control", {"labels": "control"})):
            row = rate(rates, "effect", intervention=name, **facets)
            assert row["value"] == pytest.approx(by_hand(effects, name, labels))
            assert row["low"] < row["value"] < row["high"]
            changed = rate(rates, "changed", intervention=name, **facets)
            assert (row["n"], changed["n"]) == (4, ITEMS)  # frames, and items


def test_selectivity_is_the_difference_from_control_words_and_broken_is_the_loss_of_neutral_words(effects, rates):
    for name in INTERVENTIONS:
        expected = by_hand(effects, name, "true") - by_hand(effects, name, "control")
        assert rate(rates, "selectivity", intervention=name)["value"] == pytest.approx(expected)
        broken = rate(rates, "broken", intervention=name)
        assert broken["value"] == pytest.approx(by_hand(effects, name, "true", NEUTRAL))
        assert broken["low"] < broken["value"] < broken["high"]


def test_a_transfer_compares_the_first_and_the_last_region_of_every_construction(effects, rates):
    assert ELSEWHERE.among(rates).sum() == 2 * len(TRANSFERRED)
    for name in TRANSFERRED:
        for asked, regions in (("c", ("subject", "last")), ("d", None)):
            moved = rate(rates, "effect", asked, learnt="c", intervention=name)
            assert moved["value"] == pytest.approx(by_hand(effects, name, "true", asked, regions))


def test_effects_by_layer_are_those_at_the_best_region(effects, rates):
    of_c = effects[(effects["construction"] == "c") & (effects["labels"] == "true")]
    by_region = (of_c["before"] + of_c["after"]).groupby([of_c["intervention"], of_c["layer"], of_c["region"]]).mean()
    for (name, layer, region), mean in by_region.items():
        of_layer = {"intervention": name, "layer": str(layer)}
        assert rate(rates, "effect", **of_layer, region=region)["value"] == pytest.approx(mean)
        best = rate(rates, "effect", **of_layer)["value"]
        assert best == pytest.approx(by_region[name, layer].max())


def test_what_is_used_is_said_of_the_place_and_direction_with_the_largest_selective_effect(effects, rates):
    own = effects[effects["construction"] == "c"].assign(effect=lambda rows: rows["before"] + rows["after"])
    directions = own[own["intervention"].isin(DIRECTIONS)]
    means = directions.groupby(["intervention", "region", "layer", "labels"])["effect"].mean().unstack()
    selective = means["true"] - means["control"]
    best, region, layer = selective.idxmax()
    here = own[(own["layer"] == layer) & (own["region"] == region) & (own["labels"] == "true")]
    place = {"region": region, "layer": str(layer)}
    for name in (best, "random", "whole"):
        row = rate(rates, "changed", intervention=name, **place)
        assert row["value"] == pytest.approx(here[here["intervention"] == name]["changed"].mean())
        assert (row["n"], row["decides"]) == (ITEMS, name == best)
    assert rate(rates, "selectivity", intervention=best, **place)["value"] == pytest.approx(selective.max())
    readable = here[here["intervention"] == best]["readable"].mean()
    assert rate(rates, "readable", intervention=best, **place)["value"] == pytest.approx(readable)
    assert set(rates[rates["decides"]]["measure"]) == {"accuracy", "changed", "readable", "selectivity"}
    assert set(rates["question"]) == {"used"}


def test_a_model_is_right_where_the_answer_of_the_base_is_the_likelier_one(effects, rates):
    for construction in "cd":
        base = effects[(effects["construction"] == construction) & (effects["labels"] == "true")]
        once = {row.id: row.before > 0 for row in base[::-1].itertuples()}  # the first row of each item
        assert rate(rates, "accuracy", construction)["value"] == pytest.approx(np.mean([*once.values()]))


def test_what_is_used_where_plain_words_say_it_sums_up_no_model(effects):
    responses = intervention_responses(effects, {})
    assert set(responses[responses["decides"]]["measure"]) == {"accuracy"}


UNDIVIDED = dict.fromkeys(columns_of(FACETS), "")
USED = {"model": "clm", "construction": "toy", **UNDIVIDED, "region": "last", "layer": "3"}


def rows_of_use(low: float, selective_low: float = 0.5, **more: object) -> list[dict[str, object]]:
    """Return the rates where a direction changes some answers, and random ones change none of 14."""
    changed, selectivity = (USED | {"measure": measure} | more for measure in ("changed", "selectivity"))
    return [
        changed | {"intervention": "das", "value": low + 0.1, "low": low, "high": low + 0.4},
        changed | {"intervention": "random", "value": 0.0, "low": 0.0, "high": 0.26},
        selectivity | {"intervention": "das", "value": 1.0, "low": selective_low, "high": 2.0},
        selectivity | {"intervention": "random", "value": 0.0, "low": -0.02, "high": 0.02},
    ]


def settled(rows: list[dict[str, object]], expected_low: float | None = None) -> dict[str, object]:
    """Return the row of the direction with its verdict; the control is "plain", if it was asked."""
    asked = {"model": "clm", "construction": "plain", **UNDIVIDED, "measure": "accuracy", "n": 14}
    limits = {} if expected_low is None else {"value": expected_low + 0.1, "low": expected_low, "high": 0.9}
    table = pd.DataFrame([*rows, asked | limits] if limits else rows)
    return with_verdicts_on_use(table, {"toy": "plain"}).iloc[0].to_dict()


USES = [(0.25, 0.5, "no_difference"), (0.45, 0.5, "above_baseline"), (0.45, 0.01, "above_chance")]


@pytest.mark.parametrize(("low", "selective_low", "verdict"), USES)
def test_a_direction_is_used_where_it_changes_more_answers_than_random_ones_may(low, selective_low, verdict):
    row = settled(rows_of_use(low, selective_low))
    assert (row["verdict"], row["chance"], row["baseline"]) == (verdict, 0.0, "random directions")
    assert "control" not in row


@pytest.mark.parametrize(
    ("low", "changed_in_control", "verdict"),
    [
        (0.45, None, "fails_control"),  # the model is not right where plain words say who gives
        (0.6, None, "no_difference"),  # it is, and no direction was learnt there
        (0.6, 0.1, "fails_control"),  # it is, and no direction is found there either
        (0.6, 0.4, "does_not"),
    ],
)
def test_that_nothing_changes_is_read_beside_the_control(low, changed_in_control, verdict):
    learnt = [] if changed_in_control is None else rows_of_use(changed_in_control, construction="plain")
    row = settled([*rows_of_use(0.01), *learnt], low)
    assert (row["verdict"], row["control_low"], row["control_n"]) == (verdict, low, 14)
    assert settled([*rows_of_use(0.45), *learnt], low)["verdict"] == "above_baseline"


def test_random_directions_take_the_place_of_a_baseline_on_pages():
    known = {"task": "interventions", "source": "own", "question": "used", "n": 14}
    known |= dict.fromkeys([*OF_DIFFERENCE, *OF_CONTROL], np.nan)
    rows = [known | row | {"decides": row["intervention"] == "das"} for row in rows_of_use(0.45)]
    tables = {"interventions": with_verdicts_on_use(pd.DataFrame(rows), {})}
    toy = SimpleNamespace(items={}, construction=SimpleNamespace(placebo=False))
    [finding] = findings_of(tables, {"interventions": InterventionsTask()}, {"toy": toy})
    assert (finding.question, finding.headline, finding.control) == ("used", True, None)
    assert finding.row["verdict"] == "above_baseline"
    assert finding.baseline == ("random directions", Estimate(0.0, 0.0, 0.26, 14))
