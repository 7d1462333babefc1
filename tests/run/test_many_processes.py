"""Several processes against one: the same numbers to the last bit, however many there are, and also after a kill."""

import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from measuring_together import TEXTS
from tiny_lms import save_lm

from conftest import ROOT
from cxprobe.files.tables import read_features, read_table

pytestmark = pytest.mark.pipeline

PROGRAM = ROOT / "tests" / "support" / "measuring_together.py"


def measure(folder: Path, number: int, *more: str, check: bool = True, **environment: str) -> tuple[int, str]:
    """Measure in a folder with so many processes; return how it ended, and what all of them have said.

    It returns when the last process has ended, since each holds the pipe.
    """
    if not (folder / "masked").is_dir():
        save_lm(folder / "masked", "bert")
        save_lm(folder / "causal", "llama")
    kept = {name: value for name, value in os.environ.items() if not name.startswith("SLURM")}
    command = [sys.executable, str(PROGRAM), str(number), *more]
    own = kept | {"OMP_NUM_THREADS": "1", "PYTHONPATH": os.pathsep.join(sys.path)} | environment
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    done = subprocess.run(command, cwd=folder, env=own, timeout=300, check=False, **pipes)
    assert not check or done.returncode == 0, done.stdout
    return done.returncode, done.stdout


@pytest.fixture(scope="module")
def one(tmp_path_factory):
    """The folder in which one process has measured everything."""
    folder = tmp_path_factory.mktemp("one")
    measure(folder, 1)
    return folder


def assert_equal(folder: Path, one: Path) -> None:
    """Compare all outputs to the last bit."""
    for name in ("masked", "causal"):
        found, expected = (read_table(path / "out" / name / "tokens.parquet") for path in (folder, one))
        assert found.equals(expected)
    np.testing.assert_array_equal(*(np.load(path / "out/filled.npy") for path in (folder, one)))
    found, expected = (read_features(path / "out" / "features") for path in (folder, one))
    assert list(found.ids) == list(expected.ids)
    assert sorted(found.ids) == sorted(TEXTS)
    np.testing.assert_array_equal(found.vectors, expected.vectors)


def test_two_processes_and_an_odd_number_of_texts_give_what_one_gives_also_in_a_job_of_slurm(one, tmp_path):
    assert len(TEXTS) % 2 == 1
    _, said = measure(tmp_path, 2, SLURM_NTASKS="1", SLURM_JOB_NAME="wrap", SLURM_PROCID="0")
    assert "MEMBER: 2/2" in said
    assert_equal(tmp_path, one)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells a process of the end of its parent")
def test_a_helper_ends_with_the_process_that_started_it():
    helper = "import time; from cxprobe.run.processes import end_with_parent"
    helper += "; end_with_parent(); print('waits', flush=True); time.sleep(600)"
    first = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {helper!r}])"
    with subprocess.Popen([sys.executable, "-c", first], stdout=subprocess.PIPE, text=True) as begun:
        assert begun.stdout.readline() == "waits\n"
        begun.kill()
        started = time.monotonic()
        assert begun.stdout.read() == ""  # the end of the pipe: the helper has ended
        assert time.monotonic() - started < 60


@pytest.mark.slow
@pytest.mark.parametrize(("dies_after", "rank"), [("4", "1"), ("30", "1"), ("4", "0")])
def test_after_one_of_three_was_killed_all_end_and_two_give_what_one_gives_and_compute_only_the_rest(
    one, tmp_path, dies_after, rank
):
    code, _ = measure(tmp_path, 3, dies_after, rank, check=False)
    assert code != 0
    assert not (tmp_path / "out" / "features").exists()
    kept = list(tmp_path.glob("data/.scratch/answers/*/*.answers"))
    assert kept
    measure(tmp_path, 2)
    assert all(path.is_file() for path in kept)
    assert_equal(tmp_path, one)
