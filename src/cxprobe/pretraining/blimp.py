"""BLiMP (Warstadt et al. 2020, TACL): minimal pairs of an acceptable and an unacceptable sentence."""

import gzip
import json
from pathlib import Path
from typing import NamedTuple

from cxprobe.errors import DataError


class Pair(NamedTuple):
    """A minimal pair, with its paradigm (one template) and its phenomenon (several paradigms)."""

    paradigm: str
    phenomenon: str
    good: str
    bad: str


def read_blimp(folder: Path, pairs: int) -> list[Pair]:
    """Read the first pairs of each paradigm.

    Args:
        folder: Holds <UID>.jsonl or <UID>.jsonl.gz.
        pairs: How many of each paradigm.

    Raises:
        DataError: There is no such file, or a line is no pair.
    """
    files = sorted([*folder.glob("*.jsonl"), *folder.glob("*.jsonl.gz")])
    if not files:
        raise DataError(f"{folder} holds no <UID>.jsonl or <UID>.jsonl.gz; is it BLiMP's data folder?")
    return [_pair(line, file) for file in files for line in _lines(file)[:pairs]]


def _lines(file: Path) -> list[str]:
    content = file.read_bytes()
    return (gzip.decompress(content) if file.suffix == ".gz" else content).decode().splitlines()


def _pair(line: str, file: Path) -> Pair:
    try:
        content = json.loads(line)
        return Pair(content["UID"], content["linguistics_term"], content["sentence_good"], content["sentence_bad"])
    except (ValueError, KeyError, TypeError) as error:
        raise DataError(f"{file}: a line is no pair of BLiMP ({error!r}): {line[:80]}") from error
