"""The sections of params.yaml that the stages of corpora read."""

from collections.abc import Collection, Iterator

from cxprobe.corpora.params import Corpus, Mining, faults_of_mining
from cxprobe.files.schema import Slug
from cxprobe.run.params import StageParams


class CorporaParams(StageParams):
    """The sections that stages of corpora read; each run of such a stage is about one corpus."""

    mining: Mining
    """Sentences of corpora that may have a construction."""
    corpora: dict[Slug, Corpus]
    """Slug -> a corpus that mining.constructions may name."""

    def faults_between(self, constructions: Collection[str]) -> Iterator[str]:
        """Yield the contradictions between the two sections, and unknown constructions."""
        yield from faults_of_mining(self.mining, self.corpora, constructions)
