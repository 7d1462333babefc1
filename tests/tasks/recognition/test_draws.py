from dataclasses import asdict
from itertools import pairwise
from math import hypot, sqrt

import numpy as np
import pandas as pd
import pytest
from scipy.stats import t

from cxprobe.stats import estimate_rate
from cxprobe.tasks.recognition.evaluate import add_spread, estimate_over_draws, overlaps, recognition_responses

REPETITIONS = 200
ERROR = 3 * sqrt(0.05 * 0.95 / REPETITIONS)  # three standard errors of the share of intervals that miss


def splits(drawn: dict[str, list[list[str]]]) -> pd.DataFrame:
    rows = [
        (feature, "train", draw, id_)
        for feature, draws in drawn.items()
        for draw, ids in enumerate(draws)
        for id_ in ids
    ]
    return pd.DataFrame([*rows, ("length", "test", 0, "x")], columns=["feature", "split", "draw", "id"])


def probes(by_draw: list[list[float]]) -> pd.DataFrame:
    """Return what probes of several draws say about positive sentences, given how right they are."""
    rows = [
        ("length", 5, f"s{item}", "positive", 0, draw, f"t{item}", credit)
        for draw, credits in enumerate(by_draw)
        for item, credit in enumerate(credits)
    ]
    columns = ["feature", "value", "id", "label", "layer", "draw", "cluster_template", "probability"]
    return pd.DataFrame(rows, columns=columns)


def test_the_value_of_a_response_is_the_mean_over_the_draws():
    items = recognition_responses(probes([[1, 0, 1], [1, 0, 0.5]]), splits({"length": [["a"], ["b"]]}))
    assert items["value"].tolist() == [1, 0, 0.75]
    assert items["item"].tolist() == ["length s0", "length s1", "length s2"]
    assert items["chosen"].tolist() == ["positive", "negative", ""]


def test_the_variance_of_the_draws_is_added_to_that_of_the_items():
    by_draw = [[1, 1, 0, 0, 1], [1, 0, 0, 0, 0], [1, 1, 1, 0, 0]]
    items = recognition_responses(probes(by_draw), splits({"length": [["a", "b"], ["c", "d"], ["e", "f"]]}))
    once = recognition_responses(probes(by_draw[:1]), splits({"length": [["a", "b"]]}))
    both = pd.concat([items.assign(source="balanced"), once.assign(source="mined")], ignore_index=True)
    found, single = estimate_over_draws(both, ["source"]).itertuples()
    alone = estimate_rate(np.mean(by_draw, axis=0), np.array([[f"t{n}"] for n in range(5)], dtype=object))
    half = t.ppf(0.975, 2) * np.std([0.6, 0.2, 0.6], ddof=1) / sqrt(3)
    assert found.value == pytest.approx(7 / 15)
    assert found.low == pytest.approx(max(0, 7 / 15 - hypot(7 / 15 - alone.low, half)))
    assert found.high == pytest.approx(min(1, 7 / 15 + hypot(alone.high - 7 / 15, half)))
    of_one = estimate_rate(np.array(by_draw[0], dtype=float), np.array([[f"t{n}"] for n in range(5)], dtype=object))
    assert (single.low, single.high) == pytest.approx((of_one.low, of_one.high))


def test_an_overlap_is_the_share_of_a_draw_that_is_in_another_one_too():
    drawn = {"length": [["a", "b"], ["a", "c"], ["d", "e"]], "depth": [["a", "b"], ["b", "a"], ["a", "b"]]}
    assert overlaps(splits(drawn)) == {"length": pytest.approx(1 / 6), "depth": 1.0}


def missed(draws: int, n: int, pool: int, *, spread: float, corrected: bool = True) -> tuple[float, float]:
    """Return how often intervals with and without the spread of draws miss the accuracy over all training parts.

    A probe's accuracy is 0.8 and what its n training sentences add; they are drawn from a pool of several.
    """
    rng, items, both = np.random.default_rng(0), 200, np.zeros(2)
    clusters = np.array([[f"t{number}"] for number in range(items)], dtype=object)
    for _ in range(REPETITIONS):
        worth = rng.normal(scale=spread * sqrt(n), size=pool)  # of each sentence in the pool
        drawn = [rng.choice(pool, n, replace=False) for _ in range(draws)]
        accuracies = 0.8 + np.array([worth[chosen].mean() for chosen in drawn])
        easiness = rng.uniform(size=items)  # a sentence that is easy for one probe is so for all
        credits = (easiness < accuracies[:, None]).astype(float)
        alone = estimate_rate(credits.mean(axis=0), clusters)
        shared = np.mean([len(set(a) & set(b)) / n for a, b in pairwise(drawn)])
        by_draw, overlap = pd.DataFrame([credits.mean(axis=1)]), pd.Series([float(shared) if corrected else 0.0])
        [wide] = add_spread(pd.DataFrame([asdict(alone)]), by_draw, overlap).itertuples()
        both += [not one.low <= 0.8 <= one.high for one in (wide, alone)]
    with_spread, without = both / REPETITIONS
    return with_spread, without


@pytest.mark.parametrize("draws", [3, 10])
def test_intervals_cover_the_accuracy_over_training_parts_and_would_not_without_the_spread(draws):
    with_spread, without = missed(draws, n=20, pool=10_000, spread=0.06)
    assert with_spread < 0.05 + ERROR
    assert without > 0.05 + ERROR


def test_intervals_cover_where_draws_share_many_sentences_and_would_not_if_that_were_ignored():
    assert missed(5, n=20, pool=40, spread=0.06)[0] < 0.05 + ERROR
    assert missed(5, n=20, pool=40, spread=0.06, corrected=False)[0] > 0.05 + ERROR
