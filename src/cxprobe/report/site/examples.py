"""Examples of what models are asked about a construction: the first items of its files, so none has been picked."""

from collections.abc import Iterator
from dataclasses import dataclass

from cxprobe.constructions.people import People
from cxprobe.constructions.templates import spell
from cxprobe.pairs.frames import PairsFile, fill
from cxprobe.pairs.params import called_pairs
from cxprobe.prompts.items import InferenceItems, ReasoningFrame
from cxprobe.report.site.inputs import About
from cxprobe.report.site.words import name_of_scenario
from cxprobe.scenarios.rules import Scenarios, example_words


@dataclass(frozen=True)
class Example:
    """One item, as a model is asked it.

    Attributes:
        kind: What kind of item it is.
        text: What it reads.
        right: The right answer.
        wrong: The other answers; "" where there are none to name.
    """

    kind: str
    text: str
    right: str
    wrong: str


def examples_of(about: About, people: People | None) -> list[Example]:
    """Return an example of every kind of item that the run has asked about."""
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


def _pairs(kind_of_item: str, pairs: PairsFile, people: People) -> Iterator[Example]:
    values = {slot: words for rows in pairs.groups.values() for slot, words in rows[0].items()}
    kind = next(iter(people.types.values()))
    if pairs.people:
        values |= {**people.pronouns[kind.pronouns[0]], **dict(zip(pairs.people, kind.nouns, strict=False))}
    for name, variant in pairs.variants.items():
        for sentence in variant.contexts:
            context, good, bad = fill(variant, values, sentence)
            rival = "" if sentence == "construction" else ", rival without the construction"
            yield Example(f"{kind_of_item}, variant {name}{rival}", context, good.strip(), bad.strip())


def _scenarios(scenarios: Scenarios) -> Iterator[Example]:
    for name, test in scenarios.tests.items():
        shown = example_words(scenarios, test.text + "".join(f" {{{slot}}}" for slot in scenarios.candidates))
        other = next(slot for slot in scenarios.candidates if slot != test.answer)
        text = spell(test.text, example_words(scenarios, test.text))
        yield Example(f"scenario {name_of_scenario(name, scenarios)}", text, shown[test.answer], shown[other])


def _inferences(asked: InferenceItems) -> Iterator[Example]:
    premise = asked.premises[0]
    for name, gold in asked.golds(premise).items():
        question = f"{premise.sentence()} Does it follow: {asked.hypothesis(name, premise)}"
        yield Example(f"inference, {name}", question, gold, "")


def _reasonings(frame: ReasoningFrame) -> Iterator[Example]:
    test, text, question, answer = next(iter(frame.variants()))
    answers = {"R1": frame.option(0), "R2": frame.option(1)}
    others = [option for key, option in answers.items() if key != answer]
    yield Example(f"multiple choice, {test}", f"{text} {question}", answers[answer], ", ".join(others))
