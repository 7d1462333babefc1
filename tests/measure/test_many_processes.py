"""Several processes against one: the same numbers to the last bit, however many there are, and also after a kill."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from conftest import ROOT
from cxprobe.storage import read_features, read_table
from measuring_together import TEXTS
from tiny_lms import save_lm

PROGRAM = ROOT / "tests" / "measuring_together.py"


def measure(folder: Path, number: int, *more: str, check: bool = True) -> subprocess.CompletedProcess:
    """Measure in a folder with so many processes."""
    if not (folder / "masked").is_dir():
        save_lm(folder / "masked", "bert")
        save_lm(folder / "causal", "llama")
    kept = {name: value for name, value in os.environ.items() if not name.startswith("SLURM")}
    command = [sys.executable, str(PROGRAM), str(number), *more]
    done = subprocess.run(
        command, cwd=folder, env=kept | {"OMP_NUM_THREADS": "1"}, capture_output=True, text=True, timeout=600
    )
    assert not check or done.returncode == 0, done.stderr
    return done


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
    assert read_table(folder / "out/filled.parquet").equals(read_table(one / "out/filled.parquet"))
    found, expected = (read_features(path / "out" / "features") for path in (folder, one))
    assert list(found.ids) == list(expected.ids)
    assert sorted(found.ids) == sorted(TEXTS)
    np.testing.assert_array_equal(found.vectors, expected.vectors)


def test_two_processes_and_an_odd_number_of_texts_give_what_one_gives(one, tmp_path):
    assert len(TEXTS) % 2 == 1
    done = measure(tmp_path, 2)
    assert "MEMBER: 2/2" in done.stderr
    assert_equal(tmp_path, one)


@pytest.mark.slow
def test_three_processes_give_what_one_gives(one, tmp_path):
    measure(tmp_path, 3)
    assert_equal(tmp_path, one)


@pytest.mark.slow
@pytest.mark.parametrize("dies_after", ["4", "30"])
def test_after_one_of_three_was_killed_two_give_what_one_gives_and_compute_only_the_rest(one, tmp_path, dies_after):
    done = measure(tmp_path, 3, dies_after, check=False)
    assert done.returncode != 0
    assert not (tmp_path / "out" / "features").exists()
    kept = {path: path.stat().st_mtime_ns for path in tmp_path.glob("scratch/*.npy")}
    answers = list(tmp_path.glob("data/.scratch/answers/*/*.npz"))
    assert answers
    measure(tmp_path, 2)
    assert all(path.stat().st_mtime_ns == stamp for path, stamp in kept.items())
    assert_equal(tmp_path, one)
