"""A corpus whose files can be read one by one."""

from dataclasses import dataclass, field


@dataclass(frozen=True)
class CorpusFiles:
    """A corpus that is ready to be read.

    Attributes:
        folder: Where it is: a local folder, or any that fsspec knows (s3://, hf://datasets/...).
        shards: Its files, sorted; paths relative to ``folder``.
        format: "jsonl", "parquet" or "text".
        text: The key (column) of a record's text.
        url: The key (column) of the name of its source.
        digest: SHA-256 of its records (installed packages), or of the names and sizes of its files.
    """

    folder: str
    shards: tuple[str, ...] = field(repr=False)
    format: str
    text: str
    url: str
    digest: str
