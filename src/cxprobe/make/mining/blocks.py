"""What the readers return: columns of records, and what they could not read."""

from typing import NamedTuple

import pyarrow as pa


class Block(NamedTuple):
    """Some records of a shard as columns.

    Attributes:
        texts: The records' texts, valid UTF-8.
        urls: Where each comes from.
        bases: Where each text starts in what its url names, in characters.
    """

    texts: pa.Array
    urls: list[str]
    bases: list[int]


class Fault(NamedTuple):
    """A line, a record or a whole file that could not be read.

    Attributes:
        shard: The file, relative to the corpus's folder.
        line: The number of the line (of the record, in a .parquet file) from 1; 0 for the file as a whole.
        offset: The byte of the uncompressed file at which it starts; -1 where a file has no such bytes.
        fault: What is wrong with it.
        raw: Its first bytes, at most `KEPT`, so that it can be repaired.
    """

    shard: str
    line: int
    offset: int
    fault: str
    raw: bytes


KEPT = 1 << 20
