"""What probes are trained on: the subsets of one source of sentences, with the model's vectors of these sentences."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from cxprobe.params import Source
from cxprobe.records import CLUSTER
from cxprobe.storage import digest, feature_files, read_features, read_table
from cxprobe.storage.arrays import Features


@dataclass(frozen=True, eq=False)
class ProbedSource:
    """One source of sentences as one model represents it.

    Attributes:
        rows: One row a drawn sentence: feature, split, value, label, id, text, and columns that begin with
            ``cluster_``.
        features: The vectors of the sentences.
        content: Digests of the files that hold the vectors.
    """

    rows: pd.DataFrame
    features: Features
    content: tuple[str, ...]

    @property
    def layers(self) -> int:
        """The number of layers, the embeddings included; 1 where counts take the place of vectors."""
        return len(self.features.vectors)

    @property
    def probes(self) -> int:
        """The number of probes: one for each feature and layer."""
        return int(self.rows["feature"].nunique()) * self.layers

    def subsets(self) -> Iterator[tuple[str, pd.DataFrame]]:
        """Yield each feature with the rows of its subset."""
        for feature, subset in self.rows.groupby("feature", sort=False):
            yield str(feature), subset


def read_sources(names: Iterable[Source], sentences: Path, features: Path) -> dict[Source, ProbedSource]:
    """Read the subsets of a construction's sources and map their vectors into memory.

    Args:
        names: The sources, such as "mined".
        sentences: A folder with splits.parquet and sentences.parquet in a subfolder for each source.
        features: A folder with features.npy, or features.npz, and ids.parquet in a subfolder for each source.

    Raises:
        DataError: The ids and the rows of some vectors do not match.
    """
    return {name: _read_source(sentences / name, features / name) for name in names}


def _read_source(sentences: Path, features: Path) -> ProbedSource:
    known = read_table(sentences / "sentences.parquet").filter(regex=f"^(id|text|{CLUSTER}.*)$")
    rows = read_table(sentences / "splits.parquet").merge(known, on="id", validate="many_to_one")
    content = tuple(map(digest, feature_files(features)))
    return ProbedSource(rows, read_features(features), content)
