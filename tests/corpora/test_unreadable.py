"""Corpora that are none, or whose settings are wrong, mined as the stage mines them: none of them ends well."""

import json
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from small_corpora import corpus_of, mine, settings_of

from cxprobe.corpora.readers import list_corpus
from cxprobe.errors import DataError

pytestmark = pytest.mark.pipeline

SENTENCE = "The taller it was, the older it became."
RECORDS = [{"text": f"{SENTENCE} Number {number}.", "url": f"u{number}"} for number in range(8)]
TASKS = "".join(f"{json.dumps(record)}\n" for record in RECORDS)


@contextmanager
def at_most(seconds: int) -> Iterator[None]:
    """Fail if the block takes longer; a system call that hangs is interrupted too."""

    def late(*_: object) -> None:
        raise AssertionError(f"it took more than {seconds} seconds")

    signal.signal(signal.SIGALRM, late)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)


def stage(tagger: Path, folder: Path, files: dict[str, bytes]):
    """Do what the stage does with files, from the listing to the refusal."""
    (folder / "corpus").mkdir()
    for name, content in files.items():
        (folder / "corpus" / name).write_bytes(content)
    corpus = corpus_of(folder / "corpus")
    with at_most(60):
        list_corpus(corpus)
        return mine(corpus, settings_of(tagger), folder / "scratch", folder / "out")


def test_an_empty_file_among_others_is_no_fault(toy_tagger, tmp_path):
    table, _, counts, _ = stage(toy_tagger, tmp_path, {"a.json": b"", "b.json": TASKS.encode()})
    assert (counts["documents"], "faults" in counts, len(table)) == (8, False, 1)


def test_a_construction_without_a_candidate_has_an_empty_table_with_all_columns(toy_tagger, tmp_path):
    table, *_ = stage(toy_tagger, tmp_path, {"a.json": b'{"text": "Nobody came.", "url": "u"}'})
    assert (len(table), [*table][-3:]) == (0, ["first_start", "second_start", "distance"])


LONG = SENTENCE.removesuffix(".")


@pytest.mark.parametrize(
    "tail",
    ["x" * 3_900_000, " word" * 780_000, "(" * 12_000, "'s" * 450],
    ids=["one word", "many words", "brackets", "short"],
)
def test_a_text_without_a_full_stop_is_rejected_and_the_rest_is_mined(toy_tagger, tmp_path, tail):
    """A longest text that spaCy takes is no shortest time: its tokeniser needs hours for a megabyte of brackets."""
    (tmp_path / "corpus").mkdir()
    texts = [f"{LONG}{tail}", SENTENCE]
    lines = [json.dumps({"text": text, "url": str(number)}, ensure_ascii=False) for number, text in enumerate(texts)]
    (tmp_path / "corpus" / "a.json").write_text("\n".join(lines))
    settings = settings_of(toy_tagger).model_copy(update={"longest_line": 20_000_000, "most_words": 10**6})
    with at_most(60):
        table, found, *_ = mine(corpus_of(tmp_path / "corpus"), settings, tmp_path / "scratch", tmp_path / "out")
    assert SENTENCE in set(table["text"])
    if len(tail) > 1000 and not tail.startswith(" "):
        assert found["rejects"]["too long"] == 1


@pytest.mark.parametrize(
    ("put", "said"),
    [
        (lambda folder: os.mkfifo(folder / "b.json"), r"b\.json is no file but a pipe, "),
        (lambda folder: (folder / "b.json").symlink_to("nowhere"), r"b\.json is no file but a pipe, "),
    ],
    ids=["pipe", "dangling"],
)
def test_what_is_no_file_is_refused_before_anything_is_read(tmp_path, put, said):
    (tmp_path / "a.json").write_text(TASKS)
    put(tmp_path)
    with at_most(20), pytest.raises(DataError, match=f"corpora: .*{said}"):
        list_corpus(corpus_of(tmp_path))


@pytest.mark.parametrize(
    ("folder", "said"),
    [
        ("nosuch://bucket/books", "ValueError: Protocol not known: nosuch"),
        ("http://127.0.0.1:9/books", "Cannot connect to host 127"),
    ],
)
def test_a_storage_that_is_out_of_reach_is_refused(folder, said):
    with at_most(20), pytest.raises(DataError, match=f"corpora: .*{said}"):
        list_corpus(corpus_of(folder))
