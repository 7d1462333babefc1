"""The sections of params.yaml that the stages of corpora read."""

from collections.abc import Collection, Iterator

from cxprobe.corpora.params import Corpus, Mining
from cxprobe.files.schema import Slug, named_elsewhere, suggest
from cxprobe.files.writing import DATA
from cxprobe.run.params import StageParams


class CorporaParams(StageParams):
    """The sections that stages of corpora read; each run of such a stage is about one corpus."""

    mining: Mining
    """Sentences of corpora that may have a construction."""
    corpora: dict[Slug, Corpus]
    """Slug -> a corpus that mining.constructions may name."""

    def faults_between(self, constructions: Collection[str]) -> Iterator[str]:
        """Yield the contradictions between the two sections, and unknown constructions."""
        for name, corpus in self.mining.constructions.items():
            entry = self.corpora.get(corpus)
            if name not in constructions:
                yield f"mining.constructions.{name}: '{name}' is not in constructions/{suggest(name, constructions)}"
            if entry is None:
                yield f"mining.constructions.{name}: '{corpus}' is not in corpora{suggest(corpus, self.corpora)}"
        for corpus in dict.fromkeys(self.mining.constructions.values()):
            entry = self.corpora.get(corpus)
            own_files = entry is not None and not entry.folder.startswith(("hf://", f"{DATA}/"))
            if own_files and corpus not in self.mining.watched:
                yield f"mining.watched: must name {corpus}, since its files may change; `dvc repro` looks for new ones"
        yield from named_elsewhere("mining.watched", self.mining.watched, "corpora", self.corpora)
