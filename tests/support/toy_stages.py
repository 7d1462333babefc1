"""Small stages for the tests of what happens around a stage's work, and the project folder that they run in."""

import shutil
import sys
from pathlib import Path

import pandas as pd
import pytest
from matplotlib.figure import Figure

from conftest import ROOT, change_params, commit, init_dvc, toy_params, write_toy_construction
from cxprobe.run.record import Dataset, ModelFacts, Run, Trial
from cxprobe.run.stage import Outcome, Stage

TOY = Path(__file__).with_name("toy_stage.py")  # runs one of them
FACTS = ModelFacts(name="models/mlm", kind="masked", parameters=1234, weights="sha256 abc")
BASELINES = ModelFacts(name="the shorter one", kind="baseline", parameters=None, weights="", state="none")


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, empty_store: Path) -> Path:
    """A project folder with parameters, an input, an empty tracking store, and ``mlm`` as the script's argument."""
    for name in ("MLFLOW_TRACKING_URI", "DVC_STAGE", "DVC_EXP_NAME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    write_toy_project(tmp_path, empty_store)
    monkeypatch.setattr(sys, "argv", ["stage.py", "mlm"])
    return tmp_path


def write_toy_project(folder: Path, store: Path | None = None) -> None:
    """Write what the toy stages need, and a tracking store; the models ``tiny-1`` to ``tiny-8`` are there too."""
    if store:
        (folder / "mlruns").mkdir()
        shutil.copy(store, folder / "mlruns" / "mlflow.db")
    (folder / "input.txt").write_text("hello")
    write_toy_construction(folder / "constructions")

    def add_models(params: dict) -> None:
        params["models"] |= {f"tiny-{number}": dict(params["models"]["mlm"]) for number in range(1, 9)}

    change_params(folder, toy_params(), add_models)


def write_toy_dvc_project(folder: Path) -> None:
    """Write a project of git and DVC whose stages are the toy stages."""
    folder.mkdir()
    write_toy_project(folder)
    for file in (TOY, Path(__file__), ROOT / ".dvcignore"):
        shutil.copy(file, folder)
    shutil.copy(TOY.with_name("toy_dvc.yaml"), folder / "dvc.yaml")
    (folder / ".gitignore").write_text("mlruns\n__pycache__\n/data\n/results\n")
    init_dvc(folder)
    commit(folder)


def figure() -> Figure:
    drawn = Figure()
    drawn.subplots().plot([1, 2])
    return drawn


def measure_pairs(stage: Stage) -> Outcome:
    """A stage that measures."""
    stage.use(Path("input.txt"))
    return Outcome(
        counts={"pairs": 1_234_567, "share": 1 / 3},
        tables={"settings": pd.DataFrame({"layer": [0], "C": [1 / 3]})},
        figures={"figures/history": figure()},
    )


def judged_run(stage: Stage, model: str = "mlm", **more) -> Run:
    path = stage.use(Path("input.txt"))
    run = Run(
        stage=stage.name,
        model=model,
        facts=FACTS,
        dataset=Dataset(str(path), stage.inputs[str(path)], 4),
        metrics={"accuracy": 2 / 3},
        series={"by_shots.challenge": [(0, 0.5), (5, 2 / 3)]},
        settings=stage.settings("pairs.evaluate"),
        tables={"accuracy_by_order": pd.DataFrame({"order": ["original"], "accuracy": [2 / 3]})},
        figures={"accuracy": figure()},
        trials=[Trial("C=0.1 · length", {"accuracy": 0.75}, {"C": "0.1"})],
    )
    return run.model_copy(update=more)


def evaluate_pairs(stage: Stage) -> Outcome:
    """A stage that evaluates a trained model, with a part of its own, and a baseline."""
    part = judged_run(stage, part={"construction": "toy", "source": "own"})
    runs = [judged_run(stage, children=[part]), judged_run(stage, "shorter", facts=BASELINES)]
    return Outcome(headline={"mlm": {"meaning": 66.7, "n": 4}}, runs=runs)


def report(stage: Stage) -> Outcome:
    """A stage that reports."""
    return Outcome(
        tables={"accuracy": pd.DataFrame({"model": ["mlm"]}), "tables/words": pd.DataFrame({"a": [1]})},
        figures={"figures/accuracy": figure()},
    )
