import gzip
import io
import json
import random

import pyarrow as pa
import pyarrow.parquet
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from small_corpora import corpus_of

from cxprobe.corpora import readers
from cxprobe.corpora.readers import Unreadable, read_lines, read_shard
from cxprobe.errors import DataError

LONGEST = 1000


def record(number: int, text: str | None = None) -> bytes:
    return json.dumps({"text": text or f"text {number} … é", "url": f"u{number}"}).encode() + b"\n"


@pytest.fixture
def read(tmp_path):
    """Return a function that gives the records of a file, and what could not be read of it."""

    def read(format: str, data: bytes, shard: str):
        (tmp_path / shard).write_bytes(data)
        every = list(read_shard(corpus_of(tmp_path, format), shard, LONGEST))
        faults = [one for one in every if isinstance(one, Unreadable)]
        return [one for one in every if one not in faults], faults

    return read


def parquet_of(table: pa.Table | None = None, **columns) -> bytes:
    file = pa.BufferOutputStream()
    pa.parquet.write_table(pa.table(columns) if table is None else table, file)
    return file.getvalue().to_pybytes()


TWO_TEXTS = parquet_of(pa.table([["one"], ["two"]], names=["text", "text"]))


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        (b"{broken\n", "no JSON"),
        (b"[1, 2]\n", "no JSON object but a list"),
        (b'{"url": "x", "words": 3}\n', "no text under the key 'text'; its keys are url, words"),
        (b'{"text": "", "url": "x"}\n', "no text under the key 'text'"),
        (b'{"text": "caf\xe9 the", "url": "x"}\n', "invalid UTF-8 at byte 13"),
        (b'{"text": "' + b"long " * 2000 + b'"}\n', "a line of 10,013 bytes, more than mining.longest_line"),
        (b'{"text": "a", "x": ' + b"[" * 400 + b"[" * 400 + b"\n", "no JSON"),
        (b'{"text": "\\ud800", "url": "x"}\n', "surrogates not allowed"),
        ('{"text": "a"}'.encode("utf-16-be") + b"\n", "no UTF-8 but, as its zero bytes show, UTF-16"),
    ],
)
def test_a_broken_line_is_named_and_the_rest_is_read(read, line, fault):
    good = [record(n) for n in range(4)]
    records, faults = read("jsonl", b"".join([*good[:2], line, *good[2:]]), "a.jsonl")
    assert [url for _, url, _ in records] == ["u0", "u1", "u2", "u3"]
    (found,) = faults
    assert fault in found.fault
    assert (found.shard, found.line) == ("a.jsonl", 3)


def test_a_record_without_a_url_is_named_by_its_file_and_line(read):
    records, faults = read("jsonl", record(0) + b"\n" + b'{"text": "a b"}\n{"text": "c", "url": null}\n', "a.jsonl")
    assert [url for _, url, _ in records] == ["u0", "a.jsonl#3", "a.jsonl#4"]
    assert not faults


@pytest.mark.parametrize("damage", ["truncated", "overwritten"])
def test_a_corrupt_archive_is_refused_after_what_comes_before_the_damage(read, damage):
    words = random.Random(1)
    data = gzip.compress(b"".join(record(n, f"text {words.random()} {words.random()}") for n in range(5000)))
    half = len(data) // 2
    broken = data[:half] if damage == "truncated" else data[:half] + b"\xff" * 40 + data[half + 40 :]
    with pytest.raises(DataError, match=r"^a\.json\.gz was not read to its end: OSError: "):
        read("jsonl", broken, "a.json.gz")


@pytest.mark.parametrize("shard", ["a.json.gz", "a.json.bz2", "a.json.zst", "a.json.lz4"])
def test_an_archive_of_nothing_is_sound(read, tmp_path, shard):
    with pa.output_stream(tmp_path / shard):
        pass
    assert read("jsonl", (tmp_path / shard).read_bytes(), shard) == ([], [])


@settings(max_examples=200)
@given(
    st.lists(st.integers(0, 60).map(lambda n: b"x" * n), max_size=20), st.integers(1, 70), st.sampled_from([b"", b"\n"])
)
def test_lines_are_whole_and_numbered_however_they_are_cut(contents, piece, end):
    data = b"\n".join(contents) + end
    lines = data.splitlines(keepends=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(readers, "_PIECE", piece)
        found = list(read_lines(io.BytesIO(data), "a.jsonl", longest=30))
    for number, (line, content) in enumerate(zip(found, lines, strict=True), start=1):
        if len(content) <= 30:
            assert line == (number, content.decode())
        else:
            assert (line.line, line.fault.split(",")[0]) == (number, f"a line of {len(content)} bytes")


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.binary()])
def test_parquet_rows_without_text_or_that_are_no_utf8_are_named_and_the_rest_is_read(read, kind):
    contents = [b"one", b"tw\xff\xfeo", None, b"four \xe2\x80\xa6", b"five", b"", b"x" * 2000]
    texts = pa.array(contents).cast(kind, safe=False)
    urls = pa.array([b"a", b"b", b"c", None, b"\xe9", b"f", b"g"]).cast(kind, safe=False)
    records, faults = read("parquet", parquet_of(text=texts, url=urls), "a.parquet")
    assert records == [("one", "a", 0), ("four …", "a.parquet#4", 0)]
    assert [(fault.line, fault.fault.partition(" bytes;")[0]) for fault in faults] == [
        (2, "invalid UTF-8 at byte 2"),
        (3, "a text of 0"),
        (5, "invalid UTF-8 at byte 0"),
        (6, "a text of 0"),
        (7, "a text of 2,000"),
    ]


def test_paragraphs_of_running_text_keep_their_place(read):
    text = "First line\nof one paragraph.\n\n\nSecond — one.\n \nThird\n"
    records, faults = read("text", text.encode(), "a.txt")
    assert [text for text, _, _ in records] == ["First line of one paragraph. ", "Second — one. ", "Third "]
    assert all(text[base : base + 5] == found[:5] for found, _, base in records)
    assert not faults


def test_a_line_of_running_text_that_is_no_utf8_is_named(read):
    records, faults = read("text", b"One\n\xff\xfe\ntwo.\n\nThree", "a.txt")
    assert [text for text, _, _ in records] == ["One two. ", "Three"]
    assert [(fault.line, fault.fault) for fault in faults] == [(2, "invalid UTF-8 at byte 0")]


@pytest.mark.parametrize("broken", [b"", b"{broken\n"], ids=["sound", "broken"])
def test_a_mark_at_the_beginning_of_a_file_is_no_part_of_it(read, broken):
    mark = "\ufeff".encode()
    records, _ = read("jsonl", mark + record(0) + broken + record(1), "a.jsonl")
    assert [url for _, url, _ in records] == ["u0", "u1"]
    assert read("text", mark + b"The more.\n", "a.txt")[0] == [(" The more. ", "a.txt", 0)]


def test_text_without_an_empty_line_comes_in_parts_that_have_their_places(read):
    lines = [f"line {number} of a long text\n" for number in range(LONGEST)]
    records, faults = read("text", "".join(lines).encode(), "a.txt")
    assert not faults
    assert len(records) > 2
    assert max(len(text) for text, _, _ in records) <= LONGEST
    assert "".join(text for text, _, _ in records) == "".join(lines).replace("\n", " ")
    assert all("".join(lines)[base:].startswith(text[:20]) for text, _, base in records)


TABLES = [
    (b"PAR1 not really", "ArrowInvalid: "),
    (parquet_of(text=["one"]).replace(b"text", b"tex\xd3"), "UnicodeDecodeError: "),
    (parquet_of(content=["one"]), "ValueError: must have one column 'text'"),
    (TWO_TEXTS, "ValueError: must have one column 'text'"),
]
KINDS = (pa.int64(), pa.float32(), pa.bool_(), pa.list_(pa.string()), pa.date32())
TABLES += [(parquet_of(text=pa.array([None], kind)), "ValueError: the column 'text' holds ") for kind in KINDS]


@pytest.mark.parametrize(("table", "said"), TABLES)
def test_what_is_no_parquet_or_has_no_column_of_text_is_refused(read, table, said):
    with pytest.raises(DataError, match=f"^a.parquet was not read to its end: {said}"):
        read("parquet", table, "a.parquet")
