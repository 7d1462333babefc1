"""What is left, and what is said, where a disk has no space for a file."""

import errno
import os
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from cxprobe.files.arrays import write_features
from cxprobe.files.tables import growing_table, write_table
from cxprobe.files.writing import DiskFullError, full_disk, write_json
from cxprobe.lm.store import AnswerStore

pytest_plugins = ["small_disks"]

NUMBERS = np.random.default_rng(1).normal(size=(3, 200, 30)).astype(np.float32)  # 72 kB
IDS = [str(number) for number in range(200)]
TABLE = pd.DataFrame({"a": NUMBERS.reshape(-1)})


def grow(path: Path) -> None:
    schema = pa.schema({"a": pa.float32()})
    with growing_table(path, schema) as writer:
        for part in NUMBERS:
            writer.write_batch(pa.record_batch([pa.array(part.reshape(-1))], schema=schema))


# File that is written -> the writer, and what the message says that the file needs.
WRITERS = {
    "table.parquet": (lambda path: write_table(TABLE, path), r"[\d,]+ bytes"),
    "table.csv": (lambda path: write_table(TABLE, path), r"[\d,]+ bytes"),
    "record.json": (lambda path: write_json({"text": "x" * 70_000}, path), "70,017 bytes"),
    "rejects.parquet": (grow, r"more than [\d,]+ bytes"),
    "features.npy": (lambda path: write_features([NUMBERS], IDS, path.parent), "72,128 bytes"),
}


@pytest.mark.parametrize("name", WRITERS)
def test_a_file_that_has_no_space_leaves_the_old_one_and_says_how_much_it_needs(tmp_path, file_limit, name):
    path = tmp_path / "data" / name
    path.parent.mkdir()
    path.write_text("old")
    write, needed = WRITERS[name]
    file_limit(20_000)
    said = rf"^{path}: the file is larger than the disk or `ulimit -f` allows: the file needs {needed}.* are free on /"
    with pytest.raises(DiskFullError, match=said):
        write(path)
    assert path.read_text() == "old"
    assert [one.name for one in path.parent.iterdir()] == [name]


@pytest.mark.slow
@pytest.mark.parametrize("name", WRITERS)
def test_a_file_that_finds_its_disk_full_names_the_disk(tmp_path, small_disk, name):
    """Vectors gave a bus error, which no handler sees."""
    disk = small_disk(tmp_path / "disk", "64k")
    (disk / "other").write_bytes(b"x" * 45_056)
    with pytest.raises(DiskFullError) as raised:
        WRITERS[name][0](disk / name)
    assert f"{disk / name}: the disk is full: the file needs" in str(raised.value)
    assert f"20,480 of 65,536 bytes are free on {disk}; free some space" in str(raised.value)
    assert [one.name for one in disk.iterdir()] == ["other"]


def test_vectors_are_written_as_numpy_writes_them(tmp_path):
    np.save(tmp_path / "numpy.npy", NUMBERS)
    write_features([NUMBERS[:, :50], NUMBERS[:, 50:]], IDS, tmp_path)
    assert (tmp_path / "features.npy").read_bytes() == (tmp_path / "numpy.npy").read_bytes()


@pytest.mark.slow
def test_a_disk_that_fills_after_its_space_was_reserved_is_no_bus_error(tmp_path, small_disk, monkeypatch):
    """As on file systems that write each block to a new place, where a reservation is no promise."""
    disk = small_disk(tmp_path / "disk", "64k")

    def promise(descriptor: int, start: int, size: int) -> None:
        raise OSError(errno.EOPNOTSUPP, "not supported")

    monkeypatch.setattr(os, "posix_fallocate", promise)
    with pytest.raises(DiskFullError, match="the disk is full: the file needs 72,128 bytes"):
        write_features([NUMBERS], IDS, disk)
    assert not list(disk.iterdir())


@pytest.mark.slow
def test_a_disk_that_can_hold_no_more_files_says_so(tmp_path, small_disk):
    disk = small_disk(tmp_path / "disk", "64k,nr_inodes=3")
    with pytest.raises(DiskFullError, match="no more files can be made on it"):
        for number in range(3):
            write_json({}, disk / f"{number}.json")


def test_what_a_store_has_written_before_its_disk_is_full_is_found_again(tmp_path, file_limit):
    one, many = {b"1" * 16: np.ones(10)}, {b"2" * 16: np.ones(10_000)}
    with pytest.raises(DiskFullError), AnswerStore(tmp_path / "store", seconds=0) as store:
        store.add(one)
        file_limit(20_000)
        store.add(many)
    with AnswerStore(tmp_path / "store") as again:
        assert set(again.find([*one, *many])) == set(one)
    assert [path.suffix for path in (tmp_path / "store").iterdir()] == [".answers"]


def test_a_store_without_space_to_join_its_files_keeps_them(tmp_path, file_limit):
    parts = [{bytes([number]) * 16: np.full(1000, float(number))} for number in range(1, 5)]
    file_limit(20_000)
    with AnswerStore(tmp_path / "store", seconds=0) as store:
        for part in parts:
            store.add(part)
    assert len(list((tmp_path / "store").iterdir())) == 4
    with AnswerStore(tmp_path / "store") as again:
        assert len(again.find([key for part in parts for key in part])) == 4


def test_an_error_that_another_error_led_to_is_known_as_a_full_disk(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(RuntimeError) as raised:
        try:
            raise OSError(errno.ENOSPC, "No space left on device")
        except OSError as fault:
            raise RuntimeError("the checkpoint was not written") from fault
    assert re.match(r"the disk is full: .* are free on /.*; free some space", full_disk(raised.value) or "")
    assert full_disk(ValueError("no number")) is None
    assert full_disk(FileNotFoundError(errno.ENOENT, "no such file")) is None
