"""From pairs as data to pairs: items drawn, put into every variant, once as they are and once switched."""

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from cxprobe.constructions import NounType, PairsFile, People, Variant, fill
from cxprobe.english import wrong_articles
from cxprobe.errors import DataError
from cxprobe.make.pairs.drawing import Draw, draw_items
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
    same two, and the one that was right is wrong.

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
        groups = [len(rows) for rows in content.groups.values()]
        rng = generator_for(seed, name, kind)
        draws = draw_items(groups, len(nouns.nouns), len(content.people), len(nouns.pronouns), per_cell, rng)
        pairs += [pair for draw in draws for pair in _members(name, content, people, kind, nouns, draw, words)]
        if len(draws) < per_cell:
            shortfalls[kind] = len(draws)
    _check_distinct(name, pairs)
    return Rendered(pairs, shortfalls)


def _members(
    name: str, content: PairsFile, people: People, kind: str, nouns: NounType, draw: Draw, words: str
) -> Iterator[Pair]:
    """Yield the pairs of an item."""
    rows = [group[row] for group, row in zip(content.groups.values(), draw.rows, strict=True)]
    values = {slot: value for row in rows for slot, value in row.items()}
    persons = [nouns.nouns[index] for index in draw.people]
    if content.people:
        values |= people.pronouns[nouns.pronouns[draw.pronouns]]
    item = _hash(name, words, kind, *values.values(), *persons)
    clusters = _clusters(name, content, draw) | {f"noun{place}": noun for place, noun in enumerate(persons, start=1)}
    for variant_name, variant in content.variants.items():
        for order in ("original", "switched") if content.switched else ("original",):
            seats = content.people if order == "original" else content.people[::-1]
            context, good, bad = fill(variant, {**values, **dict(zip(seats, persons, strict=True))})
            _refuse_unsound(name, variant_name, context, good, bad)
            gap = " " if context else ""
            yield Pair(
                id=f"{name}-{_hash(item, variant_name, order, context, good, bad)}",
                item=f"{name}-{item}",
                context=context,
                good=gap + good,
                bad=gap + bad,
                groups={
                    "construction": name,
                    "tests": content.tests,
                    "words": words,
                    "variant": variant_name,
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


def _clusters(name: str, content: PairsFile, draw: Draw) -> dict[str, str]:
    """Return the samples of words that an item shares with others: its frame, and its row of each large filler."""
    chosen = dict(zip(content.groups, draw.rows, strict=True))
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
