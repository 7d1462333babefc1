import json
import os
from importlib.metadata import version

import pytest

from cxprobe.corpora.installed import write_installed_corpus
from cxprobe.corpora.params import FilesCorpus, InstalledCorpus
from cxprobe.corpora.sources import files_left_out, list_corpus, open_corpus
from cxprobe.errors import DataError


def files(folder, glob=None) -> FilesCorpus:
    return FilesCorpus(kind="files", folder=str(folder), glob=glob, format="jsonl", text="text", url="url")


def installed(tmp_path, *lines: str) -> InstalledCorpus:
    path = tmp_path / "packages.txt"
    path.write_text("\n".join(lines))
    return InstalledCorpus.model_construct(kind="installed", packages=str(path), shards=2)


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


@pytest.mark.parametrize("change", ["new file", "other size", "other time"])
def test_the_list_changes_with_the_files(folder, change):
    before = list_corpus(files(folder))
    if change == "new file":
        (folder / "c.json").write_bytes(b"x")
    elif change == "other size":
        (folder / "b.json").write_bytes(b"x")
        os.utime(folder / "b.json", (0, 0))
    else:
        os.utime(folder / "b.json", (0, 5))
    assert not list_corpus(files(folder)).equals(before)


def test_files_of_other_formats_are_left_out_and_named(folder):
    (folder / "deep").mkdir()
    for name in ("notes.md", "c.parquet", "deep/d.conllu.gz", "deep/e.jsonl"):
        (folder / name).write_bytes(b"x")
    assert files_left_out(files(folder)) == ["c.parquet", "deep/d.conllu.gz"]
    assert files_left_out(files(folder, "b*")) == []  # a glob says which are meant
    read = list_corpus(files(folder))["name"]
    assert not {*read} & {*files_left_out(files(folder))}


def test_packages_are_listed_with_their_versions_however_their_names_are_written(tmp_path):
    corpus = installed(tmp_path, "# what is read", "scikit_learn  # with its docstrings", "", "NetworkX")
    expected = [["networkx", version("networkx")], ["scikit-learn", version("scikit-learn")]]
    assert list_corpus(corpus).to_numpy().tolist() == expected


def test_only_the_packages_that_are_named_are_read(tmp_path):
    opened = open_corpus(installed(tmp_path, "joblib"), tmp_path)
    lines = [line for shard in opened.shards for line in (tmp_path / opened.folder / shard).read_text().splitlines()]
    assert len(lines) > 50
    assert {json.loads(line)["url"].partition("/")[0] for line in lines} == {f"joblib=={version('joblib')}"}


def test_a_package_that_is_not_installed_is_named(tmp_path):
    corpus = installed(tmp_path, "joblib", "no-such-package", "nor-this")
    with pytest.raises(DataError, match=r"not installed: no-such-package, nor-this\. .* the pinned environment"):
        open_corpus(corpus, tmp_path)


def test_a_corpus_that_is_written_is_not_written_again(tmp_path):
    folder, digest = write_installed_corpus([], tmp_path, 2)
    (folder / "000.jsonl").unlink()
    assert write_installed_corpus([], tmp_path, 2) == (folder, digest)
    assert sorted(path.name for path in folder.iterdir()) == ["001.jsonl", "corpus.json"]
