"""Several processes at once: first runs on an empty tracking store, and runs of one item."""

import shutil
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from mlflow import MlflowClient
from stage_server import Ended, StageServer

from conftest import ROOT, project_environment

TOY = ROOT / "tests" / "support" / "toy_stage.py"
SYNC = Path(sys.executable).with_name("cxprobe")
MODELS = [f"tiny-{number}" for number in range(1, 9)]


@pytest.fixture(scope="module")
def server() -> Iterator[StageServer]:
    with StageServer([TOY], project_environment(ROOT)) as started:
        yield started


def run_at_once(server: StageServer, folder: Path, stage: str, models: list[str], **environment: str) -> list[Ended]:
    (folder / "input.txt").write_text("hello")
    processes = [server.start(folder, TOY, "--model", model, TOY_STAGE=stage, **environment) for model in models]
    return [server.wait(process) for process in processes]


def runs(uri: str, experiment: str) -> Counter[tuple[str, str]]:
    client = MlflowClient(uri)
    found = client.search_runs([client.get_experiment_by_name(experiment).experiment_id])
    return Counter(
        (run.data.params["model"], run.info.status) for run in found if "mlflow.parentRunId" not in run.data.tags
    )


@pytest.mark.parametrize(
    ("store", "stage", "experiment", "each"),
    [("no database", "fit_probes", "stages", 1), ("a database without experiments", "judge_pairs", "pairs", 2)],
)
def test_eight_first_runs_at_once_are_all_in_the_tracking_store(
    server, tmp_path, empty_store, store, stage, experiment, each
):
    if store != "no database":
        (tmp_path / "mlruns").mkdir()
        shutil.copy(empty_store, tmp_path / "mlruns" / "mlflow.db")
    ended = run_at_once(server, tmp_path, stage, MODELS)
    assert [(one.code, one.said) for one in ended if one.code or "does not work" in one.said] == []
    found = runs(f"sqlite:///{tmp_path / 'mlruns' / 'mlflow.db'}", experiment)
    assert found == {(model, "FINISHED"): each for model in MODELS}


def test_of_eight_runs_of_one_item_at_once_one_works_and_the_others_are_told(server, tmp_path):
    ended = run_at_once(server, tmp_path, "extract_words", ["tiny-1"] * 8)
    codes = Counter(one.code for one in ended)
    assert codes[0] >= 1
    assert codes[0] + codes[2] == 8
    assert all("another process works on tiny-1: " in one.said for one in ended if one.code == 2)
    alone = tmp_path / "alone"
    alone.mkdir()
    run_at_once(server, alone, "extract_words", ["tiny-1"])
    assert contents(tmp_path) == contents(alone)


def contents(folder: Path) -> dict[Path, bytes]:
    files = [path for output in ("data/extract_words", "results") for path in (folder / output).rglob("*")]
    return {path.relative_to(folder): path.read_bytes() for path in files if path.is_file()}
