"""Contrasts evaluated: which sets have no verdict, and the rows for models of one's own."""

import pandas as pd
import pytest

from cxprobe.models.texts import Pair, pair_table
from cxprobe.tasks.contrasts.evaluate import ContrastsEvaluation, margin_responses, without_solved


def test_the_margins_of_pairs_have_frame_condition_wording_cell_order_and_the_words_that_recur():
    groups = {"construction": "toy", "condition": "construction", "wording": "noun", "cell": "1a"}
    clusters = {"original": {"frame": "frame 0", "verb": "hit"}, "switched": {"frame": "frame 0"}}
    pairs = [
        Pair(f"p-{order}", "frame 0", "Ann hit Beth.", " Ann.", " Beth.", {**groups, "order": order}, words)
        for order, words in clusters.items()
    ]
    rows = margin_responses(pair_table(pairs).assign(margin=[0.5, -0.25]))
    assert {"condition", "wording", *ContrastsEvaluation.kept} <= {*rows}
    assert rows["value"].tolist() == [0.5, -0.25]
    assert rows["order"].tolist() == ["original", "switched"]
    assert rows["cluster_verb"].tolist()[0] == "hit"
    assert not rows["decides"].any()


@pytest.mark.parametrize(
    ("value", "low", "has"), [(0.9, 0.7, False), (0.9, 0.45, True), (0.6, 0.55, True), (0.5, 0.4, True)]
)
def test_a_set_that_a_baseline_solves_has_no_verdict_and_the_others_have(value, low, has):
    row = {"measure": "above_zero", "condition": "construction", "value": 0.8, "low": 0.6, "has_verdict": True}
    rates = pd.DataFrame(
        [
            row | {"model": "m", "construction": "toy"},
            row | {"model": "words", "construction": "toy", "value": value, "low": low},
            row | {"model": "words", "construction": "toy", "condition": "control", "value": 1.0, "low": 0.9},
            row | {"model": "m", "construction": "other"},
            row | {"model": "words", "construction": "other", "value": 0.5, "low": 0.4},
        ]
    )
    found = without_solved(rates, ["words"], 0.6)
    assert found.loc[rates["model"] == "m", "has_verdict"].tolist() == [has, True]
