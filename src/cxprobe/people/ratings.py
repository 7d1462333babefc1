"""``constructions/<name>/ratings.tsv``: how people have judged items of a construction.

Only those who passed the attention checks are in it, and an answer that was not given has no line. A file with a
header and nothing else says that nobody has judged yet.

    kind    pairs, inference or reasoning
    item    the item's id
    frame   what the item was made from: items with the same frame or premise are a cluster
    rater   a person's pseudonym, another one in every export
    answer  pairs: A or B, the two texts in an order that the id decides; reasoning: A or B, the two options in an order
            that the id decides, or C; inference: the relation
    gold    the right answer, written in the same way
"""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Literal, NamedTuple

from cxprobe.people.tables import read_judgements, write_judgements

RATINGS_FILE = "ratings.tsv"
RatedKind = Literal["pairs", "inference", "reasoning"]
# Kind -> the answers that it has.
ANSWERS: Mapping[str, tuple[str, ...]] = {
    "pairs": ("A", "B"),
    "inference": ("entailment", "neutral", "contradiction"),
    "reasoning": ("A", "B", "C"),
}


class Rating(NamedTuple):
    """One answer to one item; the attributes are the columns of the file."""

    kind: RatedKind
    item: str
    frame: str
    rater: str
    answer: str
    gold: str

    @property
    def key(self) -> tuple[str, str, str]:
        """What there is one rating of: the kind, the item and the rater."""
        return self.kind, self.item, self.rater


def read_ratings(path: Path) -> list[Rating]:
    """Read a file of ratings; if there is none, there are no ratings.

    Raises:
        ConstructionError: See `read_judgements`; also for an unknown kind or answer, two ratings of one rater for
            one item, and an item with two right answers.
    """
    known = set()
    golds: dict[tuple[str, str], str] = {}

    def fault_of(rating: Rating) -> str | None:
        if rating.kind not in ANSWERS:
            return f"kind '{rating.kind}' is unknown (allowed: {', '.join(ANSWERS)})"
        allowed = ANSWERS[rating.kind]
        for column, value in (("answer", rating.answer), ("gold", rating.gold)):
            if value not in allowed:
                return f"{column} '{value}' is none of {rating.kind} (allowed: {', '.join(allowed)})"
        if rating.key in known:
            return f"{rating.rater} has judged '{rating.item}' twice; keep one of the lines"
        known.add(rating.key)
        above = golds.setdefault((rating.kind, rating.item), rating.gold)
        if above != rating.gold:
            return f"gold '{rating.gold}' of '{rating.item}' is '{above}' above; an item has one right answer"
        return None

    return read_judgements(path, Rating, fault_of)


def write_ratings(ratings: Iterable[Rating], path: Path) -> None:
    """Write ratings, sorted, one a line."""
    write_judgements(ratings, Rating._fields, path)
