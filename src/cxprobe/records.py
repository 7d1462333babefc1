"""The records that cross rooms. They only hold values; they import nothing of ours."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Label = Literal["positive", "negative"]
Split = Literal["train", "test"]
Scheme = Literal["causal", "pll", "pll_word_l2r"]
Bos = Literal["as_tokenizer", "add", "none"]
Relation = Literal["entailment", "neutral", "contradiction"]

LABELS: tuple[Label, ...] = ("positive", "negative")
SPLITS: tuple[Split, ...] = ("train", "test")
ALL_SENTENCES = "all_sentences"  # in a feature's place where sentences are drawn whatever their features are

RELATIONS: tuple[Relation, ...] = ("entailment", "neutral", "contradiction")  # a model answers with the index
CLUSTER = "cluster_"  # begins the names of the columns by which a table's rows are clustered


@dataclass(frozen=True)
class Sentence:
    """One labelled sentence.

    Attributes:
        id: Names the sentence by its split and text, so the same sentence keeps its id in every run.
        text: The sentence as it is read, detokenised.
        label: Whether it is an instance of the construction.
        split: The lexical half that it belongs to.
        features: Feature name -> value, in words; positions count from 0.
        clusters: What it shares with other sentences, for intervals and folds: "template" -> the sentence with
            its content words replaced by their categories, and each content category -> its first word.
    """

    id: str
    text: str
    label: Label
    split: Split
    features: Mapping[str, int]
    clusters: Mapping[str, str]


@dataclass(frozen=True)
class Shortfall:
    """A value of a feature that cannot give as many sentences of a label as were asked for."""

    split: Split
    feature: str
    value: int
    label: Label
    wanted: int
    found: int


@dataclass(frozen=True, eq=False)
class TokenScores:
    """How probable a model finds each token of a text; special tokens are none of the text's.

    Attributes:
        text: The text.
        scheme: How the tokens were scored: "causal", given what stands before; "pll", given all others; or
            "pll_word_l2r", given all others but those after it in its own word.
        ids: Shape (tokens,): the tokens in the model's vocabulary.
        spans: Shape (tokens, 2): the first character of each token and the one after its last.
        words: Shape (tokens,): the number of the word that a token belongs to.
        log_probs: Shape (tokens,): natural logarithms, at most 0; NaN for a token without a score, and for no other.
    """

    text: str
    scheme: Scheme
    ids: NDArray[np.int32]
    spans: NDArray[np.int64]
    words: NDArray[np.int64]
    log_probs: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Decisions:
    """What a model prefers, pair by pair.

    Attributes:
        margins: Shape (pairs,): the better text's score less the worse one's.
        credits: Shape (pairs,): 1 where the better text scores higher, 0 where the worse one does, 0.5 for a tie.
        tie_rate: The share of ties, in [0, 1].
    """

    margins: NDArray[np.float64]
    credits: NDArray[np.float64]
    tie_rate: float


@dataclass(frozen=True)
class Pair:
    """Two texts that differ minimally, the right one and the wrong one, with what they share in front.

    A text is the context directly followed by the continuation, which therefore begins with its own blank where there
    is a context. Pairs with one context can share its computation.

    Attributes:
        id: Names the pair by its groups and texts, so the same pair keeps its id in every run.
        item: Names what the pair is made of; the members of an item ask about the same thing in several ways.
        context: What comes first; "" for nothing.
        good: How the right text goes on.
        bad: How the wrong text goes on.
        groups: What the pair is reported under: "variant" -> "A".
        clusters: What it shares with other pairs, for intervals: "frame" -> which.
    """

    id: str
    item: str
    context: str
    good: str
    bad: str
    groups: Mapping[str, str]
    clusters: Mapping[str, str]


@dataclass(frozen=True)
class Estimate:
    """A rate in [0, 1] with its interval and the number of items that it is the mean of."""

    value: float
    low: float
    high: float
    n: int


@dataclass(frozen=True)
class Difference:
    """A difference of two rates, in [-1, 1], with its interval and the number of items that have both."""

    value: float
    low: float
    high: float
    n: int


@dataclass(frozen=True)
class Inference:
    """A premise, a hypothesis, and how they are related.

    Attributes:
        id: Names the item by its set, premise and hypothesis, so the same item keeps its id in every run.
        premise: A sentence, most often with the construction.
        hypothesis: What may follow from it.
        gold: How they are related.
        construction: The construction that the item asks about.
        set: "templatic" or "challenge" (the same surface, another construction) for the project's own items; for a
            file from elsewhere, what its reader calls it.
        premise_id: Names the premise; items with one premise are a cluster.
    """

    id: str
    premise: str
    hypothesis: str
    gold: Relation
    construction: str
    set: str
    premise_id: str


@dataclass(frozen=True)
class Reasoning:
    """A multiple-choice item: A and B are opposing readings, C is that nothing can be told.

    Attributes:
        id: Names the item by its test and frame, so the same item keeps its id in every run.
        text: What is known.
        question: What is asked about it.
        a: The first option.
        b: The second option.
        gold: The right option, "A", "B" or "C".
        construction: The construction that the item asks about.
        test: One of the tests that are built from a frame.
        frame_id: Names the frame; the tests of one frame are a cluster.
        answerable: Whether the text decides between A and B; if not, C is right.
    """

    id: str
    text: str
    question: str
    a: str
    b: str
    gold: str
    construction: str
    test: str
    frame_id: str
    answerable: bool


@dataclass(frozen=True)
class Choice:
    """A text that goes on with one of several answers.

    Attributes:
        id: Names the question.
        context: What stands before the answer.
        answers: Each answer's symbol -> how the text goes on with it; it begins with its own blank.
        anywhere: What may stand before these answers where nothing is known of the question, so that answers which are
            frequent as such can be told from those that fit.
    """

    id: str
    context: str
    answers: Mapping[str, str]
    anywhere: str


@dataclass(frozen=True)
class RunRecord:
    """What a finished stage leaves in run.json: enough to write its run into any MLflow server again.

    Attributes:
        stage: The stage, and the MLflow experiment.
        item: What of the stage's grid ran: "model" and "construction" -> slug.
        dvc_stage: The name under which DVC ran it, or "" if it was run by hand.
        started: Milliseconds since the epoch; ``finished`` likewise.
        commit: The git commit when the stage began, or "unknown" outside a repository.
        dirty: Whether code, constructions or parameters differed from that commit.
        inputs: Path of each file or folder that was read -> MD5, as DVC computes it.
        params: The parameters that applied, dotted key -> value.
        facts: What the stage found out about its inputs, such as the weights' hash.
        environment: The versions of Python and of the packages that make the numbers, and the platform.
        metrics: Name -> finished number.
        series: Name -> (step, number) pairs; the step is the layer, or the tokens that a training has seen.
        artifacts: Paths of the stage's tables, figures and metrics, relative to the project.
    """

    stage: str
    item: Mapping[str, str]
    dvc_stage: str
    started: int
    finished: int
    commit: str
    dirty: bool
    inputs: Mapping[str, str]
    params: Mapping[str, str]
    facts: Mapping[str, str]
    environment: Mapping[str, str]
    metrics: Mapping[str, float]
    series: Mapping[str, list[tuple[int, float]]]
    artifacts: list[Path]
