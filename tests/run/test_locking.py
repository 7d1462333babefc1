"""Several processes at once: one works on an item, the others are told which, and a dead one is never in the way."""

import errno
import multiprocessing
import os
import platform
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest
from filelock import FileLock
from toy_stages import fit_probes, load_toy_params

from cxprobe.errors import DataError
from cxprobe.files.writing import this_machine
from cxprobe.run.locking import locked
from cxprobe.run.running import run_stage_with
from cxprobe.run.stage import Outcome, Stage

pytest_plugins = ["tracked_workspace"]

FORK = multiprocessing.get_context("fork")


def stage(name: str = "fit_probes", model: str = "tiny") -> Stage:
    return Stage(name, {"model": model}, load_toy_params())


def hold(name: str, with_child: bool) -> None:
    with locked(stage(name)):
        if with_child and os.fork() == 0:
            Path("child").write_text(str(os.getpid()))
        else:
            Path("held").write_text("")
        time.sleep(60)


@pytest.fixture
def holder(workspace) -> Iterator[Callable]:
    """Starts a process that works on an item until it is killed, with a process of its own if that is asked for."""
    started = []

    def start(name: str = "fit_probes", *, with_child: bool = False):
        process = FORK.Process(target=hold, args=(name, with_child))
        process.start()
        started.append(process)
        names = ["held", "child"] if with_child else ["held"]
        deadline = time.monotonic() + 20
        while not all(Path(file).is_file() and (file == "held" or Path(file).read_text()) for file in names):
            assert time.monotonic() < deadline
            time.sleep(0.01)
        return process

    yield start
    for process in started:
        process.kill()
        process.join()
    if Path("child").is_file() and psutil.pid_exists(int(Path("child").read_text())):
        os.kill(int(Path("child").read_text()), signal.SIGKILL)


def test_a_second_process_is_told_who_works_on_the_item_before_it_does_anything(holder, capsys):
    process = holder()

    def fit_probes(stage: Stage) -> Outcome:
        pytest.fail("it must not begin")

    with pytest.raises(SystemExit) as ended:
        run_stage_with(load_toy_params, fit_probes, "model")
    assert ended.value.code == 2
    said = capsys.readouterr().err
    expected = f"fit_probes: another process works on tiny: process {process.pid} on {platform.node()}, since 20"
    assert said.startswith(expected)
    assert said.endswith("; wait until it has ended, or end it, and run the stage again\n")
    assert not Path("results").exists()


def test_other_items_and_stages_are_free(holder):
    holder()
    with locked(stage("tune_probes")), locked(stage(model="another")):
        pass


@pytest.mark.parametrize("with_child", [False, True], ids=["alone", "with a process that lives on"])
def test_a_process_that_was_killed_is_not_in_the_way(holder, with_child):
    process = holder(with_child=with_child)
    process.kill()
    process.join()
    if with_child:
        assert psutil.pid_exists(int(Path("child").read_text()))
    run_stage_with(load_toy_params, fit_probes, "model")
    assert Path("results/fit_probes/tiny/record.json").is_file()


def test_an_error_gives_the_item_back(workspace):
    with pytest.raises(ValueError, match="wrong"), locked(stage()):
        raise ValueError("wrong")
    with locked(stage()):
        pass
    assert [path.suffix for path in Path("data/.scratch/locks").rglob("*") if path.is_file()] == [".lock"]


def test_helper_processes_of_the_one_that_works_are_let_in(holder, monkeypatch):
    holder()
    monkeypatch.setenv("LOCAL_RANK", "1")
    worked = []
    run_stage_with(load_toy_params, lambda stage: worked.append(stage.item), "model")
    assert worked == [{"model": "tiny"}]


def test_a_stage_that_lists_files_is_locked_too(holder, capsys):
    holder("list_corpus")

    def list_corpus(stage: Stage) -> Outcome:
        pytest.fail("it must not begin")

    with pytest.raises(SystemExit) as ended:
        run_stage_with(load_toy_params, list_corpus, "model")
    assert ended.value.code == 2


def test_a_disk_without_locks_costs_a_warning(workspace, monkeypatch, capsys):
    def fail(self: FileLock) -> None:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr(FileLock, "_acquire", fail)
    run_stage_with(load_toy_params, fit_probes, "model")
    assert "cannot be locked (No locks available): let no other process run this stage" in capsys.readouterr().err


def test_a_process_whose_file_says_nothing_is_told_as_well_as_can_be(holder):
    holder()
    Path("data/.scratch/locks/fit_probes/tiny.json").write_text("{")
    with pytest.raises(DataError, match="works on tiny: it has just begun or just ended; wait"), locked(stage()):
        pass


def test_half_files_of_processes_that_were_killed_are_removed_when_a_stage_begins(workspace):
    dead, alive, elsewhere = 2**22 + 1, os.getpid(), "elsewhere.1"
    folders = ["data/fit_probes", "data/.scratch/answers/tiny", "results/fit_probes/tiny"]
    left = [Path(folder, f"numbers.csv.{this_machine()}-{dead}.partial") for folder in folders]
    others = [
        Path(folder, f"numbers.csv.{process}.partial")
        for folder in folders[:2]
        for process in (f"{this_machine()}-{alive}", f"{elsewhere}-{dead}")
    ]
    for path in [*left, *others]:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("half")
    run_stage_with(load_toy_params, fit_probes, "model")
    assert not [path for path in left if path.exists()]
    assert all(path.exists() for path in others)
