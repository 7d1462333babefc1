"""The parts of a mean margin: what is known, and preferences for a place, an order, a name or a question."""

import numpy as np
import pandas as pd
import pytest
from evaluated_pairs import crossed

from cxprobe.tasks.pairs.margins import effects_on_margins

FRAMES, PLACES = 40, {"A": "first", "B": "second", "C": "second", "D": "first"}


def simulated(variants="AB", seed=0, **preferences) -> pd.DataFrame:
    """Return the judged pairs of a model with preferences, in nats: what it adds to the log-odds of a person.

    ``meaning`` is for the right one, ``place`` for the one named first, ``role`` for the first in the original order,
    ``name`` (by random in its direction) for one of the two people, and ``asked`` for the first in variants A and C.
    """
    rng, like = np.random.default_rng(seed), dict.fromkeys(("meaning", "place", "role", "name", "asked"), 0.0)
    like |= preferences
    frames = [f"f{number}" for number in range(FRAMES)]
    table = crossed(cluster_frame=frames, variant=list(variants), order=["original", "switched"])
    table = table.assign(item=table["cluster_frame"], scheme="causal", place=table["variant"].map(PLACES))
    right = np.where(table["place"] == "first", 1, -1)  # whether the right person is the first
    original = np.where(table["order"] == "original", 1, -1)  # whether the first person is the item's own first
    liked = np.repeat(rng.choice([-1, 1], FRAMES), len(variants) * 2)
    for_first = like["place"] + like["name"] * liked * original + like["asked"] * table["variant"].isin(["A", "C"])
    noise = 0.05 * rng.standard_normal(len(table))
    return table.assign(margin=like["meaning"] + like["role"] * original + right * for_first + noise)


def effects(table: pd.DataFrame) -> pd.DataFrame:
    return effects_on_margins(table, ["construction"]).set_index("effect")


def excludes_0(row: pd.Series) -> bool:
    return bool(row["low"] > 0 or row["high"] < 0)


@pytest.mark.parametrize(("preference", "effect"), [("meaning", "meaning"), ("place", "place"), ("role", "order")])
@pytest.mark.parametrize("variants", ["AB", "ABCD"])
def test_a_preference_is_found_as_what_it_is_and_as_nothing_else(preference, effect, variants):
    table = effects(simulated(variants, **{preference: 0.5}))
    assert table.loc[effect, "margin"] == pytest.approx(0.5, abs=0.05)
    others = table.drop(index=[effect, "name"])  # that of a name has no direction
    assert others["margin"].abs().max() < 0.05
    assert table.loc["name", "margin"] < 0.05


def test_intervals_hold_their_level_when_a_place_or_a_name_is_all_that_is_preferred():
    found = [excludes_0(effects(simulated(seed=seed, place=1.0, name=2.0)).loc["meaning"]) for seed in range(60)]
    assert np.mean(found) < 0.1
    found = [excludes_0(effects(simulated(seed=seed, meaning=1.0, name=2.0)).loc["place"]) for seed in range(60)]
    assert np.mean(found) < 0.1


def test_a_preference_for_a_name_has_a_size_and_is_no_effect_of_meaning_or_place():
    table = effects(simulated(name=2.0))
    assert table.loc["name", "margin"] == pytest.approx(2.0, abs=0.05)
    assert table.loc[["meaning", "place", "order"], "margin"].abs().max() < 0.05


def test_four_variants_tell_a_preference_by_question_from_meaning_and_two_do_not():
    four, two = (effects(simulated(variants, asked=0.5)) for variants in ("ABCD", "AB"))
    assert four.loc["variant A", "margin"] == pytest.approx(0.25, abs=0.05)
    assert four.loc["variant D", "margin"] == pytest.approx(-0.25, abs=0.05)
    assert four.loc["meaning", "margin"] == pytest.approx(0.0, abs=0.05)
    assert two.loc["meaning", "margin"] == pytest.approx(0.25, abs=0.05)
    assert not [effect for effect in two.index if effect.startswith("variant")]


def test_without_places_and_without_rows_there_is_no_effect_of_a_place():
    table = simulated(meaning=0.5)
    known = effects(table.drop(columns="place"))
    assert list(known.index) == ["meaning", "order"]
    expected = table.groupby("cluster_frame")["margin"].mean().mean()
    assert known.loc["meaning", "margin"] == pytest.approx(expected)
    assert effects_on_margins(table.head(0), ["construction"]).empty
