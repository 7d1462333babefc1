"""Several processes at once: first runs on an empty tracking store, and runs of one item."""

import shutil
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from mlflow import MlflowClient
from stage_server import Ended, StageServer
from toy_stages import write_toy_project

from conftest import ROOT, change_params, project_environment

TOY = ROOT / "tests" / "support" / "toy_stage.py"


@pytest.fixture(scope="module")
def server() -> Iterator[StageServer]:
    with StageServer([TOY], project_environment(ROOT)) as started:
        yield started


def run_at_once(server: StageServer, folder: Path, stage: str, models: list[str], **environment: str) -> list[Ended]:
    processes = [server.start(folder, TOY, *model.split(), TOY_STAGE=stage, **environment) for model in models]
    return [server.wait(process) for process in processes]


@pytest.mark.parametrize("store", ["no database", "a database without experiments"])
def test_eight_first_runs_at_once_are_all_in_the_tracking_store(server, tmp_path, empty_store, store):
    uri = f"sqlite:///{tmp_path / 'mlflow.db'}"
    if store != "no database":
        shutil.copy(empty_store, tmp_path / "mlflow.db")
    folders = [tmp_path / str(number) for number in range(8)]
    for folder in folders:
        folder.mkdir()
        write_toy_project(folder)
        change_params(
            folder, folder / "params.yaml", lambda params, folder=folder: params.update(seed=int(folder.name))
        )
    more = {"TOY_STAGE": "judge_pairs", "MLFLOW_TRACKING_URI": uri}
    processes = [server.start(folder, TOY, **more) for folder in folders]
    ended = [server.wait(process) for process in processes]
    assert [(one.code, one.said) for one in ended if one.code or "does not work" in one.said] == []
    client = MlflowClient(uri)
    found = client.search_runs([client.get_experiment_by_name("pairs").experiment_id])
    judged = [run for run in found if "mlflow.parentRunId" not in run.data.tags]
    assert Counter((run.data.params["seed"], run.info.status) for run in judged) == {
        (folder.name, "FINISHED"): 4 for folder in folders
    }


def test_of_eight_runs_of_one_item_at_once_one_works_and_the_others_are_told(server, tmp_path):
    write_toy_project(tmp_path)
    ended = run_at_once(server, tmp_path, "score_pairs", ["tiny-1"] * 8)
    codes = Counter(one.code for one in ended)
    assert codes[0] >= 1
    assert codes[0] + codes[2] == 8
    assert all("another process works on tiny-1: " in one.said for one in ended if one.code == 2)
    alone = tmp_path / "alone"
    alone.mkdir()
    write_toy_project(alone)
    run_at_once(server, alone, "score_pairs", ["tiny-1"])
    assert contents(tmp_path) == contents(alone)


def contents(folder: Path) -> dict[Path, bytes]:
    files = [path for output in ("data/score_pairs", "results") for path in (folder / output).rglob("*")]
    return {path.relative_to(folder): path.read_bytes() for path in files if path.is_file()}
