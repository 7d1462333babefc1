"""The items that people judge: minimal pairs, inferences and multiple-choice items in one form."""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from cxprobe.constructions.ratings import JudgedKind
from cxprobe.english import capitalise_first
from cxprobe.records import RELATIONS, Inference, Pair, Reasoning
from cxprobe.seeding import text_id
from cxprobe.validation.wording import InferenceTask, PairsTask, ReasoningTask


@dataclass(frozen=True)
class JudgedItem:
    """What a person can be asked.

    Attributes:
        kind: What it is made of.
        id: Names the item by its texts, so that a rating of it is lost when they change.
        construction: The construction that it asks about.
        frame: What it was made from; items with the same are a cluster.
        stratum: What a sample is balanced over, such as "variant" -> "A".
        text: What is shown before the question, or "".
        question: What is asked.
        options: Answer, as ratings.tsv has it -> how it is shown.
        gold: The right answer.
    """

    kind: JudgedKind
    id: str
    construction: str
    frame: str
    stratum: Mapping[str, str]
    text: str
    question: str
    options: Mapping[str, str] = field(hash=False)
    gold: str


def items_of_pairs(pairs: Iterable[Pair], task: PairsTask) -> list[JudgedItem]:
    """Return minimal pairs as items, each text whole; strata are all groups that a pair is reported by."""
    items = []
    for pair in pairs:
        good, bad = (f"{pair.context}{member}" for member in (pair.good, pair.bad))
        first, second = _ordered(pair.id, good, bad)
        stratum = {name: value for name, value in pair.groups.items() if name != "construction"}
        items.append(
            JudgedItem(
                kind="pairs",
                id=pair.id,
                construction=pair.groups["construction"],
                frame=pair.clusters.get("frame", pair.item),
                stratum=stratum,
                text="",
                question=task.question,
                options={"A": first, "B": second},
                gold="A" if first == good else "B",
            )
        )
    return items


def items_of_inferences(inferences: Iterable[Inference], task: InferenceTask) -> list[JudgedItem]:
    """Return inferences as items; strata are set, reading, template and gold."""
    return [
        JudgedItem(
            kind="inference",
            id=one.id,
            construction=one.construction,
            frame=one.premise_id,
            stratum={"set": one.set, "reading": one.reading, "template": one.template, "gold": one.gold},
            text=task.text.format(premise=one.premise),
            question=task.question.format(hypothesis=one.hypothesis),
            options={relation: task.options.of(relation) for relation in RELATIONS},
            gold=one.gold,
        )
        for one in inferences
    ]


def items_of_reasonings(reasonings: Iterable[Reasoning], task: ReasoningTask) -> list[JudgedItem]:
    """Return multiple-choice items; the stratum is the test.

    A and B are put in an order that does not depend on the seed that has put them in theirs.
    """
    items = []
    for one in reasonings:
        item_id = text_id(one.id, "\x1f".join([one.text, one.question, *sorted([one.a, one.b])]))
        first, second = _ordered(item_id, one.a, one.b)
        right = {"A": one.a, "B": one.b, "C": task.neither}[one.gold]
        options = {"A": first, "B": second, "C": task.neither}
        items.append(
            JudgedItem(
                kind="reasoning",
                id=item_id,
                construction=one.construction,
                frame=one.frame_id,
                stratum={"test": one.test},
                text=one.text,
                question=one.question,
                options={answer: capitalise_first(shown) for answer, shown in options.items()},
                gold=next(answer for answer, shown in options.items() if shown == right),
            )
        )
    return items


def _ordered(item_id: str, *texts: str) -> list[str]:
    """Return two texts in an order that follows from the id and from them, and not from which is right."""
    odd = hashlib.blake2b(item_id.encode(), digest_size=1).digest()[0] % 2
    return sorted(texts, reverse=bool(odd))
