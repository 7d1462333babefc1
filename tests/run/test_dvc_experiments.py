"""DVC experiments: their runs are in the project's own tracking store, and can be told apart."""

import os

import pytest
from mlflow import MlflowClient
from toy_stages import write_toy_dvc_project

from conftest import ROOT, run


def dvc(project, *arguments) -> None:
    modules = os.pathsep.join(str(ROOT / path) for path in ("src", "tests", "tests/support"))
    persons = {f"GIT_{who}_{what}": "t@example.org" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    run(project, "dvc", *arguments, PYTHONPATH=modules, **persons)


@pytest.mark.pipeline
def test_an_experiment_in_a_temporary_workspace_ends_in_runs_of_the_project(tmp_path):
    project = tmp_path / "project"
    write_toy_dvc_project(project)
    dvc(project, "repro", "--quiet")
    dvc(project, "exp", "run", "--quiet", "--temp", "--name", "weak", "-S", "pairs.evaluate.score=sum")
    client = MlflowClient(f"sqlite:///{project / 'mlruns' / 'mlflow.db'}")
    runs = client.search_runs([client.get_experiment_by_name("pairs").experiment_id])
    judged = [run for run in runs if "model" in run.data.params]  # the others are trials
    assert all(client.list_artifacts(run.info.run_id) for run in judged)
    names = ("mlm", "toy · mlm", "shorter (baseline)")
    assert {(run.info.run_name, run.data.params["pairs.evaluate.score"]) for run in judged} == {
        *((name, "per_token") for name in names),
        *((f"{name} · score=sum · weak", "sum") for name in names),
    }
