"""The table of all answers: a row an answer, what was chosen, what is right, and which rows make the headlines."""

import io

import numpy as np
import pandas as pd
import pyarrow.parquet
import pytest
from exported_project import FORM, MEANING, PAIRS, RULE, UNBALANCED

from cxprobe.exports.results import (
    COLUMNS,
    pair_answers,
    prompt_answers,
    read_results,
    results_parquet,
    scenario_answers,
    sentence_answers,
)
from cxprobe.scenarios.rules import load_scenarios

pytest_plugins = ["exported_project"]


def test_a_probe_that_is_wrong_chose_the_other_label_and_a_tie_chose_none():
    items = pd.DataFrame(
        {
            "id": ["s1", "s2", "s3"],
            "feature": "length",
            "label": ["positive", "negative", "positive"],
            "layer": [3, 3, 0],
            "accuracy": [1.0, 0.0, 0.5],
            "cluster_template": ["x", "y", "x"],
        }
    )
    found = sentence_answers(items, middle=3)
    assert found["chosen"].tolist() == ["positive", "positive", ""]
    assert found["gold"].tolist() == items["label"].tolist()
    assert found["decides"].tolist() == [True, True, False]
    assert found["clusters"].tolist() == [["template=x"], ["template=y"], ["template=x"]]


def test_a_scenario_names_the_word_that_was_chosen(made_params):
    scenarios = load_scenarios(MEANING)
    base = scenarios.base
    first = scenarios.candidates.index(scenarios.tests[base].answer) == 0
    texts = pd.DataFrame({"item": ["i", "j"], "scenario": base, "first": ["blue", "red"], "second": ["grey", "green"]})
    decisions = pd.DataFrame(
        {
            "calibration": ["none", "none", "PMI"],
            "scenario": base,
            "base": True,
            "item": ["i", "j", "i"],
            "accuracy": [1.0, 0.0, 0.5],
            "cluster_NAME1": ["Anna", "Beth", "Anna"],
        }
    )
    found = scenario_answers(decisions, texts, scenarios)
    assert found["gold"].tolist() == (["blue", "red", "blue"] if first else ["grey", "green", "grey"])
    assert found["chosen"].tolist() == (["blue", "green", ""] if first else ["grey", "red", ""])
    assert found["decides"].tolist() == [True, True, False]


def test_pairs_have_a_row_for_each_score_and_those_that_decide_are_marked():
    scores = pd.DataFrame(
        {
            "id": ["p", "q", "p", "q"],
            "words": "real",
            "variant": "A",
            "scheme": "causal",
            "score": ["sum", "sum", "per_token", "per_token"],
            "margin": [1.0, -2.0, 0.0, 0.1],
            "accuracy": [1.0, 0.0, 0.5, 1.0],
            "balanced": [True, False, True, False],
            "cluster_frame": ["f", "g", "f", "g"],
        }
    )
    items = scores[scores["score"] == "sum"]
    found = pair_answers(scores, items)
    assert found["chosen"].tolist() == ["good", "bad", "", "good"]
    assert found["decides"].tolist() == [True, False, False, False]  # q is in a cell where one answer is always right
    assert found["margin"].tolist() == scores["margin"].tolist()


@pytest.fixture
def judged():
    """Judged answers to two questions by two scores."""
    return pd.DataFrame(
        {
            "id": ["i/plain/0/none/direct", "j/plain/0/none/direct"] * 2,
            "item": ["i", "j"] * 2,
            "set": "templatic",
            "asked": ["sum", "sum", "pmi", "pmi"],
            "outcome": ["right", "wrong", "tied", "right"],
            "credit": [1.0, 0.0, 0.5, 1.0],
            "answer": ["0", "1", "", "2"],
            "gold": ["0", "2"] * 2,
            "cluster_premise": ["x", "y"] * 2,
        }
    )


def test_the_margin_of_an_answer_is_how_far_the_right_one_is_ahead_of_the_best_other(judged):
    values = {"i": [3.0, 1.0, 2.0], "j": [0.0, 5.0, 4.0]}
    scores = pd.DataFrame(
        [
            (f"{item}/plain/0/none/direct", str(answer), score, value)
            for item, own in values.items()
            for score in ("sum", "pmi")
            for answer, value in enumerate(own)
        ],
        columns=["id", "answer", "score", "value"],
    )
    found = prompt_answers(judged, scores, "pmi")
    assert found["margin"].tolist() == [1.0, -1.0, 1.0, -1.0]
    assert found["decides"].tolist() == [False, False, True, True]
    assert found["variant"].tolist() == ["plain/0/none/direct"] * 4
    assert found["correct"].tolist() == judged["credit"].tolist()


def test_a_request_that_failed_is_neither_right_nor_wrong(judged):
    replied = judged.head(2).assign(asked="reply", outcome=["failed", "unparsed"], credit=0.0, answer="")
    found = prompt_answers(replied, None, "reply")
    assert np.isnan(found["correct"].iloc[0])
    assert found["correct"].iloc[1] == 0
    assert found["margin"].isna().all()


def test_an_item_that_only_a_blind_model_was_asked_about_does_not_decide(judged):
    blind = judged.head(2).assign(id=["i", "j"], asked="rule", drawn=[True, False])
    found = prompt_answers(blind, None, "rule")
    assert found["decides"].tolist() == [True, False]
    assert found["variant"].tolist() == ["none", "none"]


def test_the_file_has_all_columns_each_with_a_description(made_params):
    blind = made_params.model_copy(update={"grid": grid_of_pairs_alone(made_params)})
    table = pyarrow.parquet.read_table(io.BytesIO(results_parquet(read_results(blind))))
    assert table.column_names == list(COLUMNS)
    for field in table.schema:
        assert field.metadata[b"description"].decode() == COLUMNS[field.name][1]
    results = table.to_pandas()
    assert set(results["construction"]) == set(PAIRS)
    assert set(zip(results["line"], results["model"], results["weights"], strict=True)) == {("pairs", RULE, "none")}
    assert results.groupby("construction")["decides"].all().to_dict() == {MEANING: True, FORM: True, UNBALANCED: False}


def grid_of_pairs_alone(params):
    nothing = {"models": [], "constructions": []}
    grid = params.grid
    return grid.model_copy(
        update={
            "recognition": grid.recognition.model_copy(update=nothing | {"constructions": {}}),
            "scenarios": grid.scenarios.model_copy(update=nothing),
            "prompts": grid.prompts.model_copy(update=nothing | {"llms": []}),
        }
    )
