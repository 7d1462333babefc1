import os

import pytest

from cxprobe.corpora.params import Corpus
from cxprobe.corpora.readers import files_left_out, list_corpus


def files(folder, glob=None) -> Corpus:
    return Corpus(folder=str(folder), glob=glob, format="jsonl", text="text", url="url")


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "corpus").mkdir()
    for number, name in enumerate(["b.json", "a.json.gz"]):
        path = tmp_path / "corpus" / name
        path.write_bytes(b"x" * (number + 3))
        os.utime(path, (0, 86400 * number))
    return tmp_path / "corpus"


def test_files_are_listed_with_size_and_time(folder):
    assert list_corpus(files(folder)).to_numpy().tolist() == [
        ["a.json.gz", 4, "1970-01-02T00:00:00+00:00"],
        ["b.json", 3, "1970-01-01T00:00:00+00:00"],
    ]


def test_files_of_other_formats_are_left_out_and_named(folder):
    (folder / "deep").mkdir()
    for name in ("notes.md", "c.parquet", "deep/d.conllu.gz", "deep/e.jsonl"):
        (folder / name).write_bytes(b"x")
    assert files_left_out(files(folder)) == ["c.parquet", "deep/d.conllu.gz"]
    assert files_left_out(files(folder, "b*")) == []  # a glob says which are meant
    read = list_corpus(files(folder))["name"]
    assert not {*read} & {*files_left_out(files(folder))}
