"""Items dealt into forms, and their places and sides counterbalanced."""

from collections import Counter, defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from heapq import nsmallest
from math import ceil

import numpy as np
import pandas as pd

from cxprobe.errors import DataError
from cxprobe.people.rated_items import JudgedItem
from cxprobe.people.wording import CHECKS, Checks
from cxprobe.seeding import generator_for, text_id

Edge = tuple[Hashable, Hashable]


def deal(
    items: Sequence[JudgedItem], raters_per_item: int, per_rater: int, rng: np.random.Generator
) -> list[list[int]]:
    """Deal items into forms, each item into as many as people are to judge it.

    There are as few forms as possible. Their sizes differ by at most 1. As far as possible a form has no two items of
    one frame, and every construction and stratum equally often.

    Args:
        items: The items.
        raters_per_item: How many forms have an item; at least 1.
        per_rater: The most items of a form; at least 1.
        rng: The generator.

    Returns:
        The places of each form's items, all different.
    """
    count = max(raters_per_item, ceil(len(items) * raters_per_item / per_rater))
    forms: list[list[int]] = [[] for _ in range(count)]
    has: list[Counter[Hashable]] = [Counter() for _ in range(count)]
    for place in _frame_by_frame(items, rng):
        frame = (items[place].construction, items[place].frame)
        construction = items[place].construction
        values = [(construction,), *((construction, *value) for value in items[place].stratum.items())]
        chance = rng.permutation(count)
        keys = [
            (len(forms[form]), own[frame], sum(own[value] for value in values), chance[form])
            for form, own in enumerate(has)
        ]
        for form in nsmallest(raters_per_item, range(count), key=keys.__getitem__):
            forms[form].append(place)
            has[form].update([frame, *values])
    return forms


def split_evenly(edges: Sequence[Edge], parts: int, rng: np.random.Generator) -> list[int]:
    """Divide the edges of a bipartite graph into parts so that every vertex has its edges equally often in each.

    With items and forms as vertices, an edge is a question. So the question of an item stands on the left as often as
    on the right over its forms, and the questions of a form do as well, exactly or within one.

    Args:
        edges: Pairs of a left and a right vertex, none twice.
        parts: The number of parts, at least 1.
        rng: The generator.

    Returns:
        The part of each edge, from 0. For any vertex, the numbers of its edges in two parts differ by at most 1.

    Source:
        König 1916 for the colouring of bipartite graphs by exchanges along a path; de Werra 1971 for equitable ones.
    """
    ends = _bounded(edges, parts, rng)
    taken: dict[Hashable, dict[int, int]] = defaultdict(dict)  # vertex -> part -> edge
    part_of = [0] * len(edges)
    for edge in rng.permutation(len(edges)).tolist():
        left, right = ends[edge]
        order = rng.permutation(parts).tolist()
        free_left, free_right = (next(part for part in order if part not in taken[one]) for one in (left, right))
        if free_left != free_right:
            _exchange(right, free_left, free_right, ends, taken, part_of)
        part_of[edge] = free_left
        taken[left][free_left] = taken[right][free_left] = edge
    return part_of


def _frame_by_frame(items: Sequence[JudgedItem], rng: np.random.Generator) -> list[int]:
    """Return the places of all items in an order by chance in which those of one frame follow one another.

    Since the emptiest forms are next, items that follow one another come into different forms.
    """
    frames: dict[tuple[str, str], list[int]] = defaultdict(list)
    for place in rng.permutation(len(items)).tolist():
        frames[items[place].construction, items[place].frame].append(place)
    return [place for places in frames.values() for place in places]


def _bounded(edges: Sequence[Edge], parts: int, rng: np.random.Generator) -> list[Edge]:
    """Return the edges with each vertex split into several that have ``parts`` edges each, and one with the rest."""
    seen: Counter[Hashable] = Counter()
    ends: list[Edge] = [("", "")] * len(edges)
    for edge in rng.permutation(len(edges)).tolist():
        sides = [("left", edges[edge][0]), ("right", edges[edge][1])]
        ends[edge] = tuple((*side, seen[side] // parts) for side in sides)  # type: ignore[assignment]
        seen.update(sides)
    return ends


def _exchange(
    start: Hashable,
    first: int,
    second: int,
    ends: Sequence[Edge],
    taken: dict[Hashable, dict[int, int]],
    part_of: list[int],
) -> None:
    """Exchange two parts along the path of edges that begins at a vertex with one of the part ``first``."""
    path, vertex, part = [], start, first
    while (edge := taken[vertex].get(part)) is not None:
        path.append(edge)
        left, right = ends[edge]
        vertex, part = (left if vertex == right else right), (second if part == first else first)
    for edge in path:
        for vertex in ends[edge]:
            taken[vertex].pop(part_of[edge], None)
    for edge in path:
        part_of[edge] = second if part_of[edge] == first else first
        for vertex in ends[edge]:
            taken[vertex][part_of[edge]] = edge


LETTERS = ("A", "B", "C")
CHECK = "check"  # the kind of a question that is an attention check
# The columns of items.csv.
ITEM_COLUMNS = (
    *("export", "form", "number", "kind", "item", "construction", "frame", "stratum"),
    *("text", "question", "a", "b", "c", "answers", "gold"),
)
# The columns of form-NN.csv; the last two are for whoever answers in it.
FORM_COLUMNS = ("export", "form", "number", "text", "question", "a", "b", "c", "rater", "answer")


@dataclass(frozen=True)
class Question:
    """A question of a form.

    Attributes:
        kind: The kind of the item, or `CHECK`.
        item: The id of the item, or the kind of the check.
        construction: The construction that the item asks about, or "".
        frame: What the item was made from, or "".
        stratum: The item's stratum, as "variant=A; order=original", or "".
        text: What is shown before the question, or "".
        question: What is asked.
        options: What is shown as A, B and perhaps C.
        answers: What each option is in ratings.tsv; of a check, "right" and "wrong".
        gold: The letter of the right option.
    """

    kind: str
    item: str
    construction: str
    frame: str
    stratum: str
    text: str
    question: str
    options: tuple[str, ...]
    answers: tuple[str, ...]
    gold: str


@dataclass(frozen=True)
class Form:
    """What one person is asked: its number, from 1, and its questions, which are numbered from 1 as well."""

    number: int
    questions: tuple[Question, ...]

    @property
    def name(self) -> str:
        """How its files are called."""
        return f"form-{self.number:02d}"


def make_forms(
    items: Sequence[JudgedItem], checks: Checks, raters_per_item: int, per_rater: int, seed: int
) -> list[Form]:
    """Make forms of items of one kind; the same items and seed give the same forms.

    An item comes early in one form and late in another: the forms are divided into as many parts as an item has forms,
    and it is once in each part. Of minimal pairs and multiple-choice items, A and B change places: over the forms of an
    item and over the items of a form, A is right as often as B, exactly or within one; where C is right, the two take
    turns at standing first. The three relations of inferences keep their order within a form; every second form has
    them in the reverse order. Each form has one question of every kind of attention checks, the first in its first
    third, and so on; the kinds change places from form to form.

    Args:
        items: The sample.
        checks: The attention checks.
        raters_per_item: How many forms have an item.
        per_rater: The most items of a form, without the checks.
        seed: What the order follows from.

    Raises:
        DataError: There are no items, or one of the numbers is less than 1.
    """
    if min(len(items), raters_per_item, per_rater) < 1:
        raise DataError(
            f"{len(items)} items, --raters-per-item {raters_per_item}, --per-rater {per_rater}: each must be at least 1"
        )
    rng = generator_for(seed, "validation", "forms")
    dealt = deal(items, raters_per_item, per_rater, rng)
    edges = [(place, form) for form, places in enumerate(dealt) for place in places]
    has_sides = [items[place].gold in LETTERS[:2] for place, _ in edges]  # C is right on neither
    sided = [(place, (form, one)) for (place, form), one in zip(edges, has_sides, strict=True)]
    side = dict(zip(edges, split_evenly(sided, 2, rng), strict=True))
    part = dict(zip(edges, split_evenly(edges, raters_per_item, rng), strict=True))
    forms = []
    for form, places in enumerate(dealt):
        by_chance = [places[one] for one in rng.permutation(len(places))]
        ordered = sorted((part[place, form], chance, place) for chance, place in enumerate(by_chance))
        questions = [_question(items[place], side[place, form], form) for _, _, place in ordered]
        forms.append(Form(form + 1, tuple(_with_checks(questions, checks, form, rng))))
    return forms


def items_table(forms: Sequence[Form]) -> pd.DataFrame:
    """Return what is asked in all forms, with what is right: the table that answers are read by.

    Returns:
        One row per question: export (names all that is asked, so that answers to another export are noticed), form,
        number, kind, item, construction, frame, stratum, text, question, a, b, c ("" where there is none), answers
        (what a, b and c are in ratings.tsv, separated by spaces) and gold (a letter).
    """
    rows = [
        (
            *(form.number, number, one.kind, one.item, one.construction, one.frame, one.stratum, one.text),
            *(one.question, *_three(one.options), " ".join(one.answers), one.gold),
        )
        for form in forms
        for number, one in enumerate(form.questions, start=1)
    ]
    table = pd.DataFrame(rows, columns=ITEM_COLUMNS[1:])
    table.insert(0, "export", text_id("export", table.to_csv(index=False, lineterminator="\n")))
    return table


def form_table(form: Form, export: str) -> pd.DataFrame:
    """Return the questions of a form without what is right, with empty columns rater and answer."""
    rows = [
        (export, form.number, number, one.text, one.question, *_three(one.options), "", "")
        for number, one in enumerate(form.questions, start=1)
    ]
    return pd.DataFrame(rows, columns=FORM_COLUMNS)


def _question(item: JudgedItem, side: int, form: int) -> Question:
    """Return an item with the right one of two options first (0) or second (1)."""
    answers = list(item.options)
    if item.kind == "inference":
        answers = answers[::-1] if form % 2 else answers
    elif (answers[1] if item.gold == answers[1] else answers[0]) != answers[side]:
        answers[:2] = answers[1::-1]
    return Question(
        kind=item.kind,
        item=item.id,
        construction=item.construction,
        frame=item.frame,
        stratum="; ".join(f"{name}={value}" for name, value in item.stratum.items()),
        text=item.text,
        question=item.question,
        options=tuple(item.options[answer] for answer in answers),
        answers=tuple(answers),
        gold=LETTERS[answers.index(item.gold)],
    )


def _with_checks(questions: list[Question], checks: Checks, form: int, rng: np.random.Generator) -> list[Question]:
    """Put one check of each kind among the questions: one into each third, and none before the first question."""
    borders = [1 + (len(questions) * third) // len(CHECKS) for third in range(len(CHECKS) + 1)]
    asked = list(questions)
    for third in reversed(range(len(CHECKS))):  # from the end, so that the borders stay where they are
        name = CHECKS[(third + form) % len(CHECKS)]
        place = min(int(rng.integers(borders[third], borders[third + 1] + 1)), len(asked))
        asked.insert(place, _check(name, checks, form, right_first=bool(rng.integers(2))))
    return asked


def _check(name: str, checks: Checks, form: int, *, right_first: bool) -> Question:
    check = checks.of(name)
    member = check.members[form % len(check.members)]
    gold = LETTERS[0 if right_first else 1]
    shown = [(member.right, "right"), (member.wrong, "wrong")]
    options, answers = zip(*(shown if right_first else shown[::-1]), strict=True)
    return Question(CHECK, name, "", "", "", "", check.question.format(answer=gold), options, answers, gold)


def _three(options: Sequence[str]) -> tuple[str, ...]:
    return (*options, *[""] * (len(LETTERS) - len(options)))
