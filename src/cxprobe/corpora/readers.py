"""Files of a corpus -> records, and faults of what is unreadable."""

import io
import json
from collections.abc import Callable, Iterator
from itertools import chain
from pathlib import PurePosixPath
from typing import IO, Any, NamedTuple, cast

import pyarrow as pa
import pyarrow.parquet
from datatrove.io import get_datafolder
from spacy.vocab import Vocab

from cxprobe.corpora.conllu import ConlluSentence, document_of, gold_doc, has_words, read_sentence
from cxprobe.corpora.sources import CorpusFiles
from cxprobe.errors import DataError

_BLOCK = 8 << 20  # characters of a block
_PARQUET_ROWS = 1024  # C4's records are some 2 kB, the longest some 1 MB
_PIECE = 1 << 16  # bytes that are read at once
_CODECS = {".gz": "gzip", ".bz2": "bz2", ".zst": "zstd", ".lz4": "lz4"}
_VOCAB = Vocab()
_MARK = b"\xef\xbb\xbf"  # the byte order mark of some files in UTF-8


class CorpusRecord(NamedTuple):
    """A text.

    Attributes:
        text: The text.
        url: The url or name of its source.
        base: Where it starts there, in characters.
        sentence: Its words, tags and tree, where its file has them; it is one sentence then.
    """

    text: str
    url: str
    base: int = 0
    sentence: ConlluSentence | None = None


class Unreadable(NamedTuple):
    """A line, a record or a whole file that could not be read.

    Attributes:
        shard: The file, relative to the corpus's folder.
        line: The number of the line (of the record, in a .parquet file) from 1; 0 for the file as a whole.
        offset: The byte of the uncompressed file at which it starts; -1 where a file has no such bytes.
        fault: What is wrong with it.
    """

    shard: str
    line: int
    offset: int
    fault: str


class FileLine(NamedTuple):
    """A line of a file, its number from 1, and the byte at which it starts."""

    content: bytes
    number: int
    offset: int


Records = Iterator[CorpusRecord | Unreadable]


def read_blocks(corpus: CorpusFiles, shard: str, longest: int) -> Iterator[tuple[list[CorpusRecord], list[Unreadable]]]:
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


def read_shard(corpus: CorpusFiles, shard: str, longest: int) -> Records:
    """Yield the records of a file and its faults, in their order.

    Args:
        corpus: The corpus, which says where a record has its text and its source.
        shard: The file's name, which says how it is compressed.
        longest: Bytes; a longer line (a longer text, in a .parquet file) is not read.

    Raises:
        DataError: The storage failed.
    """
    try:
        file = get_datafolder(corpus.folder).open(shard, "rb")
    except Exception as fault:  # each storage raises errors of its own library
        raise _out_of_reach(shard, fault) from fault
    with file:
        yield from _READERS[corpus.format](cast(IO[bytes], _Stored(file, shard)), shard, corpus, longest)


class _Stored:
    """A file whose errors of storage are distinguished from errors of content.

    Decompressors and parsers raise OSError for corrupt data: that is recorded as a fault, and the shard counts as
    finished. If a connection is lost, the shard must fail instead, so that the next run reads it again.
    """

    def __init__(self, file: IO[bytes], shard: str) -> None:
        self._file = file
        self._shard = shard

    def read(self, size: int = -1) -> bytes:
        try:
            return self._file.read(size)
        except Exception as fault:
            raise _out_of_reach(self._shard, fault) from fault

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)


def _out_of_reach(shard: str, fault: Exception) -> DataError:
    message = _one_line(fault) or type(fault).__name__
    return DataError(
        f"{shard} was not read to its end: {message}. Run the stage again: it goes on with the shards that are left"
    )


def read_lines(file: IO[bytes], shard: str, longest: int) -> Iterator[FileLine | Unreadable]:
    """Yield the lines of a file and its faults.

    Args:
        file: The file as it is stored; its compression follows from the shard's name.
        shard: The file's name.
        longest: Bytes; a longer line is skipped.
    """
    number, offset = 1, 0
    codec = _CODECS.get(PurePosixPath(shard).suffix)
    try:
        stored = pa.PythonFile(file, mode="r")
        stream = io.BufferedReader(pa.CompressedInputStream(stored, codec) if codec else stored, _PIECE)
        while content := stream.readline(longest + 1):
            size = len(content)
            if size > longest:
                while not content.endswith(b"\n") and (content := stream.readline(_PIECE)):
                    size += len(content)
                fault = f"a line of {size:,} bytes, more than mining.longest_line ({longest:,})"
                yield Unreadable(shard, number, offset, fault)
            else:
                yield FileLine(content, number, offset)
            number, offset = number + 1, offset + size
        if codec and not file.tell():
            raise OSError("the file is empty")  # even an archive of nothing has some bytes
    except OSError as broken:
        yield Unreadable(shard, number, offset, f"cannot be read further: {_one_line(broken)}")


def _json_records(file: IO[bytes], shard: str, corpus: CorpusFiles, longest: int) -> Records:
    for line in read_lines(file, shard, longest):
        if isinstance(line, Unreadable):
            yield line
            continue
        content = line.content if line.offset else line.content.removeprefix(_MARK)
        if not content.strip():
            continue
        try:
            record = json.loads(_decoded(content), parse_int=float)  # an integer may be longer than Python reads
            if not isinstance(record, dict):
                raise ValueError(f"no JSON object but a {type(record).__name__}")
            text, url = record.get(corpus.text), record.get(corpus.url)
            if not isinstance(text, str) or not text:
                keys = ", ".join(sorted(record))[:200]
                raise ValueError(f"no text under the key '{corpus.text}'; its keys are {keys}")
            name = url if isinstance(url, str) and url else f"{shard}#{line.number}"
            (text + name).encode()  # half of a surrogate pair is no character
            yield CorpusRecord(text, name)
        except json.JSONDecodeError as fault:
            message = f"no JSON: {fault.msg}; a record must be on one line"
            yield Unreadable(shard, line.number, line.offset, message)
        except (ValueError, RecursionError) as fault:
            yield Unreadable(shard, line.number, line.offset, str(fault))


def _parquet_records(file: IO[bytes], shard: str, corpus: CorpusFiles, longest: int) -> Records:
    row = 0
    try:
        table = pa.parquet.ParquetFile(file)
        if fault := _schema_fault(table.schema_arrow, corpus):
            yield Unreadable(shard, 0, -1, fault)
            return
        columns = [name for name in dict.fromkeys((corpus.text, corpus.url)) if name in table.schema_arrow.names]
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
                    yield Unreadable(shard, row, -1, str(unread))
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, OSError, UnicodeDecodeError) as broken:  # of a column's name
        yield Unreadable(shard, row + 1, -1, f"cannot be read further: {_one_line(broken)}")


def _schema_fault(schema: pa.Schema, corpus: CorpusFiles) -> str:
    """Return the fault of the columns of a table, or ""."""
    names = schema.names
    if names.count(corpus.text) != 1 or names.count(corpus.url) > 1:
        return f"must have one column '{corpus.text}', and at most one '{corpus.url}'; it has {', '.join(names)}"
    stored = schema.field(corpus.text).type
    value = stored.value_type if pa.types.is_dictionary(stored) else stored
    # Any other type could be cast to text, and would be nonsense.
    text = (pa.string(), pa.large_string(), pa.string_view(), pa.binary(), pa.large_binary(), pa.null())
    return "" if value in text else f"the column '{corpus.text}' holds {stored}, not text"


def _paragraphs(file: IO[bytes], shard: str, _corpus: CorpusFiles, longest: int) -> Records:
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
        # A mark at the beginning of the file becomes a space, so that all positions stay.
        marked = not line.offset and line.content.startswith(_MARK)
        content = b" " + line.content.removeprefix(_MARK) if marked else line.content
        try:
            text = _decoded(content)
        except ValueError as fault:
            yield Unreadable(shard, line.number, line.offset, str(fault))
            continue
        if paragraph and (not text.strip() or len(paragraph) + len(text) > longest):
            yield CorpusRecord(paragraph.replace("\n", " "), shard, base)
            paragraph, base = "", length
        if text.strip():
            paragraph += text
        length += len(text)
        base = base if paragraph else length
    if paragraph:
        yield CorpusRecord(paragraph.replace("\n", " "), shard, base)


def _parsed_sentences(file: IO[bytes], shard: str, _corpus: CorpusFiles, longest: int) -> Records:
    """Yield the sentences of a file in CoNLL-U, and those with a fault by their first line."""
    document, lines, first, skips = "", dict[int, str](), FileLine(b"", 0, 0), False
    for line in chain(read_lines(file, shard, longest), [FileLine(b"", 0, 0)]):
        if isinstance(line, Unreadable):
            yield line
            lines, skips = {}, True
            continue
        content = line.content.removeprefix(_MARK).rstrip(b"\r\n")
        first = first if lines else line
        try:
            if content and not skips:
                lines[line.number] = _decoded(content)
                if line.offset - first.offset > longest:
                    raise ValueError(f"a sentence of more bytes than mining.longest_line ({longest:,})")
            elif not content and has_words(lines):
                document = document_of(lines, document)
                yield _record_of(read_sentence(lines, document), shard)
                lines = {}
            skips = skips and bool(content)
        except (ValueError, DataError) as fault:
            yield Unreadable(shard, first.number, first.offset, str(fault))
            lines, skips = {}, bool(content)


def _record_of(sentence: ConlluSentence, shard: str) -> CorpusRecord:
    """Return the record of a sentence as its text has it; raise if its words are not its text, or spaCy refuses it."""
    written = sentence.as_written()
    if written is None:
        raise ValueError(
            f"the words are {sentence.text_of_words[:100]!r}, and the text is {sentence.text[:100]!r}; they must be "
            "the same"
        )
    gold_doc(written, _VOCAB)  # spaCy refuses it here, with its line, and not while it is searched
    # An address, since those of one document begin alike; where no document is named, each sentence is one.
    place = f"conllu://{sentence.document}" if sentence.document else shard
    return CorpusRecord(written.text, f"{place}#{sentence.id}", sentence=written)


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
_READERS: dict[str, Callable[[IO[bytes], str, CorpusFiles, int], Records]] = {
    "jsonl": _json_records,
    "parquet": _parquet_records,
    "text": _paragraphs,
    "conllu": _parsed_sentences,
}
