"""What the readers return: columns of records, and what they could not read."""

from collections.abc import Callable, Iterator
from pathlib import PurePosixPath
from typing import IO, Any, NamedTuple, cast

import numpy as np
import orjson
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.json
import pyarrow.parquet
from isal import igzip_lib, isal_zlib


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


_MARK = b"\xef\xbb\xbf"  # what some programs begin a file in UTF-8 with
_WIDE = "no UTF-8 but, as its zero bytes show, UTF-16 or UTF-32; convert it to UTF-8"
PARQUET_ROWS = 1024  # C4's records are some 2 kB, the longest some 1 MB


class Keys(NamedTuple):
    """Where a record has its text and the name of its source."""

    text: str
    url: str


def read_jsonl(file: IO[bytes], shard: str, keys: Keys, longest: int) -> Iterator[Block | Fault]:
    """Read a file with a JSON object in each line."""
    for lines in read_lines(file, shard, longest):
        if isinstance(lines, Fault):
            yield lines
        elif (block := _whole_columns(lines, shard, keys)) is not None:
            yield block
        else:
            yield from _line_by_line(lines, shard, keys)


def _whole_columns(lines: Lines, shard: str, keys: Keys) -> Block | None:
    """Parse a block at once, or return None if anything in it is not valid."""
    if not _an_object_a_line(lines):
        return None
    schema = pa.schema(dict.fromkeys(keys, pa.string()))
    try:
        table = pa.json.read_json(
            pa.BufferReader(lines.data),
            read_options=pa.json.ReadOptions(use_threads=False, block_size=len(lines.data) + 1),
            parse_options=pa.json.ParseOptions(explicit_schema=schema, unexpected_field_behavior="ignore"),
        )
        table.validate(full=True)  # the parser accepts bytes that are not UTF-8
    except pa.ArrowInvalid:
        return None
    texts = table[keys.text].combine_chunks()
    newlines = lines.data.count(b"\n") + (not lines.data.endswith(b"\n"))
    if len(table) != newlines or texts.null_count or pc.min(pc.binary_length(texts)).as_py() == 0:
        return None
    if table[keys.url].null_count:
        found = enumerate(table[keys.url].to_pylist())
        urls = [f"{shard}#{lines.line + row}" if url is None else url for row, url in found]
    else:
        urls = table[keys.url].to_pylist()
    return Block(texts, urls, [0] * len(urls))


def _an_object_a_line(lines: Lines) -> bool:
    """Return whether each line begins and ends like an object, since the parser does not look at line breaks.

    Within an object, a line that ends with a brace cannot be followed by one that begins with a brace.
    """
    data = lines.data.removeprefix(_MARK) if lines.offset == 0 else lines.data
    rows = data.count(b"\n") + (not data.endswith(b"\n"))
    begun = data.count(b"\n{") + data.startswith(b"{")
    ended = data.count(b"}\n") + data.count(b"}\r\n") + data.endswith(b"}")
    return begun == rows == ended


def _line_by_line(lines: Lines, shard: str, keys: Keys) -> Iterator[Block | Fault]:
    """Parse a block that has something invalid in it."""
    texts: list[str] = []
    urls: list[str] = []
    number, offset = lines.line, lines.offset
    for stored in _split(lines.data):
        line = stored if offset else stored.removeprefix(_MARK)
        content = _parsed(line, keys) if line.strip() else None
        if isinstance(content, str) and (alone := _whole_columns(Lines(line, number, offset), shard, keys)):
            texts += alone.texts.to_pylist()  # one parser takes what the other does not, such as NaN in another key
            urls += alone.urls
        elif isinstance(content, str):
            yield Fault(shard, number, offset, content, line[:KEPT])
        elif content is not None:
            texts.append(content[keys.text])
            url = content.get(keys.url)
            urls.append(url if isinstance(url, str) else f"{shard}#{number}")
        number, offset = number + 1, offset + len(stored)
    yield Block(pa.array(texts, pa.string()), urls, [0] * len(urls))


def _split(data: bytes) -> list[bytes]:
    """Split at line feeds only, since a single carriage return does not end a line of JSON."""
    return [line + b"\n" for line in data.removesuffix(b"\n").split(b"\n")]


def _parsed(line: bytes, keys: Keys) -> dict[str, Any] | str:
    """Return the record of a line, or what is wrong with it."""
    try:
        content = orjson.loads(line)
    except orjson.JSONDecodeError as fault:
        return _json_fault(line, fault)
    if not isinstance(content, dict):
        return f"no JSON object but a {type(content).__name__}"
    text = content.get(keys.text)
    if not isinstance(text, str) or not text:
        return f"no text under the key '{keys.text}'; its keys are {', '.join(sorted(content))[:200]}"
    return content


def _json_fault(line: bytes, fault: orjson.JSONDecodeError) -> str:
    if _is_wide(line):
        return _WIDE
    if line.strip() in (b"{", b"["):
        return f"no JSON: {fault.msg}; a record must be on one line, so this may be a pretty-printed file"
    byte = _broken_at(line)
    return f"no JSON: {fault.msg}" if byte is None else f"invalid UTF-8 at byte {byte} of the line"


def _is_wide(content: bytes) -> bool:
    """Return whether so many bytes are zero that the text must be in UTF-16 or UTF-32, of which some is valid UTF-8."""
    return 4 * content.count(0) >= len(content) > 0


def read_parquet(file: IO[bytes], shard: str, keys: Keys, longest: int) -> Iterator[Block | Fault]:
    """Read the text and url columns of a Parquet file, a few rows at a time."""
    row = 0
    try:
        table = pa.parquet.ParquetFile(file)
        names = table.schema_arrow.names
        if keys.text not in names:
            yield Fault(shard, 0, -1, f"no column '{keys.text}'; its columns are {', '.join(names)}", b"")
            return
        twice = [name for name in dict.fromkeys(keys) if names.count(name) > 1]
        if twice:
            yield Fault(shard, 0, -1, f"the column '{twice[0]}' is there {names.count(twice[0])} times", b"")
            return
        stored = table.schema_arrow.field(keys.text).type
        if not _holds_text(stored):
            yield Fault(shard, 0, -1, f"the column '{keys.text}' holds {stored}, not text", b"")
            return
        columns = [name for name in dict.fromkeys(keys) if name in names]
        for batch in table.iter_batches(PARQUET_ROWS, columns=columns, use_threads=False):
            yield from _rows(batch, row, shard, keys, longest)
            row += len(batch)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, OSError, UnicodeDecodeError) as fault:  # of a column's name
        yield Fault(shard, row + 1, -1, f"cannot be read further: {' '.join(str(fault).split())[:300]}", b"")


def _holds_text(stored: pa.DataType) -> bool:
    """Return whether a column can be read as text; any other could be cast to it, and would be nonsense."""
    value = stored.value_type if pa.types.is_dictionary(stored) else stored
    readable = (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view, pa.types.is_binary)
    return any(is_kind(value) for is_kind in (*readable, pa.types.is_large_binary, pa.types.is_null))


def _rows(batch: pa.RecordBatch, before: int, shard: str, keys: Keys, longest: int) -> Iterator[Block | Fault]:
    columns = {name: batch[name].cast(pa.string(), safe=False) for name in batch.schema.names}  # unsafe: any bytes
    texts, urls = columns[keys.text], columns.get(keys.url, pa.nulls(len(batch), pa.string()))
    faults = _row_faults(texts, urls, longest)
    for row, fault in sorted(faults.items()):
        raw = texts[row].as_buffer()
        yield Fault(shard, before + row + 1, -1, fault, raw[:KEPT].to_pybytes() if raw else b"")
    good = np.delete(np.arange(len(batch)), list(faults))
    names = zip(good.tolist(), urls.take(good).to_pylist(), strict=True)
    kept = [name or f"{shard}#{before + row + 1}" for row, name in names]
    yield Block(texts.take(good), kept, [0] * len(kept))


def _row_faults(texts: pa.Array, urls: pa.Array, longest: int) -> dict[int, str]:
    """Return what is wrong with some rows."""
    faults = {row: f"invalid UTF-8 at byte {byte} of the url" for row, byte in _undecodable(urls).items()}
    faults |= {row: f"invalid UTF-8 at byte {byte} of the text" for row, byte in _undecodable(texts).items()}
    for row in pc.indices_nonzero(pc.match_substring(texts, "\0")).to_pylist():
        if _is_wide(texts[row].as_buffer().to_pybytes()):
            faults[row] = _WIDE
    sizes = pc.fill_null(pc.binary_length(texts), 0)
    for row in pc.indices_nonzero(pc.equal(sizes, 0)).to_pylist():
        faults[row] = "no text"
    for row in pc.indices_nonzero(pc.greater(sizes, longest)).to_pylist():
        faults[row] = f"a text of {sizes[row].as_py():,} bytes, more than mine_sentences.longest_line ({longest:,})"
    return faults


def _undecodable(column: pa.Array) -> dict[int, int]:
    """Return the rows that are not UTF-8, each with its first invalid byte; neither Parquet nor Arrow checks it."""
    try:
        column.validate(full=True)
    except pa.ArrowInvalid:
        broken = enumerate(_broken_at(content or b"") for content in column.cast(pa.binary()).to_pylist())
        return {row: byte for row, byte in broken if byte is not None}
    return {}


def _broken_at(content: bytes) -> int | None:
    """Return the first byte that is not UTF-8."""
    try:
        content.decode("utf-8")
    except UnicodeDecodeError as fault:
        return fault.start
    return None


def read_text(file: IO[bytes], shard: str, keys: Keys, longest: int) -> Iterator[Block | Fault]:  # noqa: ARG001
    """Read running text, in which an empty line ends a paragraph and a single line break is white space.

    Each paragraph is a record; its position is counted in the characters of the lines that could be read.
    """
    paragraph: list[str] = []
    base = length = 0
    for lines in read_lines(file, shard, longest):
        if isinstance(lines, Fault):
            yield lines
            continue
        texts: list[str] = []
        bases: list[int] = []
        number, offset = lines.line, lines.offset
        for raw in _split(lines.data):
            # A mark at the beginning of the file becomes a space, so that all places stay.
            line = _decoded(raw if offset or not raw.startswith(_MARK) else b" " + raw[len(_MARK) :])
            if line is None:
                yield Fault(shard, number, offset, _WIDE if _is_wide(raw) else "invalid UTF-8", raw[:KEPT])
            elif line.strip():
                paragraph.append(line)
            elif paragraph:
                texts.append("".join(paragraph).replace("\n", " "))
                bases.append(base)
                paragraph = []
            length += len(line or "")
            base = base if paragraph else length
            number, offset = number + 1, offset + len(raw)
        yield Block(pa.array(texts, pa.string()), [shard] * len(texts), bases)
    if paragraph:
        yield Block(pa.array(["".join(paragraph).replace("\n", " ")]), [shard], [base])


def _decoded(line: bytes) -> str | None:
    """Return a line as text, or None if it is not in UTF-8."""
    if _is_wide(line):
        return None
    try:
        return line.decode("utf-8")
    except UnicodeDecodeError:
        return None


# Format -> what reads a file: file, shard, keys, longest line in bytes -> blocks and faults.
READERS: dict[str, Callable[[IO[bytes], str, Keys, int], Iterator[Block | Fault]]] = {
    "jsonl": read_jsonl,
    "parquet": read_parquet,
    "text": read_text,
}
