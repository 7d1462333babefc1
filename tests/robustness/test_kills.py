"""Toy stages that are killed at any moment: no half output stands, and the next run leaves what an unbroken run leaves.

The moments follow from a seed; CXPROBE_KILL_SEED gives some that nobody has tried, CXPROBE_KILLS more of them.
"""

import os
import signal
from pathlib import Path

import psutil
import pytest
from killing import Attacked, attack, faults_of_next
from script_process import Kill
from toy_stages import TOY, write_toy_project

# Kills with each signal, which `make test` has time for.
QUICK = {"measure_pairs": 4, "evaluate_pairs": 2, "report": 2}


@pytest.mark.parametrize("name", QUICK)
def test_a_killed_stage_leaves_nothing_half_done_and_the_next_run_makes_it_whole(tmp_path, empty_store, name):
    write_toy_project(tmp_path, empty_store)
    item = ["tiny-1"] if name == "measure_pairs" else []
    outputs = [Path(folder, name, *item) for folder in ("data", "results")]
    stage = Attacked(tmp_path, TOY, item, outputs, {"TOY_STAGE": name})
    (tmp_path / "input.txt").write_text("older")
    older = stage.run_whole().outputs
    (tmp_path / "input.txt").write_text("hello")
    wrong, _ = attack(stage, stage.run_whole(), older, int(os.environ.get("CXPROBE_KILLS", QUICK[name])))
    assert wrong == []


@pytest.mark.pipeline
def test_a_mining_that_is_killed_while_it_removes_its_finished_shards_mines_them_again(project):
    outputs = [Path(top, "mine_sentences", "toys") for top in ("data", "results")]
    stage = Attacked(project, project / "pipelines" / "mine_sentences.py", ["toys"], outputs, {})
    whole = stage.run_whole()
    kept, left = project / "data/.scratch/mine_sentences", set()
    for change in range(whole.changes, 0, -3):
        stage.remove_outputs()
        stage.run(Kill(signal.SIGKILL, change, 0))
        end_helpers(project)
        if not (project / outputs[0] / "toy" / "sentences.parquet").exists():
            break
        if files := [path for path in kept.rglob("*") if path.is_file()]:
            left.add(len(files))
            assert list(faults_of_next(stage, whole)) == [], change
    assert len(left) > 3  # so often it was killed with another number of files removed


def end_helpers(project: Path) -> None:
    """End the processes with which datatrove counts its tasks, since they outlive a stage that gets a SIGKILL."""
    for process in psutil.process_iter(["cwd"]):
        if process.info["cwd"] == str(project):
            process.kill()
