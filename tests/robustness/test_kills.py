"""Toy stages that are killed at any moment: no half output stands, and the next run leaves what an unbroken run leaves.

The moments follow from a seed; CXPROBE_KILL_SEED gives some that nobody has tried, CXPROBE_KILLS more of them.
"""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from killing import SIGNALS, Attacked, attack, faults_after_sync
from stage_server import StageServer
from toy_stages import write_toy_project

from conftest import ROOT, project_environment

QUICK = {"score_pairs": 2, "judge_pairs": 1, "report_pairs": 1}  # kills with each signal
MANY = int(os.environ.get("CXPROBE_KILLS", "6"))  # of each stage with each signal
TOY = ROOT / "tests" / "support" / "toy_stage.py"


@pytest.fixture(scope="module")
def server() -> Iterator[StageServer]:
    with StageServer([TOY], project_environment(ROOT)) as started:
        yield started


@pytest.fixture
def toy(server, tmp_path, empty_store) -> Iterator:
    """Makes a toy stage in a project of its own."""
    write_toy_project(tmp_path, empty_store)

    def make(stage: str) -> Attacked:
        item = ["tiny-1"] if stage == "score_pairs" else []
        outputs = [Path(folder, stage, *item) for folder in ("data", "results")]
        return Attacked(server, tmp_path, TOY, item, outputs, {"TOY_STAGE": stage})

    return make


def attack_toy(stage: Attacked, number: int) -> list[str]:
    """Kill a toy stage, with every signal, and return what was wrong."""
    (stage.folder / "input.txt").write_text("older")
    older = stage.run_whole().outputs
    (stage.folder / "input.txt").write_text("hello")
    whole = stage.run_whole()
    wrong = [fault for signum in SIGNALS for fault in attack(stage, whole, older, signum, number)]
    return [*wrong, *faults_after_sync(stage)]


@pytest.mark.parametrize("name", QUICK)
def test_a_killed_stage_leaves_nothing_half_done_and_the_next_run_makes_it_whole(toy, name):
    assert attack_toy(toy(name), QUICK[name]) == []


@pytest.mark.slow
@pytest.mark.parametrize("name", QUICK)
def test_many_kills_of_a_toy_stage_leave_nothing_half_done(toy, name):
    assert attack_toy(toy(name), MANY) == []
