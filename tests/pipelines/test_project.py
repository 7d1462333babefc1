"""A whole project under DVC: which runs MLflow has, what can be compared, and that it can be repeated."""

import shutil
import subprocess

import pytest
from whole_project import runs

from conftest import ROOT, commit, run

pytestmark = pytest.mark.pipeline


def test_every_model_has_a_run_and_its_probes_settings_and_calibrations_are_parts_of_it(finished_project):
    expected = {
        "recognition": ["one", "one-random", "word-ngrams", "positions"],
        "scenarios": ["mlm", "last-rule", "copier"],
        "pairs": ["mlm", "clm", "first-mentioned", "shorter"],
        "prompts": ["mock", "hypothesis-only", "first-referent"],
    }
    for experiment, models in expected.items():
        found = runs(finished_project, experiment, "tags.role != 'part'")
        assert sorted(one.data.params["model"] for one in found) == sorted(models), experiment
    probes = runs(finished_project, "recognition", "tags.role = 'part'")
    assert {(one.data.params["model"], one.data.params["source"]) for one in probes} == {
        ("one", "generated"),
        ("one-random", "generated"),
    }
    parts = runs(finished_project, "scenarios", "tags.role = 'part'")
    assert "none" in {one.data.params["calibration"] for one in parts}


@pytest.mark.parametrize("experiment", ["recognition", "scenarios", "pairs", "prompts"])
def test_the_runs_of_an_experiment_can_be_compared(finished_project, experiment):
    found = runs(finished_project, experiment, "tags.role != 'part'")  # the newest first
    assert len({tuple(sorted(one.data.params)) for one in found}) == 1
    states = [one.data.params["model_weights"] for one in found]
    assert states[0] == "trained"
    assert states == sorted(states, key=["trained", "random", "none"].index)
    for one in found:
        assert all("/" in name for name in one.data.metrics)
        assert len(one.data.metrics) <= 40
        assert "results/report/index.html" in one.data.tags["mlflow.note.content"]
        assert len(one.data.tags["mlflow.source.git.commit"]) == 40
        assert one.data.tags["git.dirty"] == "false"
        label = {"none": " (baseline)", "random": " (random weights)", "trained": ""}[one.data.params["model_weights"]]
        assert one.info.run_name == f"{one.data.params['model']}{label}"
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
