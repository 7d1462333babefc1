"""Examples of what models are asked about a construction: the first items of its files, so none has been picked."""

from collections.abc import Iterator
from typing import NamedTuple

from cxprobe.constructions.people import People
from cxprobe.constructions.templates import spell
from cxprobe.pairs.frames import PairsFile, fill_variant
from cxprobe.pairs.params import called_pairs
from cxprobe.prompts.items import InferenceItems, ReasoningFrame
from cxprobe.report.site.inputs import About
from cxprobe.report.site.words import name_of_scenario
from cxprobe.scenarios.rules import PURPOSES, Scenarios, example_words

# Test of a reasoning frame -> what is changed in it.
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
NOTHING_FOLLOWS = "not enough information"


class Example(NamedTuple):
    """One item, as a model is asked it.

    Attributes:
        kind: What kind of item it is, and what is changed in it.
        text: What it reads.
        right: The right answer.
        wrong: The other answers; "" where there are none to name.
    """

    kind: str
    text: str
    right: str
    wrong: str


def examples_of(about: About, people: People | None) -> list[Example]:
    """Return an example of every kind of item of a construction; of pairs only where there are people."""
    found: list[Example] = []
    for name, pairs in about.pairs.items():
        found += _pairs(called_pairs(name).replace("pairs", "pair"), pairs, people) if people is not None else ()
    if about.scenarios is not None:
        found += _scenarios(about.scenarios)
    if about.items is not None and about.items.inference is not None:
        found += _inferences(about.items.inference)
    if about.items is not None and about.items.reasoning:
        found += _reasonings(about.items.reasoning[0])
    return found


def _pairs(called: str, pairs: PairsFile, people: People) -> Iterator[Example]:
    """Give each variant and sentence, the first variant with its people exchanged too."""
    values = {slot: words for rows in pairs.groups.values() for slot, words in rows[0].items()}
    kind = next(iter(people.types.values()))
    if pairs.people:
        values |= people.pronouns[kind.pronouns[0]]
    for place, (name, variant) in enumerate(pairs.variants.items()):
        orders = {"": pairs.people} | ({", switched": pairs.people[::-1]} if pairs.switched and not place else {})
        for order, seats in orders.items():
            filled = {**values, **dict(zip(seats, kind.nouns, strict=False))}
            for sentence in variant.contexts:
                context, good, bad = fill_variant(variant, filled, sentence)
                own = " (own)" if variant.origin == "own" else ""
                rival = "" if sentence == "construction" else ", rival without the construction"
                yield Example(f"{called}, variant {name}{own}{order}{rival}", context, good.strip(), bad.strip())


def _scenarios(scenarios: Scenarios) -> Iterator[Example]:
    first, second = scenarios.candidates
    for name, test in scenarios.tests.items():
        for number, one in enumerate(test.texts, start=1):
            shown = example_words(scenarios, f"{one.text} {{{first}}} {{{second}}}")
            called = f"scenario {name_of_scenario(name, scenarios)}" + (f", text {number}" if test.others else "")
            text = spell(one.text, example_words(scenarios, one.text))
            yield Example(called, text, shown[one.answer], shown[second if one.answer == first else first])
    for name, calibration in scenarios.calibrations.items():
        text = calibration.texts[0]
        called = f"scenario {name}, calibration: {PURPOSES.get(calibration.purpose, calibration.purpose)}"
        yield Example(called, spell(text, example_words(scenarios, text)), "none", "")


def _inferences(asked: InferenceItems) -> Iterator[Example]:
    """Give the first premise with each hypothesis, and the first one of each other reading and of the look-alikes."""
    shown = asked.premises[0]
    told = [(shown.reading, shown, asked.golds(shown))]
    for reading in asked.readings:
        others = [premise for premise in asked.premises if premise.reading == reading != shown.reading]
        told += [(reading, premise, dict([*asked.golds(premise).items()][:1])) for premise in others[:1]]
    for called, sentence, golds in (*told, *(("look-alike", one, one.gold) for one in asked.challenge[:1])):
        for name, gold in golds.items():
            question = f"{sentence.sentence()} Does it follow: {asked.hypothesis(name, sentence)}"
            yield Example(f"inference, {called}, {name}", question, gold, "")


def _reasonings(frame: ReasoningFrame) -> Iterator[Example]:
    answers = {"R1": frame.option(0), "R2": frame.option(1), "": NOTHING_FOLLOWS}
    for test, text, question, answer in frame.variants():
        others = ", ".join(option for key, option in answers.items() if key != answer)
        called = f"multiple choice, {test}: {TESTS_OF_REASONING[test]}"
        yield Example(called, f"{text} {question}", answers[answer], others)
