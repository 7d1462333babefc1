"""Tables that have changed on the disk since they were written."""

import random
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from cxprobe.errors import DataError
from cxprobe.files.tables import keep_table, kept_table, read_table, write_table

ROWS = 400
PREDICTED = pd.DataFrame(
    {
        "id": [f"sentence {number}" for number in range(ROWS)],
        "layer": np.arange(ROWS) % 7,
        "probability": np.random.default_rng(1).random(ROWS),
    }
)


def with_flipped_bits(path: Path, number: int) -> Iterator[Path]:
    """Yield a file again and again, each time with another bit flipped."""
    whole, generator = path.read_bytes(), random.Random(1)
    for bit in generator.sample(range(8 * len(whole)), number):
        damaged = bytearray(whole)
        damaged[bit // 8] ^= 1 << bit % 8
        path.write_bytes(damaged)
        yield path


def test_a_kept_table_comes_back_as_it_was_and_where_there_is_none_nothing_does(tmp_path):
    assert kept_table(tmp_path / "kept") is None
    keep_table(PREDICTED, tmp_path / "kept")
    pd.testing.assert_frame_equal(kept_table(tmp_path / "kept"), PREDICTED)


def test_no_flipped_bit_of_a_kept_table_passes(tmp_path):
    keep_table(PREDICTED, tmp_path / "kept")
    for path in with_flipped_bits(tmp_path / "kept", 100):
        with pytest.warns(UserWarning, match=f"{path} is damaged; what it kept is computed again"):
            assert kept_table(path) is None


def test_a_flipped_bit_in_the_rows_of_a_table_is_told_with_its_file(tmp_path):
    """Without checksums three of four were read as other numbers."""
    write_table(PREDICTED, tmp_path / "table.parquet")
    passed, told = 0, []
    for path in with_flipped_bits(tmp_path / "table.parquet", 200):
        try:
            passed += not read_table(path).equals(PREDICTED)
        except DataError as fault:
            told.append(str(fault))
    assert passed <= 4  # in the description of the columns, which has no checksum
    assert len(told) > 150
    assert all(one.startswith(f"{path} is damaged (") for one in told)
