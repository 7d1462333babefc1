"""`dvc repro` that is killed: the next one makes everything whole."""

import os
import random
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import psutil
import pytest
from mlflow import MlflowClient
from servers import wait_until
from toy_stages import write_toy_dvc_project

from conftest import ROOT, project_environment, run

pytestmark = [pytest.mark.slow, pytest.mark.pipeline]

PATHS = os.pathsep.join(str(ROOT / path) for path in ("src", "tests", "tests/support"))
NUMBER = int(os.environ.get("CXPROBE_KILLS_OF_DVC", "3"))  # of each kind
SEED = os.environ.get("CXPROBE_KILL_SEED", "1")
CONTENT = ("data", "results", "dvc.lock")
# How a `dvc repro` ends: the signal, and whether its stage gets it too.
ENDS = {
    "Ctrl-C": (signal.SIGINT, True),
    "SIGTERM to all": (signal.SIGTERM, True),
    "SIGKILL to all": (signal.SIGKILL, True),
    "SIGTERM to dvc alone": (signal.SIGTERM, False),
    "SIGKILL to dvc alone": (signal.SIGKILL, False),
}
REFUSED = ("another process works on tiny-1", "is busy, it is being blocked by", "Unable to acquire lock")


@pytest.fixture(scope="module")
def finished(tmp_path_factory) -> Path:
    """A project of the toy stages in which `dvc repro` has run. Never change it."""
    folder = tmp_path_factory.mktemp("dvc") / "project"
    write_toy_dvc_project(folder)
    run(folder, "dvc", "repro", PYTHONPATH=PATHS)
    return folder


def start(folder: Path, log: Path) -> subprocess.Popen:
    """Start `dvc repro` as the first process of a group, as a terminal does; its batches take some seconds."""
    environment = project_environment(ROOT) | {"PYTHONPATH": PATHS, "TOY_SECONDS": "0.3"}
    with log.open("w") as said:
        return subprocess.Popen(
            ["dvc", "repro"], cwd=folder, env=environment, stdout=said, stderr=said, start_new_session=True
        )


def content(folder: Path) -> dict[Path, bytes]:
    files = [path for name in CONTENT for path in (folder / name, *(folder / name).rglob("*")) if path.is_file()]
    return {path.relative_to(folder): path.read_bytes() for path in files if ".scratch" not in path.parts}


def faults(folder: Path, finished: Path) -> Iterator[str]:
    """Yield what differs from an unbroken run, and what is left open."""
    found, whole = content(folder), content(finished)
    yield from (f"{path} differs" for path in {*found, *whole} if found.get(path) != whole.get(path))
    run(folder, "cxprobe", "sync", PYTHONPATH=PATHS)
    client = MlflowClient(f"sqlite:///{folder / 'mlruns' / 'mlflow.db'}")
    experiments = [one.experiment_id for one in client.search_experiments()]
    for left in client.search_runs(experiments, "attributes.status = 'RUNNING'"):
        yield f"{left.info.run_name} is still RUNNING"


def repro_until_it_is_done(folder: Path) -> None:
    """Run `dvc repro` as a person would: again, once the process is gone because of which it was refused."""
    for _ in range(20):
        done = run(folder, "dvc", "repro", check=False, PYTHONPATH=PATHS)
        if done.returncode == 0:
            return
        said = done.stdout + done.stderr
        assert any(one in said for one in REFUSED), said
        assert "Traceback" not in said
        wait_for_stages(folder)
    pytest.fail(said)


def wait_for_stages(folder: Path) -> None:
    """Wait until no process works in a folder."""

    def works_there(process: psutil.Process) -> bool:
        with suppress(psutil.Error, OSError):
            return Path(process.cwd()) == folder
        return False

    wait_until(lambda: not any(map(works_there, psutil.process_iter())))


@pytest.mark.parametrize("end", ENDS)
def test_a_killed_repro_is_made_whole_by_the_next(finished, tmp_path, end):
    signum, also_stage = ENDS[end]
    generator = random.Random(f"{SEED}-{end}")
    for number in range(NUMBER):
        folder = tmp_path / f"{number}"
        write_toy_dvc_project(folder)
        dvc = start(folder, tmp_path / f"{number}.log")
        time.sleep(generator.uniform(1, 25))
        (os.killpg if also_stage else os.kill)(dvc.pid, signum)
        dvc.wait()
        repro_until_it_is_done(folder)
        assert list(faults(folder, finished)) == [], (tmp_path / f"{number}.log").read_text()
        wait_for_stages(folder)
