"""A whole project under DVC: which runs MLflow has, what can be compared, and that it can be repeated."""

import shutil
import subprocess

import pytest
from mlflow import MlflowClient
from stage_work import do_work
from whole_project import runs

from conftest import ROOT, commit, run
from cxprobe.errors import PromptError
from cxprobe.files.tables import read_table
from cxprobe.project.params import load_params
from cxprobe.tasks.interventions.evaluate import figures_by_layer
from cxprobe.tasks.prompts.params import AskedOf

pytestmark = pytest.mark.pipeline


@pytest.mark.parametrize("experiment", ["recognition", "scenarios", "pairs", "prompts"])
def test_the_runs_of_an_experiment_can_be_compared(finished_project, experiment):
    found = runs(finished_project, experiment, "tags.role != 'part'")  # the newest first
    assert len(found) > 2  # models and baselines
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


# Interventions and prompts as stages

MODELS = ("clm", "mlm")


def test_models_of_both_kinds_are_measured_and_evaluated(finished_project):
    measured = {
        name: read_table(finished_project / f"data/measure_interventions/{name}/effects.parquet") for name in MODELS
    }
    assert list(dict.fromkeys(measured["clm"]["region"])) == ["animal", "verb"]
    assert list(dict.fromkeys(measured["mlm"]["region"])) == ["animal", "verb", "answer"]
    tracked = runs(finished_project, "interventions", "tags.role = 'part'")
    assert {(one.data.params["model"], one.data.params["construction"]) for one in tracked} == {
        (name, "toy") for name in MODELS
    }
    client = MlflowClient(f"sqlite:///{finished_project / 'mlruns' / 'mlflow.db'}")
    by_layer = client.get_metric_history(tracked[0].info.run_id, "effect/by_layer.intervention.das")
    assert [one.step for one in by_layer] == [1, 2]
    rates = read_table(finished_project / "data/evaluate_interventions/rates.parquet")
    deciding = rates[rates["decides"]]
    assert {(row.model, row.measure) for row in deciding.itertuples()} == {
        (name, measure) for name in MODELS for measure in ("accuracy", "changed", "readable", "selectivity")
    }
    assert (deciding.loc[deciding["measure"] == "changed", "verdict"] != "").all()
    assert deciding["control"].isna().all()  # the toy has no control
    assert set(figures_by_layer(rates, {name: name.upper() for name in MODELS})) == {f"toy_{name}" for name in MODELS}


def test_layers_are_kept_and_not_measured_again(project, monkeypatch):
    monkeypatch.chdir(project)
    monkeypatch.setattr("cxprobe.tasks.interventions.measure.measure_layer", None)
    counts = do_work("measure", "interventions", load_params(), "clm").counts
    assert counts["items"] == 16 + 8  # and neutral sentences


def test_models_are_evaluated_on_the_same_items_and_compared_with_baselines(finished_project):
    responses = read_table(finished_project / "data/evaluate_prompts/responses.parquet")
    asked = responses.groupby("model")["item"].agg(set)
    assert asked["hypothesis-only"] | asked["first-referent"] <= asked["mock"]
    parts = runs(finished_project, "prompts", "params.model = 'mock' and tags.role = 'part'")
    assert {one.data.params["shots"] for one in parts} == {"0", "1"}
    results = finished_project / "results/evaluate_prompts"
    assert set(read_table(results / "rates.csv")["model"]) == {"mock", "hypothesis-only", "first-referent"}
    assert set(read_table(results / "comparisons.csv")["first"]) == {"mock"}


def test_a_model_for_which_no_question_is_left_is_refused(project, monkeypatch):
    monkeypatch.chdir(project)
    params = load_params()
    asked = {"mock": AskedOf(sets=["absent"], shots=[0], chain_of_thought=None)}
    section = params.prompts.model_copy(update={"llms": asked})
    with pytest.raises(PromptError, match=r"prompts\.llms\.mock: no question is left for this model; change its sets"):
        do_work("ask", "prompts", params.model_copy(update={"prompts": section}), "mock")
