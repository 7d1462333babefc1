"""DVC experiments: their runs are in the project's own tracking store, and can be told apart."""

import os

import pytest
from mlflow import MlflowClient
from toy_stages import TOY, write_toy_project

from conftest import ROOT, commit, init_dvc, run

DVC_YAML = f"""\
stages:
  evaluate_pairs:
    cmd: TOY_STAGE=evaluate_pairs python {TOY}
    params: [pairs.evaluate]
    deps: [input.txt]
    outs:
      - data/evaluate_pairs
      - results/evaluate_pairs/runs
    metrics:
      - results/metrics/pairs: {{cache: false}}
"""


@pytest.fixture
def project(tmp_path):
    """A project under git and DVC with one stage that evaluates."""
    folder = tmp_path / "project"
    folder.mkdir()
    write_toy_project(folder)
    (folder / "dvc.yaml").write_text(DVC_YAML)
    (folder / ".gitignore").write_text("mlruns\n")
    init_dvc(folder)
    commit(folder)
    return folder


def dvc(project, *arguments) -> None:
    modules = os.pathsep.join(str(ROOT / path) for path in ("src", "tests", "tests/support"))
    persons = {f"GIT_{who}_{what}": "t@example.org" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    run(project, "dvc", *arguments, PYTHONPATH=modules, **persons)


def names_and_settings(project) -> set[tuple[str, str]]:
    """Return the name and the setting of every judged run, all of which have their artifacts."""
    client = MlflowClient(f"sqlite:///{project / 'mlruns' / 'mlflow.db'}")
    runs = client.search_runs([client.get_experiment_by_name("pairs").experiment_id])
    runs = [run for run in runs if "model" in run.data.params]  # the others are trials
    assert all(client.list_artifacts(run.info.run_id) for run in runs)
    return {(run.info.run_name, run.data.params["pairs.evaluate.score"]) for run in runs}


@pytest.mark.pipeline
def test_an_experiment_in_a_temporary_workspace_ends_in_runs_of_the_project(project):
    dvc(project, "repro", "--quiet")
    dvc(project, "exp", "run", "--quiet", "--temp", "--name", "weak", "-S", "pairs.evaluate.score=sum")
    names = ("mlm", "toy · mlm", "shorter (baseline)")
    assert names_and_settings(project) == {
        *((name, "per_token") for name in names),
        *((f"{name} · score=sum · weak", "sum") for name in names),
    }
