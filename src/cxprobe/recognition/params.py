"""The section of params.yaml for recognition: sentences, balanced subsets, vectors and probes."""

from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Annotated, ClassVar

from pydantic import Field, model_validator

from cxprobe.constructions.construction import SentenceSource
from cxprobe.corpora.params import Mining
from cxprobe.files.schema import Closed, Distinct, Slug, SomeDistinct, named_elsewhere
from cxprobe.report.params import LineParams


class LabelSettings(Closed):
    """Labelled sentences of a corpus, in a training and a test part."""

    folds: Annotated[int, Field(ge=2)]
    """Sequences of tags are dealt into so many folds, alike in size and labels; one is the test part."""
    documents_apart: bool
    """Whether no document has sentences in both parts, as no sequence has; false is the paper's design."""


class Subsets(Closed):
    """The balanced subsets D_f of one source's sentences."""

    train_per_label: Annotated[int, Field(ge=1)]
    """Sentences per value and label in the training part (the lowest quarter of a feature's range)."""
    test_per_label: Annotated[int, Field(ge=1)]
    """Sentences per value and label in the test part (the whole range)."""
    draws: Annotated[int, Field(ge=1)]
    """How often the training part is drawn. Every probe is trained once a draw, so that probing takes so many times as
    long, and the differences between draws widen the intervals: few draws by much (3 draws by 4.3 standard errors, 5 by
    2.8). Draws differ only where the lowest quarter has more sentences than train_per_label."""
    all_sentences: bool
    """Whether to add a subset that is balanced over the labels alone, for data too scarce for values."""


class MakeRecognition(Closed):
    """Sentences from grammars and from labels, and their subsets; a source that nothing names may be absent."""

    per_label: Annotated[int, Field(ge=1)]
    """Sentences that grammars give for each value of each feature, per label and lexical half."""
    labels: LabelSettings
    """How labelled sentences of a corpus are divided."""
    generated: Subsets
    """Of the sentences that a construction's grammars give."""
    balanced: Subsets
    """Of the sentences that its second pair of grammars gives."""
    mined: Subsets
    """Of the labelled sentences of a corpus, whether probes see all of them or marked spans."""


class Embed(Closed):
    """One vector per sentence and layer."""

    token_budget: Annotated[int, Field(ge=1)]
    """The most tokens, padding included, in one batch; a longer sentence makes a batch of its own."""
    special_tokens: bool
    """Whether [CLS], [SEP] and their like count in the mean."""


class Controls(Closed):
    """What is computed on the first training draw, beside the probes themselves.

    Costs are in fits of a probe as large as the usual one; hundreds of sentences take hundredths of a second each.
    """

    folds: Annotated[int, Field(ge=2)] | None
    """Folds of the training part on which the best layer is chosen, at a cost of so many fits a probe; sentences of one
    template stay in one fold, and there are fewer folds where a label has fewer templates. null: no layer is chosen."""
    control_task: bool
    """Whether random labels of words are learnt too, in the same folds and at their cost again: selectivity is the
    accuracy on the real labels less that on these (Hewitt & Liang 2019). It needs folds."""
    code_length: bool
    """Whether the labels are coded online, in portions that double in size, at the cost of about one fit a probe
    (Voita & Titov 2020)."""

    @model_validator(mode="after")
    def _has_folds(self) -> "Controls":
        if self.control_task and self.folds is None:
            raise ValueError("control_task: true needs folds; give a number of 2 or more, or set control_task: false")
        return self


class Probe(Closed):
    """Logistic regression per layer and subset."""

    C: Annotated[float, Field(gt=0)]
    """Inverse strength of the regularisation."""
    l1_ratio: Annotated[float, Field(ge=0, le=1)]
    """Share of the L1 penalty; above 0 the slower solver saga is used."""
    standardise: bool
    """Whether features are brought to mean 0 and variance 1 on the training part."""
    max_iter: Annotated[int, Field(ge=1)]
    """Iterations after which a probe that has not converged is an error."""
    controls: Controls
    """What is computed beside the probes."""


class SearchRange(Closed):
    """A range that is searched on a logarithmic scale."""

    low: Annotated[float, Field(gt=0)]
    high: Annotated[float, Field(gt=0)]

    @model_validator(mode="after")
    def _ordered(self) -> "SearchRange":
        if self.low >= self.high:
            raise ValueError(f"low ({self.low}) must be below high ({self.high})")
        return self


class Tune(Closed):
    """The search over regularisation with Optuna, inside the training part only."""

    trials: Annotated[int, Field(ge=1)]
    """Settings tried per layer and feature."""
    folds: Annotated[int, Field(ge=2)]
    """Folds of the training part; sentences of one template stay in one fold."""
    C: SearchRange
    """Inverse strength of the regularisation."""
    l1_ratio: Annotated[list[Annotated[float, Field(ge=0, le=1)]], Field(min_length=1)]
    """Shares of the L1 penalty to try; 0 is ridge alone and by far the fastest."""
    standardise: Annotated[list[bool], Field(min_length=1)]
    """Whether features are brought to mean 0 and variance 1 on the training folds."""


class RecognitionParams(Closed):
    """Probes of form: which models see whether a sentence has a construction, over every model and source."""

    models: Distinct[Slug]
    """Slugs of the section models."""
    constructions: dict[Slug, SomeDistinct[SentenceSource]]
    """Construction -> where its sentences come from: "generated" by its grammars, "balanced" by its second pair of
    grammars, "mined" from a corpus (mining.constructions must name it too) and labelled in its labels.tsv. "marked" has
    the sentences and subsets of "mined", but a vector is the mean of the tokens from the first to the last word that
    fills a slot, whatever embed.special_tokens says, and blind models see this span alone; its pattern.yaml must fill
    slots."""
    make: MakeRecognition
    embed: Embed
    probe: Probe
    tune: Tune | None = None
    """null: every probe has the settings of the section probe."""


class RecognitionStage(LineParams):
    """What the stages of recognition read of params.yaml."""

    line: ClassVar[str] = "recognition"
    experiments_file = Path(__file__).with_name("experiments.yaml")
    blind_kinds = ("word_ngrams", "character_ngrams", "tag_ngrams", "positions")

    recognition: RecognitionParams
    """Probes of form."""
    mining: Mining
    """Where the sentences of corpora come from."""

    def faults_between(self, constructions: Collection[str]) -> Iterator[str]:
        """Yield what does not go together in the section, or with the constructions that are mined."""
        yield from super().faults_between(constructions)
        section, mined = self.recognition, self.mining.constructions
        of_corpora = [
            name for name, named in section.constructions.items() if not {"mined", "marked"}.isdisjoint(named)
        ]
        yield from named_elsewhere("recognition.constructions (mined)", of_corpora, "mining.constructions", mined)
        sources = {source for named in section.constructions.values() for source in named}
        for source in sorted(sources - {"mined", "marked"}):
            subsets: Subsets = getattr(section.make, source)
            needed = max(subsets.train_per_label, subsets.test_per_label)
            if section.make.per_label < needed:
                yield (
                    f"recognition.make.per_label: {section.make.per_label} is too few, since recognition.make.{source} "
                    f"draws {needed} sentences per value and label; raise the first or lower the second"
                )
