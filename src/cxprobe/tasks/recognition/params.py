"""The section of params.yaml for recognition: sentences, balanced subsets, vectors and probes."""

from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Annotated, ClassVar

from pydantic import Field, PositiveFloat, PositiveInt, model_validator

from cxprobe.constructions.construction import SentenceSource
from cxprobe.corpora.params import Mining
from cxprobe.files.schema import Closed, Slug, SomeDistinct, named_elsewhere
from cxprobe.results.params import Everything, TaskParams, TaskSection
from cxprobe.stats import CLUSTER

Folds = Annotated[int, Field(ge=2)]
TEMPLATE = f"{CLUSTER}template"
"""The column of the template that a sentence is made from."""


class LabelSettings(Closed):
    """How labelled sentences of a corpus are split into a training part and a test part."""

    folds: Folds
    """Number of folds; one is the test part. Folds have similar sizes and shares of labels, and sentences with the same
    sequence of tags are in the same fold."""
    documents_apart: bool
    """Whether all sentences of a document are in the same part. The paper's design is false."""


class Subsets(Closed):
    """The sizes of the balanced subsets D_f (one per feature f) of the sentences of a source."""

    train_per_label: PositiveInt
    """Sentences per value and label in the training part (the lowest quarter of a feature's range)."""
    test_per_label: PositiveInt
    """Sentences per value and label in the test part (the whole range)."""
    all_sentences: bool
    """Whether to add a subset that is balanced by label only, for data that are too scarce to balance the values."""


class MakeRecognition(Closed):
    """How many sentences the grammars generate, how labelled ones are split, and the subsets of each source."""

    per_label: PositiveInt
    """Sentences that the grammars generate for each value of each feature, per label and lexical half."""
    labels: LabelSettings
    """The split of labelled sentences of a corpus."""
    generated: Subsets
    """Subsets of the sentences that a construction's grammars generate."""
    balanced: Subsets
    """Subsets of the sentences that its second pair of grammars generates."""
    mined: Subsets
    """Subsets of the labelled sentences of a corpus."""


class Embed(Closed):
    """One vector per sentence and layer."""

    token_budget: PositiveInt
    """The most tokens in a batch, padding included. A sentence that is longer is a batch of its own."""


class Controls(Closed):
    """What is computed beside the probes.

    Costs are given in fits of a probe of the usual size. A fit on some hundred sentences takes some hundredths of a
    second.
    """

    folds: Folds | None
    """Folds of the training part for choosing the best layer by cross-validation; each fold costs one fit per probe.
    Sentences of a template are in the same fold. There are fewer folds where a label has fewer templates. null: no
    layer is chosen."""
    control_task: bool
    """Whether probes also learn random labels of words, in the same folds, which costs the same again. Selectivity is
    the accuracy on the real labels minus the accuracy on the random ones (Hewitt & Liang 2019). It needs folds."""

    @model_validator(mode="after")
    def _has_folds(self) -> "Controls":
        if self.control_task and self.folds is None:
            raise ValueError("control_task: true needs folds; give a number of 2 or more, or set control_task: false")
        return self


class Probe(Closed):
    """Logistic regression per layer and subset."""

    C: PositiveFloat
    """Inverse strength of the regularisation."""
    standardise: bool
    """Whether features are brought to variance 1 on the training part. The paper's design is false: scikit-learn's own
    values."""
    max_iter: PositiveInt
    """The most iterations of the solver; a probe that has not converged by then is an error."""
    controls: Controls
    """What is computed beside the probes."""


class SearchRange(Closed):
    """A range to search on a logarithmic scale."""

    low: PositiveFloat
    high: PositiveFloat


class Tune(Closed):
    """The search for the best regularisation with Optuna, in the training part only."""

    trials: PositiveInt
    """Settings tried per layer and feature."""
    folds: Folds
    """Folds of the training part; sentences of a template are in the same fold."""
    C: SearchRange
    """Inverse strength of the regularisation."""
    standardise: Annotated[list[bool], Field(min_length=1)]
    """Whether features are brought to mean 0 and variance 1 on the training folds."""


class RecognitionParams(TaskSection):
    """Probes of form: they classify whether a sentence has a construction, for every model and source."""

    models: dict[Slug, Everything]
    """Entries of models."""
    constructions: dict[Slug, SomeDistinct[SentenceSource]]
    """Construction -> the sources of its sentences. "generated": its grammars. "balanced": its second pair of grammars.
    "mined": a corpus, with labels in labels.tsv; mining.constructions must name the construction too."""
    make: MakeRecognition
    embed: Embed
    probe: Probe
    tune: Tune | None = None
    """null: no search; every probe has the settings of the section probe."""

    @property
    def sources(self) -> list[tuple[Slug, SentenceSource]]:
        """The constructions, each with a source of its sentences."""
        return [(name, source) for name, sources in self.constructions.items() for source in sources]


class RecognitionStage(TaskParams):
    """The sections of params.yaml that the stages of recognition read."""

    task: ClassVar[str] = "recognition"
    experiments_file = Path(__file__).with_name("experiments.yaml")
    baseline_kinds = ("word_ngrams", "character_ngrams", "tag_ngrams", "positions")

    recognition: RecognitionParams
    """Probes of form."""
    mining: Mining
    """How sentences are mined from corpora."""

    def faults_between(self, constructions: Collection[str]) -> Iterator[str]:
        """Yield constructions whose sentences are of corpora, and that are not mined."""
        yield from super().faults_between(constructions)
        mined = self.mining.constructions
        from_corpora = [name for name, source in self.recognition.sources if source == "mined"]
        yield from named_elsewhere("recognition.constructions (mined)", from_corpora, "mining.constructions", mined)
