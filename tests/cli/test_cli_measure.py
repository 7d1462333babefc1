"""`cxprobe measure`: parts fill what the stages find, whatever was killed, and the numbers are those of one run."""

import os
import re
import runpy
import shutil
import signal
import subprocess
import sys
import time

import numpy as np
import pandas as pd
import pytest
from likelihood_server import likelihood_server, served_model
from ruamel.yaml import YAML
from tiny_lms import save_lm
from typer.testing import CliRunner

from conftest import PEOPLE, ROOT, change_params, shrink, write_toy_construction
from cxprobe.cli import app
from cxprobe.cli.measure import STAGES
from cxprobe.files.arrays import read_features
from cxprobe.files.tables import read_table, write_table
from cxprobe.lm.loading import load_causal_lm
from cxprobe.lm.params import ModelSpec
from cxprobe.lm.texts import Pair
from cxprobe.pairs.make import pair_table
from cxprobe.run.params import load_params
from cxprobe.run.stage import Stage

pytestmark = pytest.mark.pipeline

NOUNS = ("cat", "dog", "fox", "king", "queen", "bird", "horse")
ITEMS = [
    ("extract_features", {"model": "mlm", "construction": "toy"}),
    ("fill_scenarios", {"model": "mlm"}),
    ("score_pairs", {"model": "mlm"}),
    ("score_pairs", {"model": "clm"}),
    ("score_answers", {"model": "clm"}),
    ("fit_pair_probes", {"model": "mlm"}),
]
MEASURED = [one for one in ITEMS if one[0] != "fit_pair_probes"]  # the toy pairs are too few to fit probes


def small(params: dict) -> None:
    """Let the grid ask for what is in the folder, in many small batches."""
    shrink(params)
    params["grid"]["recognition"]["models"] = params["grid"]["ways"]["models"] = ["mlm"]
    params["grid"]["pairs"]["models"], params["grid"]["prompts"]["models"] = ["mlm", "clm", "by-rule"], ["clm"]
    params["grid"]["scenarios"]["models"] = ["mlm", "by-place"]
    params["extract_features"]["token_budget"] = 32
    for section in ("score_pairs", "score_answers", "fill_scenarios"):
        params[section]["token_budget"] = 64
    params["score_pairs"]["schemes"] = ["pll", "pll_word_l2r"]
    params["judge_pairs"]["scheme"] = "pll"


def make(folder) -> None:
    """Make a project whose data have been made, and nothing has been measured."""
    shutil.copy(ROOT / "dvc.yaml", folder)
    (folder / "pipelines").symlink_to(ROOT / "pipelines")
    write_toy_construction(folder / "constructions")
    (folder / "lexicon").mkdir()
    (folder / "lexicon" / "people.yaml").write_text(PEOPLE)
    change_params(folder, ROOT / "presets" / "embedded.yaml", small)
    save_lm(folder / "models" / "mlm", "bert")
    save_lm(folder / "models" / "clm", "llama")
    data = folder / "data"
    pairs = [
        Pair(f"{one}-{two}", one, f"we say that the {one}", f" runs, the {two} sings.", " runs.", {}, {})
        for one in NOUNS
        for two in NOUNS
        if one != two
    ]
    write_table(pair_table(pairs).assign(words="real"), data / "build_pairs" / "toy.parquet")
    texts = [(noun, "S1", 0, f"the {noun} is [MASK] today.", "old", "young") for noun in NOUNS]
    columns = ["item", "scenario", "draw", "text", "first", "second"]
    write_table(pd.DataFrame(texts, columns=columns), data / "build_scenarios" / "toy" / "texts.parquet")
    write_table(pd.DataFrame({"id": NOUNS}), data / "build_scenarios" / "toy" / "items.parquet")
    sentences = [(f"{one}-{two}", f"the {one} runs in the garden, the {two} too") for one in NOUNS for two in NOUNS]
    write_table(
        pd.DataFrame(sentences, columns=["id", "text"]),
        data / "build_recognition" / "toy" / "generated" / "sentences.parquet",
    )
    choices = pd.DataFrame({"id": NOUNS, "question": [f"the {noun} runs." for noun in NOUNS], "anywhere": "the"})
    answers = [(noun, symbol, f" the cat {verb}") for noun in NOUNS for symbol, verb in (("0", "sings"), ("1", "eats"))]
    write_table(choices.assign(gold="0"), data / "build_prompts" / "toy" / "choices.parquet")
    write_table(
        pd.DataFrame(answers, columns=["id", "answer", "text"]), data / "build_prompts" / "toy" / "answers.parquet"
    )


@pytest.fixture
def folder(tmp_path, monkeypatch):
    make(tmp_path)
    monkeypatch.chdir(tmp_path)
    handlers = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)}
    yield tmp_path
    for number, handler in handlers.items():  # the command has its own
        signal.signal(number, handler)


def typed(*words: str):
    return CliRunner().invoke(app, ["measure", *words])


def run_stages() -> int:
    """Run the measuring stages' work as `dvc repro` does; return how often a model was called for it."""
    import torch

    calls = []
    hook = torch.nn.modules.module.register_module_forward_pre_hook(
        lambda module, _: calls.append(1) if hasattr(module, "base_model") else None
    )
    params = load_params()
    try:
        for name, item in MEASURED:
            work = runpy.run_path(str(ROOT / "pipelines" / "measure" / f"{name}.py"))[name]
            assert work(Stage(name, item, params)) is not None
    finally:
        hook.remove()
    return len(calls)


def outputs(folder) -> dict[str, object]:
    """Return all numbers that the stages have written."""
    found = {
        str(path.relative_to(folder)): read_table(path)
        for name, _ in MEASURED
        for path in sorted((folder / "data" / name).rglob("*.parquet"))
    }
    for path in sorted((folder / "data").glob("extract_features/**/features.npy")):
        found[str(path.relative_to(folder))] = np.array(read_features(path.parent).vectors)
    return found


def assert_same(found, expected) -> None:
    assert found.keys() == expected.keys()
    assert len(found) > 6
    for name, one in expected.items():
        if isinstance(one, np.ndarray):
            np.testing.assert_array_equal(found[name], one)
        else:
            assert found[name].equals(one), name


def test_all_stages_that_ask_checkpoints_have_parts():
    stages = YAML(typ="safe").load(ROOT / "dvc.yaml")["stages"]
    measuring = {
        name
        for name, stage in stages.items()
        if "pipelines/measure/" in str(stage) and "src/cxprobe/models" in stage.get("deps", [])
    }
    assert measuring == set(STAGES)


def test_parts_fill_what_the_stages_find_and_status_says_what_is_missing(folder, monkeypatch):
    said = typed("--status").stdout.splitlines()
    assert [line.partition(":")[0] for line in said[:-1]] == [" ".join([name, *item.values()]) for name, item in ITEMS]
    assert all("0 of " in line and "missing" in line for line in said[:-1])
    assert said[-1] == "0 of 6 are complete"
    for part in ("1/3", "3/3"):
        assert typed("--part", part).exit_code == 0
    assert typed("--status").stdout.splitlines()[-1] != "6 of 6 are complete"
    done = typed("--part", "2/3")
    assert done.exit_code == 0
    assert "score_pairs clm: part 2/3 is there" in done.stdout
    assert not [path for path in (folder / "data").glob("*/*") if path.parent.name in STAGES]
    assert not (folder / "results").exists()
    said = typed("--status").stdout
    assert "missing" not in said
    assert said.splitlines()[-1] == "6 of 6 are complete"
    trials = 10  # a model that is loaded reads one sentence; the head of a model and its body count apart
    assert run_stages() <= trials
    found = outputs(folder)
    other = folder / "other"
    other.mkdir()
    make(other)
    monkeypatch.chdir(other)
    assert run_stages() > 3 * trials
    assert_same(found, outputs(other))


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "give either --part, such as --part 3/16, or --status"),
        (["--part", "1/2", "--status"], "give either --part"),
        (["--part", "0/4"], "--part 0/4: give which part of how many, from 1/1 to n/n"),
        (["--part", "5/4"], "--part 5/4: give"),
        (["--part", "a"], "--part a: give"),
        (["--part", "1/2", "--stage", "score_pair"], "did you mean 'score_pairs'"),
        (["--part", "1/2", "--model", "nope"], "--model nope: models has no 'nope'"),
        (["--part", "1/2", "--model", "by-rule"], "blind models need no parts"),
    ],
)
def test_what_is_no_part_is_refused(folder, words, said):
    done = typed(*words)
    assert done.exit_code == 2
    assert said in done.output


def test_data_that_have_not_been_made_are_named_with_the_command_before_work_begins(folder):
    shutil.rmtree(folder / "data" / "build_prompts" / "toy")
    done = typed("--part", "1/2")
    assert done.exit_code == 2
    told = "score_answers clm: data/build_prompts/toy is missing; `dvc repro build_prompts` makes it"
    assert told in done.output
    assert not (folder / "data" / ".scratch").exists()
    assert told in typed("--status").stdout


def test_a_model_on_a_server_is_left_to_the_stage_and_status_counts_its_answers_without_the_server(folder):
    pytest.importorskip("openai", reason="the client is not installed: pip install 'cxprobe[prompting]'")
    local = load_causal_lm("clm", ModelSpec(name="models/clm", revision=None, sha256=None, dtype="float32"))
    line = ("--stage", "score_pairs", "--model")

    def serve(params):
        small(params)
        params["grid"]["pairs"]["models"] = ["mlm", "big"]
        params["models"]["big"] = served_model(url)

    with likelihood_server(local.model, local.tokenizer) as (url, answers):
        change_params(folder, ROOT / "presets" / "embedded.yaml", serve)
        said = typed("--status", *line, "big").stdout
        assert re.match(r"score_pairs big: 0 of (\d+) answers, \1 missing; left to `dvc repro`, which asks the", said)
        done = typed("--part", "1/1", *line, "big", "--model", "mlm")
        assert done.exit_code == 0
        assert "score_pairs big: left to `dvc repro`" in done.stdout
        assert "score_pairs mlm: part 1/1 is there" in done.stdout
        refused = typed("--part", "1/1", *line, "big")
        assert refused.exit_code == 2
        assert "a model on a server has none" in refused.output
        assert not answers.requests
        runpy.run_path(str(ROOT / "pipelines/measure/score_pairs.py"))["score_pairs"](
            Stage("score_pairs", {"model": "big"}, load_params())
        )
        assert answers.requests
    said = typed("--status", *line, "big").stdout  # the server is gone
    assert re.match(r"score_pairs big: (\d+) of \1 answers\n1 of 1 are complete", said)


@pytest.mark.slow
def test_four_parts_at_once_of_which_two_are_killed_and_run_again_give_what_one_run_gives(folder, monkeypatch):
    command = [sys.executable, "-c", "from cxprobe.cli import app; app()", "measure", "--part"]
    environment = os.environ | {"OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1"}

    def begin(part):
        return subprocess.Popen([*command, part], cwd=folder, env=environment, stdout=subprocess.DEVNULL)

    parts = {f"{number}/4": begin(f"{number}/4") for number in range(1, 5)}
    deadline = time.monotonic() + 400
    while not list(folder.glob("data/.scratch/**/*.npy")) and time.monotonic() < deadline:
        time.sleep(0.02)
    parts["2/4"].send_signal(signal.SIGKILL)
    parts["3/4"].send_signal(signal.SIGTERM)
    codes = {name: process.wait(timeout=600) for name, process in parts.items()}
    assert (codes["1/4"], codes["4/4"]) == (0, 0)
    assert codes["2/4"] != 0
    assert codes["3/4"] != 0
    assert "missing" in typed("--status").stdout
    for name in ("2/4", "3/4"):
        assert begin(name).wait(timeout=600) == 0
    assert typed("--status").stdout.splitlines()[-1] == "6 of 6 are complete"
    run_stages()
    found = outputs(folder)
    other = folder / "other"
    other.mkdir()
    make(other)
    monkeypatch.chdir(other)
    run_stages()
    assert_same(found, outputs(other))
