"""A file of multiple choice in the shape of the CxNLI release, in words of this project: two frames of eight tests."""

from pathlib import Path

PLAIN = Path(__file__).with_name("reasoning_frames.tsv").read_text().replace("\n", "\r\n")
HEADER, *_ROWS = PLAIN.split("\r\n")
COLUMNS = HEADER.split("\t")
FIRST, SECOND = _ROWS[:8], _ROWS[8:]

FOREIGN = ["Recency Bias", "Vocabulary Bias", "Name Bias", "Short Calibration", "Name Calibration"]


def with_options_of_the_first(rows):
    """Return rows of which five tests have the options of the first frame, and its targets."""
    cells = [row.split("\t") for row in rows]
    return ["\t".join([*own[:5], "happier", "sadder", *own[7:]] if own[1] in FOREIGN else own) for own in cells]
