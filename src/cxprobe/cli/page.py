"""A page about constructions, made from their data: what each is, examples of its items, what blind models get.

The page is Markdown, for people who have not seen the files. The examples are the first ones of each file.
"""

import csv
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from cxprobe.constructions.construction import CONSTRUCTIONS_FOLDER, Construction, load_construction
from cxprobe.constructions.people import TYPICAL_TYPE, People, load_people
from cxprobe.constructions.templates import spell
from cxprobe.errors import DataError
from cxprobe.files.reading import read_text
from cxprobe.files.writing import RESULTS
from cxprobe.lm.params import members_of
from cxprobe.pairs.frames import PairsFile, fill, load_pairs
from cxprobe.prompts.items import RELATIONS, InferenceItems, Items, Premise, ReasoningFrame, load_items
from cxprobe.run.params import load_params
from cxprobe.scenarios.rules import Scenarios, example_words, load_scenarios

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
_SETS = {"templatic": "inference", "challenge": "inference, challenge set", "reasoning": "reasoning"}
# A tracked table of results -> what is asked in one of its rows.
_ITEMS: Mapping[str, Callable[[Mapping[str, str]], str]] = {
    "report_pairs": lambda row: "minimal pairs" if row["words"] == "real" else "minimal pairs, pseudowords",
    "report_prompts": lambda row: _SETS.get(row["set"], row["set"]),
    "report_scenarios": lambda row: f"scenario {row['scenario']}",
}


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


def make_page() -> str:
    """Return the page about the constructions in the working directory, with the results that are tracked there.

    Raises:
        CxprobeError: A file has faults; `cxprobe check` tells those of all files.
    """
    people = load_people()
    contents = {}
    for folder in (path for path in sorted(CONSTRUCTIONS_FOLDER.glob("*")) if path.is_dir()):
        name = folder.name
        contents[name] = Content(
            load_construction(name),
            load_pairs(name, people) if (folder / "pairs.yaml").is_file() else None,
            load_items(name) if (folder / "items.yaml").is_file() else None,
            load_scenarios(name) if (folder / "scenarios.yaml").is_file() else None,
        )
    return page_of(contents, people, list(_blind_rates()))


def _blind_rates() -> Iterator[BlindRate]:
    """Give what blind models get on pairs, inferences, reasoning items and scenarios, as far as there are results."""
    models = load_params().models
    blind = {member.slug for member in members_of(models, models) if member.is_blind}
    for stage, items in _ITEMS.items():
        path = RESULTS / stage / "accuracy.csv"
        try:
            for row in csv.DictReader(read_text(path, DataError).splitlines()) if path.exists() else ():
                if row["model"] in blind:
                    accuracy, low, high, n = (float(row[column]) for column in ("accuracy", "low", "high", "n"))
                    yield BlindRate(row["construction"], items(row), row["model"], accuracy, low, high, int(n))
        except (KeyError, ValueError, csv.Error) as fault:
            raise DataError(
                f"{path}: is no table of accuracies ({fault}); `dvc repro {stage}` makes it anew"
            ) from fault


def page_of(contents: Mapping[str, Content], people: People, rates: Sequence[BlindRate]) -> str:
    """Return the page about constructions, as Markdown.

    Args:
        contents: Folder -> the files in it.
        people: The nouns of minimal pairs.
        rates: What blind models get on their items.
    """
    rows = []
    for content in contents.values():
        title, pairs, items = content.construction.name, content.pairs, content.items
        anchor = re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")  # as GitHub writes it
        rows.append(
            (
                f"[{title}](#{anchor})",
                f"{len(pairs.variants)} variants of {len(pairs.frames)} frames" if pairs else "",
                str(len(items.inference.premises)) if items and items.inference else "",
                str(len(items.reasoning) or "") if items else "",
                str(len(content.scenarios.tests)) if content.scenarios else "",
            )
        )
    head = ("construction", "minimal pairs", "premises of inferences", "reasoning frames", "tests of scenarios")
    parts = [PAGE_HEAD, "\n".join([*_table(head, rows), ""]), CHANGES]
    for name, content in contents.items():
        parts += ["\n".join(_section(name, content, people, [rate for rate in rates if rate.construction == name]))]
    return "\n".join(parts)


def _section(name: str, content: Content, people: People, rates: Sequence[BlindRate]) -> Iterator[str]:
    about, items = content.construction, content.items
    yield f"## {about.name}\n"
    yield f"{_line(about.gloss)}\n"
    yield f"*What counts:* {_line(about.positive)}\n"
    yield f"Folder: [{name}]({name}/). Sources: {'; '.join(_line(source).rstrip('.') for source in about.sources)}.\n"
    if content.pairs:
        yield from _pairs(content.pairs, people)
    if items and items.inference:
        yield from _inference(items.inference)
    if items and items.reasoning:
        yield from _reasoning(items.reasoning)
    if content.scenarios:
        yield from _scenarios(content.scenarios)
    if content.pairs or items or content.scenarios:
        yield "### What blind models get\n"
        if not rates:
            yield "There is none in the tracked results yet.\n"
            return
        rows = []
        for asked, n in sorted({(rate.items, rate.n) for rate in rates}):
            best_first = sorted(
                (rate for rate in rates if (rate.items, rate.n) == (asked, n)),
                key=lambda rate: (-round(rate.accuracy, 2), rate.model),
            )
            told = [
                f"{rate.model} {100 * rate.accuracy:.0f} % [{100 * rate.low:.0f}, {100 * rate.high:.0f}]"
                for rate in best_first
            ]
            rows.append((asked, str(n), ", ".join(told)))
        yield from _table(("items", "n", "accuracy with its 95 % interval, the best first"), rows)
        yield ""


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
        orders = [(title, pairs.people)]
        if pairs.switched and place == 0:
            orders.append((f"{title}, switched", pairs.people[::-1]))
        for told, seats in orders:
            filled = {**values, **dict(zip(seats, kind.nouns, strict=False))}
            for sentence in variant.contexts:
                row = told if sentence == "construction" else f"{told}, rival"
                rows.append((row, *fill(variant, filled, sentence)))
    yield ""
    yield from _table(("variant", "sentence", "right", "wrong"), rows)
    yield ""


def _inference(asked: InferenceItems) -> Iterator[str]:
    examples: dict[str, Premise] = {}  # reading -> its first premise, of those without exceptions if there is one
    for reading in asked.readings:
        premises = [premise for premise in asked.premises if premise.reading == reading]
        if premises:
            examples[reading] = next((premise for premise in premises if not premise.gold), premises[0])
    golds = [asked.golds(premise) for premise in asked.premises]
    yield f"### Inference\n\n{len(asked.premises)} premises, each with all {len(asked.hypotheses)} hypotheses.\n"
    first = next(iter(examples.values()))
    told = []
    for name in asked.hypotheses:
        number = Counter(gold[name] for gold in golds)
        told.append((name, asked.hypothesis(name, first), *(str(number[relation]) for relation in RELATIONS)))
    yield from _table(("hypothesis", "about the first premise below", *RELATIONS), told)
    initials = ", ".join(f"{relation[0].upper()} is {relation}" for relation in RELATIONS)
    yield f"\nA premise of each reading, and how the hypotheses are related to premises of this kind ({initials}):\n"
    counts = Counter(premise.reading for premise in asked.premises)
    rows = []
    for reading, premise in examples.items():
        gold = asked.golds(premise)
        relations = (gold[name][0].upper() for name in asked.hypotheses)
        rows.append((reading, str(counts[reading]), premise.sentence(), *relations))
    yield from _table(("reading", "premises", "the first one", *asked.hypotheses), rows)
    if asked.challenge:
        challenge = asked.challenge[0]
        yield f"\nThe challenge set has {len(asked.challenge)} premises, such as *{challenge.sentence()}*\n"
        yield from _table(
            ("hypothesis", "relation"),
            [(asked.hypothesis(name, challenge), relation) for name, relation in challenge.gold.items()],
        )
    yield ""


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
    listed = ", ".join(f"{len(words.rows)} {name}" for name, words in scenarios.words.items())
    first, second = scenarios.candidates
    shown = example_words(scenarios, f"{{{first}}} {{{second}}}")
    yield f"### Scenarios\n\nWords: {listed}. Asked is which is more probable, *{shown[first]}* or *{shown[second]}*.\n"
    rows = [
        (
            name,
            BIASES.get(test.bias, test.bias),
            spell(test.text, example_words(scenarios, test.text)),
            shown[test.answer],
        )
        for name, test in scenarios.tests.items()
    ]
    for name, calibration in scenarios.calibrations.items():
        purpose, text = calibration.purpose, calibration.texts[0]
        changed = "about others" if purpose == "name" else BIASES.get(purpose, purpose)
        rows.append((name, f"calibration: {changed}", spell(text, example_words(scenarios, text)), "none"))
    yield from _table(("text", "what is changed", "example", "answer"), rows)
    yield ""


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    yield f"| {' | '.join(head)} |"
    yield f"|{'---|' * len(head)}"
    for row in rows:
        cells = [_line(text).replace("|", "\\|") for text in row]
        yield f"| {' | '.join(cells)} |"


def _line(text: str) -> str:
    return re.sub(r"\s*\n\s*", " ", text).strip()
