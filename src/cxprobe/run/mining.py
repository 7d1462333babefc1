"""What the stages of corpora read of params.yaml: where constructions are looked for."""

import sys
from collections.abc import Collection, Iterator, Mapping, Sequence

import pandas as pd

from cxprobe.corpora.params import Corpus, Mining, faults_of_mining
from cxprobe.files.schema import Slug
from cxprobe.run.params import StageParams
from cxprobe.run.stage import Stage


class CorporaParams(StageParams):
    """The sections of corpora, in which the work of one stage is one corpus."""

    mining: Mining
    """Sentences of corpora that may have a construction."""
    corpora: dict[Slug, Corpus]
    """Slug -> a corpus that mining.constructions may name."""

    def faults_between(self, constructions: Collection[str]) -> Iterator[str]:
        """Yield what is wrong between the two sections, and with the constructions that they name."""
        yield from faults_of_mining(self.mining, self.corpora, constructions)


def tell_faults(stage: Stage[CorporaParams], counts: Mapping[str, int], faults: pd.DataFrame) -> None:
    """Print how much of a corpus could not be read: one fault may be all the rest of a file.

    Args:
        stage: The stage of the corpus.
        counts: The numbers of its documents and faults.
        faults: Columns shard, line, offset, fault.
    """
    for shard, line, _, fault in faults.head(1).itertuples(index=False, name=None):
        number = f"corpora.{stage.item}: {counts['faults']:,} faults beside {counts['documents']:,} documents"
        print(f"{number}; the first: {shard}, line {line}: {fault}", file=sys.stderr)


def tell_left_out(stage: Stage[CorporaParams], names: Sequence[str]) -> None:
    """Print how many files of a corpus's folder are not read, since they have another format than the corpus."""
    if names:
        corpus = f"corpora.{stage.item}: {len(names)} files of other formats in its folder are not read"
        print(f"{corpus}; the first: {names[0]}; name a corpus of its format for them", file=sys.stderr)
