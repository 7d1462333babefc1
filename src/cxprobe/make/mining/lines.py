"""A compressed file as blocks of whole lines, even if parts are corrupt; only a few blocks are in memory."""

from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import IO, NamedTuple, cast

import numpy as np
import pyarrow as pa
from isal import igzip_lib, isal_zlib

from cxprobe.make.mining.blocks import KEPT, Fault

BLOCK = 8 << 20
# Of a corrupt stream, up to so many bytes before the defect are lost; the fault says from which byte on.
_PIECE = 1 << 16
# (isal's stubs take the class of its errors for one of them.)
_BROKEN = (OSError, EOFError, cast(type[Exception], igzip_lib.IsalError))
COMPRESSIONS = {".bz2": "bz2", ".zst": "zstd", ".lz4": "lz4"}


class Lines(NamedTuple):
    """Whole lines, with the number of the first (from 1) and the byte at which it starts."""

    data: bytes
    line: int
    offset: int


def read_lines(file: IO[bytes], shard: str, longest: int) -> Iterator[Lines | Fault]:
    """Yield a file's lines, block by block, and what could not be read.

    Args:
        file: The file as it is stored; its compression follows from the shard's name.
        shard: The file's name.
        longest: Bytes; a longer line is skipped, and its beginning is kept in the fault.
    """
    line, offset = 1, 0
    rest, swallowed = b"", 0  # the line that has not ended yet; how many bytes of it are no longer kept
    for chunk in _chunks(file, shard):
        if isinstance(chunk, Fault):
            yield chunk._replace(line=line, offset=offset, raw=rest[:KEPT])
            return
        if swallowed and b"\n" not in chunk:
            swallowed += len(chunk)
            continue
        data = rest + chunk
        cut = data.rfind(b"\n") + 1
        if cut:
            yield from _without_long_lines(Lines(data[:cut], line, offset), shard, longest, swallowed)
            line, offset, swallowed = line + data.count(b"\n", 0, cut), offset + cut + swallowed, 0
        rest = data[cut:]
        if len(rest) > longest + KEPT:  # it is too long already; its beginning is enough to know it by
            kept = longest + 1
            swallowed += len(rest) - kept
            rest = rest[:kept]
    if rest:
        yield from _without_long_lines(Lines(rest, line, offset), shard, longest, swallowed)


def _without_long_lines(lines: Lines, shard: str, longest: int, swallowed: int) -> Iterator[Lines | Fault]:
    """Yield a block as it is, or cut where a line is too long; the first line is ``swallowed`` bytes longer."""
    if not _has_long_line(lines.data, longest):
        yield lines
        return
    ends = np.flatnonzero(np.frombuffer(lines.data, dtype=np.uint8) == ord("\n")) + 1
    if not len(ends) or ends[-1] < len(lines.data):
        ends = np.append(ends, len(lines.data))
    starts = np.concatenate([[0], ends[:-1]])
    begun = 0  # the number of the line with which the next block begins
    for long in np.flatnonzero(ends - starts > longest):
        if begun < long:
            yield _cut(lines, starts[begun], starts[long], begun, swallowed)
        size = int(ends[long] - starts[long]) + (swallowed if long == 0 else 0)
        raw = lines.data[starts[long] : ends[long]][:KEPT]
        where = lines.offset + int(starts[long]) + (swallowed if long else 0)
        fault = f"a line of {size:,} bytes, more than mine_sentences.longest_line ({longest:,})"
        yield Fault(shard, lines.line + int(long), where, fault, raw)
        begun = int(long) + 1
    if begun < len(starts):
        yield _cut(lines, starts[begun], ends[-1], begun, swallowed)


def _has_long_line(data: bytes, longest: int) -> bool:
    """Return whether a line, its line feed included, is longer than ``longest``; reads only a few bytes."""
    start = 0
    while len(data) - start > longest:
        end = data.rfind(b"\n", start, start + longest)
        if end < 0:
            return True
        start = end + 1
    return False


def _cut(lines: Lines, start: np.int64, end: np.int64, number: int, swallowed: int) -> Lines:
    offset = lines.offset + int(start) + (swallowed if number else 0)
    return Lines(lines.data[start:end], lines.line + int(number), offset)


def _chunks(file: IO[bytes], shard: str) -> Iterator[bytes | Fault]:
    """Yield the decompressed bytes of a file in blocks, and a fault if they break off."""
    pieces: list[bytes] = []
    size = 0
    try:
        for piece in _pieces(file, shard):
            pieces.append(piece)
            size += len(piece)
            if size >= BLOCK:
                yield b"".join(pieces)
                pieces, size = [], 0
    except _BROKEN as fault:
        yield b"".join(pieces)
        yield Fault(shard, 0, 0, f"cannot be read further: {' '.join(str(fault).split())}", b"")
        return
    yield b"".join(pieces)


def _pieces(file: IO[bytes], shard: str) -> Iterator[bytes]:
    """Yield the decompressed bytes of a file as they come.

    Raises:
        EOFError: The file ends before its archive does; even an archive of nothing has some bytes.
        IsalError, OSError: It is not an archive, or a corrupt one.
    """
    suffix = PurePosixPath(shard).suffix
    if suffix == ".gz":
        yield from _gunzipped(file)
    else:
        stream = pa.PythonFile(file, mode="r")
        if suffix in COMPRESSIONS:
            stream = pa.CompressedInputStream(stream, COMPRESSIONS[suffix])
        while piece := stream.read(_PIECE):
            yield piece
    if (suffix == ".gz" or suffix in COMPRESSIONS) and not file.tell():
        raise EOFError("the file is empty")


def _gunzipped(file: IO[bytes]) -> Iterator[bytes]:
    """Yield what an archive of one or several members holds. ISA-L inflates three times as fast as zlib."""
    member = isal_zlib.decompressobj(wbits=31)
    begun = False
    while stored := file.read(_PIECE):
        while stored:
            if member.eof:
                stored = stored.lstrip(b"\0")  # a tape's padding
                member, begun = isal_zlib.decompressobj(wbits=31), False
                continue
            begun = True
            yield member.decompress(stored, _PIECE)
            stored = member.unused_data if member.eof else member.unconsumed_tail
    if begun and not member.eof:
        raise EOFError("the file ends in the middle of an archive")
