"""Minimal pairs in words as stages: asked, judged, and reported beside the likelihoods of the same pairs."""

import importlib.util
from pathlib import Path

import pandas as pd
import pytest
from test_pair_stages import BENCHMARK, check_runs, judge_own, measure, write_folder

from conftest import ROOT
from cxprobe.files.tables import read_table, write_table
from cxprobe.lm.language_models import read_model_facts
from cxprobe.pairs.params import AskPairs, Benchmark
from cxprobe.run.params import load_params
from cxprobe.run.stage import Outcome, Stage

pytest.importorskip("inspect_ai")

ALWAYS_A = {"llm": "always-a"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A project's folder with the toy construction and published numbers, to work in."""
    place = tmp_path_factory.mktemp("asked")
    write_folder(place)
    (place / "prompts").symlink_to(ROOT / "prompts")
    with pytest.MonkeyPatch.context() as patched:
        patched.chdir(place)
        yield place


def run_script(stage: str, kind: str, item: dict[str, str], most: int | None = None) -> Outcome:
    """Run a stage's work for the toy construction and a benchmark "own", with a scored model and two that are asked."""
    spec = importlib.util.spec_from_file_location(stage, ROOT / "pipelines" / kind / f"{stage}.py")
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    params = load_params(ROOT / "params.yaml", ROOT / "constructions")
    mock = params.llms["mock"]
    llms = {"always-a": mock.model_copy(update={"arguments": {"reply": "A"}}), "knows": mock}
    run = {"models": ["early"], "llms": list(llms)}
    pairs = params.grid.pairs.model_copy(update=run | {"constructions": ["toy"]})
    benchmarks = params.grid.benchmarks.model_copy(update=run | {"benchmarks": ["own"]})
    changes = {
        "models": {"early": next(iter(params.models.values()))},
        "llms": llms,
        "grid": params.grid.model_copy(update={"pairs": pairs, "benchmarks": benchmarks}),
        "benchmarks": {"own": Benchmark(**BENCHMARK)},
        "series": {},
        "ask_pairs": AskPairs(prompt="plain", pairs_per_construction=most),
    }
    return getattr(script, stage)(Stage(stage, item, params.model_copy(update=changes)))


def tell(stage: str, *inside: str) -> None:
    """Let the model "knows" reply with the right letter, whatever it was that the mock model was asked."""
    always, knows = (Path("data") / stage / llm / Path(*inside) for llm in ("always-a", "knows"))
    table = read_table(always / "replies.parquet")
    write_table(table.assign(reply=table["gold"]), knows / "replies.parquet")
    (knows / "model.json").write_bytes((always / "model.json").read_bytes())


@pytest.fixture(scope="module")
def asked(folder):
    """What is asked, judged and reported of the toy construction's pairs."""
    run_script("build_pairs", "make", {})
    pairs = read_table(Path("data/build_pairs/toy.parquet"))
    measure(pairs, Path("data/score_pairs/early"), "early")
    run_script("judge_pairs", "judge", {"model": "early"})
    outcome = run_script("ask_pairs", "measure", ALWAYS_A)
    tell("ask_pairs")
    judged = {llm: run_script("judge_pair_replies", "judge", {"llm": llm}) for llm in ("always-a", "knows")}
    return pairs, outcome, judged, run_script("report_pairs", "report", {})


def test_every_pair_is_asked_about_in_both_orders(asked):
    pairs, outcome, *_ = asked
    assert outcome.counts == {"pairs": len(pairs), "requests": 2 * len(pairs), "failed": 0}
    replies = read_table(Path("data/ask_pairs/always-a/replies.parquet"))
    assert set(replies["reply"]) == {"A"}
    assert set(replies.groupby("pair")["gold"].agg("".join)) == {"AB"}
    assert read_model_facts(Path("data/ask_pairs/always-a")).kind == "instructed"


def test_a_model_that_always_says_the_first_is_half_right_and_one_that_knows_is_right(asked):
    judged = asked[2]
    first, knows = (judged[llm].headline for llm in ("always-a", "knows"))
    assert (first["meaning"]["accuracy"], first["consistency"], first["position_bias"]) == (0.5, 0.0, 1.0)
    assert (knows["meaning"]["accuracy"], knows["consistency"], knows["position_bias"]) == (1.0, 1.0, 0.5)
    for outcome in judged.values():
        assert [run.construction for run in outcome.runs] == ["toy", "all"]
        check_runs(outcome.runs)
        assert {run.facts.kind for run in outcome.runs} == {"instructed"}
        assert len(outcome.runs[0].metrics) <= 40


def test_runs_have_the_settings_of_those_of_likelihoods(asked):
    scored = run_script("judge_pairs", "judge", {"model": "early"}).runs[0].settings
    own = asked[2]["knows"].runs[0].settings
    assert list(own) == list(scored)
    assert {own[name] for name in own if name.startswith("score_pairs.")} == {"none"}
    assert own["judge_pairs.scheme"] == "reply, prompt plain"


def test_the_report_has_them_beside_the_likelihoods_of_the_same_pairs(asked):
    report = asked[3]
    accuracy = report.tables["accuracy"]
    assert set(accuracy["model"]) == {"early", "always-a", "knows"}
    assert accuracy.groupby(["words"])["n"].nunique().eq(1).all()
    assert set(report.tables["tables/biases"]["model"]) == {"early", "always-a", "knows"}
    found = report.tables["tables/comparisons"][["construction", "first", "second"]].to_numpy().tolist()
    assert ["toy", "early", "knows"] in found
    rates = report.tables["tables/asked"].set_index(["model", "words"])
    assert rates.loc[("knows", "real"), "consistency"] == 1.0
    assert rates.loc[("always-a", "pseudo"), "position_bias"] == 1.0
    shown = {text.get_text() for text in report.figures["figures/meaning_by_variant"].legends[0].get_texts()}
    assert "early" in shown
    assert shown.isdisjoint({"always-a (asked)", "knows (asked)"})  # mock models are drawn beside no other


def test_what_is_drawn_first_is_asked_first_and_no_reply_twice(asked):
    pairs = asked[0]
    assert run_script("ask_pairs", "measure", ALWAYS_A, most=3).counts["requests"] == 2 * 2 * 3
    drawn = read_table(Path("data/ask_pairs/always-a/replies.parquet"))["pair"]
    words = pairs.set_index("id")["words"]
    assert words[drawn.unique()].value_counts().to_dict() == {"real": 3, "pseudo": 3}


def test_a_model_whose_replies_cannot_be_read_is_judged_without_an_accuracy(asked):
    replies = read_table(Path("data/ask_pairs/knows/replies.parquet"))
    write_table(replies.assign(reply="Answer: 1"), Path("data/ask_pairs/knows/replies.parquet"))
    outcome = run_script("judge_pair_replies", "judge", {"llm": "knows"})
    assert outcome.headline == {"unparsed": 1.0, "failed": 0.0}
    assert outcome.runs == []
    report = run_script("report_pairs", "report", {})
    assert set(report.tables["accuracy"]["model"]) == {"early", "always-a"}
    assert report.tables["tables/asked"].set_index("model")["left_out"].gt(0).to_dict()["knows"]


def test_a_benchmark_is_asked_about_judged_and_reported_too(folder):
    judge_own()
    item = {"benchmark": "own"}
    assert run_script("ask_benchmarks", "measure", ALWAYS_A | item).counts["requests"] == 6
    tell("ask_benchmarks", "own")
    judged = {llm: run_script("judge_benchmark_replies", "judge", {"llm": llm} | item) for llm in ("always-a", "knows")}
    assert {llm: one.headline["accuracy"] for llm, one in judged.items()} == {"always-a": 0.5, "knows": 1.0}
    for outcome in judged.values():
        assert [run.construction for run in outcome.runs] == ["all", "agreement", "tense_past"]
        check_runs(outcome.runs)
    scored = run_script("judge_benchmarks", "judge", {"model": "early"} | item).runs[0].settings
    assert list(judged["knows"].runs[0].settings) == list(scored)
    report = run_script("report_benchmarks", "report", item)
    overall = report.tables["accuracy"]
    assert set(overall["model"]) == {"early", "always-a", "knows"}
    rates = report.tables["tables/asked"]
    assert isinstance(rates, pd.DataFrame)
    assert rates.set_index(["model", "group"]).loc[("knows", "all"), "consistency"] == 1.0
    assert run_script("ask_benchmarks", "measure", ALWAYS_A | item, most=1).counts["pairs"] == 3  # of each group
