"""The records that cross rooms. They only hold values; they import nothing of ours."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

Label = Literal["positive", "negative"]
Split = Literal["train", "test"]
Relation = Literal["entailment", "neutral", "contradiction"]

LABELS: tuple[Label, ...] = ("positive", "negative")
SPLITS: tuple[Split, ...] = ("train", "test")
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


@dataclass(frozen=True)
class Estimate:
    """A rate in [0, 1] with its interval and the number of items that it is the mean of."""

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
        series: Name -> (step, number) pairs; the step is the layer.
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
