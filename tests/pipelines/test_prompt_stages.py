"""What is asked in words and by likelihood, as stages: the same items, and the summary that follows from both."""

import importlib.util
import shutil

import pytest

from conftest import ROOT, save_tiny_clm, write_toy_construction
from cxprobe.errors import DataError
from cxprobe.params import ModelSpec, load_params
from cxprobe.stage import Outcome, Stage
from cxprobe.storage import read_json, read_table
from tiny_lms import save_lm


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with the toy construction and the project's prompts, to work in."""
    write_toy_construction(tmp_path / "constructions")
    shutil.copytree(ROOT / "prompts", tmp_path / "prompts")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def score(dtype: str = "float32") -> Outcome:
    """Run the stages' work in the current folder, with the model that lies in the folder model."""
    params = load_params(ROOT / "presets" / "embedded.yaml", ROOT / "constructions")
    model = ModelSpec(name="model", revision=None, sha256=None, dtype=dtype)
    params = params.model_copy(update={"models": {"m": model}})
    work("pool_examples")(Stage("pool_examples", {"construction": "toy"}, params))
    return work("answer_likelihoods")(Stage("answer_likelihoods", {"model": "m", "construction": "toy"}, params))


def work(stage: str):
    """Return what a stage's script does."""
    spec = importlib.util.spec_from_file_location(stage, ROOT / "pipelines" / f"{stage}.py")
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    return getattr(script, stage)


def test_bfloat16_is_compared_with_float32(folder):
    save_tiny_clm(folder / "model")
    assert 0.5 < score("bfloat16").metrics["answers_as_in_float32"] <= 1


def test_texts_that_do_not_fit_are_refused_and_nothing_is_written(folder):
    save_lm(folder / "model", "gpt2")
    with pytest.raises(DataError, match=r"of 32 questions are too long for the model, which takes 64 tokens"):
        score()
    assert not (folder / "data" / "answer_likelihoods").exists()


@pytest.mark.pipeline
def test_a_model_in_words_and_one_by_likelihood_have_the_same_items(finished_project):
    replies = read_table(finished_project / "data/judge_replies/mock/toy.parquet")
    questions = read_table(finished_project / "data/answer_likelihoods/clm/toy/questions.parquet")
    same = ["set", "test", "shots", "gold", "cluster_premise"]
    items = [sorted(set(table[same].itertuples(index=False, name=None))) for table in (replies, questions)]
    assert items[0] == items[1]


@pytest.mark.pipeline
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


@pytest.mark.pipeline
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
