"""The items of the lines of work as people are asked about them: minimal pairs, inferences, multiple choice."""

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from cxprobe.constructions.construction import CONSTRUCTIONS_FOLDER
from cxprobe.constructions.names import construction_names
from cxprobe.constructions.people import load_people
from cxprobe.english import capitalise_first
from cxprobe.lm.texts import Pair
from cxprobe.pairs.frames import load_pairs
from cxprobe.pairs.make import render_pairs
from cxprobe.people.forms import RatedItem
from cxprobe.people.ratings import RatedKind
from cxprobe.people.wording import InferenceTask, PairsTask, ReasoningTask, Tasks
from cxprobe.prompts.items import Inference, Reasoning, load_items, render_inferences, render_reasonings
from cxprobe.seeding import text_id


def constructions_with(kind: RatedKind) -> list[str]:
    """Return the constructions that have items of a kind; of minimal pairs, those that test meaning."""
    file = "pairs.yaml" if kind == "pairs" else "items.yaml"
    names = [name for name in construction_names(Path()) if (CONSTRUCTIONS_FOLDER / name / file).is_file()]
    if kind == "pairs":
        people = load_people()
        return [name for name in names if load_pairs(name, people).tests == "meaning"]
    return [name for name in names if getattr(load_items(name), kind)]


def items_of(kind: RatedKind, names: Sequence[str], tasks: Tasks, seed: int) -> list[RatedItem]:
    """Return all items of a kind of some constructions, made from their files."""
    items: list[RatedItem] = []
    for name in dict.fromkeys(names):
        if kind == "pairs":
            people = load_people()
            content = load_pairs(name, people)
            # As many as there are frames, so that each of them comes with every type of nouns.
            items += items_of_pairs(render_pairs(name, content, people, len(content.frames), seed), tasks.pairs)
        elif kind == "inference":
            items += items_of_inferences(render_inferences(load_items(name), name), tasks.inference)
        else:
            items += items_of_reasonings(render_reasonings(load_items(name), name, seed=seed), tasks.reasoning)
    return items


def items_of_pairs(pairs: Iterable[Pair], task: PairsTask) -> Iterator[RatedItem]:
    """Yield minimal pairs as items, each text whole; strata are all groups that a pair is reported by."""
    for pair in pairs:
        good, bad = pair.context + pair.good, pair.context + pair.bad
        first, second = _ordered(pair.id, good, bad)
        yield RatedItem(
            kind="pairs",
            id=pair.id,
            construction=pair.groups["construction"],
            frame=pair.clusters.get("frame", pair.item),
            stratum={name: value for name, value in pair.groups.items() if name != "construction"},
            text="",
            question=task.question,
            options={"A": first, "B": second},
            gold="A" if first == good else "B",
        )


def items_of_inferences(inferences: Iterable[Inference], task: InferenceTask) -> Iterator[RatedItem]:
    """Yield inferences as items; strata are set, reading, template and gold."""
    for inference in inferences:
        yield RatedItem(
            kind="inference",
            id=inference.id,
            construction=inference.construction,
            frame=inference.premise_id,
            stratum={name: getattr(inference, name) for name in ("set", "reading", "template", "gold")},
            text=task.text.format(premise=inference.premise),
            question=task.question.format(hypothesis=inference.hypothesis),
            options=task.options.model_dump(),
            gold=inference.gold,
        )


def items_of_reasonings(reasonings: Iterable[Reasoning], task: ReasoningTask) -> Iterator[RatedItem]:
    """Yield multiple-choice items; the stratum is the test.

    A and B are put in an order that does not depend on the seed that has put them in theirs.
    """
    for reasoning in reasonings:
        texts = [reasoning.text, reasoning.question, *sorted([reasoning.a, reasoning.b])]
        item_id = text_id(reasoning.id, "\x1f".join(texts))
        first, second = _ordered(item_id, reasoning.a, reasoning.b)
        right = {"A": reasoning.a, "B": reasoning.b, "C": task.neither}[reasoning.gold]
        options = {"A": first, "B": second, "C": task.neither}
        yield RatedItem(
            kind="reasoning",
            id=item_id,
            construction=reasoning.construction,
            frame=reasoning.frame_id,
            stratum={"test": reasoning.test},
            text=reasoning.text,
            question=reasoning.question,
            options={answer: capitalise_first(text) for answer, text in options.items()},
            gold=next(answer for answer, text in options.items() if text == right),
        )


def _ordered(item_id: str, *texts: str) -> list[str]:
    """Return two texts in an order that follows from the id and from them, and not from which is right."""
    odd = hashlib.blake2b(item_id.encode(), digest_size=1).digest()[0] % 2
    return sorted(texts, reverse=bool(odd))
