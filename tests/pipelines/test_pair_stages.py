"""Minimal pairs as stages, own and of others: what is judged, what the runs show, and what the reports put together."""

import importlib.util
import json
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

from conftest import PEOPLE, ROOT, save_tiny_clm, write_toy_construction
from cxprobe.errors import DataError
from cxprobe.files.tables import read_table
from cxprobe.lm.language_models import read_model_facts
from cxprobe.lm.params import (
    ContinuationAlone,
    Model,
    ModelFacts,
    ModelSpec,
    NgramModel,
    Panel,
    Rule,
    Series,
    UnigramModel,
)
from cxprobe.lm.texts import TokenScores, read_pair_answers, write_token_scores
from cxprobe.pairs.params import Benchmark
from cxprobe.run.params import load_params
from cxprobe.run.stage import JudgedRun, Outcome, Stage
from cxprobe.seeding import generator_for

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
    write_folder(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write_folder(folder: Path) -> None:
    write_toy_construction(folder / "constructions")
    (folder / "lexicon").mkdir()
    (folder / "lexicon" / "people.yaml").write_text(PEOPLE)
    (folder / "published").symlink_to(ROOT / "published")


def run_script(
    stage: str, kind: str, item: dict[str, str], own: Benchmark | None = None, more: dict[str, Model] | None = None
) -> Outcome:
    """Run a stage's work in the current folder, for the toy construction, a benchmark "own" and a series of models.

    More models may stand beside those of the series.
    """
    more = more or {}
    models = [*MODELS, *more]
    spec = importlib.util.spec_from_file_location(stage, ROOT / "pipelines" / kind / f"{stage}.py")
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    params = load_params(ROOT / "params.yaml", ROOT / "constructions")
    pairs = params.grid.pairs.model_copy(update={"models": models, "constructions": ["toy"]})
    benchmarks = params.grid.benchmarks.model_copy(update={"models": models, "benchmarks": ["own"]})
    one = next(iter(params.models.values()))
    changes = {
        "models": dict.fromkeys(MODELS, one) | more,
        "grid": params.grid.model_copy(update={"pairs": pairs, "benchmarks": benchmarks}),
        "benchmarks": {"own": own or Benchmark(**BENCHMARK)},
        "series": {"training": Series(axis="training_tokens", models={"early": 1e3, "late": 2e6})},
        "build_pairs": params.build_pairs.model_copy(
            update={"per_cell": params.build_pairs.per_cell.model_copy(update={"meaning": 4})}
        ),
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


def panel(tiny_clm: Path) -> dict[str, Panel]:
    """Return a panel with every kind of blind model of pairs, and the checkpoint of one of them."""
    checkpoint = ModelSpec(name=str(tiny_clm), revision=None, sha256=None, dtype="float32")
    members = {
        "unigrams": UnigramModel(kind="unigrams", language="en"),
        "trigrams": NgramModel(kind="ngrams", name=str(ROOT / "models/mini-ngrams"), sha256=None),
        "alone": ContinuationAlone(kind="continuation_alone", checkpoint=checkpoint),
        **{kind.replace("_", "-"): Rule(kind=kind) for kind in ("first_mentioned", "last_mentioned", "shorter")},
    }
    return {"blind": Panel(kind="blind", members=members)}


@pytest.fixture(scope="module")
def blind(tmp_path_factory) -> dict[str, Panel]:
    folder = tmp_path_factory.mktemp("models") / "clm"
    save_tiny_clm(folder)
    return panel(folder)


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
    assert "figures/series_training_biases" in outcome.figures
    along = outcome.tables["tables/series_biases"]
    of_all, toy = (
        along[along["construction"] == name].drop(columns="construction").reset_index(drop=True)
        for name in ("all pairs of meaning", "toy")
    )
    pd.testing.assert_frame_equal(of_all, toy)  # the only construction
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


def test_the_report_of_a_benchmark_has_the_accuracies_by_every_score(folder):
    judged = judge_own()
    table = run_script("report_benchmarks", "report", {"benchmark": "own"}).tables["tables/scores"]
    assert list(table.columns[:5]) == ["model", "group", "scheme", "score", "accuracy"]
    overall = table[table["group"] == "all"].set_index(["model", "score"])["accuracy"].to_dict()
    scores = ("sum", "per_token", "per_character")
    assert overall == {(m, name): judged[m].runs[0].metrics[f"score.{name}"] for m in MODELS for name in scores}
    decided = table[table["score"] == "sum"].drop(columns=["scheme", "score"]).reset_index(drop=True)
    accuracy = run_script("report_benchmarks", "report", {"benchmark": "own"}).tables["accuracy"]
    pd.testing.assert_frame_equal(decided, accuracy)


def test_series_are_drawn_on_the_pairs_and_on_the_benchmarks_side_by_side(folder, blind):
    members = {slug: one for slug, one in blind["blind"].members.items() if isinstance(one, Rule)}
    rules = {"blind": Panel(kind="blind", members=members)}
    judged, of_others = judge_toy(), judge_own()
    for stage, item in (("pairs", {}), ("benchmarks", {"benchmark": "own"})):
        run_script(f"score_{stage}", "measure", {"model": "blind"} | item, more=rules)
        run_script(f"judge_{stage}", "judge", {"model": "blind"} | item, more=rules)
    outcome = run_script("report_series", "report", {}, more=rules)
    accuracy = outcome.tables["accuracy"]
    overall = accuracy[accuracy["group"].isin(["all pairs of meaning", "all"])].set_index(["source", "model"])
    assert overall["accuracy"].to_dict() == {
        **{("own pairs", model): one.headline["meaning"]["accuracy"] for model, one in judged.items()},
        **{("own", model): one.headline["accuracy"] for model, one in of_others.items()},
    }
    assert overall["quantity"].unique().tolist() == [1e3, 2e6]
    [figure] = outcome.figures.values()
    groups = ["all", "agreement, one", "agreement, many", "tense/past, one"]
    titles = [axes.get_title().rpartition("\n(n = ")[0].replace("\n", " ") for axes in figure.axes]
    assert titles == ["all pairs of meaning", "toy", *(f"own: {group}" for group in groups)]
    best = outcome.tables["tables/best_blind"].set_index(["source", "group"])["model"]
    assert best["own pairs", "toy"] == "first-mentioned"
    assert set(best) <= set(members)


def test_a_model_of_a_series_that_was_not_judged_is_named_before_anything_is_drawn(folder):
    judge_toy()
    judge_own()
    shutil.rmtree("data/judge_benchmarks/late")
    with pytest.raises(DataError, match="data/judge_benchmarks/late/own is missing; `dvc repro` makes it"):
        run_script("report_series", "report", {})


@pytest.mark.parametrize("score", ["given_context", "pmi"])
def test_a_score_that_needs_a_context_is_refused_where_a_pair_has_none(folder, score):
    with pytest.raises(
        DataError, match=rf"benchmarks.own.score is {score}, which needs a context; 3 of 3 pairs have none, such as a"
    ):
        judge_own(score=score)


@pytest.fixture(scope="module")
def with_panel(tmp_path_factory, blind):
    """The outcomes of measuring, judging and reporting a panel beside the series, and the folder of its data."""
    with pytest.MonkeyPatch.context() as patched:
        place = tmp_path_factory.mktemp("panel")
        write_folder(place)
        patched.chdir(place)
        judge_toy()
        item = {"model": "blind"}
        measured = run_script("score_pairs", "measure", item, more=blind)
        judged = run_script("judge_pairs", "judge", item, more=blind)
        return measured, judged, run_script("report_pairs", "report", {}, more=blind), place / "data"


def test_a_panel_is_measured_and_judged_as_one_item_with_a_model_for_each_member(with_panel, blind):
    measured, judged, _, data = with_panel
    members = list(blind["blind"].members)
    assert {name.split(".")[0] for name in measured.counts} == {"pairs", *members}
    assert {read_model_facts(data / "score_pairs" / "blind" / slug).kind for slug in members} == {"blind"}
    runs = [(run.model, run.construction) for run in judged.runs]
    assert runs == [(slug, name) for slug in members for name in ("toy", "all")]
    check_runs([run for run in judged.runs if run.construction == "toy"])
    assert list(judged.headline) == members
    assert {tuple(numbers) for numbers in judged.headline.values()} == {("accuracy", "n")}


def test_the_report_holds_models_against_the_best_blind_one(with_panel, blind):
    report = with_panel[2]
    assert set(report.tables["accuracy"]["model"]) == {*MODELS, *blind["blind"].members}
    found = report.tables["tables/comparisons"][["construction", "compares", "first"]].to_numpy().tolist()
    assert found == [[name, "best blind", "late"] for name in ("all pairs of meaning", "toy")]
    assert {"figures/cards", "figures/blind_by_construction"} <= set(report.figures)


def test_the_card_says_that_whoever_is_mentioned_first_solves_a_variant(with_panel):
    card = with_panel[2].tables["tables/card"]
    solved = card[card["accuracy"] == 1]  # the toy's first person gives, in both variants and orders
    assert solved["dataset"].tolist() == ["toy", "toy, A", "toy, B"]
    assert set(solved["model"]) == {"first-mentioned"}
    assert solved["solved"].all()
    for model, accuracy in {"last-mentioned": 0.0, "unigrams": 0.5, "alone": 0.5}.items():
        assert card.loc[card["model"] == model, "accuracy"].tolist() == [accuracy] * 3, model


def test_a_model_that_is_shown_the_continuation_alone_finds_the_same_numbers_as_one_that_has_no_context(folder, blind):
    run_script("build_pairs", "make", {})
    run_script("score_pairs", "measure", {"model": "blind"}, more=blind)
    checkpoint = blind["blind"].members["alone"].checkpoint
    run_script("score_pairs", "measure", {"model": "clm"}, more={"clm": checkpoint})
    folders = [Path("data/score_pairs") / name for name in ("clm", "blind/alone")]
    whole, alone = (read_pair_answers(one).set_index("text")["log_probs"] for one in folders)
    pairs = read_table(Path("data/build_pairs/toy.parquet"))
    for context, end in pairs[["context", "good"]].to_numpy()[::7]:
        own = whole[end.lstrip()]
        assert alone[context + end] == pytest.approx(own[~np.isnan(own)])


def test_a_panel_runs_over_a_benchmark_of_others(folder, blind):
    judge_own()
    with pytest.raises(DataError, match="alone: none of 3 pairs has a context"):
        run_script("score_benchmarks", "measure", {"model": "blind", "benchmark": "own"}, more=blind)
    members = {slug: one for slug, one in blind["blind"].members.items() if slug != "alone"}
    fitting = {"blind": Panel(kind="blind", members=members)}
    item = {"model": "blind", "benchmark": "own"}
    assert run_script("score_benchmarks", "measure", item, more=fitting).counts["shorter.decided"] == 2
    outcome = run_script("judge_benchmarks", "judge", item, more=fitting)
    assert list(outcome.headline) == list(members)
    assert outcome.headline["first-mentioned"]["accuracy"] == 0.5  # no pair has a context
    assert outcome.headline["shorter"]["accuracy"] == 0.5  # "sing" is shorter, wrong once and right once; a tie
    report = run_script("report_benchmarks", "report", {"benchmark": "own"}, more=fitting)
    assert set(report.tables["accuracy"]["model"]) == {*MODELS, *members}
    assert {"figures/accuracy", "figures/blind", "figures/cards"} <= set(report.figures)
    assert {"tables/card", "tables/comparisons"} <= set(report.tables)
