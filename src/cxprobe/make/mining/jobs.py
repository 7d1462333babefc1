"""The job of mining a corpus: what every shard's task is given, and the folder of the shards' finds."""

import hashlib
from dataclasses import astuple, replace
from pathlib import Path

from cxprobe import segmentation
from cxprobe.constructions import Pattern
from cxprobe.constructions import pattern as pattern_module
from cxprobe.make.mining.readers import Keys
from cxprobe.make.mining.shards import Job
from cxprobe.params import MineSentences
from cxprobe.records.corpora import CorpusFiles
from cxprobe.storage import digest, scratch_folder

# The modules of this package that a shard runs. What it finds follows from these alone: a change of a message in
# another module must not mine everything again.
SHARD_MODULES = ("blocks", "forward", "lines", "matching", "readers", "search", "shards", "tagging")


def make_job(source: CorpusFiles, settings: MineSentences, pattern: Pattern, scratch: Path) -> Job:
    """Return the job of mining a corpus; its folder in ``scratch`` is named by everything that its output depends on.

    So a run that was killed continues where it stopped, and one with another pattern, tagger or corpus, or with another
    version of the code that a shard runs, starts from the beginning.
    """
    job = Job(
        folder=source.folder,
        shards=source.shards,
        format=source.format,
        keys=Keys(source.text, source.url),
        longest_line=settings.longest_line,
        pattern=pattern,
        tagger=settings.tagger,
        most_words=settings.most_words,
        output="",
    )
    tagger = Path(settings.tagger)
    output = scratch_folder(scratch, astuple(job), source.digest, _contents(tagger), _code())
    # Workers of a cluster run in folders of their own, where a relative path may lead to another tagger.
    return replace(
        job, output=str(output.resolve()), tagger=str(tagger.resolve()) if tagger.is_dir() else settings.tagger
    )


def _code() -> list[str]:
    """Return the digests of the modules that a shard runs."""
    own = [Path(__file__).with_name(f"{name}.py") for name in SHARD_MODULES]
    return [digest(path) for path in (*own, Path(segmentation.__file__), Path(pattern_module.__file__))]


def _contents(folder: Path) -> str:
    """Return the SHA-256 of a folder's files, or "" if the folder does not exist."""
    contents = hashlib.sha256()
    for file in sorted(folder.rglob("*")) if folder.is_dir() else []:
        if file.is_file() and "__pycache__" not in file.parts:
            contents.update(f"{file.relative_to(folder)}\0".encode())
            contents.update(hashlib.sha256(file.read_bytes()).digest())
    return contents.hexdigest() if folder.is_dir() else ""
