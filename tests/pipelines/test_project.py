"""A whole project under DVC: which runs MLflow has, what can be compared, and that it can be repeated."""

import shutil
import subprocess

import pytest
from whole_project import runs

from conftest import ROOT, commit, run

pytestmark = pytest.mark.pipeline

WORDS = ("real", "pseudo")
RULES = ("first-mentioned", "shorter")  # baselines


def test_every_model_has_a_run_for_each_construction_of_a_line_and_a_baseline_one_for_all(finished_project):
    expected = {
        "recognition": {(model, "toy", "generated") for model in ("one", "one-random", "word-ngrams", "positions")},
        "scenarios": {("mlm", "toy", "own"), *((model, "all", "own") for model in ("mlm", "last-rule", "copier"))},
        "pairs": {(model, of, words) for model in ("mlm", "clm") for of in ("toy", "all") for words in WORDS}
        | {(model, "all", words) for model in RULES for words in WORDS},
        "prompts": {
            (model, of, name)
            for model in ("mock", "clm")
            for of in ("toy", "all")
            for name in ("templatic", "challenge", "reasoning")
        }
        | {("hypothesis-only", "all", "templatic"), ("first-referent", "all", "reasoning")},
    }
    for experiment, wanted in expected.items():
        params = [one.data.params for one in runs(finished_project, experiment)]
        assert {(one["model"], one["construction"], one["source"]) for one in params} == wanted, experiment


@pytest.mark.parametrize("experiment", ["recognition", "scenarios", "pairs", "prompts"])
def test_the_runs_of_an_experiment_can_be_compared(finished_project, experiment):
    found = runs(finished_project, experiment)  # the newest first
    assert len({tuple(sorted(one.data.params)) for one in found}) == 1
    states = [one.data.params["model_weights"] for one in found]
    assert states[0] == "trained"
    assert states == sorted(states, key=["trained", "random", "none"].index)
    for one in found:
        assert {"accuracy", "accuracy.low", "accuracy.high", "n"} <= one.data.metrics.keys()
        assert len(one.data.metrics) <= 50
        assert len(one.data.tags["mlflow.source.git.commit"]) == 40
        assert one.data.tags["git.dirty"] == "false"
        label = {"none": " (baseline)", "random": " (random weights)", "trained": ""}[one.data.params["model_weights"]]
        assert one.info.run_name.startswith(f"{one.data.params['model']}{label} ·")
    if experiment == "recognition":
        assert "random" in states


@pytest.mark.slow
def test_running_everything_again_changes_nothing_that_git_or_dvc_sees(project):
    commit(project)
    run(project, "dvc", "repro", "--force")
    assert run(project, "git", "status", "--porcelain").stdout == ""


def test_the_stages_run_in_any_shell_where_the_project_has_an_environment(tmp_path):
    (tmp_path / "pipelines").mkdir()
    shutil.copy(ROOT / "pipelines" / "run", tmp_path / "pipelines")
    command = ["sh", "pipelines/run", "list_code"]
    nowhere = {"env": {"PATH": "/nowhere"}, "executable": "/bin/sh"}
    without = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, **nowhere)
    assert (without.returncode, "activate the environment of cxprobe first" in without.stderr) == (2, True)
    bin = tmp_path / ".venv" / "bin"
    bin.mkdir(parents=True)
    (bin / "python").write_text('#!/bin/sh\necho "the environment of the project"\n')
    (bin / "python").chmod(0o755)
    own = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True, **nowhere)
    assert own.stdout == "the environment of the project\n"
