"""DVC experiments: their runs are in the project's own tracking store, and can be told apart."""

import os

import pytest
from mlflow import MlflowClient

from conftest import ROOT, change_params, commit, init_dvc, run, toy_params, write_toy_construction

SCRIPT = """\
from toy_stages import evaluate_pairs

from cxprobe.tasks.pairs.params import PairsStage
from cxprobe.run.running import run_stage

if __name__ == "__main__":
    run_stage(evaluate_pairs, PairsStage)
"""
DVC_YAML = """\
stages:
  evaluate_pairs:
    cmd: python evaluate_pairs.py
    params: [pairs.evaluate]
    deps: [input.txt, evaluate_pairs.py]
    outs:
      - data/evaluate_pairs
      - results/evaluate_pairs/runs
    metrics:
      - results/metrics/pairs: {cache: false}
"""


@pytest.fixture
def project(tmp_path):
    """A project under git and DVC with one stage that judges, and its environment."""
    folder = tmp_path / "project"
    folder.mkdir()
    content = {"evaluate_pairs.py": SCRIPT, "dvc.yaml": DVC_YAML, "input.txt": "hello"}
    write_toy_construction(folder / "constructions")
    change_params(folder, toy_params(), lambda _: None)
    for name, text in (content | {".gitignore": "mlruns\n__pycache__\n"}).items():
        (folder / name).write_text(text)
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
    names = (("mlm", "toy"), ("mlm", "all"), ("shorter (baseline)", "all"))
    assert names_and_settings(project) == {
        *((f"{model} · {place}", "per_token") for model, place in names),
        *((f"{model} · score=sum · {place} · weak", "sum") for model, place in names),
    }
