"""The preset with a search over regularisation, from end to end: the default and the best setting, and trials."""

import pandas as pd
import pytest
from mlflow import MlflowClient
from stage_work import do_work

from conftest import ROOT
from cxprobe.cli.init import preset_text
from cxprobe.run.params import read_params
from cxprobe.run.results import write_results
from cxprobe.run.stage import Stage
from cxprobe.run.tracking import sync
from cxprobe.tasks.recognition.evaluate import MOST_TRIALS
from cxprobe.tasks.recognition.params import RecognitionStage
from cxprobe.tasks.registry import all_experiments

pytestmark = pytest.mark.pipeline


def test_the_run_of_a_search_has_the_default_and_the_best_setting_with_their_rates_and_at_most_twenty_trials(
    tmp_path, monkeypatch, empty_store
):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
    (tmp_path / "mlruns").mkdir()
    (tmp_path / "mlruns" / "mlflow.db").write_bytes(empty_store.read_bytes())
    for name in ("constructions", "models"):
        (tmp_path / name).symlink_to(ROOT / name)
    preset = preset_text("tuned", ROOT / "presets")
    assert "trials: 8" in preset
    (tmp_path / "params.yaml").write_text(preset.replace("trials: 8", "trials: 6"))
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
    assert {"search.png", "settings.csv", "tuned.csv", "trials.csv"} <= artifacts
    reached = pd.read_csv(client.download_artifacts(parent.info.run_id, "settings.csv"), keep_default_na=False)
    together = reached[reached["feature"] == ""].set_index("setting")["accuracy"]
    searched = {name: parent.data.metrics[f"search/{name}"] for name in ("default", "best")}
    assert searched == pytest.approx(together.to_dict(), abs=1e-4)
    assert searched["best"] == pytest.approx(parent.data.metrics["accuracy"], abs=1e-4)
    assert "by the default C = 1" in parent.data.tags["mlflow.note.content"]
    assert 1 < len(children) <= MOST_TRIALS
    best = pd.read_csv(client.download_artifacts(parent.info.run_id, "tuned.csv"))
    of_middle = best[best["layer"] == best["layer"].nunique() // 2].set_index("feature")
    for feature, found in of_middle.to_dict("index").items():
        tried = [run for run in children if run.data.params["feature"] == feature]
        chosen = max(tried, key=lambda run: run.data.metrics["accuracy"])
        assert chosen.data.metrics["accuracy"] == pytest.approx(found["accuracy"], rel=1e-3)  # tables are rounded
        assert f"C={found['C']:.2g} · {feature}" in {run.info.run_name for run in tried}
