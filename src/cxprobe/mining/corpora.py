"""The corpus that params.yaml names, as a folder of files that a job can take shard by shard."""

import hashlib
from dataclasses import astuple, replace
from pathlib import Path
from typing import NamedTuple

from datatrove.io import get_datafolder

from cxprobe.errors import DataError
from cxprobe.mining.installed import environment_digest, write_installed_corpus
from cxprobe.mining.pattern import Pattern
from cxprobe.mining.readers import READERS, Keys
from cxprobe.mining.shards import Job
from cxprobe.mining_params import Corpus, FilesCorpus, InstalledCorpus, MineSentences
from cxprobe.storage import scratch_folder


class Source(NamedTuple):
    """A corpus that is ready to be read.

    Attributes:
        folder: Where it is; anything that fsspec knows.
        shards: Its files, sorted.
        format: A key of `READERS`.
        keys: Where a record has its text and the name of its source.
        digest: SHA-256 of its records (the embedded corpus), or of its files' names and sizes.
    """

    folder: str
    shards: tuple[str, ...]
    format: str
    keys: Keys
    digest: str


def open_corpus(corpus: Corpus, scratch: Path) -> Source:
    """Return the corpus that is named; the embedded one is written into a folder of ``scratch`` first.

    Raises:
        DataError: There are no files.
    """
    if isinstance(corpus, InstalledCorpus):
        return _installed(corpus, scratch)
    return _files(corpus)


def make_job(source: Source, settings: MineSentences, pattern: Pattern, scratch: Path) -> Job:
    """Return the job of mining a corpus; its output lies in a folder of ``scratch`` named by all that it follows from.

    So a run that was killed goes on where it stopped, and one with another pattern, tagger or corpus begins anew.
    """
    tagger, code = Path(settings.tagger), Path(__file__).parent
    job = Job(
        folder=source.folder,
        shards=source.shards,
        format=source.format,
        keys=source.keys,
        longest_line=settings.longest_line,
        pattern=pattern,
        tagger=settings.tagger,
        most_words=settings.most_words,
        output="",
    )
    output = scratch_folder(scratch, astuple(job), source.digest, _contents(tagger), _contents(code))
    return replace(job, output=str(output.resolve()))


def _installed(corpus: InstalledCorpus, scratch: Path) -> Source:
    folder = scratch / f"installed-{environment_digest()}-{corpus.shards}"
    written = write_installed_corpus(folder, corpus.shards)
    shards = tuple(f"{number:03d}.jsonl" for number in range(corpus.shards))
    return Source(str(folder.resolve()), shards, "jsonl", Keys("text", "url"), written.digest)


def _files(corpus: FilesCorpus) -> Source:
    pattern = corpus.glob or READERS[corpus.format].pattern
    # A path of this machine must mean the same in the processes and on the machines that read it.
    place = corpus.folder if "://" in corpus.folder else str(Path(corpus.folder).resolve())
    folder = get_datafolder(place)
    shards = tuple(sorted(folder.list_files(glob_pattern=pattern)))
    if not shards:
        raise DataError(
            f"mine_sentences.corpus: {corpus.folder} has no file like {pattern}; name another folder or glob"
        )
    sizes = [(shard, folder.info(shard)["size"]) for shard in shards]
    digest = hashlib.sha256(repr(sizes).encode()).hexdigest()
    return Source(place, shards, corpus.format, Keys(corpus.text, corpus.url), digest)


def _contents(folder: Path) -> str:
    """Return the SHA-256 of a folder's files, or "" if there is no such folder."""
    digest = hashlib.sha256()
    for file in sorted(folder.rglob("*")) if folder.is_dir() else []:
        if file.is_file() and "__pycache__" not in file.parts:
            digest.update(f"{file.relative_to(folder)}\0".encode())
            digest.update(hashlib.sha256(file.read_bytes()).digest())
    return digest.hexdigest() if folder.is_dir() else ""
