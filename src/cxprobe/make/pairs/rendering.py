"""From pairs as data to pairs: items drawn, put into every variant, once as they are and once switched."""

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np

from cxprobe.constructions import TYPICAL_TYPE, NounType, PairsFile, People, Variant, fill
from cxprobe.english import wrong_articles
from cxprobe.errors import DataError
from cxprobe.make.pairs.drawing import draw_items
from cxprobe.params import CONSTRUCTIONS_FOLDER
from cxprobe.records import Pair
from cxprobe.seeding import generator_for

NO_TYPE = "none"  # the noun type of pairs without people
_SLOT = re.compile(r"{(\w+)}")
_SAMPLE = 10  # rows; a group of fewer, such as two modals, is part of the design and no sample of words


@dataclass(frozen=True)
class Rendered:
    """What was made of a construction's pairs.

    Attributes:
        pairs: Every pair once.
        shortfalls: Noun type -> how many items there are, where they are fewer than were asked for.
    """

    pairs: list[Pair]
    shortfalls: dict[str, int]


def render_pairs(
    name: str, content: PairsFile, people: People, per_cell: int, seed: int, words: str = "real"
) -> Rendered:
    """Draw ``per_cell`` items for every noun type and ask about each in every variant and order.

    Switched means that the two people are exchanged in everything that is said of them: the continuations stay the
    same two, and the one that was right is wrong. A variant with a rival is asked after both sentences. Where the
    construction gives people in typical roles, the common nouns are these, so that an exchange turns the roles round.

    Args:
        name: The construction's folder.
        content: Its pairs.
        people: The nouns.
        per_cell: Items per noun type: pairs in a cell, one variant in one order.
        seed: The project's seed.
        words: "real", or "pseudo" if the content's words have been replaced; draws do not depend on it.

    Raises:
        DataError: Two pairs of one cell are the same, the members of a pair do not differ, or an article is wrong.

    Source:
        Oba & Sugawara 2026 for the design: variants, noun types, switching and 300 items a cell.
    """
    pairs: list[Pair] = []
    shortfalls: dict[str, int] = {}
    nothing = NounType(pronouns=["none"], nouns=["none", "no one"])
    for kind, nouns in (people.types if content.people else {NO_TYPE: nothing}).items():
        items = _draw_items(content, kind, nouns, per_cell, generator_for(seed, name, kind))
        for item in items:
            pronouns = people.pronouns[nouns.pronouns[item.pronouns]] if content.people else {}
            pairs += _members(name, content, pronouns, kind, item, words)
        if len(items) < per_cell:
            shortfalls[kind] = len(items)
    _check_distinct(name, pairs)
    return Rendered(pairs, shortfalls)


class _Item(NamedTuple):
    """What an item is made of: the row of each group, the people in the order of their slots, and which pronouns."""

    rows: Sequence[int]
    persons: Sequence[str]
    pronouns: int


def _draw_items(content: PairsFile, kind: str, nouns: NounType, wanted: int, rng: np.random.Generator) -> list[_Item]:
    """Draw the items of a noun type; two people in typical roles are drawn together."""
    groups = [len(rows) for rows in content.groups.values()]
    if content.typical and kind == TYPICAL_TYPE:
        draws = draw_items(groups, len(content.typical), 1, len(nouns.pronouns), wanted, rng)
        return [_Item(draw.rows, content.typical[draw.people[0]], draw.pronouns) for draw in draws]
    draws = draw_items(groups, len(nouns.nouns), len(content.people), len(nouns.pronouns), wanted, rng)
    return [_Item(draw.rows, [nouns.nouns[index] for index in draw.people], draw.pronouns) for draw in draws]


def _members(
    name: str, content: PairsFile, pronouns: Mapping[str, str], kind: str, item: _Item, words: str
) -> Iterator[Pair]:
    """Yield the pairs of an item."""
    rows = [group[row] for group, row in zip(content.groups.values(), item.rows, strict=True)]
    values = {slot: value for row in rows for slot, value in row.items()} | dict(pronouns)
    own_id = _hash(name, words, kind, *values.values(), *item.persons)
    nouns = {f"noun{place}": noun for place, noun in enumerate(item.persons, start=1)}
    clusters = _clusters(name, content, item.rows) | nouns
    orders = ("original", "switched") if content.switched else ("original",)
    asked = [
        (*one, order, sentence) for one in content.variants.items() for order in orders for sentence in one[1].contexts
    ]
    for variant_name, variant, order, sentence in asked:
        seats = content.people if order == "original" else content.people[::-1]
        context, good, bad = fill(variant, {**values, **dict(zip(seats, item.persons, strict=True))}, sentence)
        _refuse_unsound(name, variant_name, context, good, bad)
        gap = " " if context else ""
        yield Pair(
            id=f"{name}-{_hash(own_id, variant_name, order, context, good, bad)}",
            item=f"{name}-{own_id}",
            context=context,
            good=gap + good,
            bad=gap + bad,
            groups={
                "construction": name,
                "tests": content.tests,
                "words": words,
                "variant": variant_name,
                "origin": variant.origin,
                "sentence": sentence,
                "noun_type": kind,
                "order": order,
            },
            clusters=clusters | {"wording": f"{name} {_wording(variant)}"},
        )


def _refuse_unsound(name: str, variant: str, context: str, good: str, bad: str) -> None:
    """Refuse what only a combination of rows causes; faults of single rows are found when the file is read."""
    text = f"{context} {good}".strip()
    where = f"{CONSTRUCTIONS_FOLDER / name / 'pairs.yaml'}, variant {variant}: {text!r}"
    if good == bad:
        raise DataError(f"{where} is both the right and the wrong member; rows of two groups give one word twice")
    for wrong in wrong_articles(f"{text} {bad}"):
        raise DataError(f"{where}: {wrong!r} has the wrong article; give the article a slot in the noun's own row")


def _clusters(name: str, content: PairsFile, rows: Sequence[int]) -> dict[str, str]:
    """Return the samples of words that an item shares with others: its frame, and its row of each large filler."""
    chosen = dict(zip(content.groups, rows, strict=True))
    frame = {"frame": f"{name} {chosen.pop('frames')}"}
    return frame | {
        group: f"{name} {group} {row}" for group, row in chosen.items() if len(content.fillers[group]) >= _SAMPLE
    }


def _wording(variant: Variant) -> str:
    """Return the two continuations before people and words are put in; which of them is right makes no difference."""
    good, bad = ({slot: getattr(one, side) for slot, one in variant.contrast.items()} for side in ("good", "bad"))
    texts = [re.sub(_SLOT, partial(_filled_slot, way), variant.continuation) for way in (good, bad)]
    return " / ".join(sorted(texts))


def _filled_slot(values: Mapping[str, str], slot: re.Match[str]) -> str:
    return values.get(slot[1], slot[0])


def _check_distinct(name: str, pairs: Sequence[Pair]) -> None:
    seen: dict[tuple[str, ...], Pair] = {}
    for pair in pairs:
        known = seen.setdefault((*pair.groups.values(), pair.context, pair.good, pair.bad), pair)
        if known is not pair:
            raise DataError(
                f"{name}: variant {pair.groups['variant']} has the pair {pair.context + pair.good!r} twice; two "
                "rows of its pairs.yaml differ in nothing that the variant shows"
            )


def _hash(*parts: str) -> str:
    return hashlib.blake2b("\x1f".join(parts).encode(), digest_size=8).hexdigest()
