"""What is asked in words and by likelihood, as stages: the same items, and the summary that follows from both."""

import pytest

from cxprobe.storage import read_json, read_table

pytestmark = pytest.mark.pipeline


def test_a_model_in_words_and_one_by_likelihood_have_the_same_items(finished_project):
    replies = read_table(finished_project / "data/judge_replies/mock/toy.parquet")
    questions = read_table(finished_project / "data/answer_likelihoods/clm/toy/questions.parquet")
    same = ["set", "test", "shots", "gold", "cluster_premise"]
    items = [sorted(set(table[same].itertuples(index=False, name=None))) for table in (replies, questions)]
    assert items[0] == items[1]


def test_the_summary_is_that_of_the_likelihoods(finished_project):
    folder = finished_project / "data/answer_likelihoods/clm/toy"
    gold = read_table(folder / "questions.parquet").set_index("id")
    scores = read_table(folder / "scores.parquet")
    values = scores[scores["score"] == "pmi"].pivot_table(index="id", columns="answer", values="value")
    right = values.idxmax(axis=1) == gold.loc[values.index, "gold"]  # no two are the same
    metrics = read_json(finished_project / "results/summarise_prompts/metrics.json")
    for name, own in right.groupby(gold.loc[values.index, "set"]):
        assert metrics["clm"][f"pmi_{name}"]["accuracy"] == own.mean()
        assert metrics["clm"][f"pmi_{name}"]["n"] == len(own)
    assert metrics["mock"]["reply_reasoning"]["unparsed"] == 1  # it says a digit where a letter is asked for


def test_what_ran_stands_beside_what_is_published(finished_project):
    folder = finished_project / "results/summarise_prompts"
    for name in ("inference", "reasoning", "prompts"):
        table = read_table(folder / f"{name}_beside_published.csv")
        assert {"mock", "clm", "gpt-4o-2024-05-13"} <= set(table["model"])
        assert table["source"].str.startswith(("this run", "Scivetti et al. 2025, Table")).all()
    assert {path.stem for path in (folder / "figures").glob("*.png")} == {
        "constructions_0_shots",
        "constructions_1_shot_of_templatic",
        "inference_beside_published",
        "reasoning_prompts",
        "reasoning_tests",
    }
