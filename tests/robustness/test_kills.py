"""Toy stages that are killed at any moment: no half output stands, and the next run leaves what an unbroken run leaves.

The moments follow from a seed; CXPROBE_KILL_SEED gives some that nobody has tried, CXPROBE_KILLS more of them.
"""

import os
import random
import shutil
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from mlflow import MlflowClient
from script_process import NONE, Kill
from stage_process import Ended, run_process
from toy_stages import TOY, write_toy_project

from cxprobe.files.writing import SCRATCH

SEED = os.environ.get("CXPROBE_KILL_SEED", "1")
CALLS = [0, 1, 2, 3, 5, 10, 20, 1_000, 100_000]  # of functions, between a change of a file and the signal
SIGNALS = [signal.SIGTERM, signal.SIGINT, signal.SIGKILL]
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
    assert attack(stage, stage.run_whole(), older, int(os.environ.get("CXPROBE_KILLS", QUICK[name]))) == []


class Whole(NamedTuple):
    """An unbroken run of a stage.

    Attributes:
        outputs: Path of each file that it writes -> its content.
        changes: How often it changed a file.
    """

    outputs: dict[Path, bytes]
    changes: int


class Attacked(NamedTuple):
    """A stage that is killed, in a project.

    Attributes:
        folder: The project.
        script: The stage's script.
        arguments: What the script is given.
        outputs: Its files and folders below data/ and results/.
        environment: What is set for it.
    """

    folder: Path
    script: Path
    arguments: list[str]
    outputs: list[Path]
    environment: dict[str, str]

    def run(self, kill: Kill = NONE) -> Ended:
        return run_process(self.folder, self.script, *self.arguments, kill=kill, **self.environment)

    def found(self) -> dict[Path, bytes]:
        """Return all whole files that stand among the outputs."""
        files = [file for output in self.outputs for file in (self.folder / output).rglob("*") if file.is_file()]
        whole = [file for file in files if not any(part.endswith(".partial") for part in file.parts)]
        return {file.relative_to(self.folder): file.read_bytes() for file in whole}

    def remove_outputs(self) -> None:
        """Do as DVC does before it runs a stage, and remove what a killed run may leave for the next."""
        kept = [SCRATCH / "answers", *(SCRATCH / Path(output).parts[1] for output in self.outputs)]
        for output in [*self.outputs, *kept]:
            shutil.rmtree(self.folder / output, ignore_errors=True)

    def restore(self, outputs: dict[Path, bytes]) -> None:
        """Let outputs stand that an earlier run has left."""
        self.remove_outputs()
        for path, content in outputs.items():
            (self.folder / path).parent.mkdir(parents=True, exist_ok=True)
            (self.folder / path).write_bytes(content)

    def run_whole(self) -> Whole:
        self.remove_outputs()
        ended = self.run()
        assert ended.code == 0, ended.said
        return Whole(self.found(), ended.changes)


def attack(stage: Attacked, whole: Whole, older: dict[Path, bytes], number: int) -> list[str]:
    """Kill a stage by every signal, each time among what the kill before has left, and let it end; do so often.

    Args:
        stage: What is killed.
        whole: An unbroken run of it.
        older: Outputs that stand every other time, as after a run by hand, which removes none: of this run, or of one
            with other inputs.
        number: How often each signal is sent.

    Returns:
        What was wrong.
    """
    generator = random.Random(f"{SEED}-{stage.script.stem}-{stage.environment}-{stage.arguments}")
    wrong = []
    for count in range(number):
        standing = older if count % 2 else {}
        stage.restore(standing)
        told = f"{len(standing)} files stood"
        for signum in generator.sample(SIGNALS, len(SIGNALS)):
            kill = Kill(signum, generator.randint(0, whole.changes), generator.choice(CALLS))
            ended = stage.run(kill)
            told += f", {kill}"
            faults = [*faults_of_end(signum, ended), *faults_of_outputs(stage, whole, standing)]
            wrong += [f"{told}: {fault}" for fault in faults]
        wrong += [f"{told}: {fault}" for fault in faults_of_next(stage, whole)]
    return [*wrong, *faults_after_sync(stage)]


def faults_of_end(signum: int, ended: Ended) -> Iterator[str]:
    """Yield what is wrong with how a process ended; it may have come to its end before the signal."""
    if ended.code not in (0, 128 + signum, -signum):  # or it had not set yet how it takes signals
        yield f"ended with {ended.code}: {ended.said[-2000:]}"
    lost = "Exception ignored in"  # Python says so where it drops an exception; the stage has ended nevertheless
    if signum != signal.SIGKILL and "Traceback" in ended.said and lost not in ended.said and ended.code != -signum:
        yield f"a traceback: {ended.said[-2000:]}"


def faults_of_outputs(stage: Attacked, whole: Whole, older: dict[Path, bytes]) -> Iterator[str]:
    """Yield what stands after a kill and is neither new nor older, and results that are both."""
    found = stage.found()
    for path, content in found.items():
        if content not in (whole.outputs.get(path), older.get(path)):
            yield f"{path} stands and is not as an unbroken run leaves it"
    results = {path for path in found if path.parts[0] == "results"}
    mixed = [{path for path in results if found[path] != outputs.get(path)} for outputs in (older, whole.outputs)]
    if all(mixed):
        yield f"results are partly new, {sorted(map(str, mixed[0]))}, and partly old, {sorted(map(str, mixed[1]))}"


def faults_of_next(stage: Attacked, whole: Whole) -> Iterator[str]:
    """Yield what is wrong with the run that follows a kill."""
    again = stage.run()
    if again.code:
        yield f"the next run ended with {again.code}: {again.said[-2000:]}"
    found = stage.found()
    differing = {path for path in {*found, *whole.outputs} if found.get(path) != whole.outputs.get(path)}
    if differing:
        yield f"the next run's outputs are others: {sorted(map(str, differing))}"
    if left := [path for top in ("data", "results") for path in (stage.folder / top).rglob("*.partial")]:
        yield f"unfinished files are left: {left}"


def faults_after_sync(stage: Attacked) -> Iterator[str]:
    """Yield what `cxprobe sync` leaves to do in the tracking store."""
    synced = run_process(stage.folder, Path(sys.executable).with_name("cxprobe"), "sync")
    if synced.code:
        yield f"cxprobe sync ended with {synced.code}: {synced.said}"
    client = MlflowClient(f"sqlite:///{stage.folder / 'mlruns' / 'mlflow.db'}")
    experiments = [experiment.experiment_id for experiment in client.search_experiments()]
    for run in client.search_runs(experiments, "attributes.status = 'RUNNING'"):
        yield f"{run.info.run_name} is still RUNNING"
