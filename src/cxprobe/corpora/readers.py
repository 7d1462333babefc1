"""Files of a corpus -> blocks of records, and what could not be read of them."""

import gzip
import io
import json
import zlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import PurePosixPath
from typing import IO, NamedTuple

import pyarrow as pa
import pyarrow.parquet

KEPT = 1 << 20  # bytes of what could not be read that a fault keeps, so that it can be repaired
BLOCK = 8 << 20  # bytes of text in a block
PARQUET_ROWS = 1024  # C4's records are some 2 kB, the longest some 1 MB
_PIECE = 1 << 16  # bytes that are read at once
_CODECS = {".bz2": "bz2", ".zst": "zstd", ".lz4": "lz4"}
_MARK = b"\xef\xbb\xbf"  # what some programs begin a file in UTF-8 with
_WIDE = "no UTF-8 but, as its zero bytes show, UTF-16 or UTF-32; convert it to UTF-8"


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
        raw: Its first bytes, at most `KEPT`.
    """

    shard: str
    line: int
    offset: int
    fault: str
    raw: bytes


class Keys(NamedTuple):
    """Where a record has its text and the name of its source."""

    text: str
    url: str


class Record(NamedTuple):
    """A text, where it comes from, and where it starts there, in characters."""

    text: str
    url: str
    base: int = 0


class Line(NamedTuple):
    """A line of a file, its number from 1, and the byte at which it starts."""

    content: bytes
    number: int
    offset: int


def read_blocks(format: str, file: IO[bytes], shard: str, keys: Keys, longest: int) -> Iterator[Block | Fault]:
    """Yield the records of a file as blocks, and what could not be read as it comes.

    Args:
        format: A key of `FORMATS`.
        file: The file as it is stored; its compression follows from the shard's name.
        shard: The file's name.
        keys: Where a record has its text and its source; running text has no keys.
        longest: Bytes; a longer line (a longer text, in a .parquet file) is a fault.
    """
    held: list[Record] = []
    size = 0
    for record in FORMATS[format](file, shard, keys, longest):
        if isinstance(record, Fault):
            yield record
            continue
        held.append(record)
        size += len(record.text)
        if size >= BLOCK:
            yield _block(held)
            held, size = [], 0
    if held:
        yield _block(held)


def _block(records: Sequence[Record]) -> Block:
    texts, urls, bases = zip(*records, strict=True)
    return Block(pa.array(texts, pa.string()), list(urls), list(bases))


def read_lines(file: IO[bytes], shard: str, longest: int) -> Iterator[Line | Fault]:
    """Yield a file's lines, and what could not be read.

    Args:
        file: The file as it is stored; its compression follows from the shard's name.
        shard: The file's name.
        longest: Bytes; a longer line is skipped, and its beginning is kept in the fault.
    """
    number, offset = 1, 0
    suffix = PurePosixPath(shard).suffix
    try:
        if suffix == ".gz":
            stream: io.BufferedIOBase = gzip.GzipFile(fileobj=file)
        else:
            stored = pa.PythonFile(file, mode="r")
            stored = pa.CompressedInputStream(stored, _CODECS[suffix]) if suffix in _CODECS else stored
            stream = io.BufferedReader(stored, _PIECE)
        while content := stream.readline(longest + 1):
            size = len(content)
            if size > longest:
                rest = content
                while not rest.endswith(b"\n") and (rest := stream.readline(_PIECE)):
                    size += len(rest)
                    content += rest[: max(0, KEPT - len(content))]
                fault = f"a line of {size:,} bytes, more than mining.longest_line ({longest:,})"
                yield Fault(shard, number, offset, fault, content[:KEPT])
            else:
                yield Line(content, number, offset)
            number, offset = number + 1, offset + size
        if (suffix == ".gz" or suffix in _CODECS) and not file.tell():
            raise EOFError("the file is empty")  # even an archive of nothing has some bytes
    except (OSError, EOFError, zlib.error) as broken:
        yield Fault(shard, number, offset, f"cannot be read further: {_one_line(broken)}", b"")


def _json_records(file: IO[bytes], shard: str, keys: Keys, longest: int) -> Iterator[Record | Fault]:
    for line in read_lines(file, shard, longest):
        if isinstance(line, Fault):
            yield line
            continue
        content = line.content if line.offset else line.content.removeprefix(_MARK)
        if not content.strip():
            continue
        try:
            text, url = _parsed(content, keys)
            yield Record(text, url or f"{shard}#{line.number}")
        except ValueError as fault:
            yield Fault(shard, line.number, line.offset, str(fault), line.content[:KEPT])


def _parsed(line: bytes, keys: Keys) -> tuple[str, str]:
    """Return the text of a record and the name of its source, "" where it has none.

    Raises:
        ValueError: It is no such record; the message says why.
    """
    try:
        record = json.loads(line.decode(), parse_int=float)  # an integer may be longer than Python reads
        if not isinstance(record, dict):
            raise ValueError(f"no JSON object but a {type(record).__name__}")
        text, url = record.get(keys.text), record.get(keys.url)
        if not isinstance(text, str) or not text:
            raise ValueError(f"no text under the key '{keys.text}'; its keys are {', '.join(sorted(record))[:200]}")
        url = url if isinstance(url, str) else ""
        (text + url).encode()
    except UnicodeDecodeError as fault:
        raise ValueError(_WIDE if _is_wide(line) else f"invalid UTF-8 at byte {fault.start} of the line") from None
    except UnicodeEncodeError:
        raise ValueError("half of a surrogate pair, which is no character") from None
    except json.JSONDecodeError as fault:
        pretty = "; a record must be on one line, so this may be a pretty-printed file"
        said = f"no JSON: {fault.msg}{pretty if line.strip() in (b'{', b'[') else ''}"
        raise ValueError(_WIDE if _is_wide(line) else said) from None
    except RecursionError:
        raise ValueError("no JSON that is read: it is nested too deeply") from None
    return text, url


def _parquet_records(file: IO[bytes], shard: str, keys: Keys, longest: int) -> Iterator[Record | Fault]:
    row = 0
    try:
        table = pa.parquet.ParquetFile(file)
        if fault := _schema_fault(table.schema_arrow, keys):
            yield Fault(shard, 0, -1, fault, b"")
            return
        columns = [name for name in dict.fromkeys(keys) if name in table.schema_arrow.names]
        for batch in table.iter_batches(PARQUET_ROWS, columns=columns, use_threads=False):
            # Neither Parquet nor Arrow looks whether bytes are UTF-8.
            cells = {name: batch[name].cast(pa.string(), safe=False).cast(pa.binary()).to_pylist() for name in columns}
            for text, url in zip(cells[keys.text], cells.get(keys.url, [None] * len(batch)), strict=True):
                row += 1
                if fault := _row_fault(text or b"", url or b"", longest):
                    yield Fault(shard, row, -1, fault, (text or b"")[:KEPT])
                else:
                    yield Record(text.decode(), url.decode() if url else f"{shard}#{row}")
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, OSError, UnicodeDecodeError) as broken:  # of a column's name
        yield Fault(shard, row + 1, -1, f"cannot be read further: {_one_line(broken)}", b"")


def _schema_fault(schema: pa.Schema, keys: Keys) -> str:
    """Return what is wrong with the columns of a table, or ""."""
    if keys.text not in schema.names:
        return f"no column '{keys.text}'; its columns are {', '.join(schema.names)}"
    if twice := [name for name in keys if schema.names.count(name) > 1]:
        return f"the column '{twice[0]}' is there {schema.names.count(twice[0])} times"
    stored = schema.field(keys.text).type
    value = stored.value_type if pa.types.is_dictionary(stored) else stored
    # Any other type could be cast to text, and would be nonsense.
    text = (pa.string(), pa.large_string(), pa.string_view(), pa.binary(), pa.large_binary(), pa.null())
    return "" if value in text else f"the column '{keys.text}' holds {stored}, not text"


def _row_fault(text: bytes, url: bytes, longest: int) -> str:
    if not text:
        return "no text"
    if len(text) > longest:
        return f"a text of {len(text):,} bytes, more than mining.longest_line ({longest:,})"
    if _is_wide(text):
        return _WIDE
    for name, content in (("text", text), ("url", url)):
        try:
            content.decode()
        except UnicodeDecodeError as fault:
            return f"invalid UTF-8 at byte {fault.start} of the {name}"
    return ""


def _paragraphs(file: IO[bytes], shard: str, _keys: Keys, longest: int) -> Iterator[Record | Fault]:
    """Yield the paragraphs of running text: an empty line ends one, and a single line break is white space.

    The place of a paragraph is counted in the characters of the lines that could be read.
    """
    paragraph = ""
    base = length = 0
    for line in read_lines(file, shard, longest):
        if isinstance(line, Fault):
            yield line
            continue
        # A mark at the beginning of the file becomes a space, so that all places stay.
        marked = not line.offset and line.content.startswith(_MARK)
        content = b" " + line.content.removeprefix(_MARK) if marked else line.content
        try:
            text = "" if _is_wide(content) else content.decode()
        except UnicodeDecodeError:
            text = ""
        if not text:
            fault = _WIDE if _is_wide(content) else "invalid UTF-8"
            yield Fault(shard, line.number, line.offset, fault, line.content[:KEPT])
        elif text.strip():
            paragraph += text
        elif paragraph:
            yield Record(paragraph.replace("\n", " "), shard, base)
            paragraph = ""
        length += len(text)
        base = base if paragraph else length
    if paragraph:
        yield Record(paragraph.replace("\n", " "), shard, base)


def _is_wide(content: bytes) -> bool:
    """Return whether so many bytes are zero that the text must be in UTF-16 or UTF-32, of which some is valid UTF-8."""
    return 4 * content.count(0) >= len(content) > 0


def _one_line(fault: Exception) -> str:
    return " ".join(str(fault).split())[:300]


# Format -> what reads a file: file, shard, keys, longest line in bytes -> records and faults.
FORMATS: dict[str, Callable[[IO[bytes], str, Keys, int], Iterator[Record | Fault]]] = {
    "jsonl": _json_records,
    "parquet": _parquet_records,
    "text": _paragraphs,
}
