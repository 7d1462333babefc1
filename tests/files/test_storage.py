import errno
import os
import random

import numpy as np
import pandas as pd
import pytest

from cxprobe.errors import DataError
from cxprobe.files import writing
from cxprobe.files.tables import kept_table, read_features, read_table, write_features, write_table
from cxprobe.files.writing import DiskFullError, full_disk, read_json, replacing, significant, write_json
from cxprobe.models.store import AnswerStore

pytest_plugins = ["small_disks"]


def vectors(*ids: str, layers: int = 2) -> np.ndarray:
    return np.random.default_rng(len(ids)).normal(size=(layers, len(ids), 3)).astype(np.float32)


def test_a_block_that_dies_leaves_what_was_there_and_a_folder_appears_whole(tmp_path):
    (tmp_path / "out").write_text("old")
    with pytest.raises(RuntimeError), replacing(tmp_path / "out") as partial:
        partial.write_text("half")
        raise RuntimeError
    with pytest.raises(RuntimeError), replacing(tmp_path / "folder") as partial:
        (partial / "in").mkdir(parents=True)
        raise RuntimeError
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("out", "old")]
    with replacing(tmp_path / "folder") as partial:
        (partial / "in").mkdir(parents=True)
    assert (tmp_path / "folder" / "in").is_dir()


def test_only_what_dead_processes_of_this_machine_have_left_is_removed(tmp_path):
    dead = 2**22 + 1  # no process has this number
    (tmp_path / "in").mkdir()
    left, links = (
        tmp_path / "in" / f"{name}.{writing.this_machine()}-{dead}.partial" for name in ("a.csv", "earlier-1")
    )
    alive, elsewhere = f"a.csv.{writing.this_machine()}-{os.getpid()}.partial", f"a.csv.elsewhere_1-{dead}.partial"
    for path in (left, tmp_path / alive, tmp_path / elsewhere, tmp_path / "b.partial", tmp_path / "c.csv"):
        path.write_text("half")
    links.mkdir()
    (links / "link").symlink_to(tmp_path / "c.csv")
    writing.remove_left_behind(tmp_path)
    assert not left.exists()
    assert not links.exists()
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([alive, elsewhere, "b.partial", "c.csv", "in"])
    writing.remove_left_behind(tmp_path / "no such folder")


@pytest.mark.parametrize("cell", [np.nan, np.inf, None])
def test_a_table_with_a_hole_is_refused_with_its_column(tmp_path, cell):
    with pytest.raises(DataError, match="rate"):
        write_table(pd.DataFrame({"id": ["a", "b"], "rate": [0.5, cell]}), tmp_path / "table.csv")
    assert not (tmp_path / "table.csv").exists()


def test_a_number_is_rounded_to_four_significant_digits_unless_it_is_whole_and_negative_zero_is_zero():
    rounded = {1 / 3: "0.3333", 2e-9 / 3: "6.667e-10", 12_345.6: "12350.0", 123_456_789.0: "123456789.0", -0.0: "0.0"}
    assert {number: str(significant(number)) for number in rounded} == rounded


def test_json_has_rounded_numbers_and_exact_whole_ones_and_refuses_what_is_none(tmp_path):
    content = {"rate": 2 / 3, "n": 12_345_678, "ça": {"steps": [(0, 1 / 3)]}, "numpy": np.float32(0.1), "on": True}
    write_json(content, tmp_path / "m.json")
    expected = {"rate": 0.6667, "ça": {"steps": [[0, 0.3333]]}, "numpy": 0.1}
    assert read_json(tmp_path / "m.json") == content | expected
    with pytest.raises(ValueError, match="not JSON compliant"):
        write_json({"a": float("nan")}, tmp_path / "n.json")


@pytest.mark.parametrize("damaged", [b'{"rate": 0.5', b'{"r\xe1te": 0.5}', b"", b"[" * 100_000])
def test_damaged_json_is_told_with_its_file(tmp_path, damaged):
    (tmp_path / "m.json").write_bytes(damaged)
    with pytest.raises(DataError, match=rf"{tmp_path}/m.json is damaged \(.*docs/howto/team.md says how"):
        read_json(tmp_path / "m.json")


def test_csv_has_rounded_numbers_and_parquet_exact_ones(tmp_path):
    mixed = pd.Series([1 / 3, 12_345_678, "few"], dtype=object)
    table = pd.DataFrame({"rate": [2 / 3, 1.0, 0.1], "n": [12_345_678, 2, 3], "mixed": mixed})
    table["single"] = np.array([0.1, 0.2, 0.3], dtype=np.float32)
    write_table(table, tmp_path / "table.csv")
    assert (tmp_path / "table.csv").read_text() == (
        "rate,n,mixed,single\n0.6667,12345678,0.3333,0.1\n1.0,2,12345678,0.2\n0.1,3,few,0.3\n"
    )
    assert read_table(tmp_path / "table.csv")["mixed"].tolist() == ["0.3333", "12345678", "few"]
    write_table(table[["rate", "n"]], tmp_path / "table.parquet")
    pd.testing.assert_frame_equal(read_table(tmp_path / "table.parquet"), table[["rate", "n"]])


@pytest.mark.parametrize("workspace", ["", ".dvc/tmp/exps/tmpabc", ".dvc/tmp/exps/standalone/tmpabc"])
def test_the_project_is_the_working_directory_or_the_one_that_dvc_has_copied_there(tmp_path, monkeypatch, workspace):
    (tmp_path / workspace).mkdir(parents=True, exist_ok=True)
    monkeypatch.chdir(tmp_path / workspace)
    assert writing.project_folder() == tmp_path


def test_vectors_that_are_written_in_blocks_carry_their_ids(tmp_path):
    first, second = vectors("c", "a"), vectors("b")
    write_features([first, second], ["c", "a", "b"], tmp_path)
    features = read_features(tmp_path)
    assert list(features.ids) == ["c", "a", "b"]
    np.testing.assert_array_equal(features.vectors, np.concatenate([first, second], axis=1))
    assert isinstance(features.vectors, np.memmap)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["features.npy", "ids.parquet"]


@pytest.mark.parametrize(
    ("ids", "message"),
    [(["a", "b", "c"], "vectors of 2 sentences, expected 3"), (["a", "a"], "2 rows for 1 sentences"), ([], "0 rows")],
)
def test_vectors_without_a_sentence_of_their_own_are_refused(tmp_path, ids, message):
    with pytest.raises(DataError, match=message):
        write_features([vectors("a", "b")], ids, tmp_path)
    assert not list(tmp_path.iterdir())


def test_pickled_objects_are_not_opened_nor_rows_of_other_ids(tmp_path):
    write_table(pd.DataFrame({"id": ["a"]}), tmp_path / "ids.parquet")
    np.save(tmp_path / "features.npy", np.array([{"a": 1}], dtype=object), allow_pickle=True)
    with pytest.raises(ValueError, match="Python objects in dtype"):
        read_features(tmp_path)
    np.save(tmp_path / "features.npy", vectors("a", "b"))
    with pytest.raises(DataError, match="2 rows, 1 ids"):
        read_features(tmp_path)


ROWS = 400
PREDICTED = pd.DataFrame(
    {
        "id": [f"sentence {number}" for number in range(ROWS)],
        "layer": np.arange(ROWS) % 7,
        "probability": np.random.default_rng(1).random(ROWS),
    }
)


def test_a_flipped_bit_in_the_rows_of_a_table_is_told_and_a_kept_one_is_then_computed_again(tmp_path):
    """Without checksums three of four were read as other numbers."""
    path = tmp_path / "table.parquet"
    assert kept_table(path) is None
    write_table(PREDICTED, path)
    pd.testing.assert_frame_equal(kept_table(path), PREDICTED)
    whole, passed, told = path.read_bytes(), 0, []
    for bit in random.Random(1).sample(range(8 * len(whole)), 200):
        damaged = bytearray(whole)
        damaged[bit // 8] ^= 1 << bit % 8
        path.write_bytes(damaged)
        try:
            passed += not read_table(path).equals(PREDICTED)
        except DataError as fault:
            told.append(str(fault))
    assert passed <= 4  # in the description of the columns, which has no checksum
    assert len(told) > 150
    assert all(one.startswith(f"{path} is damaged (") for one in told)
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.warns(UserWarning, match=f"{path} is damaged .*; what it kept is computed again"):
        assert kept_table(path) is None


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
