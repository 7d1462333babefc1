"""Files of a corpus -> columns of records. What is broken is named and put aside, and the rest is read."""

from collections.abc import Callable, Iterator
from pathlib import PurePosixPath
from typing import IO, Any, NamedTuple

import orjson
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.json
import pyarrow.parquet

from cxprobe.mining.blocks import KEPT, Block, Fault
from cxprobe.mining.lines import Lines, read_lines

PARQUET_ROWS = 1024  # C4's records are some 2 kB, the longest some 1 MB


class Keys(NamedTuple):
    """Where a record has its text and the name of its source."""

    text: str
    url: str


class Reader(NamedTuple):
    """How one kind of file is read.

    Attributes:
        pattern: Which files of a folder are meant, if nobody says.
        read: File, shard, keys, longest line in bytes -> blocks and faults.
    """

    pattern: str
    read: Callable[[IO[bytes], str, Keys, int], Iterator[Block | Fault]]


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
    """Parse a block at once, or return None if anything in it is not as it should be."""
    schema = pa.schema([(keys.text, pa.string()), (keys.url, pa.string())])
    try:
        table = pa.json.read_json(
            pa.BufferReader(lines.data),
            read_options=pa.json.ReadOptions(use_threads=False, block_size=len(lines.data) + 1),
            parse_options=pa.json.ParseOptions(explicit_schema=schema, unexpected_field_behavior="ignore"),
        )
        table.validate(full=True)  # the parser lets bytes through that are no UTF-8
    except pa.ArrowInvalid:
        return None
    texts = table[keys.text].combine_chunks()
    newlines = lines.data.count(b"\n") + (not lines.data.endswith(b"\n"))
    if len(table) != newlines or texts.null_count or pc.min(pc.binary_length(texts)).as_py() == 0:
        return None
    if table[keys.url].null_count:
        urls = [url or f"{shard}#{lines.line + row}" for row, url in enumerate(table[keys.url].to_pylist())]
    else:
        urls = table[keys.url].to_pylist()
    return Block(texts, urls, [0] * len(urls))


def _line_by_line(lines: Lines, shard: str, keys: Keys) -> Iterator[Block | Fault]:
    """Parse a block that has something broken in it."""
    texts: list[str] = []
    urls: list[str] = []
    number, offset = lines.line, lines.offset
    for line in _split(lines.data):
        content = _parsed(line, keys) if line.strip() else None
        if isinstance(content, str):
            yield Fault(shard, number, offset, content, line[:KEPT])
        elif content is not None:
            texts.append(content[keys.text])
            url = content.get(keys.url)
            urls.append(url if isinstance(url, str) else f"{shard}#{number}")
        number, offset = number + 1, offset + len(line)
    yield Block(pa.array(texts, pa.string()), urls, [0] * len(urls))


def _split(data: bytes) -> list[bytes]:
    """Split at line feeds alone, since a lone carriage return ends no line of JSON."""
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
    try:
        line.decode("utf-8")
    except UnicodeDecodeError as encoding:
        return f"invalid UTF-8 at byte {encoding.start} of the line"
    return f"no JSON: {fault.msg}"


def read_parquet(file: IO[bytes], shard: str, keys: Keys, longest: int) -> Iterator[Block | Fault]:
    """Read the text and url columns of a Parquet file, a few rows at a time."""
    row = 0
    try:
        table = pa.parquet.ParquetFile(file)
        names = table.schema_arrow.names
        if keys.text not in names:
            yield Fault(shard, 0, -1, f"no column '{keys.text}'; its columns are {', '.join(names)}", b"")
            return
        columns = [name for name in (keys.text, keys.url) if name in names]
        for batch in table.iter_batches(PARQUET_ROWS, columns=columns, use_threads=False):
            yield from _rows(batch, row, shard, keys, longest)
            row += len(batch)
    except (pa.ArrowInvalid, OSError) as fault:
        yield Fault(shard, row + 1, -1, f"cannot be read further: {' '.join(str(fault).split())[:300]}", b"")


def _rows(batch: pa.RecordBatch, before: int, shard: str, keys: Keys, longest: int) -> Iterator[Block | Fault]:
    texts = batch[keys.text].cast(pa.string())
    urls = batch[keys.url].to_pylist() if keys.url in batch.schema.names else [None] * len(batch)
    sizes = pc.fill_null(pc.binary_length(texts), 0)
    good = pc.and_(pc.greater(sizes, 0), pc.less_equal(sizes, longest))
    for row in pc.indices_nonzero(pc.invert(good)).to_pylist():
        size = sizes[row].as_py()
        fault = f"a text of {size:,} bytes, more than mine_sentences.longest_line ({longest:,})" if size else "no text"
        yield Fault(shard, before + row + 1, -1, fault, (texts[row].as_py() or "").encode()[:KEPT])
    kept = [str(urls[row] or f"{shard}#{before + row + 1}") for row in pc.indices_nonzero(good).to_pylist()]
    yield Block(texts.filter(good), kept, [0] * len(kept))


def read_text(file: IO[bytes], shard: str, keys: Keys, longest: int) -> Iterator[Block | Fault]:  # noqa: ARG001
    """Read running text, in which a blank line ends a paragraph and a single line break is white space.

    Each paragraph is a record; its place is counted in the characters of the lines that could be read.
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
            line = _decoded(raw)
            if line is None:
                yield Fault(shard, number, offset, "invalid UTF-8", raw[:KEPT])
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
    try:
        return line.decode("utf-8")
    except UnicodeDecodeError:
        return None


READERS = {
    "jsonl": Reader("**/*.json*", read_jsonl),
    "parquet": Reader("**/*.parquet", read_parquet),
    "text": Reader("**/*.txt*", read_text),
}


def shard_stem(shard: str) -> str:
    """Return a shard's name without its folders and endings."""
    return PurePosixPath(shard).name.partition(".")[0]
