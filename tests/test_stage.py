import shutil
import sys

import pandas as pd
import pytest
from matplotlib.figure import Figure

from conftest import ROOT
from cxprobe import stage as stage_module
from cxprobe.errors import DataError
from cxprobe.stage import Outcome, Stage, read_records, run_stage
from cxprobe.storage import read_json, read_table
from test_tracking import runs


@pytest.fixture
def workspace(tmp_path, monkeypatch, empty_diary):
    """A folder with the parameters and the constructions, and command-line arguments for one item."""
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
    monkeypatch.delenv("DVC_STAGE", raising=False)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mlruns").mkdir()
    shutil.copy(empty_diary, tmp_path / "mlruns" / "mlflow.db")
    (tmp_path / "params.yaml").write_text((ROOT / "presets" / "embedded.yaml").read_text())
    (tmp_path / "constructions").symlink_to(ROOT / "constructions")
    (tmp_path / "input.txt").write_text("hello")
    monkeypatch.setattr(sys, "argv", ["fit_probes.py", "--model", "minilm"])
    return tmp_path


def fit_probes(stage: Stage) -> Outcome:
    stage.use(stage_module.Path("input.txt"))
    figure = Figure()
    figure.subplots().plot([1, 2])
    return Outcome(
        metrics={"length": {"highest": 0.75}},
        series={"length/accuracy": [(0, 0.5)]},
        tables={"table": pd.DataFrame({"a": [1]})},
        figures={"figures/plot": figure},
        facts={"weights": "sha256 abc"},
    )


def test_finished_numbers_are_written_to_files_and_to_the_diary(workspace):
    run_stage(fit_probes, "model")
    folder = workspace / "results" / "fit_probes" / "minilm"
    assert read_json(folder / "metrics.json") == {"length": {"highest": 0.75}}
    assert read_table(folder / "table.csv")["a"].tolist() == [1]
    assert (folder / "figures" / "plot.png").stat().st_size > 1000
    (record,) = read_records()
    assert record.facts == {"weights": "sha256 abc"}
    assert record.metrics == {"length/highest": 0.75}
    assert record.inputs == {"input.txt": "5d41402abc4b2a76b9719d911017c592"}
    assert record.params["fit_probes.C"] == "1.0"
    assert record.params["models.minilm.dtype"] == "float32"
    assert not any(name.startswith("tune_probes") for name in record.params)
    _, (run,) = runs()
    assert (run.info.status, run.data.metrics["length/highest"]) == ("FINISHED", 0.75)


def test_the_same_figure_gives_the_same_file(workspace):
    path = workspace / "results" / "fit_probes" / "minilm" / "figures" / "plot.png"
    run_stage(fit_probes, "model")
    first = path.read_bytes()
    run_stage(fit_probes, "model")
    assert path.read_bytes() == first


def test_a_fault_is_printed_without_a_traceback_and_fails_the_run(workspace, capsys):
    def fit_probes(stage: Stage) -> Outcome:
        raise DataError("the sentence is empty")

    with pytest.raises(SystemExit) as ended:
        run_stage(fit_probes, "model")
    assert ended.value.code == 2
    assert capsys.readouterr().err.strip().endswith("fit_probes: the sentence is empty")
    assert runs()[1][0].info.status == "FAILED"


def test_wrong_params_stop_a_stage_before_it_begins(workspace, capsys):
    (workspace / "params.yaml").write_text("seed: -1\n")
    with pytest.raises(SystemExit) as ended:
        run_stage(fit_probes, "model")
    assert ended.value.code == 2
    assert "params.yaml: seed: -1 is not allowed" in capsys.readouterr().err
    assert runs()[1] == []


def test_an_input_that_is_not_there_says_what_makes_it(workspace):
    with pytest.raises(DataError, match=r"data/gone\.parquet is not there; `dvc repro` makes it"):
        Stage("s", {}, None).use(stage_module.Path("data/gone.parquet"))


def test_helper_processes_work_and_leave_no_trace(workspace, monkeypatch):
    monkeypatch.setenv("LOCAL_RANK", "1")
    worked = []
    run_stage(lambda stage: worked.append(stage.item), "model")
    assert worked == [{"model": "minilm"}]
    assert runs()[1] == []
    assert not (workspace / "results").exists()
