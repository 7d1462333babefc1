"""What models are asked in words: inferences and multiple-choice items."""

from dataclasses import dataclass
from typing import Literal

Relation = Literal["entailment", "neutral", "contradiction"]
RELATIONS: tuple[Relation, ...] = ("entailment", "neutral", "contradiction")  # a model answers with the index


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
        template: The name of the template that the hypothesis was made from, or "" if there is none; items with one
            template of one construction are a cluster.
        reading: What kind of premise it is, such as "asserted" or "denied", or "" if that is not known.
    """

    id: str
    premise: str
    hypothesis: str
    gold: Relation
    construction: str
    set: str
    premise_id: str
    template: str = ""
    reading: str = ""


@dataclass(frozen=True)
class Reasoning:
    """A multiple-choice item: A and B are opposing readings, C is that nothing can be told.

    The letters are those of this order of the options, the paper's. A question may show them in another.

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
        set: "reasoning" for the project's own items; for files from elsewhere, what params.yaml calls them.
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
    set: str = "reasoning"
