"""The pairs of contrasts as the stages keep them."""

from pathlib import Path

import pandas as pd

from cxprobe.files.tables import read_table
from cxprobe.files.writing import DATA
from cxprobe.tasks.contrasts.params import MeasuredFrames

MADE = DATA / "make_contrasts"


def made_file(construction: str) -> Path:
    """Return the file of the pairs of a construction."""
    return MADE / f"{construction}.parquet"


def read_frames(path: Path, wanted: MeasuredFrames) -> pd.DataFrame:
    """Read the pairs of the first frames of a construction, as many as are wanted."""
    pairs = read_table(path)
    frames = pairs["item"].drop_duplicates()[: wanted.frames]
    return pairs[pairs["item"].isin(frames)]
