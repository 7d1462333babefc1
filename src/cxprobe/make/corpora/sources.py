"""A corpus of params.yaml: what it consists of, and how it becomes files that can be read one by one."""

import hashlib
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pandas as pd
from datatrove.io import DataFolder, get_datafolder

from cxprobe.errors import DataError
from cxprobe.make.corpora.installed import digest_of, find_packages, write_installed_corpus
from cxprobe.params import Corpus, FilesCorpus, InstalledCorpus
from cxprobe.records.corpora import CorpusFiles

# Which files of a folder are read if params.yaml does not say.
_PATTERNS = {"jsonl": "**/*.json*", "parquet": "**/*.parquet", "text": "**/*.txt*"}
_MODIFIED = ("mtime", "LastModified", "last_modified", "updated")  # as local files, S3 and others call the time


def list_corpus(corpus: Corpus) -> pd.DataFrame:
    """List what a corpus consists of, without reading it: if the list has changed, it must be mined again.

    Returns:
        Columns name, size (in bytes) and modified for files; name and version for installed packages.

    Raises:
        DataError: There are no files, or a package is not installed.
    """
    if isinstance(corpus, InstalledCorpus):
        packages = find_packages(Path(corpus.packages))
        return pd.DataFrame([(one.name, one.version) for one in packages], columns=["name", "version"])
    folder, shards = _files(corpus)
    infos = ((shard, folder.info(shard)) for shard in shards)
    rows = [(shard, info["size"], _modified(info)) for shard, info in infos]
    return pd.DataFrame(rows, columns=["name", "size", "modified"])


def open_corpus(corpus: Corpus, scratch: Path) -> CorpusFiles:
    """Return a corpus ready to be read; that of installed packages is written into a folder of ``scratch`` first.

    Raises:
        DataError: There are no files, or a package is not installed.
    """
    if isinstance(corpus, InstalledCorpus):
        packages = find_packages(Path(corpus.packages))
        place = scratch / f"installed-{digest_of(packages)}-{corpus.shards}"
        written = write_installed_corpus(packages, place, corpus.shards)
        names = tuple(f"{number:03d}.jsonl" for number in range(corpus.shards))
        return CorpusFiles(str(place.resolve()), names, "jsonl", "text", "url", written.digest)
    folder, shards = _files(corpus)
    sizes = [(shard, folder.info(shard)["size"]) for shard in shards]
    digest = hashlib.sha256(repr(sizes).encode()).hexdigest()
    return CorpusFiles(_place(corpus), shards, corpus.format, corpus.text, corpus.url, digest)


def _files(corpus: FilesCorpus) -> tuple[DataFolder, tuple[str, ...]]:
    """Return a corpus's folder and the names of its files, sorted."""
    pattern = corpus.glob or _PATTERNS[corpus.format]
    folder = get_datafolder(_place(corpus))
    shards = tuple(sorted(folder.list_files(glob_pattern=pattern)))
    if not shards:
        raise DataError(f"corpora: {corpus.folder} has no file like {pattern}; name another folder or glob")
    return folder, shards


def _place(corpus: FilesCorpus) -> str:
    # A path of this machine must mean the same in the processes and on the machines that read it.
    return corpus.folder if "://" in corpus.folder else str(Path(corpus.folder).resolve())


def _modified(info: Mapping[str, Any]) -> str:
    """Return when a file was modified, or "unknown" where its storage does not say."""
    time = next((info[key] for key in _MODIFIED if info.get(key) is not None), "unknown")
    if isinstance(time, int | float):
        time = datetime.fromtimestamp(time, UTC)
    return time.isoformat(timespec="seconds") if isinstance(time, datetime) else str(time)
