"""Several processes at once that run one item."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from stage_server import Ended, StageServer
from toy_stages import write_toy_project

from conftest import ROOT, project_environment

TOY = ROOT / "tests" / "support" / "toy_stage.py"


@pytest.fixture(scope="module")
def server() -> Iterator[StageServer]:
    with StageServer([TOY], project_environment(ROOT)) as started:
        yield started


def run_at_once(server: StageServer, folder: Path, stage: str, models: list[str], **environment: str) -> list[Ended]:
    processes = [server.start(folder, TOY, *model.split(), TOY_STAGE=stage, **environment) for model in models]
    return [server.wait(process) for process in processes]


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
