"""What is asked in words and by likelihood, as stages: the same items, and the report that follows from both."""

import importlib.util
import shutil

import numpy as np
import pandas as pd
import pytest
from tiny_lms import save_lm

from conftest import ROOT, save_tiny_clm, write_toy_construction
from cxprobe.errors import DataError
from cxprobe.files.tables import read_table, write_table
from cxprobe.files.writing import read_json
from cxprobe.lm.language_models import read_model_facts, write_model_facts
from cxprobe.lm.params import Classifier, ModelFacts, ModelSpec, Panel, Rule
from cxprobe.lm.texts import token_scores_of
from cxprobe.run.params import load_params
from cxprobe.run.stage import Outcome, Stage


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with the toy construction and the project's prompts, to work in."""
    write_toy_construction(tmp_path / "constructions")
    shutil.copytree(ROOT / "prompts", tmp_path / "prompts")
    monkeypatch.chdir(tmp_path)
    return tmp_path


PANEL = Panel(
    kind="blind",
    members={
        "hypothesis-only": Classifier(kind="hypothesis_only", folds_by="premise", folds=2),
        "most-frequent": Rule(kind="most_frequent"),
        "first-referent": Rule(kind="first_referent"),
    },
)


def run_script(stage: str, kind: str, item: dict[str, str], dtype: str = "float32", **settings: object) -> Outcome:
    """Run a stage's work in the current folder, with the toy construction and the model in the folder model."""
    spec = importlib.util.spec_from_file_location(stage, ROOT / "pipelines" / kind / f"{stage}.py")
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    params = load_params(ROOT / "params.yaml", ROOT / "constructions")
    prompts = params.grid.prompts.model_copy(update={"models": ["m", "panel"], "constructions": ["toy"]})
    changes = {
        "models": {"m": ModelSpec(name="model", revision=None, sha256=None, dtype=dtype), "panel": PANEL},
        "grid": params.grid.model_copy(update={"prompts": prompts}),
        "build_prompts": params.build_prompts.model_copy(update=settings),
    }
    return getattr(script, stage)(Stage(stage, item, params.model_copy(update=changes)))


def score(dtype: str = "float32") -> Outcome:
    """Build the prompts and score the answers."""
    run_script("build_prompts", "make", {})
    return run_script("score_answers", "measure", {"model": "m"}, dtype)


def test_bfloat16_is_compared_with_float32(folder):
    save_tiny_clm(folder / "model")
    assert 0 < score("bfloat16").counts["difference_from_float32"] < 0.045


def test_texts_that_do_not_fit_are_refused_and_nothing_is_written(folder):
    save_lm(folder / "model", "gpt2")
    with pytest.raises(DataError, match=r"of 32 questions are too long for the model, which takes 64 tokens"):
        score()
    assert not (folder / "data" / "score_answers").exists()


def answer_by_mock(folder) -> None:
    """Let the mock model say the same to every question."""
    questions = read_table(folder / "data/build_prompts/toy/questions.parquet")
    replies = pd.DataFrame({"id": questions["id"], "reply": "Answer: 1", "failed": False, "error": ""})
    write_table(replies, folder / "data/ask_llms/mock/toy/replies.parquet")
    write_model_facts(ModelFacts("mockllm/model", "instructed", None, ""), folder / "data/ask_llms/mock/toy")


def test_blind_models_answer_each_item_once_and_stand_beside_a_real_one_in_the_report(folder):
    shutil.copytree(ROOT / "published", folder / "published")
    save_tiny_clm(folder / "model")
    score()
    answer_by_mock(folder)
    measured = run_script("score_answers", "measure", {"model": "panel"})
    items = read_table(folder / "data/build_prompts/toy/items.parquet")
    multiple = items["kind"] == "reasoning"
    assert measured.counts["items"] == len(items)
    assert measured.counts["answered.first-referent"] == multiple.sum()
    facts = read_model_facts(folder / "data/score_answers/panel/hypothesis-only")
    assert (facts.name, facts.kind) == ("hypothesis only", "blind")
    answers = read_table(folder / "data/score_answers/panel/first-referent/answers.parquet")
    assert set(answers["id"]) == set(items.loc[multiple, "id"])
    for name, item in (("judge_answers", {"model": "m"}), ("judge_replies", {"llm": "mock"})):
        run_script(name, "judge", item)
    judged = run_script("judge_answers", "judge", {"model": "panel"})
    drawn = int(items.loc[multiple, "drawn"].sum())
    assert judged.headline["first-referent"]["n"] == drawn
    assert all(run.settings["asked"] == "rule" for run in judged.runs)
    assert {run.model for run in judged.runs} == set(PANEL.members)
    table = read_table(folder / "data/judge_answers/panel/first-referent/toy/judged.parquet")
    real = read_table(folder / "data/judge_answers/m/toy/judged.parquet")
    assert set(table.loc[table["drawn"], "item"]) <= set(real["item"])
    report = run_script("report_prompts", "report", {})
    assert {"m", "mock", *PANEL.members} == set(report.tables["accuracy"]["model"])
    comparisons = report.tables["tables/comparisons"]
    assert set(comparisons["first"]) == {"m"}
    assert set(report.tables["tables/cards"]["model"]) == set(PANEL.members)
    for name, figure in report.figures.items():
        if name != "figures/cards":
            shown = [text.get_text() for text in figure.legends[0].get_texts()]
            assert not any("mock" in label for label in shown)
            assert {"m, pmi", "best blind"} <= set(shown)


def test_repairs_of_imported_files_are_listed_once(folder):
    rows = ["toy-CxN\t1\tpremise\tA dog barked.", "\t1\thypothesis\tIt was loud.", "\t1\trelation\t1 (neutral)"]
    (folder / "mine.tsv").write_text("\n".join(["CxN Type\tNumber\tP/H/R\tAnnotation Targets", *rows]))
    outcome = run_script("build_prompts", "make", {}, files={"mine": "mine.tsv"})
    assert outcome.tables["repairs"].to_dict("records") == [
        {"file": "mine", "line": 2, "what": "construction 'toy-CxN' was read as 'toy'"}
    ]
    assert outcome.counts["repairs"] == 1
    questions = outcome.tables["questions"]
    assert "mine" in set(questions["set"])
    built = [read_table(folder / f"data/build_prompts/toy/{stem}.parquet") for stem in ("questions", "choices")]
    assert questions["questions"].sum() == outcome.counts["questions"] == sum(map(len, built))


@pytest.mark.pipeline
def test_a_model_in_words_and_one_by_likelihood_have_the_same_items(finished_project):
    replies = read_table(finished_project / "data/judge_replies/mock/toy/judged.parquet")
    answers = read_table(finished_project / "data/judge_answers/clm/toy/judged.parquet")
    same = ["set", "test", "shots", "item", "cluster_premise"]
    items = [sorted(set(table[same].itertuples(index=False, name=None))) for table in (replies, answers)]
    assert items[0] == items[1]


@pytest.mark.pipeline
def test_the_accuracy_is_that_of_the_token_scores(finished_project):
    tokens = read_table(finished_project / "data/score_answers/clm/tokens.parquet")
    texts = {scores.text: scores for scores in token_scores_of(tokens)}

    def total(text: str, answer: str) -> float:
        scores = texts[text]
        return float(np.sum(scores.log_probs[scores.spans[:, 1] > len(text) - len(answer.lstrip())]))

    folder = finished_project / "data/build_prompts/toy"
    choices, answers = (read_table(folder / f"{stem}.parquet") for stem in ("choices", "answers"))
    both = answers.merge(choices, on="id")
    both["value"] = [
        total(row.question + row.text, row.text) - total(row.anywhere + row.text, row.text) for row in both.itertuples()
    ]
    values = both.pivot_table(index="id", columns="answer", values="value")
    gold = choices.set_index("id")
    right = values.idxmax(axis=1) == gold.loc[values.index, "gold"]  # no two are the same
    record = read_json(finished_project / "results/judge_answers/clm/runs/toy/own/record.json")
    assert record["metrics"]["accuracy"] == pytest.approx(right.mean(), rel=1e-5)
    assert record["metrics"]["n"] == len(right)
    for name, own in right.groupby(gold.loc[values.index, "set"]):
        assert record["metrics"][f"set.{name}"] == pytest.approx(own.mean(), rel=1e-5)
    by_set = read_table(finished_project / "results/report_prompts/accuracy.csv").set_index(
        ["model", "asked", "set", "shots"]
    )
    reported = by_set.loc[("clm", "pmi", "reasoning", 0)]
    assert reported["accuracy"] == pytest.approx(right[gold.loc[right.index, "set"] == "reasoning"].mean(), rel=1e-5)
    mock = read_json(finished_project / "results/judge_replies/mock/runs/toy/own/record.json")["metrics"]
    replies = read_table(finished_project / "data/judge_replies/mock/toy/judged.parquet")
    reasoning = replies["kind"] == "reasoning"
    assert set(replies.loc[reasoning, "outcome"]) == {"unparsed"}  # it says a digit where a letter is asked for
    assert mock["unparsed"] == pytest.approx(reasoning.mean(), rel=1e-5)


@pytest.mark.pipeline
def test_replies_and_likelihoods_are_judged_by_the_same_names(finished_project):
    records = [
        read_json(finished_project / f"results/{stage}/runs/{construction}/own/record.json")
        for stage in ("judge_replies/mock", "judge_answers/clm")
        for construction in ("toy", "all")
    ]
    only_of_one = ("score.", "consistency", "n_consistency")  # scores, and options that are shown in several orders
    names = [{name for name in record["metrics"] if not name.startswith(only_of_one)} for record in records]
    assert all(own == names[0] for own in names)
    assert all(list(record["metrics"])[:4] == ["accuracy", "low", "high", "n"] for record in records)
    assert all(record["series"].keys() == records[0]["series"].keys() for record in records)
    assert all(record["artifacts"] == records[0]["artifacts"] for record in records)
    shots = [step for step, _ in records[0]["series"]["by_shots.templatic"]]
    assert shots == [0, 1]


@pytest.mark.pipeline
def test_what_ran_stands_beside_what_is_published(finished_project):
    folder = finished_project / "results/report_prompts"
    for name in ("inference", "reasoning", "prompts"):
        table = read_table(folder / f"tables/{name}_beside_published.csv")
        assert {"mock", "clm", "gpt-4o-2024-05-13"} <= set(table["model"])
        assert table["source"].str.startswith(("this run", "Scivetti et al. 2025, Table")).all()
    outcomes = read_table(folder / "tables/outcomes.csv")
    assert set(outcomes.loc[outcomes["model"] == "clm", "asked"]) == {"sum", "per_token", "per_character", "pmi"}
    assert {path.stem for path in (folder / "figures").glob("*.png")} == {
        "cards",
        "constructions_0_shots",
        "constructions_1_shot_of_templatic",
        "inference_beside_published",
        "reasoning_prompts",
        "reasoning_tests",
    }
