"""The text to learn from: fetched from its sources or read from a folder, and written as two files of records."""

import re
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Literal
from zipfile import ZipFile

import pandas as pd
from bs4 import BeautifulSoup
from nltk.tokenize.treebank import TreebankWordDetokenizer
from pydantic import Field, StringConstraints

from cxprobe.errors import DataError
from cxprobe.files.schema import Closed, read_checked
from cxprobe.tagging import sentence_spans
from pretraining.settings import Corpus

RECORD_WORDS = 400  # a record of a book is closed once it has so many words
RECORD_LINES = 20  # a line of MASC is a sentence or a short paragraph
_PARAGRAPHS = ["p", "li", "dt", "dd"]
_NO_PROSE = {"head", "header", "h1", "h2", "h3", "h4", "h5", "h6", "hgroup", "table", "figure", "script", "style"}
# What a section or block is called (epub:type) that does not belong to the author's running text.
_NO_TEXT = {
    "colophon", "copyright-page", "dedication", "endnotes", "epigraph", "halftitlepage", "imprint", "noteref",
    "titlepage", "toc", "z3998:dramatis-personae",
}  # fmt: skip
_SPACES = dict.fromkeys(map(ord, "\u200a\u2060\ufeff"))  # hair spaces and word joiners are typography


class Repository(Closed):
    """A repository at a commit, and how its text is read."""

    name: str
    """owner/name."""
    commit: Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{40}$")]
    kind: Literal["book", "masc"]
    """A book as Standard Ebooks keeps it, or the archive of MASC in nltk_data."""
    path: str
    """The folder or file in it that is needed."""


class Sources(Closed):
    """A list of repositories."""

    repositories: Annotated[list[Repository], Field(min_length=1)]


def write_corpus(settings: Corpus, folder: Path) -> None:
    """Write ``train.json.gz`` and ``validation.json.gz``, their records in the order of their urls.

    Raises:
        DataError: A source cannot be read, or a part would be empty.
    """
    records = _read_folder(Path(settings.folder)) if settings.folder else pd.DataFrame(_fetch_records(settings))
    order = [_reading_order(url) for url in records["url"]]
    records = records.iloc[sorted(range(len(order)), key=order.__getitem__)]
    held_out = records["url"].str.startswith(tuple(settings.held_out))
    folder.mkdir(parents=True, exist_ok=True)
    for part, chosen in (("train", records[~held_out]), ("validation", records[held_out])):
        if chosen.empty:
            raise DataError(
                f"none of the {len(records)} records is for {part}; corpus.held_out must have the beginnings of "
                f"urls such as '{records['url'].iloc[0]}'"
            )
        print(f"{part}: {len(chosen):,} records")
        gzip = {"method": "gzip", "mtime": 0}
        path = folder / f"{part}.json.gz"
        chosen.to_json(path, orient="records", lines=True, force_ascii=False, compression=gzip)


def read_sentences(path: Path) -> list[list[str]]:
    """Return the sentences of each record of a .json.gz file."""
    texts = pd.read_json(path, lines=True)["text"]
    return [[text[start:end] for start, end in sentence_spans(text)] for text in texts]


def _reading_order(url: str) -> tuple[str, int]:
    chapter, _, part = url.rpartition("/")
    return (chapter, int(part)) if part.isdigit() else (url, 0)


def _read_folder(folder: Path) -> pd.DataFrame:
    files = sorted(folder.rglob("*.json.gz"))
    if not files:
        raise DataError(f"corpus.folder: '{folder}' holds no .json.gz file")
    tables = []
    for file in files:
        try:
            tables.append(pd.read_json(file, lines=True, dtype=False)[["text", "url"]])
        except (ValueError, KeyError) as error:
            raise DataError(f"{file}: not every line is a JSON object with 'text' and 'url' ({error})") from error
    return pd.concat(tables, ignore_index=True)


def _fetch_records(settings: Corpus) -> Iterator[dict[str, str]]:
    path = Path(settings.repositories)
    listed = read_checked(Sources, path, DataError).repositories
    for number, repository in enumerate(listed, start=1):
        print(f"{number}/{len(listed)} {repository.name}", flush=True)
        with tempfile.TemporaryDirectory() as folder:
            _check_out(f"{settings.host}/{repository.name}", repository.commit, repository.path, Path(folder))
            read = read_book if repository.kind == "book" else read_masc
            for part, text in read(Path(folder) / repository.path):
                yield {"text": text, "url": f"{repository.name}#{part}"}


def _check_out(url: str, commit: str, path: str, folder: Path) -> None:
    """Check out a path of a repository at a commit, without its history and its other files."""
    for command in (
        ["init", "--quiet"],
        ["sparse-checkout", "set", "--no-cone", path],
        ["fetch", "--quiet", "--depth", "1", "--filter=blob:none", url, commit],
        # The blobs are fetched on demand, from the remote that is named here.
        ["config", "remote.origin.url", url],
        ["config", "remote.origin.promisor", "true"],
        ["checkout", "--quiet", "FETCH_HEAD"],
    ):
        done = subprocess.run(["git", "-C", str(folder), *command], capture_output=True, text=True, check=False)
        if done.returncode:
            raise DataError(f"{url} at {commit}: `git {command[0]}` failed: {done.stderr.strip()}")


def read_book(folder: Path) -> Iterator[tuple[str, str]]:
    """Yield the records of a book as Standard Ebooks keeps it: runs of whole paragraphs of one chapter.

    Args:
        folder: The EPUB's source (``src/epub``), with content.opf and text/*.xhtml.

    Yields:
        <chapter file>/<part>, and the paragraphs joined by line breaks.

    Raises:
        DataError: The folder has no content.opf.
    """
    package = folder / "content.opf"
    if not package.is_file():
        raise DataError(f"{package}: there is no such file; path must be the src/epub of the book's repository")
    content = BeautifulSoup(package.read_text("utf-8").partition("?>")[2], "html.parser")  # after the XML declaration
    chapters = {
        item["id"]: str(item["href"])
        for item in content.find_all("item", attrs={"media-type": "application/xhtml+xml"})
    }
    for reference in content.find_all("itemref"):
        if reference["idref"] in chapters:
            path = folder / chapters[reference["idref"]]
            run: list[str] = []
            part = words = 0
            for text in paragraphs(path.read_text("utf-8")):
                run.append(text)
                words += len(text.split())
                if words >= RECORD_WORDS:
                    yield f"{path.stem}/{part}", "\n".join(run)
                    run, words, part = [], 0, part + 1
            if run:
                yield f"{path.stem}/{part}", "\n".join(run)


def paragraphs(xhtml: str) -> list[str]:
    """Return the paragraphs of a chapter, without headings, epigraphs, notes, tables and figures."""
    chapter = BeautifulSoup(xhtml, "html.parser")
    for element in chapter.find_all():
        types = str(element.get("epub:type") or "").split() if not element.decomposed else []
        if not element.decomposed and (element.name in _NO_PROSE or _NO_TEXT & set(types)):
            element.decompose()
    for line_break in chapter.find_all("br"):
        line_break.replace_with(" ")
    for paragraph in chapter.find_all(_PARAGRAPHS):
        paragraph.append(" ")
    outer = [paragraph for paragraph in chapter.find_all(_PARAGRAPHS) if not paragraph.find_parent(_PARAGRAPHS)]
    texts = [" ".join(paragraph.get_text().translate(_SPACES).split()) for paragraph in outer]
    return [text for text in texts if text]


def read_masc(archive: Path) -> Iterator[tuple[str, str]]:
    """Yield the records of nltk_data's ``masc_tagged.zip``, in which every token is written word_TAG.

    The text is put together again by the Penn Treebank's rules for spaces, so its spaces are not always the original's.

    Yields:
        <spoken|written>/<file>/<part> and the text.
    """
    join = TreebankWordDetokenizer().detokenize
    with ZipFile(archive) as opened:
        for name in sorted(name for name in opened.namelist() if re.search(r"/(?:spoken|written)/.+\.txt$", name)):
            document = "/".join(Path(name).with_suffix("").parts[1:])
            lines = opened.read(name).decode("utf-8").splitlines()
            texts = [join([token.rpartition("_")[0] for token in line.split()]) for line in lines if line.strip()]
            for part in range(0, len(texts), RECORD_LINES):
                yield f"{document}/{part // RECORD_LINES}", "\n".join(texts[part : part + RECORD_LINES])
