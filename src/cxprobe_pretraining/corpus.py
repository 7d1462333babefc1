"""The text to learn from: fetched from its sources or read from a folder, and written as two files of records."""

import gzip
import json
import subprocess
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Annotated, Literal, NamedTuple

from pydantic import Field, StringConstraints

from cxprobe.errors import DataError
from cxprobe.files.schema import Closed, read_yaml, validate
from cxprobe.files.writing import replacing
from cxprobe_pretraining.books import read_book
from cxprobe_pretraining.masc import read_masc
from cxprobe_pretraining.settings import BuildCorpus, FolderSource, RepositoriesSource

PARTS: tuple[Literal["train"], Literal["validation"]] = ("train", "validation")


class Record(NamedTuple):
    """A run of whole paragraphs, joined by line breaks, and where it is from."""

    text: str
    url: str


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


def build_corpus(settings: BuildCorpus, folder: Path) -> dict[str, int]:
    """Write ``train.json.gz`` and ``validation.json.gz``, their records in the order of their urls.

    Args:
        settings: Where the text comes from, and what of it is held out.
        folder: Where the two files go.

    Returns:
        How many records each part has.

    Raises:
        DataError: A source cannot be read, or a part would be empty.
    """
    records = sorted(_records(settings.source), key=lambda record: _reading_order(record.url))
    held_out = tuple(settings.held_out)
    parts = {
        "train": [record for record in records if not record.url.startswith(held_out)],
        "validation": [record for record in records if record.url.startswith(held_out)],
    }
    for part, chosen in parts.items():
        if not chosen:
            raise DataError(
                f"build_corpus: of {len(records)} records none is for {part}; does build_corpus.held_out begin as "
                f"the urls do (such as '{records[0].url if records else ''}')?"
            )
        _write(chosen, folder / f"{part}.json.gz")
    return {part: len(chosen) for part, chosen in parts.items()}


def read_corpus(path: Path) -> Iterator[Record]:
    """Yield the records of a .json.gz file.

    Raises:
        DataError: A line is not a record.
    """
    with gzip.open(path, "rt", encoding="utf-8") as file:
        for number, line in enumerate(file, start=1):
            try:
                content = json.loads(line)
                yield Record(content["text"], content["url"])
            except (ValueError, KeyError, TypeError) as error:
                raise DataError(f"{path}, line {number}: no JSON object with 'text' and 'url' ({error!r})") from error


def _write(records: Iterable[Record], path: Path) -> None:
    with replacing(path) as partial, partial.open("wb") as raw, gzip.GzipFile("", "wb", fileobj=raw, mtime=0) as file:
        for record in records:
            file.write(json.dumps(record._asdict(), ensure_ascii=False).encode() + b"\n")


def _records(source: RepositoriesSource | FolderSource) -> Iterator[Record]:
    if isinstance(source, FolderSource):
        files = sorted(Path(source.path).rglob("*.json.gz"))
        if not files:
            raise DataError(f"build_corpus.source.path: '{source.path}' holds no .json.gz file")
        for file in files:
            yield from read_corpus(file)
    else:
        listed = validate(Sources, read_yaml(Path(source.list), DataError), Path(source.list), DataError)
        for number, repository in enumerate(listed.repositories, start=1):
            print(f"{number}/{len(listed.repositories)} {repository.name}", flush=True)  # noqa: T201
            with tempfile.TemporaryDirectory() as folder:
                fetch(f"{source.host}/{repository.name}", repository.commit, [repository.path], Path(folder))
                read = read_book if repository.kind == "book" else read_masc
                for part, text in read(Path(folder) / repository.path):
                    yield Record(text, f"{repository.name}#{part}")


def fetch(url: str, commit: str, paths: Sequence[str], folder: Path) -> None:
    """Check out some paths of a repository at a commit, without its history and its other files.

    Raises:
        DataError: git cannot, for the reason that it gives.
    """
    commands = (
        ["init", "--quiet"],
        ["sparse-checkout", "set", "--no-cone", *paths],
        ["fetch", "--quiet", "--depth", "1", "--filter=blob:none", url, commit],
        # The blobs are fetched on demand, from the remote that is named here.
        ["config", "remote.origin.url", url],
        ["config", "remote.origin.promisor", "true"],
        ["checkout", "--quiet", "FETCH_HEAD"],
    )
    for command in commands:
        done = subprocess.run(["git", "-C", str(folder), *command], capture_output=True, text=True, check=False)
        if done.returncode:
            raise DataError(f"{url} at {commit}: `git {command[0]}` failed: {done.stderr.strip()}")


def _reading_order(url: str) -> tuple[str, int]:
    place, _, number = url.rpartition("/")
    return (place, int(number)) if number.isdigit() else (url, 0)
