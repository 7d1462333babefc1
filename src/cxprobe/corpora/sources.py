"""The files of a corpus: their list, and where they can be read."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path, PurePosixPath
from typing import Any

import pandas as pd
from datatrove.io import get_datafolder

from cxprobe.corpora.params import Corpus
from cxprobe.errors import DataError
from cxprobe.files.writing import DATA, digest

# The files of a folder that are read if params.yaml has no glob.
_PATTERNS = {"jsonl": "**/*.json*", "parquet": "**/*.parquet", "text": "**/*.txt*", "conllu": "**/*.conllu*"}


@dataclass(frozen=True)
class CorpusFiles:
    """A corpus whose files can be read one by one.

    Attributes:
        folder: Its folder: a local one, or an address that fsspec can open (s3://, hf://datasets/...).
        shards: Its files, sorted; paths relative to ``folder``.
        format: "jsonl", "parquet", "text" or "conllu".
        text: The key (column) of a record's text.
        url: The key (column) of the name of a record's source.
        digest: SHA-256 of the names and sizes of its files.
    """

    folder: str
    shards: tuple[str, ...] = field(repr=False)
    format: str
    text: str
    url: str
    digest: str


def list_corpus(corpus: Corpus) -> pd.DataFrame:
    """List the files of a corpus without reading them. If the list changes, the corpus must be mined again.

    Returns:
        Columns name, size (in bytes) and modified: the time of the last change. Files that a stage has written have
        their SHA-256 there, since every `dvc pull` changes their time.

    Raises:
        DataError: There are no files, one is a pipe, a device or a broken link, or the storage is out of reach.
    """
    is_output = Path(corpus.folder).parts[:1] == DATA.parts
    rows = []
    for shard, info in _files(corpus).items():
        modified = digest(Path(corpus.folder, shard)) if is_output else _modified(corpus, shard)
        rows.append((shard, info["size"], modified))
    return pd.DataFrame(rows, columns=["name", "size", "modified"])


def open_corpus(corpus: Corpus) -> CorpusFiles:
    """Return the files of a corpus, ready to be read.

    Raises:
        DataError: See `list_corpus`.
    """
    files = _files(corpus)
    sizes = [(shard, info["size"]) for shard, info in files.items()]
    listed = hashlib.sha256(repr(sizes).encode()).hexdigest()
    return CorpusFiles(_absolute(corpus.folder), tuple(files), corpus.format, corpus.text, corpus.url, listed)


def _files(corpus: Corpus) -> dict[str, Mapping[str, Any]]:
    """Return the storage's description of each file of a corpus, by the name of the file, sorted."""
    if not corpus.folder.strip():
        raise DataError("corpora: a folder is empty, which would be the project itself; name the corpus's folder")
    pattern = corpus.glob or _PATTERNS[corpus.format]
    try:
        folder = get_datafolder(_absolute(corpus.folder))
        shards = sorted(folder.list_files(glob_pattern=pattern))
        is_local = folder.is_local()
        files = {shard: folder.info(shard) for shard in shards if not is_local or Path(folder.path, shard).is_file()}
    except Exception as fault:  # each storage raises errors of its own library
        reason = " ".join(str(fault).split())[:300]
        raise DataError(
            f"corpora: {corpus.folder} cannot be listed with the glob {pattern}: {type(fault).__name__}: {reason}; "
            "look at its spelling, at the network and at your credentials, and run the stage again"
        ) from fault
    if not shards:
        raise DataError(f"corpora: {corpus.folder} has no file like {pattern}; name another folder or glob")
    for shard in shards:
        path = f"{folder.path}/{shard}"
        if not shard.isprintable():
            raise DataError(f"corpora: the name of {path!r} cannot be written into a table; rename it")
        if shard not in files:  # reading a pipe or a device would never end
            raise DataError(
                f"corpora: {path} is no file but a pipe, a device or a link that leads to none; remove it, or name "
                "another glob"
            )
    return files


def files_left_out(corpus: Corpus) -> list[str]:
    """Return the files of a corpus's folder that have another known format, sorted; none where it has a glob."""
    if corpus.glob:
        return []
    others = [glob.removeprefix("**/") for known, glob in _PATTERNS.items() if known != corpus.format]
    own = _PATTERNS[corpus.format].removeprefix("**/")
    names = map(PurePosixPath, get_datafolder(_absolute(corpus.folder)).list_files())
    return sorted(str(name) for name in names if any(map(name.match, others)) and not name.match(own))


def _absolute(folder: str) -> str:
    # A path of this machine must mean the same in the processes and on the machines that read it.
    return folder if "://" in folder else str(Path(folder).resolve())


def _modified(corpus: Corpus, shard: str) -> str:
    """Return the time of a file's last change, or "unknown" where its storage has none."""
    try:
        time: datetime = get_datafolder(_absolute(corpus.folder)).modified(shard)
    except NotImplementedError:
        return "unknown"
    return time.isoformat(timespec="seconds")
