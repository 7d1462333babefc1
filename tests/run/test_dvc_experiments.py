"""DVC experiments: their runs are in the project's own tracking store, and can be told apart."""

import pytest
from mlflow import MlflowClient

from conftest import ROOT, commit, run

SCRIPT = """\
from pathlib import Path

from ruamel.yaml import YAML
from toy_stages import ToyParams, judge_pairs

from cxprobe.stages import run_stage_with

if __name__ == "__main__":
    run_stage_with(lambda: ToyParams.model_validate(YAML(typ="safe").load(Path("params.yaml"))), judge_pairs, "model")
"""
DVC_YAML = """\
stages:
  judge_pairs:
    cmd: python judge_pairs.py --model tiny
    params: [fit_probes.C]
    deps: [input.txt, judge_pairs.py]
    outs:
      - data/judge_pairs/tiny
      - results/judge_pairs/tiny/runs
    metrics:
      - results/judge_pairs/tiny/metrics.json: {cache: false}
"""
PARAMS = """\
seed: 7
models: {tiny: {name: models/tiny, dtype: float32}}
build_words: {mined: {per_label: 3}, generated: {per_label: 5}}
fit_probes: {C: 1.0, jobs: 2, names: [a], revision: null}
"""


@pytest.fixture
def project(tmp_path):
    """A project under git and DVC with one stage that judges, and its environment."""
    folder = tmp_path / "project"
    folder.mkdir()
    content = {"judge_pairs.py": SCRIPT, "dvc.yaml": DVC_YAML, "params.yaml": PARAMS, "input.txt": "hello"}
    for name, text in (content | {".gitignore": "mlruns\n__pycache__\n"}).items():
        (folder / name).write_text(text)
    for command in (
        ("git", "init", "--quiet"),
        ("dvc", "init", "--quiet"),
        ("dvc", "config", "core.analytics", "false"),
    ):
        run(folder, *command)
    commit(folder)
    return folder


def dvc(project, *arguments) -> None:
    run(
        project,
        *("dvc", *arguments),
        PYTHONPATH=f"{ROOT / 'src'}:{ROOT / 'tests'}",
        GIT_AUTHOR_NAME="t",
        GIT_AUTHOR_EMAIL="t@example.org",
        GIT_COMMITTER_NAME="t",
        GIT_COMMITTER_EMAIL="t@example.org",
    )


def names_and_settings(project) -> set[tuple[str, str]]:
    """Return the name and the setting of every judged run, all of which have their artifacts."""
    client = MlflowClient(f"sqlite:///{project / 'mlruns' / 'mlflow.db'}")
    runs = client.search_runs([client.get_experiment_by_name("pairs").experiment_id])
    assert all(client.list_artifacts(run.info.run_id) for run in runs)
    return {(run.info.run_name, run.data.params["fit_probes.C"]) for run in runs}


@pytest.mark.pipeline
def test_an_experiment_in_a_temporary_workspace_ends_in_runs_of_the_project(project):
    dvc(project, "repro", "--quiet")
    dvc(project, "exp", "run", "--quiet", "--temp", "--name", "weak", "-S", "fit_probes.C=0.1")
    assert names_and_settings(project) == {
        ("tiny · toy", "1.0"),
        ("tiny · all", "1.0"),
        ("tiny · toy · weak", "0.1"),
        ("tiny · all · weak", "0.1"),
    }


@pytest.mark.slow
@pytest.mark.pipeline
def test_queued_experiments_end_in_runs_that_differ_in_name_and_parameters(project):
    for name, value in (("weak", 0.1), ("strong", 10.0)):
        dvc(project, "exp", "run", "--quiet", "--queue", "--name", name, "-S", f"fit_probes.C={value}")
    dvc(project, "exp", "run", "--quiet", "--run-all")
    assert names_and_settings(project) == {
        ("tiny · toy · weak", "0.1"),
        ("tiny · all · weak", "0.1"),
        ("tiny · toy · strong", "10.0"),
        ("tiny · all · strong", "10.0"),
    }


@pytest.mark.pipeline
def test_a_second_run_changes_nothing_that_git_or_dvc_sees(project):
    dvc(project, "repro", "--quiet")
    commit(project)
    lock = (project / "dvc.lock").read_bytes()
    dvc(project, "repro", "--quiet", "--force")
    assert (project / "dvc.lock").read_bytes() == lock
    assert run(project, "git", "status", "--porcelain").stdout == ""
