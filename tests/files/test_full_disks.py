"""What is left, and what is said, where a disk has no space for a file."""

import errno

import numpy as np
import pandas as pd
import pytest

from cxprobe.files.tables import write_features, write_table
from cxprobe.files.writing import DiskFullError, full_disk, write_json
from cxprobe.models.store import AnswerStore

pytest_plugins = ["small_disks"]

NUMBERS = np.random.default_rng(1).normal(size=(3, 200, 30)).astype(np.float32)  # 72 kB
IDS = [str(number) for number in range(200)]
TABLE = pd.DataFrame({"a": NUMBERS.reshape(-1)})


# File that is written -> the writer.
WRITERS = {
    "table.parquet": lambda path: write_table(TABLE, path),
    "table.csv": lambda path: write_table(TABLE, path),
    "record.json": lambda path: write_json({"text": "x" * 70_000}, path),
    "features.npy": lambda path: write_features([NUMBERS], IDS, path.parent),
}


@pytest.mark.parametrize("name", WRITERS)
def test_a_file_that_has_no_space_leaves_the_old_one(tmp_path, file_limit, name):
    path = tmp_path / "data" / name
    path.parent.mkdir()
    path.write_text("old")
    file_limit(20_000)
    with pytest.raises(DiskFullError, match=rf"^{path}: the disk is full \(.*File too large.*\); free some space"):
        WRITERS[name](path)
    assert path.read_text() == "old"
    assert [one.name for one in path.parent.iterdir()] == [name]


def test_what_a_store_has_written_before_its_disk_is_full_is_found_again(tmp_path, file_limit):
    one, many = {b"1" * 16: np.ones(10)}, {b"2" * 16: np.ones(10_000)}
    with pytest.raises(DiskFullError), AnswerStore(tmp_path / "store", seconds=0) as store:
        store.add(one)
        file_limit(20_000)
        store.add(many)
    with AnswerStore(tmp_path / "store") as again:
        assert set(again.find([*one, *many])) == set(one)
    assert [path.suffix for path in (tmp_path / "store").iterdir()] == [".answers"]


def test_an_error_that_another_error_led_to_is_known_as_a_full_disk():
    with pytest.raises(RuntimeError) as raised:
        try:
            raise OSError(errno.ENOSPC, "No space left on device")
        except OSError as fault:
            raise RuntimeError("the checkpoint was not written") from fault
    assert (full_disk(raised.value) or "").startswith("the disk is full ([Errno 28] No space left on device); free")
    assert full_disk(ValueError("no number")) is None
    assert full_disk(FileNotFoundError(errno.ENOENT, "no such file")) is None
