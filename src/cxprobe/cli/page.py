"""A page about constructions, made from their data: what each is, examples of its items, what blind models get.

The page is Markdown, for people who have not seen the files. The examples are the first ones of each file.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from cxprobe.constructions.construction import Construction
from cxprobe.constructions.people import TYPICAL_TYPE, People
from cxprobe.constructions.templates import spell
from cxprobe.pairs.frames import PairsFile, Variant, fill
from cxprobe.prompts.items import RELATIONS, InferenceItems, Items, Premise, ReasoningFrame, Relation
from cxprobe.scenarios.rules import Scenarios, example_words

PAGE_HEAD = """\
# Constructions

`cxprobe describe` makes this page from the files beside it, and what blind models get from the tracked tables
`results/report_*/accuracy.csv`. Do not edit it: change the data, and run the command again. A test compares the two.

Every example is the first of its file, so none has been picked. How the files are read is told in the
[project's README](../README.md).
"""
CHANGES = """\
## What is changed, and why

Every kind of item comes in several forms. What changes between them, and what stays, tells why a model is right.

| items | what is changed | what it shows |
|---|---|---|
| pairs | *switched*: the two people change places, and the answer with them | whether a model goes by who \
typically does what, or by a name |
| pairs | *rival*: a sentence that looks alike and lacks the construction; the other member is right | whether a model \
likes one member whatever the sentence says |
| pairs | *variants*: another question about the same sentence; *own* ones are not in the published design | whether \
it knows the meaning or one wording |
| inference | *readings*: the same form asserted, denied, left open ...; a hypothesis is then related in another way \
| whether the hypothesis alone tells the answer |
| inference | *challenge*: the same surface with another construction | whether it reads the form or the words |
| reasoning | see each construction's table: in half of the tests an answer follows, in the others none | whether it \
combines the rule with the facts |
| scenarios | tests with an answer, and *calibrations* without one | how probable a word is for other reasons |

A blind model cannot know the construction: it goes by spelling, frequency, place, or one half of the item. A pair and a
scenario have two answers (chance is 50 %), an inference three (33 %); of the reasoning items half or a little more have
the answer "not enough information". What a blind model gets above that, the data give away.
"""
TESTS_OF_REASONING = {
    "base": "rule, then facts",
    "recency": "facts, then rule; the answer stays",
    "vocabulary": "the parts of the rule exchanged; the other answer",
    "name": "the two exchanged; the answer follows",
    "short": "no rule; nothing follows",
    "other-names": "about two others; nothing follows",
    "other-property": "the facts are about something else; nothing follows",
    "nonce": "the facts have a made-up word; nothing follows",
}
"""Test of a reasoning frame -> what is changed in it."""
BIASES = {
    "none": "as it is",
    "recency": "in another order, so that another word comes last; the answer stays",
    "vocabulary": "words exchanged between the slots of the construction; the other word is right",
    "name": "the names exchanged; the answer stays",
    "short": "without the construction",
    "adjective": "about another property",
}
"""What a scenario holds against a model, or leaves out -> what is changed in it; others say it in their own words."""
NOTHING_FOLLOWS = "not enough information"
_SENTENCE = re.compile(r"\s*\n\s*")


@dataclass(frozen=True)
class BlindRate:
    """What a blind model gets on the items of one kind of a construction.

    Attributes:
        construction: Its folder.
        items: What was asked, such as "pairs" or "inference, challenge".
        model: The model's slug.
        accuracy: The share of right answers, in [0, 1].
        low: The lower end of its 95 % interval.
        high: The upper end.
        n: The number of items.
    """

    construction: str
    items: str
    model: str
    accuracy: float
    low: float
    high: float
    n: int


class Content(NamedTuple):
    """The files of a construction; None for one that it does not have."""

    construction: Construction
    pairs: PairsFile | None = None
    items: Items | None = None
    scenarios: Scenarios | None = None


def page_of(contents: Mapping[str, Content], people: People, rates: Sequence[BlindRate]) -> str:
    """Return the page about constructions, as Markdown.

    Args:
        contents: Folder -> the files in it.
        people: The nouns of minimal pairs.
        rates: What blind models get on their items.
    """
    parts = [PAGE_HEAD, _overview(contents), CHANGES]
    for name, content in contents.items():
        parts += ["\n".join(_section(name, content, people, [rate for rate in rates if rate.construction == name]))]
    return "\n".join(parts)


def _overview(contents: Mapping[str, Content]) -> str:
    rows = [
        (
            f"[{content.construction.name}](#{_anchor(content.construction.name)})",
            f"{len(content.pairs.variants)} variants of {len(content.pairs.frames)} frames" if content.pairs else "",
            str(len(content.items.inference.premises)) if content.items and content.items.inference else "",
            str(len(content.items.reasoning) or "") if content.items else "",
            str(len(content.scenarios.tests)) if content.scenarios else "",
        )
        for content in contents.values()
    ]
    head = ("construction", "minimal pairs", "premises of inferences", "reasoning frames", "tests of scenarios")
    return "\n".join([*_table(head, rows), ""])


def _section(name: str, content: Content, people: People, rates: Sequence[BlindRate]) -> Iterator[str]:
    about = content.construction
    yield f"## {about.name}\n"
    yield f"{_line(about.gloss)}\n"
    yield f"*What counts:* {_line(about.positive)}\n"
    yield f"Folder: [{name}]({name}/). Sources: {'; '.join(_line(source).rstrip('.') for source in about.sources)}.\n"
    if content.pairs:
        yield from _pairs(content.pairs, people)
    if content.items and content.items.inference:
        yield from _inference(content.items.inference)
    if content.items and content.items.reasoning:
        yield from _reasoning(content.items.reasoning)
    if content.scenarios:
        yield from _scenarios(content.scenarios)
    if content.pairs or content.items or content.scenarios:
        yield from _blind(rates)


def _pairs(pairs: PairsFile, people: People) -> Iterator[str]:
    yield f"### Minimal pairs\n\nA test of {pairs.tests}, {len(pairs.frames)} frames."
    if pairs.people:
        yield f"People: {', '.join(people.types)}, in turn."
    if pairs.typical:
        roles = " and ".join(pairs.typical[0])
        yield f"Those of {TYPICAL_TYPE} are in typical roles, such as {roles}: {len(pairs.typical)} such pairs."
    values = {slot: words for rows in pairs.groups.values() for slot, words in rows[0].items()}
    kind = next(iter(people.types.values()))
    if pairs.people:
        values |= people.pronouns[kind.pronouns[0]]
    rows: list[tuple[str, str, str, str]] = []
    for place, (name, variant) in enumerate(pairs.variants.items()):
        title = f"{name} (own)" if variant.origin == "own" else name
        rows += _variant(title, variant, values, dict(zip(pairs.people, kind.nouns, strict=False)))
        if pairs.switched and place == 0:
            exchanged = dict(zip(pairs.people[::-1], kind.nouns, strict=False))
            rows += _variant(f"{title}, switched", variant, values, exchanged)
    yield ""
    yield from _table(("variant", "sentence", "right", "wrong"), rows)
    yield ""


def _variant(
    title: str, variant: Variant, values: Mapping[str, str], seats: Mapping[str, str]
) -> Iterator[tuple[str, str, str, str]]:
    for sentence in variant.contexts:
        context, good, bad = fill(variant, {**values, **seats}, sentence)
        yield title if sentence == "construction" else f"{title}, rival", context, good, bad


def _inference(asked: InferenceItems) -> Iterator[str]:
    examples = {reading: found for reading in asked.readings if (found := _example(asked, reading)) is not None}
    golds = [asked.golds(premise) for premise in asked.premises]
    yield f"### Inference\n\n{len(asked.premises)} premises, each with all {len(asked.hypotheses)} hypotheses.\n"
    first = next(iter(examples.values()))
    told = []
    for name in asked.hypotheses:
        number = Counter(gold[name] for gold in golds)
        told.append((name, asked.hypothesis(name, first), *(str(number[relation]) for relation in RELATIONS)))
    yield from _table(("hypothesis", "about the first premise below", *RELATIONS), told)
    initials = ", ".join(f"{_initial(relation)} is {relation}" for relation in RELATIONS)
    yield f"\nA premise of each reading, and how the hypotheses are related to premises of this kind ({initials}):\n"
    counts = Counter(premise.reading for premise in asked.premises)
    rows = [
        (reading, str(counts[reading]), premise.sentence(), *_initials(asked, premise))
        for reading, premise in examples.items()
    ]
    yield from _table(("reading", "premises", "the first one", *asked.hypotheses), rows)
    if asked.challenge:
        one = asked.challenge[0]
        yield f"\nThe challenge set has {len(asked.challenge)} premises, such as *{one.sentence()}*\n"
        yield from _table(
            ("hypothesis", "relation"), [(asked.hypothesis(name, one), one.gold[name]) for name in one.gold]
        )
    yield ""


def _initials(asked: InferenceItems, premise: Premise) -> list[str]:
    golds = asked.golds(premise)
    return [_initial(golds[name]) for name in asked.hypotheses]


def _initial(relation: Relation) -> str:
    return relation[0].upper()


def _example(asked: InferenceItems, reading: str) -> Premise | None:
    """Return the first premise of a reading, of those without exceptions if there is one."""
    own = [premise for premise in asked.premises if premise.reading == reading]
    return next((premise for premise in own if not premise.gold), own[0] if own else None)


def _reasoning(frames: Sequence[ReasoningFrame]) -> Iterator[str]:
    frame = frames[0]
    options = f"{frame.option(0)}, {frame.option(1)}, or {NOTHING_FOLLOWS}"
    tests = list(frame.variants())
    yield f"### Reasoning\n\n{len(frames)} frames. Of the first: *{tests[0][2]}* The options are: {options}.\n"
    answers = {"R1": frame.option(0), "R2": frame.option(1), "": NOTHING_FOLLOWS}
    rows = [(test, TESTS_OF_REASONING[test], text, answers[answer]) for test, text, _, answer in tests]
    yield from _table(("test", "what is changed", "text", "answer"), rows)
    yield ""


def _scenarios(scenarios: Scenarios) -> Iterator[str]:
    words = {name: len(one.rows) for name, one in scenarios.words.items()}
    listed = ", ".join(f"{number} {name}" for name, number in words.items())
    first, second = scenarios.candidates
    shown = example_words(scenarios, f"{{{first}}} {{{second}}}")
    yield f"### Scenarios\n\nWords: {listed}. Asked is which is more probable, *{shown[first]}* or *{shown[second]}*.\n"
    rows = [
        (name, _explained(test.bias), spell(test.text, example_words(scenarios, test.text)), shown[test.answer])
        for name, test in scenarios.tests.items()
    ]
    rows += [
        (
            name,
            f"calibration: {_explained(one.purpose, others='about others')}",
            spell(one.texts[0], example_words(scenarios, one.texts[0])),
            "none",
        )
        for name, one in scenarios.calibrations.items()
    ]
    yield from _table(("text", "what is changed", "example", "answer"), rows)
    yield ""


def _explained(what: str, others: str | None = None) -> str:
    """Return what a bias or a purpose means; a calibration by names asks about others."""
    return others if others and what == "name" else BIASES.get(what, what)


def _blind(rates: Sequence[BlindRate]) -> Iterator[str]:
    yield "### What blind models get\n"
    if not rates:
        yield "There is none in the tracked results yet.\n"
        return
    asked = sorted({(rate.items, rate.n) for rate in rates})
    rows = []
    for items, n in asked:
        own = [rate for rate in rates if (rate.items, rate.n) == (items, n)]
        best_first = sorted(own, key=lambda rate: (-round(rate.accuracy, 2), rate.model))
        rows.append((items, str(n), ", ".join(f"{rate.model} {_percent(rate)}" for rate in best_first)))
    yield from _table(("items", "n", "accuracy with its 95 % interval, the best first"), rows)
    yield ""


def _percent(rate: BlindRate) -> str:
    return f"{100 * rate.accuracy:.0f} % [{100 * rate.low:.0f}, {100 * rate.high:.0f}]"


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    yield f"| {' | '.join(head)} |"
    yield f"|{'---|' * len(head)}"
    for row in rows:
        yield f"| {' | '.join(_cell(text) for text in row)} |"


def _cell(text: str) -> str:
    return _line(text).replace("|", "\\|")


def _line(text: str) -> str:
    return _SENTENCE.sub(" ", text).strip()


def _anchor(title: str) -> str:
    """Return the anchor that GitHub gives a heading."""
    return re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")
