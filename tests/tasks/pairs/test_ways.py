"""Responses of a model to the same pairs by probe, likelihood and reply, and their agreement."""

import numpy as np
import pandas as pd
import pytest
from evaluated_pairs import USUAL, responses_of
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import t
from sklearn.metrics import cohen_kappa_score

from cxprobe.tasks.pairs.ways import agreement_of_ways, kappa_with_interval, with_ways

FRAMES = [f"frame {place // 2}" for place in range(12)]


def decided(model, accuracy=1.0):
    ids = [f"pair {place}" for place in range(12)]
    table = pd.DataFrame({**USUAL, "id": ids, "item": ids, "cluster_frame": FRAMES, "accuracy": accuracy})
    return responses_of({model: table.assign(scheme="pll", score="sum", margin=1.0, deciding=True, balanced=True)})


def in_ways(layers, *responses, asked=None):
    """Return responses by way, given those to the pairs and the probabilities of words and of each layer."""
    rows = [(f"pair {place}", layer - 1, one) for layer, own in enumerate(layers) for place, one in enumerate(own)]
    predicted = {"m": {"toy": pd.DataFrame(rows, columns=["id", "layer", "probability"])}}
    return with_ways(pd.concat(responses), predicted, {"m": asked}).query("way != ''")


def test_the_layer_that_decides_is_the_best_one_on_other_frames():
    # Layer 0 is right about all but the last frame, layer 1 about all but the first two.
    layers = [[0.5] * 12, [0.9] * 10 + [0.1] * 2, [0.1] * 4 + [0.9] * 8]
    of_ways = in_ways(layers, decided("m")).query("layer == ''").groupby("way")["value"].agg(list)
    for place, frame in enumerate(FRAMES):
        others = [other != frame for other in FRAMES]
        scores = [np.mean([p > 0.5 for p, other in zip(own, others, strict=True) if other]) for own in layers[1:]]
        assert of_ways["recognised"][place] == float(layers[1 + int(np.argmax(scores))][place] > 0.5)
    assert of_ways["words"] == [0.5] * 12
    assert "said" not in of_ways


def test_agreement_counts_what_both_decide_and_leaves_ties_out():
    said = decided("llm", [1.0, 0.0] * 6).query("item not in ['pair 10', 'pair 11']")
    layers = [[0.5] * 12, [0.9] * 5 + [0.1] * 6 + [0.5]]
    items = in_ways(layers, decided("m", [1.0] * 6 + [0.0] * 6), said, asked="llm")
    table = agreement_of_ways(items).set_index(["first", "second"])
    own = table.loc[("recognised", "expected")]
    assert [own[name] for name in ("both_right", "first_alone", "second_alone", "both_wrong")] == [5, 0, 1, 5]
    assert (own["n"], own["ties"]) == (11, 1)
    assert own["kappa"] == pytest.approx(cohen_kappa_score([1] * 5 + [0] * 6, [1] * 6 + [0] * 5))
    assert own["low"] < own["kappa"] < own["high"] <= 1
    assert table.loc[("recognised", "said"), "n"] == 10


def test_a_probed_model_has_responses_by_way_and_by_layer():
    layers = [[0.5] * 12, [0.9] * 5 + [0.1] * 6 + [0.5], [0.9] * 12]
    responses = in_ways(layers, decided("m", [1.0] * 6 + [0.0] * 6), decided("llm"), asked="llm")
    assert responses.groupby(["layer", "way"])["value"].mean().to_dict() == {
        ("", "words"): 0.5,
        ("", "recognised"): 1.0,
        ("", "expected"): 0.5,
        ("", "said"): 1.0,
        ("0", "recognised"): 5.5 / 12,
        ("1", "recognised"): 1.0,
    }


@given(st.lists(st.tuples(st.booleans(), st.booleans(), st.integers(0, 5)), min_size=2, max_size=60))
def test_the_interval_is_that_of_the_jackknife_over_clusters(rows):
    first, second = (np.array([row[place] for row in rows]) for place in (0, 1))
    clusters = np.array([f"frame {row[2]}" for row in rows], dtype=object)
    kappa, low, high = kappa_with_interval(first, second, clusters)
    values = []
    for name in sorted(set(clusters)):
        own = clusters != name
        constant = not own.any() or len({*first[own], *second[own]}) == 1
        values.append(np.nan if constant else cohen_kappa_score(first[own], second[own]))
    if len(values) < 2 or np.isnan([kappa, *values]).any():
        assert np.isnan([low, high]).all()
        return
    assert -1 <= low <= kappa + 1e-12
    assert kappa - 1e-12 <= high <= 1
    if low > -1 and high < 1:  # the half width is a multiple of the jackknife's standard error
        error = np.sqrt((len(values) - 1) ** 2 / len(values) * np.var(values, ddof=1))
        assert high - low == pytest.approx(2 * error * t.ppf(0.975, len(values) - 1), abs=1e-9)


@pytest.mark.pipeline
def test_intervals_of_kappa_hold_in_nineteen_of_twenty_samples():
    rng, inside, tried = np.random.default_rng(0), 0, 200

    # Responses to a frame are alike: each frame has a difficulty that both ways share.
    def draw(frames):
        difficulty = np.repeat(rng.normal(size=frames), 6)
        one, two = (difficulty + rng.normal(size=6 * frames) > 0 for _ in range(2))
        return one, two, np.repeat([f"frame {place}" for place in range(frames)], 6).astype(object)

    truth = cohen_kappa_score(*draw(20_000)[:2])
    for _ in range(tried):
        _, low, high = kappa_with_interval(*draw(30))
        inside += low <= truth <= high
    assert 0.92 <= inside / tried <= 0.98
