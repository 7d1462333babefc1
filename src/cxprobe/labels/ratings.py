"""``constructions/<name>/ratings.tsv``: answers of people to items of a construction.

An answer that was not given has no line. A file with a header and nothing else has no ratings yet.

    kind    pairs, inference or reasoning
    item    the item's id
    frame   what the item was made from: items with the same frame or premise are a cluster
    rater   a person's name, or what stands for it
    answer  pairs: A or B, the two texts in an order that the id decides; reasoning: A or B, the two options in an order
            that the id decides, or C; inference: the relation
    gold    the right answer, written in the same way
"""

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

from cxprobe.labels.tables import Cells, Key, as_text, read_judgements
from cxprobe.seeding import generator_for

RATINGS_FILE = "ratings.tsv"
RatedKind = Literal["pairs", "inference", "reasoning"]
# Kind -> the answers that it has.
ANSWERS: Mapping[str, tuple[str, ...]] = {
    "pairs": ("A", "B"),
    "inference": ("entailment", "neutral", "contradiction"),
    "reasoning": ("A", "B", "C"),
}
RATING_COLUMNS = ("kind", "item", "rater", "answer", "text", "question", "A", "B", "C")


class Rating(NamedTuple):
    """One answer to one item; the attributes are the columns of the file."""

    kind: RatedKind
    item: str
    frame: str
    rater: str
    answer: str
    gold: str

    @property
    def key(self) -> Key:
        """What there is one rating of: the kind, the item and the rater."""
        return self.kind, self.item, self.rater


class RatedItem(NamedTuple):
    """An item for people.

    Attributes:
        kind: Its kind.
        id: Names the item by its texts, so that a rating of it is lost when they change.
        frame: Its frame or premise; items with the same are a cluster.
        text: The text before the question, or "".
        question: The question.
        options: Answer, as ratings.tsv has it -> how it is shown, in the order in which it is shown as A, B and C.
        gold: The right answer.
    """

    kind: RatedKind
    id: str
    frame: str
    text: str
    question: str
    options: Mapping[str, str]
    gold: str


def in_drawn_order(item_id: str, *texts: str) -> list[str]:
    """Return two texts in an order that follows from the id and from them, and not from which is right."""
    odd = hashlib.blake2b(item_id.encode(), digest_size=1).digest()[0] % 2
    return sorted(texts, reverse=bool(odd))


def read_ratings(path: Path) -> list[Rating]:
    """Read a file of ratings; if there is none, there are no ratings.

    Raises:
        ConstructionError: See `read_judgements`; also for an unknown kind or answer, and two right answers of an item.
    """
    golds: dict[tuple[str, str], str] = {}

    def row_of(cells: Cells) -> Rating:
        rating = Rating._make(cells[name] for name in Rating._fields)
        if not {rating.answer, rating.gold} <= {*ANSWERS.get(rating.kind, ())}:
            allowed = "; ".join(f"{kind}: {', '.join(answers)}" for kind, answers in ANSWERS.items())
            raise ValueError(f"{rating.kind}: {rating.answer}, gold {rating.gold}: not allowed (allowed: {allowed})")
        above = golds.setdefault((rating.kind, rating.item), rating.gold)
        if above != rating.gold:
            raise ValueError(f"gold '{rating.gold}' of '{rating.item}' is '{above}' above; an item has one")
        return rating

    return read_judgements(path, Rating._fields, row_of) if path.exists() or path.is_symlink() else []


def rating_rows(items: Iterable[RatedItem], known: Iterable[Rating], rater: str, seed: int) -> Iterator[Sequence[str]]:
    """Yield the rows of a table that a person fills in, without the right answers (`RATING_COLUMNS`).

    The items of each kind stand in a random order that is the same for everybody, so that those before where a person
    stops are a random sample, and several people judge the same ones.

    Args:
        items: The items.
        known: All ratings; the person's own answers are in the table.
        rater: The person.
        seed: The seed of the order.
    """
    given = {rating.key: rating.answer for rating in known}
    for item in sorted(items, key=lambda item: (item.kind, generator_for(seed, "rating", item.id).random())):
        letters = dict(zip(item.options, "ABC", strict=False))
        letter = letters.get(given.get((item.kind, item.id, rater), ""), "")
        texts = [item.text, item.question, *item.options.values(), "", ""][: len(RATING_COLUMNS) - 4]
        yield item.kind, item.id, rater, letter, *map(as_text, texts)


def read_rating_sheet(path: Path, items: Iterable[RatedItem], rater: str) -> list[Rating]:
    """Read the ratings of a table that a person has filled in: kind, item and answer, A, B or C, and perhaps rater.

    Args:
        path: The file. A row without an answer is left out.
        items: The items.
        rater: The person where the table names none.

    Raises:
        ConstructionError: See `read_judgements`; also for an item that is not there, or an answer it does not have.
    """
    by_id: dict[tuple[str, str], RatedItem] = {(item.kind, item.id): item for item in items}

    def row_of(cells: Cells) -> Rating | None:
        if not cells["answer"]:
            return None
        item = by_id.get((cells["kind"], cells["item"]))
        if item is None:
            raise ValueError(f"there is no item {cells['kind']} {cells['item']}; its text has changed: export again")
        answers = dict(zip("ABC", item.options, strict=False))
        answer = answers.get(cells["answer"].upper())
        if answer is None:
            raise ValueError(f"answer '{cells['answer']}' is not allowed (allowed: {', '.join(answers)})")
        return Rating(item.kind, item.id, item.frame, cells.get("rater") or rater, answer, item.gold)

    return read_judgements(path, ("kind", "item", "answer"), row_of)


def merge_ratings(known: Iterable[Rating], new: Iterable[Rating], items: Iterable[RatedItem]) -> list[Rating]:
    """Return the ratings of two files, sorted; a new one replaces an older one of the same person and item.

    Frame and right answer are those that the items have now: they may have been corrected without any of the words.
    """
    by_id = {(item.kind, item.id): item for item in items}
    merged = {rating.key: rating for rating in (*known, *new)}
    for key, rating in merged.items():
        if item := by_id.get((rating.kind, rating.item)):
            merged[key] = rating._replace(frame=item.frame, gold=item.gold)
    return sorted(merged.values())
