"""``constructions/<name>/ratings.tsv``: how people have judged items of a construction.

One line for each item and person, sorted, so that the work of two people merges in git line by line. Only people who
passed the attention checks are in it, and an answer that was not given has no line. A file with a header and nothing
else says that nobody has judged yet.

    kind    pairs, inference or reasoning
    item    the item's id
    frame   what the item was made from: items with the same frame or premise are a cluster
    rater   a pseudonym; the same person has another one in every export
    answer  pairs: A or B, the two texts in an order that the id decides; reasoning: A or B, the two options in an order
            that the id decides, or C; inference: the relation
    gold    the right answer, written in the same way
"""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Literal, NamedTuple, get_args

from cxprobe.errors import ConstructionError
from cxprobe.files.reading import one_line, read_text
from cxprobe.files.writing import replacing
from cxprobe.prompts.items import RELATIONS

RATINGS_FILE = "ratings.tsv"
JudgedKind = Literal["pairs", "inference", "reasoning"]
JUDGED_KINDS: tuple[JudgedKind, ...] = get_args(JudgedKind)
# Kind -> the answers that it has.
ANSWERS: Mapping[str, tuple[str, ...]] = {"pairs": ("A", "B"), "inference": RELATIONS, "reasoning": ("A", "B", "C")}
COLUMNS = ("kind", "item", "frame", "rater", "answer", "gold")
LONGEST = 1_000  # characters of a cell


class Rating(NamedTuple):
    """One person's answer to one item; the attributes are the columns of the file."""

    kind: JudgedKind
    item: str
    frame: str
    rater: str
    answer: str
    gold: str


def read_ratings(path: Path) -> list[Rating]:
    """Read a file of ratings; if there is none, there are no ratings.

    Raises:
        ConstructionError: The path exists but is not a file, or the file is not UTF-8 text; or one line for every
            fault: a conflict that git left, a line without its columns, an unknown kind or answer, two ratings of one
            person for one item, or an item with two right answers.
    """
    if not (path.exists() or path.is_symlink()):
        return []
    rows = [line.removesuffix("\r").split("\t") for line in read_text(path, ConstructionError).split("\n")]
    if rows[-1] == [""]:  # after the end of the last line
        rows.pop()
    if not rows or tuple(rows[0]) != COLUMNS:
        raise ConstructionError(f"{path}, line 1: expected the columns {' '.join(COLUMNS)}, separated by tabs")
    ratings: dict[tuple[str, str, str], Rating] = {}
    golds: dict[tuple[str, str], str] = {}
    faults: list[str] = []
    for number, row in enumerate(rows[1:], start=2):
        fault = _fault(row)
        if fault is None:
            rating = Rating(*row)  # type: ignore[arg-type]  # `_fault` has checked it
            known = golds.setdefault((rating.kind, rating.item), rating.gold)
            if key_of(rating) in ratings:
                fault = f"{rating.rater} has judged '{rating.item}' twice; keep one of the lines"
            elif known != rating.gold:
                fault = f"gold '{rating.gold}' of '{rating.item}' is '{known}' above; an item has one right answer"
            ratings[key_of(rating)] = rating
        if fault is not None:
            faults.append(one_line(f"{path}, line {number}: {fault}"))
    if faults:
        raise ConstructionError("\n".join(faults))
    return list(ratings.values())


def write_ratings(ratings: Iterable[Rating], path: Path) -> None:
    """Write ratings, sorted, one a line."""
    lines = ["\t".join(row) for row in (COLUMNS, *sorted(ratings))]
    with replacing(path) as partial:
        partial.write_text("\n".join(lines) + "\n", encoding="utf-8")


def key_of(rating: Rating) -> tuple[str, str, str]:
    """Return what there is one rating of: the kind, the item and the person."""
    return rating.kind, rating.item, rating.rater


def _fault(row: list[str]) -> str | None:
    if row and row[0].startswith(("<<<<<<<", "=======", ">>>>>>>")):
        return "a conflict that git left here; keep the lines of both sides and delete its marks"
    if len(row) != len(COLUMNS) or not all(cell.strip() for cell in row):
        return f"expected {len(COLUMNS)} columns ({' '.join(COLUMNS)}), separated by tabs, none empty, found {row}"
    if (longest := max(map(len, row))) > LONGEST:
        return f"a cell of {longest} characters; at most {LONGEST} are allowed; is the end of a line missing?"
    kind, *_, answer, gold = row
    if kind not in ANSWERS:
        return f"kind '{kind}' is unknown (allowed: {', '.join(ANSWERS)})"
    for column, value in (("answer", answer), ("gold", gold)):
        if value not in ANSWERS[kind]:
            return f"{column} '{value}' is none of {kind} (allowed: {', '.join(ANSWERS[kind])})"
    return None
