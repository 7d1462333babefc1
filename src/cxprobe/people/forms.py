"""Forms that people answer: items are drawn, dealt into forms, counterbalanced, and written as pages and tables."""

import hashlib
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.resources import files
from itertools import islice, zip_longest
from math import ceil
from typing import Final, Literal

import jinja2
import numpy as np
import pandas as pd

from cxprobe.errors import DataError
from cxprobe.people.ratings import RatedKind
from cxprobe.people.wording import Checks, Task
from cxprobe.seeding import generator_for, text_id

OPTION_LETTERS = ("A", "B", "C")
CHECK: Final = "check"  # the kind of a question that is an attention check
# The columns of items.csv.
ITEM_COLUMNS = (
    *("export", "form", "number", "kind", "item", "construction", "frame", "stratum"),
    *("text", "question", "a", "b", "c", "answers", "gold"),
)
# The columns of form-NN.csv; the last two are filled in by the person.
FORM_COLUMNS = ("export", "form", "number", "text", "question", "a", "b", "c", "rater", "answer")


@dataclass(frozen=True)
class RatedItem:
    """What a person can be asked: an item of a line of work, or an attention check.

    Attributes:
        kind: What it is made of, or `CHECK`.
        id: Names the item by its texts, so that a rating of it is lost when they change; of a check, its kind.
        construction: The construction that it asks about; "" for a check.
        frame: What it was made from; items with the same are a cluster. "" for a check.
        stratum: What a sample is balanced over, such as "variant" -> "A".
        text: What is shown before the question, or "".
        question: What is asked.
        options: Answer, as ratings.tsv has it -> how it is shown, in the order in which a form shows them as A, B and
            perhaps C; of a check, the answers are "right" and "wrong".
        gold: The right answer.
    """

    kind: RatedKind | Literal["check"]
    id: str
    construction: str
    frame: str
    stratum: Mapping[str, str]
    text: str
    question: str
    options: Mapping[str, str]
    gold: str

    @property
    def letter(self) -> str:
        """The letter of the right option."""
        return OPTION_LETTERS[list(self.options).index(self.gold)]


@dataclass(frozen=True)
class Form:
    """What one person is asked: its number, from 1, and its questions, which are numbered from 1 as well."""

    number: int
    questions: tuple[RatedItem, ...]


def draw_sample(items: Sequence[RatedItem], wanted: int, seed: int) -> list[RatedItem]:
    """Draw items, balanced as far as the items allow; the same items and seed give the same sample.

    Constructions take turns; one that is asked in two orders has two items a turn, as in Oba & Sugawara 2026 (112
    items, or 56 without an exchange). Within a construction an item of the stratum that was drawn least comes next; a
    stratum is a combination of values, such as variant A with female names in the original order. Of several such
    strata the one whose values were drawn least, each for itself, comes first, and of its items one whose frame was
    drawn least.

    Args:
        items: What there is to draw from.
        wanted: How many to draw.
        seed: What the draw follows from.

    Raises:
        DataError: There are fewer items than wanted, or none is wanted.
    """
    if not 1 <= wanted <= len(items):
        raise DataError(f"--items {wanted}: there are {len(items)} items to draw from; ask for 1 to {len(items)}")
    by_construction: dict[str, list[RatedItem]] = defaultdict(list)
    for item in sorted(items, key=lambda item: item.id):
        by_construction[item.construction].append(item)
    names = sorted(by_construction)
    order = generator_for(seed, "validation", "constructions").permutation(len(names))
    turns = [_turns(by_construction[names[index]], generator_for(seed, "validation", names[index])) for index in order]
    drawn = (item for turn in zip_longest(*turns, fillvalue=()) for items in turn for item in items)
    return list(islice(drawn, wanted))


def _turns(items: Sequence[RatedItem], rng: np.random.Generator) -> Iterator[Sequence[RatedItem]]:
    """Yield the items of a construction in turns of as many as it has orders."""
    orders, left = len({item.stratum.get("order") for item in items}), _balanced(items, rng)
    while turn := list(islice(left, orders)):
        yield turn


def _balanced(items: Sequence[RatedItem], rng: np.random.Generator) -> Iterator[RatedItem]:
    """Yield all items of a construction in such an order that those up to any one are balanced."""
    left = [items[index] for index in rng.permutation(len(items))]
    strata, values, frames = Counter[Hashable](), Counter[Hashable](), Counter[Hashable]()

    def uses(item: RatedItem) -> tuple[int, int, int]:
        stratum = tuple(item.stratum.items())
        return strata[stratum], sum(values[value] for value in stratum), frames[item.frame]

    while left:
        item = min(left, key=uses)
        left.remove(item)
        strata[tuple(item.stratum.items())] += 1
        values.update(item.stratum.items())
        frames[item.frame] += 1
        yield item


def make_forms(
    items: Sequence[RatedItem], checks: Checks, raters_per_item: int, per_rater: int, seed: int
) -> list[Form]:
    """Make forms of items of one kind; the same items and seed give the same forms.

    Of minimal pairs and multiple-choice items, A and B are exchanged: over the forms of an item and over the items of a
    form, A is right as often as B, exactly or within one; where C is right, the two take turns at standing first. The
    three relations of inferences keep their order within a form; every second form has them in the reverse order. Each
    form has one question of every kind of attention checks, the first in its first third, and so on; the kinds take
    turns from form to form.

    Args:
        items: The sample; not empty.
        checks: The attention checks.
        raters_per_item: How many forms have an item; at least 1.
        per_rater: The most items of a form, without the checks; at least 1.
        seed: What the order follows from.
    """
    rng = generator_for(seed, "validation", "forms")
    dealt = deal(items, raters_per_item, per_rater, rng)
    asked = [(index, form) for form, indices in enumerate(dealt) for index in indices]
    # Where C is right, which of A and B comes first is balanced apart from where one of them is.
    sides = split_in_halves(
        [((items[index].gold == "C", index), (items[index].gold == "C", form)) for index, form in asked], rng
    )
    side = dict(zip(asked, sides, strict=True))
    forms = []
    for form, indices in enumerate(dealt):
        questions = [_question(items[index], side[index, form], form) for index in indices]
        forms.append(Form(form + 1, tuple(_with_checks(questions, checks, form, rng))))
    return forms


def deal(items: Sequence[RatedItem], raters_per_item: int, per_rater: int, rng: np.random.Generator) -> list[list[int]]:
    """Deal items into forms, each item into as many as people are to judge it.

    In each of ``raters_per_item`` rounds all items are dealt once, into as few forms as possible, whose sizes differ by
    at most 1. Every form has every construction equally often, within one or two, and no two items of one frame where a
    round has enough forms: as many as a frame has items, and one more for each further round. An item comes with other
    items in each round, and is early in one form and late in another: a form is divided into as many parts as there are
    rounds, and each item is once in each part.

    Args:
        items: The items.
        raters_per_item: How many forms have an item; at least 1.
        per_rater: The most items of a form; at least 1.
        rng: The generator.

    Returns:
        The indices of each form's items, all different, in their order in the form.
    """
    frames: dict[tuple[str, str], list[int]] = defaultdict(list)
    for index in rng.permutation(len(items)).tolist():
        frames[items[index].construction, items[index].frame].append(index)
    # Items of one construction and, within it, of one frame follow one another, so that they come into different forms.
    ordered = [index for frame in sorted(frames, key=lambda frame: frame[0]) for index in frames[frame]]
    count = ceil(len(items) / per_rater)
    rows = [ordered[start : start + count] for start in range(0, len(ordered), count)]  # a form has one item of each
    parts = rng.permutation(len(rows)) * raters_per_item // len(rows)
    forms = []
    for turn in range(raters_per_item):
        for form in range(count):
            # From round to round a row moves on by its own number, so that no two rows stay side by side.
            columns = [(form - number * turn) % count for number in range(len(rows))]
            chance = rng.permutation(len(rows))
            order = sorted(
                range(len(rows)), key=lambda number: ((parts[number] + turn) % raters_per_item, chance[number])
            )
            forms.append([rows[number][columns[number]] for number in order if columns[number] < len(rows[number])])
    return forms


def split_in_halves(edges: Sequence[tuple[Hashable, Hashable]], rng: np.random.Generator) -> list[int]:
    """Divide the edges of a bipartite graph in two so that every vertex has as many in one half as in the other.

    With items and forms as vertices, an edge is a question. So an item has its right answer on the left as often as on
    the right over its forms, and so has a form over its items, exactly or within one.

    Args:
        edges: Pairs of a left and a right vertex, none twice.
        rng: The generator.

    Returns:
        The half of each edge, 0 or 1. For any vertex, the numbers of its edges in the two halves differ by at most 1.

    Source:
        The edges of each vertex are linked in twos. The linked edges make paths and circles of even length, since links
        at a left and at a right vertex take turns; along them the halves take turns as well.
    """
    by_vertex: dict[Hashable, list[int]] = defaultdict(list)
    for edge in rng.permutation(len(edges)).tolist():
        for side, vertex in enumerate(edges[edge]):
            by_vertex[side, vertex].append(edge)
    linked: dict[int, list[int]] = defaultdict(list)
    for at_vertex in by_vertex.values():
        for first, second in zip(at_vertex[::2], at_vertex[1::2], strict=False):
            linked[first].append(second)
            linked[second].append(first)
    half: dict[int, int] = {}
    for start in range(len(edges)):
        reached = [(start, int(rng.integers(2)))]
        while reached:
            edge, value = reached.pop()
            if edge not in half:
                half[edge] = value
                reached += [(other, 1 - value) for other in linked[edge]]
    return [half[edge] for edge in range(len(edges))]


def _question(item: RatedItem, side: int, form: int) -> RatedItem:
    """Return an item with the right one of two options first (0) or second (1)."""
    answers = list(item.options)
    if item.kind == "inference":
        answers = answers[::-1] if form % 2 else answers
    elif (answers[1] if item.gold == answers[1] else answers[0]) != answers[side]:
        answers[:2] = answers[1::-1]
    return replace(item, options={answer: item.options[answer] for answer in answers})


def _with_checks(questions: list[RatedItem], checks: Checks, form: int, rng: np.random.Generator) -> list[RatedItem]:
    """Put one check of each kind among the questions: one into each third, and none before the first question."""
    kinds = list(checks)
    borders = [1 + (len(questions) * third) // len(kinds) for third in range(len(kinds) + 1)]
    asked = list(questions)
    for third in reversed(range(len(kinds))):  # from the end, so that the borders stay where they are
        name, check = kinds[(third + form) % len(kinds)]
        sentences = check.members[form % len(check.members)]
        answers = ("right", "wrong") if rng.integers(2) else ("wrong", "right")
        options = {answer: getattr(sentences, answer) for answer in answers}
        wording = check.question.format(answer=OPTION_LETTERS[answers.index("right")])
        item = RatedItem(CHECK, name, "", "", {}, "", wording, options, "right")
        asked.insert(int(rng.integers(borders[third], borders[third + 1] + 1)), item)
    return asked


def items_table(forms: Sequence[Form]) -> pd.DataFrame:
    """Return what is asked in all forms, with what is right: the table that answers are read by.

    Returns:
        One row per question: export (names all that is asked, so that answers to another export are noticed), form,
        number, kind, item, construction, frame, stratum, text, question, a, b, c ("" where there is none), answers
        (what a, b and c are in ratings.tsv, separated by spaces) and gold (a letter).
    """
    rows = []
    for form in forms:
        for number, item in enumerate(form.questions, start=1):
            stratum = "; ".join(f"{name}={value}" for name, value in item.stratum.items())
            names = (form.number, number, item.kind, item.id, item.construction, item.frame, stratum)
            empty = [""] * (len(OPTION_LETTERS) - len(item.options))
            shown = (item.text, item.question, *item.options.values(), *empty)
            rows.append((*names, *shown, " ".join(item.options), item.letter))
    table = pd.DataFrame(rows, columns=ITEM_COLUMNS[1:])
    table.insert(0, "export", name_of_export(table))
    return table


def name_of_export(items: pd.DataFrame) -> str:
    """Return the name of an export: it follows from all that is asked, without the column export."""
    return text_id("export", items.to_csv(index=False, lineterminator="\n"))


def form_table(items: pd.DataFrame, form: Form) -> pd.DataFrame:
    """Return the questions of a form without what is right, with empty columns rater and answer.

    Args:
        items: What is asked in all forms, see `items_table`.
        form: The form.
    """
    return items[items["form"] == form.number].assign(rater="", answer="")[list(FORM_COLUMNS)]


def render_page(form: Form, export: str, task: Task) -> str:
    """Return a form as a page of HTML that needs no network and no server, and does not say what is right.

    Answers stay in the page, and in the browser's storage where it has one, until "Save answers" downloads them as
    CSV with the columns export, form, number, rater, answer and saved.
    """
    template = files("cxprobe.people").joinpath("form.html").read_text(encoding="utf-8")
    page = jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined).from_string(template)
    return page.render(form=form, export=export, task=task, letters=OPTION_LETTERS)


def in_drawn_order(item_id: str, *texts: str) -> list[str]:
    """Return two texts in an order that follows from the id and from them, and not from which is right."""
    odd = hashlib.blake2b(item_id.encode(), digest_size=1).digest()[0] % 2
    return sorted(texts, reverse=bool(odd))
