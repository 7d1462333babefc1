import gzip
import json
import shutil
import subprocess
from zipfile import ZipFile

import pytest
from test_books import write_book

from conftest import ROOT
from cxprobe.errors import DataError
from cxprobe.files.schema import read_yaml, validate
from cxprobe_pretraining import build_corpus, read_corpus
from cxprobe_pretraining.corpus import Sources
from cxprobe_pretraining.settings import BuildCorpus

MASC = "It_PRP 's_VBZ a_DT test_NN ,_, under_score_NN ._.\nYes_UH !_.\n"


def git(folder, *arguments: str) -> str:
    who = ["-c", "user.name=t", "-c", "user.email=t@example.org"]
    done = subprocess.run(["git", "-C", str(folder), *who, *arguments], check=True, capture_output=True, text=True)
    return done.stdout.strip()


@pytest.fixture
def host(tmp_path):
    """A folder of repositories in the shape of those that sources.yaml names, and the list of them."""
    host = tmp_path / "host"
    for book in ("one", "two"):
        write_book(host / "books" / book / "src" / "epub")
        (host / "books" / book / "images").mkdir()
        (host / "books" / book / "images" / "large.svg").write_text("not needed")
    (host / "data" / "packages").mkdir(parents=True)
    with ZipFile(host / "data" / "packages" / "masc_tagged.zip", "w") as archive:
        archive.writestr("masc_tagged/written/letter.txt", MASC)
        archive.writestr("masc_tagged/categories.txt", "x y")
    listed = []
    for name, kind, path in (
        ("books/one", "book", "src/epub"),
        ("books/two", "book", "src/epub"),
        ("data", "masc", "packages/masc_tagged.zip"),
    ):
        git(host / name, "init", "--quiet")
        git(host / name, "add", "--all")
        git(host / name, "commit", "--quiet", "-m", "a state")
        listed.append({"name": name, "commit": git(host / name, "rev-parse", "HEAD"), "kind": kind, "path": path})
    (host / "list.yaml").write_text(json.dumps({"repositories": listed}))
    return host


def settings(source: dict, held_out: str) -> BuildCorpus:
    return BuildCorpus(source=source, held_out=[held_out])


def test_the_listed_repositories_become_a_corpus_at_their_commits(host, tmp_path):
    later = host / "books/one/src/epub/text/chapter-1.xhtml"
    later.write_text("<p>Changed since.</p>")
    git(host / "books/one", "commit", "--quiet", "--all", "-m", "a later state")
    source = {"kind": "repositories", "list": str(host / "list.yaml"), "host": f"file://{host}"}
    counts = build_corpus(settings(source, "books/two#"), tmp_path / "corpus")
    assert counts == {"train": 3, "validation": 2}
    records = list(read_corpus(tmp_path / "corpus" / "train.json.gz"))
    assert [record.url for record in records] == [
        "books/one#chapter-1/0",
        "books/one#chapter-2/0",
        "data#written/letter/0",
    ]
    assert records[0].text.startswith("The first paragraph")
    assert records[2].text == "It's a test, under_score.\nYes!"


def test_a_repository_that_cannot_be_fetched_is_named(host, tmp_path):
    shutil.rmtree(host / "books" / "two")
    source = {"kind": "repositories", "list": str(host / "list.yaml"), "host": f"file://{host}"}
    with pytest.raises(DataError, match=r"books/two at [0-9a-f]{40}: `git fetch` failed"):
        build_corpus(settings(source, "books/two#"), tmp_path / "corpus")


def write_shard(path, *records: dict) -> None:
    path.parent.mkdir(exist_ok=True)
    with gzip.open(path, "wt") as file:
        file.writelines(json.dumps(record) + "\n" for record in records)


def test_a_folder_of_text_is_put_in_reading_order_and_held_out_by_book(tmp_path):
    urls = ["a/book#c-1/10", "a/other#c-1/0", "a/book#c-1/9"]
    for number, url in enumerate(urls):
        write_shard(tmp_path / "text" / f"{number}.json.gz", {"text": f"Text {number}.", "url": url, "timestamp": "t"})
    built = settings({"kind": "folder", "path": str(tmp_path / "text")}, "a/other#")
    assert build_corpus(built, tmp_path / "corpus") == {"train": 2, "validation": 1}
    train = [record.url for record in read_corpus(tmp_path / "corpus" / "train.json.gz")]
    assert train == ["a/book#c-1/9", "a/book#c-1/10"]
    first = (tmp_path / "corpus" / "train.json.gz").read_bytes()
    build_corpus(built, tmp_path / "corpus")
    assert (tmp_path / "corpus" / "train.json.gz").read_bytes() == first


def test_a_held_out_book_that_is_not_there_is_an_error(tmp_path):
    write_shard(tmp_path / "text" / "0.json.gz", {"text": "A text.", "url": "a/book#c/0"})
    with pytest.raises(DataError, match="none is for validation"):
        build_corpus(settings({"kind": "folder", "path": str(tmp_path / "text")}, "a/other#"), tmp_path / "corpus")


def test_a_broken_line_is_named(tmp_path):
    write_shard(tmp_path / "text" / "0.json.gz", {"text": "A text.", "url": "a/book#c/0"}, {"words": 3})
    with pytest.raises(DataError, match=r"0\.json\.gz, line 2: no JSON object with 'text' and 'url'"):
        build_corpus(settings({"kind": "folder", "path": str(tmp_path / "text")}, "a/b"), tmp_path / "corpus")


def test_an_empty_folder_is_named(tmp_path):
    with pytest.raises(DataError, match=r"holds no \.json\.gz file"):
        build_corpus(settings({"kind": "folder", "path": str(tmp_path)}, "a/b"), tmp_path / "corpus")


def test_the_projects_own_list_is_whole():
    path = ROOT / "models" / "sources.yaml"
    repositories = validate(Sources, read_yaml(path, DataError), path, DataError).repositories
    assert len({repository.name for repository in repositories}) == len(repositories) == 55
