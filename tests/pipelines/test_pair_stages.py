"""Minimal pairs as stages, own and of others: what is judged, what the runs show, and what the reports put together."""

import importlib.util
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

from conftest import PEOPLE, ROOT, write_toy_construction
from cxprobe.errors import DataError
from cxprobe.params import Benchmark, Series, load_params
from cxprobe.records import ModelFacts, TokenScores
from cxprobe.seeding import generator_for
from cxprobe.stages import JudgedRun, Outcome, Stage
from cxprobe.storage import read_table, write_token_scores

MODELS = ["early", "late"]
BENCHMARK = {"format": "pairs", "files": "*.jsonl", "by": ["kind", "number"], "score": "sum", "pairs_per_file": None}
OWN = [
    {"id": "a", "good": "She sings.", "bad": "She sing.", "kind": "agreement", "number": "one"},
    {"id": "b", "good": "They sing.", "bad": "They sings.", "kind": "agreement", "number": "many"},
    {"id": "c", "good": "He ran.", "bad": "He run.", "kind": "tense/past", "number": "one"},
]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A project's folder with the toy construction and published numbers, to work in."""
    write_toy_construction(tmp_path / "constructions")
    (tmp_path / "lexicon").mkdir()
    (tmp_path / "lexicon" / "people.yaml").write_text(PEOPLE)
    (tmp_path / "published").symlink_to(ROOT / "published")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run_script(stage: str, kind: str, item: dict[str, str], own: Benchmark | None = None) -> Outcome:
    """Run a stage's work in the current folder, for the toy construction, a benchmark "own" and a series of models."""
    spec = importlib.util.spec_from_file_location(stage, ROOT / "pipelines" / kind / f"{stage}.py")
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    params = load_params(ROOT / "presets" / "embedded.yaml", ROOT / "constructions")
    pairs = params.grid.pairs.model_copy(update={"models": MODELS, "constructions": ["toy"]})
    benchmarks = params.grid.benchmarks.model_copy(update={"models": MODELS, "benchmarks": ["own"]})
    one = next(iter(params.models.values()))
    changes = {
        "models": dict.fromkeys(MODELS, one),
        "grid": params.grid.model_copy(update={"pairs": pairs, "benchmarks": benchmarks}),
        "benchmarks": {"own": own or Benchmark(**BENCHMARK)},
        "series": {"training": Series(axis="training_tokens", models={"early": 1e3, "late": 2e6})},
    }
    return getattr(script, stage)(Stage(stage, item, params.model_copy(update=changes)))


def measure(pairs: pd.DataFrame, folder: Path, model: str) -> None:
    """Write scores of all texts that the pairs need, as if a model had scored each word at random."""
    ends = [(row.context, end) for row in pairs.itertuples() for end in (row.good, row.bad)]
    texts = dict.fromkeys([context + end for context, end in ends] + [end.lstrip() for _, end in ends])
    scores = []
    for text in texts:
        starts = [0, *(place for place, letter in enumerate(text) if letter == " ")]
        spans = np.column_stack([starts, [*starts[1:], len(text)]])
        places = np.arange(len(starts))
        log_probs = -generator_for(0, model, text).exponential(size=len(starts))
        scores.append(TokenScores(text, "causal", places.astype(np.int32), spans, places, log_probs))
    write_token_scores(scores, ModelFacts(f"models/{model}", "causal", 10, "none"), folder)


def judge_toy() -> dict[str, Outcome]:
    """Build the toy construction's pairs and judge both models."""
    run_script("build_pairs", "make", {})
    pairs = read_table(Path("data/build_pairs/toy.parquet"))
    for model in MODELS:
        measure(pairs, Path("data/score_pairs") / model, model)
    return {model: run_script("judge_pairs", "judge", {"model": model}) for model in MODELS}


def judge_own(**changes) -> dict[str, Outcome]:
    """Build the benchmark and judge both models."""
    raw = Path("data/raw/own")
    raw.mkdir(parents=True, exist_ok=True)
    (raw / "own.jsonl").write_text("\n".join(map(json.dumps, OWN)))
    own = Benchmark(**BENCHMARK | changes)
    assert run_script("build_benchmarks", "make", {"benchmark": "own"}, own).counts["pairs"] == len(OWN)
    pairs = read_table(Path("data/build_benchmarks/own.parquet"))
    for model in MODELS:
        measure(pairs, Path("data/score_benchmarks") / model / "own", model)
    return {
        model: run_script("judge_benchmarks", "judge", {"model": model, "benchmark": "own"}, own) for model in MODELS
    }


def check_runs(runs: list[JudgedRun]) -> None:
    """Hold runs against what makes them comparable."""
    assert {tuple(run.figures) for run in runs} == {("accuracy",)}
    assert len({tuple(run.tables) for run in runs}) == 1
    assert len({tuple(run.settings) for run in runs}) == 1
    for run in runs:
        assert list(run.metrics)[:5] == ["accuracy", "low", "high", "n", "tie_rate"]
        assert not [name for name in (*run.metrics, *run.settings) if run.model in name or "toy" in name]
        assert isinstance(run.figures["accuracy"], Figure)
        assert str(run.dataset).startswith("data/build_")


def test_judging_pairs_gives_a_run_a_construction_and_one_for_all_of_meaning(folder):
    judged = judge_toy()
    for model, outcome in judged.items():
        assert [run.construction for run in outcome.runs] == ["toy", "all"]
        check_runs(outcome.runs)
        items = read_table(Path("data/judge_pairs") / model / "toy" / "items.parquet")
        real = items[items["words"] == "real"]
        assert set(items["accuracy"]) <= {0.0, 0.5, 1.0}
        assert (items["accuracy"] == (np.sign(items["margin"]) + 1) / 2).all()
        assert outcome.headline["meaning"]["accuracy"] == real["accuracy"].mean()
        assert list(outcome.headline) == ["meaning"]
        assert outcome.runs[0].metrics == outcome.runs[1].metrics
        assert outcome.runs[0].facts == ModelFacts(f"models/{model}", "causal", 10, "none")
    names = [list(outcome.runs[0].metrics) for outcome in judged.values()]
    assert names[0] == names[1]


def test_the_report_puts_the_judged_pairs_of_all_models_side_by_side(folder):
    judged = judge_toy()
    outcome = run_script("report_pairs", "report", {})
    accuracy = outcome.tables["accuracy"]
    real = accuracy[accuracy["words"] == "real"].set_index("model")["accuracy"].to_dict()
    assert real == {model: one.headline["meaning"]["accuracy"] for model, one in judged.items()}
    for name in ("cells", "variants", "noun_types", "scores", "biases"):
        table = outcome.tables[f"tables/{name}"]
        for model, one in judged.items():
            own = table[table["model"] == model].drop(columns="model").reset_index(drop=True)
            pd.testing.assert_frame_equal(own, one.runs[0].tables[name], check_dtype=False)
    assert "this run" in set(outcome.tables["tables/beside_published"]["source"])
    assert {"figures/meaning_by_variant", "figures/pseudowords", "figures/series_training"} <= set(outcome.figures)
    assert "figures/form" not in outcome.figures


def test_a_series_of_models_is_a_run_with_steps(folder):
    judged = judge_toy()
    runs = run_script("report_pairs", "report", {}).runs
    assert [(run.model, run.construction) for run in runs] == [("training", "toy"), ("training", "all")]
    for run in runs:
        assert run.facts.kind == "series"
        assert run.series["by_training_tokens.accuracy"] == [
            (step, judged[model].headline["meaning"]["accuracy"])
            for step, model in ((1000, "early"), (2000000, "late"))
        ]
        assert list(run.series) == [f"by_training_tokens.{name}" for name in ("accuracy", "low", "high")]


def test_judging_a_benchmark_gives_a_run_for_all_and_for_each_group_of_its_first_column(folder):
    for model, outcome in judge_own().items():
        runs = outcome.runs
        assert [(run.construction, run.source) for run in runs] == [
            ("all", "own"),
            ("agreement", "own"),
            ("tense_past", "own"),
        ]
        check_runs(runs)
        items = read_table(Path("data/judge_benchmarks") / model / "own" / "items.parquet")
        assert outcome.headline["accuracy"] == runs[0].metrics["accuracy"] == items["accuracy"].mean()
        assert runs[0].metrics["score.sum"] == runs[0].metrics["accuracy"]
        assert runs[0].tables["accuracy"]["group"].tolist() == ["all", "agreement", "tense/past"]
        assert runs[1].tables["accuracy"]["group"].tolist() == ["all", "one", "many"]


def test_the_report_of_a_benchmark_has_every_model_in_every_group(folder):
    judged = judge_own()
    outcome = run_script("report_benchmarks", "report", {"benchmark": "own"})
    table = outcome.tables["accuracy"]
    groups = ["all", "agreement, one", "agreement, many", "tense/past, one"]
    assert table.groupby("model")["group"].agg(list).to_dict() == dict.fromkeys(MODELS, groups)
    overall = table[table["group"] == "all"].set_index("model")["accuracy"].to_dict()
    assert overall == {model: one.headline["accuracy"] for model, one in judged.items()}
    assert list(outcome.figures) == ["figures/accuracy", "figures/series_training"]
    assert {run.construction for run in outcome.runs} == {"all", "agreement", "tense_past"}


@pytest.mark.parametrize("score", ["given_context", "pmi"])
def test_a_score_that_needs_a_context_is_refused_where_a_pair_has_none(folder, score):
    with pytest.raises(
        DataError, match=rf"benchmarks.own.score is {score}, which needs a context; 3 of 3 pairs have none, such as a"
    ):
        judge_own(score=score)
