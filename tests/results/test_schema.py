"""The tables of results: what is refused before it is written."""

import numpy as np
import pandas as pd
import pytest

from cxprobe.errors import DataError
from cxprobe.results.schema import OF_CONTROL, OF_DIFFERENCE, RATES, write_rates

RATE = {
    **dict.fromkeys(RATES, ""),
    **dict.fromkeys([*OF_DIFFERENCE, *OF_CONTROL], np.nan),
    **{"task": "toy", "model": "m", "construction": "c", "source": "own", "measure": "accuracy"},
    **{"value": 0.5, "low": 0.4, "high": 0.6, "n": 8, "ties": 0, "chance": 0.5, "decides": True, "order": ""},
}


@pytest.mark.parametrize(
    ("rows", "fault"),
    [
        ([RATE | {"value": 1.5}], r"accuracy of toy, m, c, own is 1\.5, and the share .* is from 0 to 1"),
        ([RATE | {"measure": "luck"}], r"unknown measures \['luck'\]"),
        ([RATE, RATE], "two rows are about toy, m, c, own"),
        ([RATE | {"order": one} for one in ("", "first", "first")], "two rows are about .*, first"),
        ([RATE | {"order": 1}], r"unknown: \['order'\]"),
        ([RATE | {"model": None}], r"empty cells in \['model'\]"),
    ],
)
def test_rates_that_break_the_schema_are_refused(tmp_path, rows, fault):
    with pytest.raises(DataError, match=fault):
        write_rates(pd.DataFrame(rows), tmp_path / "rates.parquet")
    assert not (tmp_path / "rates.parquet").exists()
