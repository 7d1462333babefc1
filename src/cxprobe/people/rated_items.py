"""The items that people judge: minimal pairs, inferences and multiple-choice items in one form."""

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice, zip_longest

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from cxprobe.english import capitalise_first
from cxprobe.errors import DataError
from cxprobe.lm.texts import Pair
from cxprobe.people.ratings import JudgedKind
from cxprobe.people.wording import InferenceTask, PairsTask, ReasoningTask
from cxprobe.prompts.items import RELATIONS, Inference, Reasoning
from cxprobe.seeding import generator_for, text_id


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


def draw_sample(items: Sequence[JudgedItem], wanted: int, seed: int) -> list[JudgedItem]:
    """Draw items, balanced as far as the items allow; the same items and seed give the same sample.

    Constructions take turns. Within a construction an item of the stratum that was drawn least comes next; a stratum is
    a combination of values, such as variant A with female names in the original order. Of several such strata the one
    whose values were drawn least, each for itself, comes first, and of its items one whose frame was drawn least.

    Args:
        items: What there is to draw from.
        wanted: How many to draw.
        seed: What the draw follows from.

    Raises:
        DataError: There are fewer items than wanted, or none is wanted.
    """
    if not 1 <= wanted <= len(items):
        raise DataError(f"--items {wanted}: there are {len(items)} items to draw from; ask for 1 to {len(items)}")
    by_construction: dict[str, list[JudgedItem]] = defaultdict(list)
    for item in sorted(items, key=lambda one: one.id):
        by_construction[item.construction].append(item)
    names = sorted(by_construction)
    order = generator_for(seed, "validation", "constructions").permutation(len(names))
    turns = [_balanced(by_construction[name], seed, name) for name in (names[place] for place in order)]
    drawn = (item for turn in zip_longest(*turns) for item in turn if item is not None)
    return list(islice(drawn, wanted))


def _balanced(items: Sequence[JudgedItem], seed: int, name: str) -> Iterator[JudgedItem]:
    """Yield all items of a construction in such an order that those up to any one are balanced."""
    chance = generator_for(seed, "validation", name).permutation(len(items))
    strata = pd.DataFrame([dict(item.stratum) for item in items]).fillna("").astype(str)
    columns = [_codes(strata[column]) for column in strata]
    stratum = _codes(strata.agg("\x1f".join, axis=1))
    frame = _codes(pd.Series([item.frame for item in items]))
    drawn = np.zeros(len(items), dtype=bool)
    for _ in items:
        of_values = sum((_uses(column, drawn) for column in columns), np.zeros(len(items), dtype=np.int64))
        keys = (chance, _uses(frame, drawn), of_values, _uses(stratum, drawn), drawn)
        place = int(np.lexsort(keys)[0])
        drawn[place] = True
        yield items[place]


def _codes(values: "pd.Series[str]") -> NDArray[np.int64]:
    """Return a number for each value, the same for the same, shape (n,)."""
    return pd.factorize(values)[0].astype(np.int64)


def _uses(codes: NDArray[np.int64], drawn: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Return how often the value of each item has been drawn, shape (n,)."""
    counts: NDArray[np.int64] = np.bincount(codes[drawn], minlength=int(codes.max()) + 1)
    return counts[codes]
