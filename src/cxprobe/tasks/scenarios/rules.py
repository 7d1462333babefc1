"""Scenarios as data: ``constructions/<name>/scenarios.yaml``, read and checked."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import pandas as pd
from pydantic import AfterValidator, BeforeValidator, Field, PositiveInt, Strict, StringConstraints, model_validator

from cxprobe.constructions.checking import Keys
from cxprobe.constructions.construction import CONSTRUCTIONS_FOLDER
from cxprobe.errors import ConstructionError, raise_faults
from cxprobe.files.schema import Closed, Two, distinct, read_checked, suggest
from cxprobe.text import SENTENCE_START, WORD_MASK, Template, slots_of


def _with_one_mask(text: str) -> str:
    if (masks := text.count(WORD_MASK)) != 1:
        raise ValueError(f"{text!r} has {masks} masks; write {WORD_MASK} where the word is asked for, exactly once")
    if re.search(SENTENCE_START + re.escape(WORD_MASK), text):
        raise ValueError(
            f"{text!r} begins a sentence with {WORD_MASK}, where a candidate would need a capital; reword it"
        )
    return text


# What a test or a calibration changes in its texts, as scenarios.yaml names it -> in words; others are words already.
CHANGES = {
    "none": "base text",
    "recency": "order of the sentences",
    "vocabulary": "the other word right",
    "name": "names exchanged",
    "paraphrase": "the fact in other words",
    "nonce": "made-up words",
    "distractor": "another rule beside it",
    "short": "without the construction",
    "adjective": "about another property",
}
PURPOSES = CHANGES | {"name": "about others"}
_SlotName = Annotated[str, StringConstraints(pattern=r"^[A-Z]+[1-9][0-9]*$")]
_SetName = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z_]*$")]
_ScenarioName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z][A-Za-z0-9]*$")]
_MaskedText = Annotated[Template, AfterValidator(_with_one_mask)]
_Word = Annotated[str, StringConstraints(pattern=r"^\S(.*\S)?$")]
# A row of one form can be written as its word.
WordRow = Annotated[
    tuple[_Word, ...], Strict(False), BeforeValidator(lambda words: [words] if isinstance(words, str) else words)
]


def form_and_number(slot: str) -> tuple[str, int]:
    """Return the form of a slot's words and the number of their row in an item, from 1: ADJ2 -> ADJ, 2."""
    form = slot.rstrip("0123456789")
    return form, int(slot.removeprefix(form))


class WordSet(Closed):
    """Words that fill the same slots. A row gives words for each form, as taller and shorter for ADJ and ANT."""

    forms: Annotated[list[Annotated[str, StringConstraints(pattern=r"^[A-Z]+$")]], Field(min_length=1)]
    """What the words of a row are called in the names of slots."""
    rows: Annotated[list[WordRow], Field(min_length=1)]
    """The words, each once."""

    @model_validator(mode="after")
    def _whole_rows_of_different_words(self) -> "WordSet":
        for row in self.rows:
            if len(row) != len(self.forms):
                raise ValueError(f"the row {list(row)} has {len(row)} words for the forms {', '.join(self.forms)}")
        distinct([word for row in self.rows for word in row])  # else two slots could have the same word
        return self

    def turn(self, row: WordRow) -> WordRow:
        """Return a row with its halves exchanged."""
        half = len(row) // 2
        return (*row[half:], *row[:half])


class Items(Closed):
    """Which words an item takes."""

    cross: Annotated[dict[_SetName, PositiveInt], Field(min_length=1)]
    """Set -> so many of its rows, in every combination and order; and with the halves of a row exchanged where the two
    candidates are in one row, so that each is right as often as wrong."""
    draw: dict[_SetName, PositiveInt] = Field(default_factory=dict)
    """Set -> so many of its rows, drawn for every combination; absent where nothing is drawn."""
    draws: PositiveInt = 1
    """How many draws a combination gets; no two of them share a row."""


class TestText(Closed):
    """A text that has a right answer."""

    text: _MaskedText
    answer: _SlotName
    """The candidate that is right."""


class Test(TestText):
    """What every item is asked in one text or in several."""

    bias: str
    """What it holds against a model that does well in the base test: recency, vocabulary, name ...; or none."""
    others: list[TestText] = Field(default_factory=list)
    """Texts that are asked too and count alike, so that what is right in one by chance is wrong in another."""
    calibrated: bool = True
    """Whether its decisions are also calibrated."""

    @property
    def texts(self) -> list[TestText]:
        """All its texts, in the order of their numbers."""
        return [self, *self.others]


class Calibration(Closed):
    """Texts without a right answer: how probable the candidates are for other reasons than the construction."""

    purpose: str
    """What its texts leave out or change: short, name, adjective ..."""
    texts: Annotated[list[_MaskedText], Field(min_length=1)]
    """The texts, in the order and words of the base test; their mean counts."""
    by_test: dict[_ScenarioName, list[_MaskedText]] = Field(default_factory=dict)
    """Another test -> the same texts in its order and words; a test that is absent has those of the base test."""
    vary: list[_SlotName] = Field(default_factory=list)
    """Slots whose rows are drawn anew; items whose texts are otherwise the same share the draws."""
    draws: PositiveInt = 1
    """How many times; no two draws share a row."""
    normalised: bool = False
    """Whether a candidate's probability is first divided by the sum of both candidates'."""

    def lists(self) -> dict[Keys, list[str]]:
        """Return the way to each list of texts -> the list."""
        return {("texts",): self.texts, **{("by_test", test): texts for test, texts in self.by_test.items()}}


class Scenarios(Closed):
    """The tests of what a construction means, and how they are calibrated."""

    words: dict[_SetName, WordSet]
    items: Items
    candidates: Two[_SlotName]
    """The two slots whose words are asked for."""
    base: _ScenarioName
    """The test from which decisions flip."""
    tests: Annotated[dict[_ScenarioName, Test], Field(min_length=1)]
    calibrations: dict[_ScenarioName, Calibration] = Field(default_factory=dict)
    """How probable the candidates are for other reasons, which is taken off; absent for none."""

    @property
    def forms(self) -> dict[str, str]:
        """Form -> the set whose words have it."""
        return {form: name for name, words in self.words.items() for form in words.forms}

    def texts(self) -> Iterator[tuple[Keys, str]]:
        """Yield every text with the way to it from the top of the file: those of tests, then those of calibrations."""
        for name, test in self.tests.items():
            yield ("tests", name, "text"), test.text
            yield from ((("tests", name, "others", number, "text"), one.text) for number, one in enumerate(test.others))
        for name, calibration in self.calibrations.items():
            for keys, texts in calibration.lists().items():
                yield from ((("calibrations", name, *keys, number), text) for number, text in enumerate(texts))

    def slots_of_items(self) -> list[str]:
        """Return the slots that an item's own words fill."""
        taken = {**self.items.cross, **self.items.draw}
        return [
            f"{form}{number}"
            for name, count in taken.items()
            for number in range(1, count + 1)
            for form in self.words[name].forms
        ]

    @property
    def turned(self) -> str:
        """The set whose rows items also take with their halves exchanged: that of the row of both candidates, or ""."""
        first, second = map(self.row_of, self.candidates)
        return first[0] if first == second else ""

    def row_of(self, slot: str) -> tuple[str, int]:
        """Return the set and the number, from 1, of the row that fills a slot: ADJ2 and ANT2 have the same."""
        form, number = form_and_number(slot)
        return self.forms[form], number


def scenarios_file(name: str, constructions: Path = CONSTRUCTIONS_FOLDER) -> Path:
    """Return the file of a construction's scenarios."""
    return constructions / name / "scenarios.yaml"


def load_scenarios(name: str, constructions: Path = CONSTRUCTIONS_FOLDER) -> Scenarios:
    """Read and check ``constructions/<name>/scenarios.yaml``.

    Raises:
        ConstructionError: One line for every fault of the file.
    """
    path = scenarios_file(name, constructions)
    scenarios = read_checked(Scenarios, path, ConstructionError)
    # What uses words is looked at only if these are right, and likewise what uses slots, and is compared with tests.
    checks = (_faults_of_words, _faults_of_slots, _faults_of_tests, _faults_of_calibrations)
    faults = next(filter(None, ([*check(scenarios)] for check in checks)), [])
    raise_faults(ConstructionError, (f"{path}: {fault}" for fault in faults))
    return scenarios


def _faults_of_words(scenarios: Scenarios) -> Iterator[str]:
    forms = [form for words in scenarios.words.values() for form in words.forms]
    for form in sorted({form for form in forms if forms.count(form) > 1}):
        yield f"words: the form {form} belongs to more than one set of words; its slots would be ambiguous"
    items = scenarios.items
    for kind, counts, draws in (("cross", items.cross, 1), ("draw", items.draw, items.draws)):
        for name, count in counts.items():
            key = f"items.{kind}.{name}"
            if name not in scenarios.words:
                yield f"{key}: '{name}' is not in words{suggest(name, scenarios.words)}"
            elif (rows := len(scenarios.words[name].rows)) < count * draws:
                yield f"{key}: needs {count * draws} rows, words.{name} has {rows}; add words, or take fewer"
    for name in sorted(items.cross.keys() & items.draw.keys()):
        yield f"items.draw.{name}: it is crossed too; take it out of the one or the other"


def _faults_of_slots(scenarios: Scenarios) -> Iterator[str]:
    of_items = scenarios.slots_of_items()
    varied = {name: calibration.vary for name, calibration in scenarios.calibrations.items()}
    places = [("candidates", slot, of_items) for slot in scenarios.candidates]
    for keys, text in scenarios.texts():
        known = [*of_items, *varied[str(keys[1])]] if keys[0] == "calibrations" else of_items
        places += [(".".join(map(str, keys)), slot, known) for slot in slots_of(text)]
    for place, slot, known in places:
        if slot not in known:
            yield f"{place}: unknown slot '{slot}'{suggest(slot, known)}"
    forms = [f"{form}1" for form in scenarios.forms]
    for name, slots in varied.items():
        for slot in slots:
            if form_and_number(slot)[0] not in scenarios.forms:
                yield f"calibrations.{name}.vary: no words have the form of {slot}{suggest(slot, forms)}"


def _faults_of_tests(scenarios: Scenarios) -> Iterator[str]:
    candidates, base = list(scenarios.candidates), scenarios.base
    if candidates[0] == candidates[1]:
        yield f"candidates: both are {candidates[0]}; there would be nothing to choose"
    for slot in candidates:
        if scenarios.row_of(slot)[0] not in scenarios.items.cross:
            yield f"candidates: the words of {slot} are drawn; cross them, so that each is right as often as wrong"
    if scenarios.turned:
        forms = scenarios.words[scenarios.turned].forms
        first, second = (forms.index(form_and_number(slot)[0]) for slot in candidates)
        if 2 * abs(first - second) != len(forms):
            yield (
                f"candidates: the halves of a row are exchanged, and {' and '.join(candidates)} are not at the same "
                f"place of both halves of {', '.join(forms)}; order the forms so, or take slots of two rows"
            )
    if base not in scenarios.tests:
        yield f"base: '{base}' is not in tests{suggest(base, scenarios.tests)}"
    elif scenarios.tests[base].others:
        yield f"tests.{base}.others: decisions flip from one text; move them to another test"
    for name, test in scenarios.tests.items():
        for text in test.texts:
            if text.answer not in candidates:
                yield f"tests.{name}.answer: '{text.answer}' is not a candidate{suggest(text.answer, candidates)}"


def _faults_of_calibrations(scenarios: Scenarios) -> Iterator[str]:
    others = [name for name in scenarios.tests if name != scenarios.base]
    for name, calibration in scenarios.calibrations.items():
        key = f"calibrations.{name}"
        if name in scenarios.tests or name == "none":
            yield f"{key}: the name is taken; choose another"
        varied = {scenarios.row_of(slot) for slot in calibration.vary}
        if asked := [slot for slot in scenarios.candidates if scenarios.row_of(slot) in varied]:
            yield f"{key}.vary: the row of {', '.join(asked)} is asked for, so it must stay the item's own"
        for test, texts in calibration.by_test.items():
            if test not in others:
                yield f"{key}.by_test: '{test}' is not another test than the base{suggest(test, others)}"
            if len(texts) != len(calibration.texts):
                what = f"{len(texts)} texts, but texts has {len(calibration.texts)}; give one for each"
                yield f"{key}.by_test.{test}: {what}"
        for texts in (calibration.texts, *calibration.by_test.values()):
            for text in texts:
                slots = slots_of(text)
                yield from (f"{key}.vary: {slot} is not in {text!r}" for slot in calibration.vary if slot not in slots)
                kept = {scenarios.row_of(slot) for slot in slots} - varied
                for words in {name: None for name, _ in varied}:
                    new, old = (sum(set_ == words for set_, _ in rows) for rows in (varied, kept))
                    needed, rows = new * calibration.draws + old, len(scenarios.words[words].rows)
                    if needed > rows:
                        yield f"{key}: needs {needed} rows, words.{words} has {rows}; add words, or lower draws"


def wrong_words(texts: pd.DataFrame) -> "pd.Series[Any]":
    """Return the candidate that is not right of each text (columns right, first, second), "" for a calibration."""
    wrong = texts["first"].where(texts["right"] == texts["second"], texts["second"])
    return wrong.where(texts["right"] != "", "")


def example_words(scenarios: Scenarios, text: str, turn: int = 0) -> dict[str, str]:
    """Return slot -> word for the slots of a text: those of row 1 have the words of the first row of their set, etc.

    Args:
        scenarios: The words.
        text: A text of a test or of a calibration.
        turn: So many rows later: over as many turns as a set has rows, each slot has all its words.
    """
    words = {}
    for slot in slots_of(text):
        form, number = form_and_number(slot)
        known = scenarios.words[scenarios.forms[form]]
        words[slot] = known.rows[(number - 1 + turn) % len(known.rows)][known.forms.index(form)]
    return words
