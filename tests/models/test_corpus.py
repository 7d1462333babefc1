import gzip
import json
import subprocess
from zipfile import ZipFile

import pandas as pd
import pytest

from cxprobe.errors import DataError
from pretraining.corpus import paragraphs, write_corpus
from pretraining.settings import Corpus

OPF = """<?xml version="1.0" encoding="utf-8"?>
<package><manifest>
<item href="css/core.css" id="core.css" media-type="text/css"/>
<item href="text/chapter-2.xhtml" id="chapter-2.xhtml" media-type="application/xhtml+xml"/>
<item href="text/chapter-1.xhtml" id="chapter-1.xhtml" media-type="application/xhtml+xml"/>
</manifest><spine><itemref idref="chapter-1.xhtml"/><itemref idref="chapter-2.xhtml"/></spine></package>"""
CHAPTER = """<?xml version="1.0" encoding="utf-8"?>
<html xmlns:epub="http://www.idpf.org/2007/ops"><head><title>I</title></head><body epub:type="bodymatter">
<section id="chapter-1" epub:type="chapter">
<header><h2>Chapter</h2><p>A subtitle.</p></header>
<blockquote epub:type="epigraph"><p>Somebody else's words.</p></blockquote>
<p>The first <i>paragraph</i>,\u200a with a note.<a href="e" epub:type="noteref">1</a> It goes
on.</p>
<hr/>
<blockquote><p><span>One line</span><br/><span>and another</span></p></blockquote>
<figure><img src="a"/><figcaption><p>Fig. 1</p></figcaption></figure>
<p>“The last &amp; least.”</p>
</section></body></html>"""


def write_book(folder, chapter: str = CHAPTER) -> None:
    (folder / "text").mkdir(parents=True)
    (folder / "content.opf").write_text(OPF)
    for number in (1, 2):
        (folder / "text" / f"chapter-{number}.xhtml").write_text(chapter)


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


def settings(held_out: str, folder=None, repositories="", host="") -> Corpus:
    return Corpus(folder=folder and str(folder), repositories=str(repositories), host=str(host), held_out=[held_out])


def records(folder, part: str) -> dict[str, str]:
    table = pd.read_json(folder / f"{part}.json.gz", lines=True)
    return dict(zip(table["url"], table["text"], strict=True))


def test_the_listed_repositories_become_a_corpus_at_their_commits(host, tmp_path):
    later = host / "books/one/src/epub/text/chapter-1.xhtml"
    later.write_text("<p>Changed since.</p>")
    git(host / "books/one", "commit", "--quiet", "--all", "-m", "a later state")
    listed = settings("books/two#", repositories=host / "list.yaml", host=f"file://{host}")
    write_corpus(listed, tmp_path / "corpus")
    train = records(tmp_path / "corpus", "train")
    assert list(train) == ["books/one#chapter-1/0", "books/one#chapter-2/0", "data#written/letter/0"]
    assert train["books/one#chapter-1/0"].startswith("The first paragraph")
    assert train["data#written/letter/0"] == "It's a test, under_score.\nYes!"
    assert list(records(tmp_path / "corpus", "validation")) == ["books/two#chapter-1/0", "books/two#chapter-2/0"]


def write_shard(path, *records: dict) -> None:
    path.parent.mkdir(exist_ok=True)
    with gzip.open(path, "wt") as file:
        file.writelines(json.dumps(record) + "\n" for record in records)


def test_a_folder_of_text_is_put_in_reading_order_and_held_out_by_book(tmp_path):
    urls = ["a/book#c-1/10", "a/other#c-1/0", "a/book#c-1/9"]
    for number, url in enumerate(urls):
        write_shard(tmp_path / "text" / f"{number}.json.gz", {"text": f"“Text” {number}.", "url": url})
    asked = settings("a/other#", folder=tmp_path / "text")
    write_corpus(asked, tmp_path / "corpus")
    train = records(tmp_path / "corpus", "train")
    assert train == {"a/book#c-1/9": "“Text” 2.", "a/book#c-1/10": "“Text” 0."}
    assert list(train) == ["a/book#c-1/9", "a/book#c-1/10"]
    first = (tmp_path / "corpus" / "train.json.gz").read_bytes()
    write_corpus(asked, tmp_path / "corpus")
    assert (tmp_path / "corpus" / "train.json.gz").read_bytes() == first


def test_a_file_that_is_no_text_is_named(tmp_path):
    with pytest.raises(DataError, match=r"'.*text' holds no \.json\.gz file"):
        write_corpus(settings("a#", folder=tmp_path / "text"), tmp_path / "corpus")
    write_shard(tmp_path / "text" / "0.json.gz", {"words": 3})
    with pytest.raises(DataError, match=r"0\.json\.gz: not every line"):
        write_corpus(settings("a#", folder=tmp_path / "text"), tmp_path / "corpus")


def test_the_running_text_is_kept_and_nothing_else():
    assert paragraphs(CHAPTER) == [
        "The first paragraph, with a note. It goes on.",
        "One line and another",
        "“The last & least.”",
    ]
