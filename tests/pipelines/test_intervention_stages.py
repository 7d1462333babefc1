"""Interventions as stages: what is kept and counted, and the rates, runs and figures that follow."""

import pytest
from mlflow import MlflowClient
from stage_work import do_work
from whole_project import runs

from cxprobe.files.tables import read_table
from cxprobe.project.params import load_params
from cxprobe.tasks.interventions.evaluate import figures_by_layer

pytestmark = pytest.mark.pipeline

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
    published = read_table(finished_project / "results/evaluate_interventions/tables/beside_published.csv")
    assert {"pythia-1b", *MODELS} <= set(published["model"])
    figures = figures_by_layer(rates, dict(zip(MODELS, ("CLM", "MLM"), strict=True)))
    assert set(figures) == {f"toy_{name}" for name in MODELS}


def test_layers_are_kept_and_not_measured_again(project, monkeypatch):
    monkeypatch.chdir(project)
    monkeypatch.setattr("cxprobe.tasks.interventions.measure.measure_layer", None)
    counts = do_work("measure", "interventions", load_params(), "clm").counts
    assert counts["items"] == 16 + 8  # and neutral sentences
