"""The sections of params.yaml for recognition: sentences, balanced subsets, features and probes."""

from typing import Annotated

from pydantic import Field, model_validator

from cxprobe.files.schema import Closed, optional_section
from cxprobe.lm.params import Placement


class GenerateSentences(Closed):
    """Sampling sentences from a construction's grammars."""

    per_label: Annotated[int, Field(ge=1)]
    """Sentences for each value of each feature, per label and lexical half."""


class LabelSentences(Closed):
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
    """How often the training part is drawn. Every probe is trained once a draw, so that fit_probes takes so many times
    as long, and the differences between draws widen the intervals: few draws by much (3 draws by 4.3 standard errors, 5
    by 2.8). Draws differ only where the lowest quarter has more sentences than train_per_label."""
    all_sentences: bool
    """Whether to add a subset that is balanced over the labels alone, for data too scarce for values."""


class BuildRecognition(Closed):
    """The subsets of each source; a source that no construction of grid.recognition has may be absent."""

    generated: Subsets = optional_section()
    """Of the sentences that a construction's grammars make."""
    balanced: Subsets = optional_section()
    """Of the sentences that its second pair of grammars makes."""
    mined: Subsets = optional_section()
    """Of the labelled sentences of a corpus."""


class ExtractFeatures(Placement):
    """One vector per sentence and layer."""

    token_budget: Annotated[int, Field(ge=1)]
    """The most tokens, padding included, in one batch; a longer sentence makes a batch of its own."""
    special_tokens: bool
    """Whether [CLS], [SEP] and their like count in the mean."""


class SearchRange(Closed):
    """A range that is searched on a logarithmic scale."""

    low: Annotated[float, Field(gt=0)]
    high: Annotated[float, Field(gt=0)]

    @model_validator(mode="after")
    def _ordered(self) -> "SearchRange":
        if self.low >= self.high:
            raise ValueError(f"low ({self.low}) must be below high ({self.high})")
        return self


class TuneProbes(Closed):
    """The search over regularisation, inside the training part only."""

    enabled: bool
    """Off: fit_probes uses the values of its own section for every probe."""
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
    jobs: Annotated[int, Field(ge=1)]
    """Probes tuned at the same time; the result does not depend on it."""


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


class FitProbes(Closed):
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
    jobs: Annotated[int, Field(ge=1)]
    """Probes fitted at the same time; the result does not depend on it."""
