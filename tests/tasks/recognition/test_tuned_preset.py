"""The preset with a search over regularisation, from end to end: a parent run with child runs, and the best C."""

import pandas as pd
import pytest
from mlflow import MlflowClient
from stage_work import do_work

from conftest import ROOT
from cxprobe.cli.init import preset_text
from cxprobe.project.params import load_params
from cxprobe.run.params import read_params
from cxprobe.run.results import write_results
from cxprobe.run.stage import Stage
from cxprobe.run.tracking import sync
from cxprobe.tasks.recognition.params import RecognitionStage
from cxprobe.tasks.registry import all_experiments

pytestmark = pytest.mark.pipeline


def test_each_trial_is_a_child_run_and_the_run_has_the_best_c_with_its_curve(tmp_path, monkeypatch, empty_store):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
    (tmp_path / "mlruns").mkdir()
    (tmp_path / "mlruns" / "mlflow.db").write_bytes(empty_store.read_bytes())
    for name in ("constructions", "models"):
        (tmp_path / name).symlink_to(ROOT / name)
    preset = preset_text("tuned", ROOT / "presets")
    assert "trials: 8" in preset
    (tmp_path / "params.yaml").write_text(
        preset.replace("trials: 8", "trials: 2")
    )  # a child run takes a tenth of a second
    params = read_params(RecognitionStage)
    records = []
    for step, item in (("make", ""), ("embed", "mini-mlm"), ("measure", "mini-mlm"), ("evaluate", "")):
        stage = Stage(f"{step}_recognition", item, params)
        records = write_results(stage, do_work(step, "recognition", params, item))
    sync(records, all_experiments())

    client = MlflowClient(f"sqlite:///{tmp_path / 'mlruns' / 'mlflow.db'}")
    experiment = client.get_experiment_by_name("recognition").experiment_id
    (parent,) = client.search_runs([experiment], "params.model = 'mini-mlm' and tags.role = 'part'")
    children = client.search_runs([experiment], f"tags.`mlflow.parentRunId` = '{parent.info.run_id}'", max_results=5000)
    artifacts = {file.path for file in client.list_artifacts(parent.info.run_id)}
    assert {"search.png", "tuned.csv"} <= artifacts
    best = pd.read_csv(client.download_artifacts(parent.info.run_id, "tuned.csv"))
    assert len(children) == len(best) * load_params().recognition.tune.trials
    for found in best.to_dict("records"):
        place = (found["feature"], str(found["layer"]))
        tried = [run for run in children if (run.data.params["feature"], run.data.params["layer"]) == place]
        assert max(run.data.metrics["accuracy"] for run in tried) == pytest.approx(found["accuracy"], rel=1e-3)
        (chosen,) = [run for run in tried if run.info.run_name == f"{' '.join(place)} {found['number']}"]
        assert float(chosen.data.params["C"]) == pytest.approx(found["C"], rel=1e-3)  # tables are rounded
