"""A page about constructions, made from their data: what each is, examples of its items, what blind models get.

The page is Markdown, for people who have not seen the files. The examples are the first ones of each file. What stands
around the tables is in templates/constructions.md.
"""

import csv
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from jinja2 import StrictUndefined, Template

from cxprobe.constructions.construction import CONSTRUCTIONS_FOLDER, SCRIPT_LINK, Construction, load_construction
from cxprobe.constructions.people import ROLE_NOUN_TYPE, People, load_people
from cxprobe.constructions.templates import spell
from cxprobe.errors import DataError
from cxprobe.files.reading import read_text
from cxprobe.files.writing import RESULTS
from cxprobe.lm.params import members_of
from cxprobe.pairs.frames import PairsFile, fill, load_pairs, pairs_file
from cxprobe.pairs.params import FORM, called_pairs, construction_of_pairs
from cxprobe.prompts.items import RELATIONS, InferenceItems, Items, Premise, ReasoningFrame, load_items
from cxprobe.run.params import load_params
from cxprobe.scenarios.rules import Scenarios, example_words, load_scenarios

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
    "paraphrase": "what the construction applies to is said in other words",
    "nonce": "made-up words",
    "distractor": "another rule beside it, in other words",
    "short": "without the construction",
    "adjective": "about another property",
}
"""What a scenario holds against a model, or leaves out -> what is changed in it; others say it in their own words."""
NOTHING_FOLLOWS = "not enough information"
_TEMPLATE = Path(__file__).parent / "templates" / "constructions.md"
_SETS = {"templatic": "inference", "challenge": "inference, challenge set", "reasoning": "reasoning"}
# A tracked table of results -> what is asked in one of its rows.
_ITEMS: Mapping[str, Callable[[Mapping[str, str]], str]] = {
    "report_pairs": lambda row: called_pairs(row["construction"]) + (", pseudowords" * (row["words"] == "pseudo")),
    "report_prompts": lambda row: _SETS.get(row["set"], row["set"]),
    "report_scenarios": lambda row: f"scenario {row['scenario']}",
}
Row = Sequence[str]


class BlindRate(NamedTuple):
    """What a blind model gets on the items of one kind of a construction.

    Attributes:
        construction: Its folder.
        items: What was asked, such as "minimal pairs" or "inference, challenge set".
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
    pairs: Mapping[str, PairsFile] = MappingProxyType({})
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
            {called_pairs(one): load_pairs(one, people) for one in (name, name + FORM) if pairs_file(one).is_file()},
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
                    name = construction_of_pairs(row["construction"])
                    yield BlindRate(name, items(row), row["model"], accuracy, low, high, int(n))
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
    template = Template(
        _TEMPLATE.read_text("utf-8"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    page: str = template.render(
        contents=contents,
        people=people,
        relations=list(RELATIONS),
        typical_type=ROLE_NOUN_TYPE,
        nothing_follows=NOTHING_FOLLOWS,
        line=_line,
        table=_table,
        overview=[_overview(content) for content in contents.values()],
        pair_rows=_pairs,
        hypothesis_rows=_hypotheses,
        reading_rows=_readings,
        challenge_rows=_challenge,
        reasoning_rows=_reasoning,
        scenario_rows=_scenarios,
        example_words=example_words,
        blind={name: list(_blind([rate for rate in rates if rate.construction == name])) for name in contents},
    )
    return page


def _overview(content: Content) -> Row:
    title, pairs, items = content.construction.name, content.pairs, content.items
    anchor = re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")  # as GitHub writes it
    return (
        f"[{title}](#{anchor})",
        "; ".join(f"{len(own.variants)} variants of {len(own.frames)} frames" for own in pairs.values()),
        str(len(items.inference.premises)) if items and items.inference else "",
        str(len(items.reasoning) or "") if items else "",
        str(len(content.scenarios.tests)) if content.scenarios else "",
    )


def _pairs(pairs: PairsFile, people: People) -> Iterator[Row]:
    """Give each variant and sentence with both continuations, the first variant with its people exchanged too."""
    values = {slot: words for rows in pairs.groups.values() for slot, words in rows[0].items()}
    kind = next(iter(people.types.values()))
    if pairs.people:
        values |= people.pronouns[kind.pronouns[0]]
    for place, (name, variant) in enumerate(pairs.variants.items()):
        title = f"{name} (own)" if variant.origin == "own" else name
        orders = [(title, pairs.people)]
        if pairs.switched and place == 0:
            orders.append((f"{title}, switched", pairs.people[::-1]))
        for told, seats in orders:
            filled = {**values, **dict(zip(seats, kind.nouns, strict=False))}
            for sentence in variant.contexts:
                row = told if sentence == "construction" else f"{told}, rival"
                yield (row, *fill(variant, filled, sentence))


def _examples(asked: InferenceItems) -> dict[str, Premise]:
    """Return reading -> its first premise, of those without exceptions if there is one."""
    examples: dict[str, Premise] = {}
    for premise in sorted(asked.premises, key=lambda premise: bool(premise.gold)):
        examples.setdefault(premise.reading, premise)
    return {reading: examples[reading] for reading in asked.readings if reading in examples}


def _hypotheses(asked: InferenceItems) -> Iterator[Row]:
    """Give each hypothesis about the first premise that has it, and to how many premises it has each relation."""
    for name in asked.hypotheses:
        having = [premise for premise in asked.premises if name in asked.golds(premise)]
        number = Counter(asked.golds(premise)[name] for premise in having)
        yield (name, asked.hypothesis(name, having[0]), *(str(number[relation]) for relation in RELATIONS))


def _readings(asked: InferenceItems) -> Iterator[Row]:
    """Give the example of each reading with the initials of its relations to the hypotheses."""
    counts = Counter(premise.reading for premise in asked.premises)
    for reading, premise in _examples(asked).items():
        gold = asked.golds(premise)
        initials = (gold.get(name, "")[:1].upper() for name in asked.hypotheses)
        yield (reading, str(counts[reading]), premise.sentence(), *initials)


def _challenge(asked: InferenceItems, premise: Premise) -> Iterator[Row]:
    for name, relation in premise.gold.items():
        yield asked.hypothesis(name, premise), relation


def _reasoning(frame: ReasoningFrame) -> Iterator[Row]:
    answers = {"R1": frame.option(0), "R2": frame.option(1), "": NOTHING_FOLLOWS}
    for test, text, _, answer in frame.variants():
        yield test, TESTS_OF_REASONING[test], text, answers[answer]


def _scenarios(scenarios: Scenarios) -> Iterator[Row]:
    for name, test in scenarios.tests.items():
        for number, one in enumerate(test.texts, start=1):
            words = example_words(scenarios, f"{one.text} {{{one.answer}}}")
            called = f"{name} {number}" if test.others else name
            yield called, BIASES.get(test.bias, test.bias), spell(one.text, words), words[one.answer]
    for name, calibration in scenarios.calibrations.items():
        purpose, text = calibration.purpose, calibration.texts[0]
        changed = "about others" if purpose == "name" else BIASES.get(purpose, purpose)
        yield name, f"calibration: {changed}", spell(text, example_words(scenarios, text)), "none"


def _blind(rates: Sequence[BlindRate]) -> Iterator[Row]:
    """Give a row for each kind and number of items, with the models from the best to the worst."""
    for asked, n in sorted({(rate.items, rate.n) for rate in rates}):
        best_first = sorted(
            (rate for rate in rates if (rate.items, rate.n) == (asked, n)),
            key=lambda rate: (-round(rate.accuracy, 2), rate.model),
        )
        told = [
            f"{rate.model} {100 * rate.accuracy:.0f} % [{100 * rate.low:.0f}, {100 * rate.high:.0f}]"
            for rate in best_first
        ]
        yield asked, str(n), ", ".join(told)


def _table(head: Row, rows: Iterator[Row]) -> str:
    lines = [f"| {' | '.join(head)} |", f"|{'---|' * len(head)}"]
    for row in rows:
        cells = [_line(text).replace("|", "\\|") for text in row]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def _line(text: str) -> str:
    """Return a text as a line without HTML, and without links that run code."""
    line = re.sub(r"&(?=[#\w])", "&amp;", re.sub(r"\s*\n\s*", " ", text).strip()).replace("<", "&lt;")
    return SCRIPT_LINK.sub(lambda scheme: scheme[0].replace(":", " :"), line)
