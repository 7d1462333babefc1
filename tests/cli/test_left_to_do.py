"""What `cxprobe check` says is left: texts, requests and tokens, counted from what the making stages have made."""

import re
import shutil
from pathlib import Path

import pandas as pd
import pytest
from exported_project import MEANING, PAIRS
from whole_project import BENCHMARK, change

from conftest import change_params
from cxprobe.cli.check import print_what_is_left
from cxprobe.models.asking import CHARACTERS_PER_TOKEN
from cxprobe.project.params import load_params
from cxprobe.results.task import Demand
from cxprobe.tasks.registry import TASKS

pytest_plugins = ["exported_project"]


@pytest.fixture
def folder(made_project, tmp_path, monkeypatch):
    """A copy of the small project with two more models for pairs, which is the working directory."""
    copy = tmp_path / "project"
    shutil.copytree(made_project[0], copy)
    monkeypatch.chdir(copy)

    def edit(params):
        clm = params["models"]["mini-clm"]
        checkpoints = {"early": clm | {"at": 1.0}, "late": clm | {"at": 2.0}}
        params["models"]["along"] = {"kind": "series", "axis": "training_tokens", "checkpoints": checkpoints}
        params["pairs"] |= {"models": {"mini-clm": {}, "along": {}, "by-rule": {}}, "llms": {"mock": {}}}

    change_params(copy, copy / "params.yaml", edit)
    return copy


def asked(stage: str) -> dict[str, Demand]:
    rows = TASKS[stage.partition("_")[2]].demand(load_params())
    return {row.model: row for row in rows if row.stage == stage}


def left(capsys) -> list[str]:
    print_what_is_left(load_params())
    return capsys.readouterr().out.splitlines()


def test_pairs_count_each_text_once(folder):
    pairs = pd.concat([pd.read_parquet(f"data/make_pairs/{name}.parquet") for name in PAIRS])
    texts = {context + end for context, *ends in pairs[["context", "good", "bad"]].to_numpy() for end in ends}
    rows = asked("measure_pairs")
    assert rows["mini-clm"].texts == len(texts)
    assert rows["mini-clm"].tokens == sum(map(len, texts)) // CHARACTERS_PER_TOKEN
    assert rows["along"].texts == 2 * len(texts)  # once a checkpoint
    assert set(rows) == {"mini-clm", "along"}  # baselines cost nothing


def test_a_model_that_is_asked_about_fewer_pairs_is_counted_with_these(folder):
    every = asked("measure_pairs")
    one_each = {"meaning": 1, "form": 1, "control": 1}
    change(folder, lambda params: params["pairs"]["models"].update({"mini-clm": one_each}))
    fewer = asked("measure_pairs")
    assert fewer["mini-clm"].texts < every["mini-clm"].texts
    assert fewer["along"] == every["along"]


def test_requests_are_the_questions_and_replies_at_most_as_long_as_allowed(folder):
    questions = pd.read_parquet(f"data/make_prompts/{MEANING}/questions.parquet")["question"]
    most = load_params().llms["mock"].max_tokens
    row = asked("ask_prompts")["mock"]
    assert row == Demand("ask_prompts", "mock", len(questions), questions.str.len().sum() // 4, len(questions) * most)
    assert asked("ask_pairs")["mock"].texts % 2 == 0  # both orders of each pair


def test_sentences_and_scenarios_are_counted_as_they_were_made(folder):
    recognition = Path("data/make_recognition/comparative-correlative")
    sentences = [pd.read_parquet(path)["text"] for path in recognition.glob("*/sentences.parquet")]
    assert asked("embed_recognition")["minilm"].texts == pd.concat(sentences).nunique()
    texts = pd.read_parquet(f"data/make_scenarios/{MEANING}/texts.parquet")["text"]
    assert asked("measure_scenarios")["mini-mlm"].texts == texts.nunique()


def test_a_line_is_counted_alone_and_the_others_are_named_with_the_stage_to_run(folder, capsys):
    lines = ("recognition", "scenarios", "prompts", "pairs")
    for name in lines[:-1]:
        shutil.rmtree(f"data/make_{name}")
    change_params(folder, folder / "params.yaml", lambda params: params["pairs"].update(benchmarks={}))
    told = left(capsys)
    assert {row.split()[1] for row in told if row.startswith("measure_pairs")} == {"mini-clm", "along"}
    missing = "recognition, scenarios, prompts cannot be counted before `dvc repro make_recognition make_scenarios"
    assert f"{missing} make_prompts` has made the items" in told
    change_params(folder, folder / "params.yaml", lambda params: params["pairs"].update(benchmarks={"b": BENCHMARK}))
    assert any(line.startswith("pairs, ") for line in left(capsys))


@pytest.mark.pipeline
def test_only_what_is_left_is_counted_and_a_making_stage_that_has_changed_is_told(project, monkeypatch, capsys):
    monkeypatch.chdir(project)
    assert re.fullmatch(r"(\d+) of \1 stages that ask a model are up to date", left(capsys)[-1])

    def add(params):
        params["models"]["clm-random"] = params["models"]["clm"] | {"weights": "random", "seed": 1}
        params["pairs"]["models"]["clm-random"] = {}

    change(project, add)
    header, row, _ = left(capsys)[-3:]
    assert header.startswith("stage")
    assert row.split()[:2] == ["measure_pairs", "clm-random"]
    change(project, lambda params: params.update(seed=99))
    assert "make_pairs is not up to date; run `dvc repro make_pairs` to count what is new" in left(capsys)
