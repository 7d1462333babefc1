"""A plugin of pytest for tests that run stages or write runs: `pytest_plugins = ["tracked_workspace"]`."""

import shutil
import sys
from pathlib import Path

import pytest


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, empty_store: Path) -> Path:
    """A project folder with an input, an empty tracking store and the arguments of a script for one model."""
    for name in ("MLFLOW_TRACKING_URI", "DVC_STAGE", "DVC_EXP_NAME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mlruns").mkdir()
    shutil.copy(empty_store, tmp_path / "mlruns" / "mlflow.db")
    (tmp_path / "input.txt").write_text("hello")
    monkeypatch.setattr(sys, "argv", ["stage.py", "--model", "tiny"])
    return tmp_path
