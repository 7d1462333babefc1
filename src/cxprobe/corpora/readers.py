"""The files of a corpus: their list, their records, and faults of what is unreadable."""

import io
import json
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path, PurePosixPath
from typing import IO, NamedTuple, cast

import pandas as pd
import pyarrow as pa
import pyarrow.parquet
from datatrove.io import get_datafolder

from cxprobe.corpora.params import Corpus
from cxprobe.errors import DataError
from cxprobe.files.writing import DATA, digest

# The files of a folder that are read if params.yaml has no glob.
_PATTERNS = {"jsonl": "**/*.json*", "parquet": "**/*.parquet", "text": "**/*.txt*"}
_BLOCK = 8 << 20  # characters of a block
_PARQUET_ROWS = 1024  # C4's records are some 2 kB, the longest some 1 MB
_PIECE = 1 << 16  # bytes that are read at once
_CODECS = {".gz": "gzip", ".bz2": "bz2", ".zst": "zstd", ".lz4": "lz4"}
_TEXTS = (pa.string(), pa.large_string(), pa.string_view(), pa.binary(), pa.large_binary(), pa.null())
_MARK = b"\xef\xbb\xbf"  # the byte order mark of some files in UTF-8


def list_corpus(corpus: Corpus) -> pd.DataFrame:
    """List the files of a corpus without reading them. If the list changes, the corpus must be mined again.

    Returns:
        Columns name (below the corpus's folder, sorted), size (in bytes) and modified: the time of the last change.
        Files that a stage has written have their SHA-256 there, since every `dvc pull` changes their time.

    Raises:
        DataError: There are no files, one is a pipe, a device or a broken link, or the storage is out of reach.
    """
    pattern = corpus.glob or _PATTERNS[corpus.format]
    rows = []
    try:
        folder = get_datafolder(absolute(corpus.folder))
        for shard in sorted(folder.list_files(glob_pattern=pattern)):
            if folder.is_local() and not Path(folder.path, shard).is_file():  # reading a pipe would never end
                raise OSError(f"{shard} is no file but a pipe, a device or a link that leads to none")
            modified = "unknown"
            if Path(corpus.folder).parts[:1] == DATA.parts:
                modified = digest(Path(corpus.folder, shard))
            else:
                with suppress(NotImplementedError):  # the storage has no times
                    modified = folder.modified(shard).isoformat(timespec="seconds")
            rows.append((shard, folder.info(shard)["size"], modified))
    except Exception as fault:  # each storage raises errors of its own library
        raise DataError(
            f"corpora: {corpus.folder} cannot be listed with the glob {pattern}: {type(fault).__name__}: "
            f"{_one_line(fault)}; look at its files, at the network and at your credentials, and run the stage again"
        ) from fault
    if not rows:
        raise DataError(f"corpora: {corpus.folder} has no file like {pattern}; name another folder or glob")
    return pd.DataFrame(rows, columns=["name", "size", "modified"])


def absolute(folder: str) -> str:
    """Return the folder of a corpus by a name that means the same in all processes and on the machines that read it."""
    return folder if "://" in folder else str(Path(folder).resolve())


class CorpusRecord(NamedTuple):
    """A text.

    Attributes:
        text: The text.
        url: The url or name of its source.
        base: Where it starts there, in characters.
    """

    text: str
    url: str
    base: int = 0


class Unreadable(NamedTuple):
    """A line or a record that could not be read.

    Attributes:
        shard: The file, relative to the corpus's folder.
        line: The number of the line (of the record, in a .parquet file) from 1.
        fault: What is wrong with it.
    """

    shard: str
    line: int
    fault: str


Records = Iterator[CorpusRecord | Unreadable]


def read_blocks(corpus: Corpus, shard: str, longest: int) -> Iterator[tuple[list[CorpusRecord], list[Unreadable]]]:
    """Yield the records of a file and its faults, in blocks of some 8 MB; see `read_shard`."""
    records, unreadable, size = list[CorpusRecord](), list[Unreadable](), 0
    for one in read_shard(corpus, shard, longest):
        if isinstance(one, Unreadable):
            unreadable.append(one)
            size += len(one.fault)
        else:
            records.append(one)
            size += len(one.text)
        if size >= _BLOCK:
            yield records, unreadable
            records, unreadable, size = [], [], 0
    if records or unreadable:
        yield records, unreadable


def read_shard(corpus: Corpus, shard: str, longest: int) -> Records:
    """Yield the records of a file and its faults, in their order.

    Args:
        corpus: The corpus, which says where a record has its text and its source.
        shard: The file's name, which says how it is compressed.
        longest: Bytes; a longer line (a longer text, in a .parquet file) is not read.

    Raises:
        DataError: The file is damaged, or its storage failed. Nothing of it may count then: what is left of it would
            pass for all.
    """
    try:
        with get_datafolder(absolute(corpus.folder)).open(shard, "rb") as file:
            yield from _READERS[corpus.format](cast(IO[bytes], file), shard, corpus, longest)
    except Exception as fault:  # of storages, compression and Parquet, which have errors of their own
        raise DataError(
            f"{shard} was not read to its end: {type(fault).__name__}: {_one_line(fault)}; mend the file, fetch it "
            "again, or take it out of the corpus, and run the stage again: it goes on with the shards that are left"
        ) from fault


def read_lines(file: IO[bytes], shard: str, longest: int) -> Iterator[tuple[int, str] | Unreadable]:
    """Yield the lines of a file in UTF-8, each with its number from 1, and its faults.

    Args:
        file: The file as it is stored; its compression follows from the shard's name.
        shard: The file's name.
        longest: Bytes; a longer line is skipped.
    """
    stored = pa.PythonFile(file, mode="r")
    codec = _CODECS.get(PurePosixPath(shard).suffix)
    stream = io.BufferedReader(pa.CompressedInputStream(stored, codec) if codec else stored, _PIECE)
    number = 1
    while content := stream.readline(longest + 1):
        size = len(content)
        if size > longest:
            while not content.endswith(b"\n") and (content := stream.readline(_PIECE)):
                size += len(content)
            too_long = f"a line of {size:,} bytes, more than mining.longest_line ({longest:,})"
            yield Unreadable(shard, number, too_long)
        else:
            if number == 1 and content.startswith(_MARK):
                content = b" " + content.removeprefix(_MARK)  # one character again, so that all positions stay
            try:
                yield number, _decoded(content)
            except ValueError as fault:
                yield Unreadable(shard, number, str(fault))
        number += 1


def _json_records(file: IO[bytes], shard: str, corpus: Corpus, longest: int) -> Records:
    for line in read_lines(file, shard, longest):
        if isinstance(line, Unreadable):
            yield line
            continue
        number, content = line
        if not content.strip():
            continue
        try:
            record = json.loads(content, parse_int=float)  # an integer may be longer than Python reads
            if not isinstance(record, dict):
                raise ValueError(f"no JSON object but a {type(record).__name__}")
            text, url = record.get(corpus.text), record.get(corpus.url)
            if not isinstance(text, str) or not text:
                keys = ", ".join(sorted(record))[:200]
                raise ValueError(f"no text under the key '{corpus.text}'; its keys are {keys}")
            name = url if isinstance(url, str) and url else f"{shard}#{number}"
            (text + name).encode()  # half of a surrogate pair is no character
            yield CorpusRecord(text, name)
        except json.JSONDecodeError as fault:
            yield Unreadable(shard, number, f"no JSON: {fault.msg}; a record must be on one line")
        except (ValueError, RecursionError) as fault:
            yield Unreadable(shard, number, str(fault))


def _parquet_records(file: IO[bytes], shard: str, corpus: Corpus, longest: int) -> Records:
    table, row = pa.parquet.ParquetFile(file), 0
    names = table.schema_arrow.names
    if names.count(corpus.text) != 1 or names.count(corpus.url) > 1:
        raise ValueError(f"must have one column '{corpus.text}', and at most one '{corpus.url}'; it has {names}")
    kind = table.schema_arrow.field(corpus.text).type
    if kind not in _TEXTS:  # any other type could be cast to text, and would be nonsense
        raise ValueError(f"the column '{corpus.text}' holds {kind}, not text")
    columns = [name for name in dict.fromkeys((corpus.text, corpus.url)) if name in names]
    for batch in table.iter_batches(_PARQUET_ROWS, columns=columns, use_threads=False):
        # Neither Parquet nor Arrow looks whether bytes are UTF-8.
        cells = {name: batch[name].cast(pa.string(), safe=False).cast(pa.binary()).to_pylist() for name in columns}
        for text, url in zip(cells[corpus.text], cells.get(corpus.url, [None] * len(batch)), strict=True):
            row += 1
            try:
                if not text or len(text) > longest:
                    size = len(text or b"")
                    raise ValueError(f"a text of {size:,} bytes; 1 to mining.longest_line ({longest:,}) are read")
                yield CorpusRecord(_decoded(text), _decoded(url) if url else f"{shard}#{row}")
            except ValueError as unread:
                yield Unreadable(shard, row, str(unread))


def _paragraphs(file: IO[bytes], shard: str, _corpus: Corpus, longest: int) -> Records:
    """Yield the paragraphs of running text: an empty line ends one, and a single line break is white space.

    One that is longer than ``longest`` characters is divided between two lines, so that no file fills the memory.
    The position of a paragraph is counted in the characters of the lines that could be read.
    """
    paragraph = ""
    base = length = 0
    for line in read_lines(file, shard, longest):
        if isinstance(line, Unreadable):
            yield line
            continue
        _, text = line
        if paragraph and (not text.strip() or len(paragraph) + len(text) > longest):
            yield CorpusRecord(paragraph.replace("\n", " "), shard, base)
            paragraph, base = "", length
        if text.strip():
            paragraph += text
        length += len(text)
        base = base if paragraph else length
    if paragraph:
        yield CorpusRecord(paragraph.replace("\n", " "), shard, base)


def _decoded(content: bytes) -> str:
    """Return bytes in UTF-8 as text.

    Raises:
        ValueError: They are not; some UTF-16 and UTF-32 is valid UTF-8, but has many zero bytes.
    """
    if 4 * content.count(0) >= len(content) > 0:
        raise ValueError("no UTF-8 but, as its zero bytes show, UTF-16 or UTF-32; convert it to UTF-8")
    try:
        return content.decode()
    except UnicodeDecodeError as fault:
        raise ValueError(f"invalid UTF-8 at byte {fault.start}") from None


def _one_line(fault: Exception) -> str:
    return " ".join(str(fault).split())[:300]


# Format -> its reader: file, shard, corpus, longest line in bytes -> records and faults.
_READERS: dict[str, Callable[[IO[bytes], str, Corpus, int], Records]] = {
    "jsonl": _json_records,
    "parquet": _parquet_records,
    "text": _paragraphs,
}
