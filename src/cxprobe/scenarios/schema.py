"""What constructions/<name>/scenarios.yaml holds."""

import re
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field, StringConstraints, model_validator

from cxprobe.scenarios.templates import BEGINNING, BRACES, MASK, SLOT, form_and_number
from cxprobe.schema import Closed


def _template(text: str) -> str:
    if (masks := text.count(MASK)) != 1:
        raise ValueError(f"{text!r} has {masks} masks; write {MASK} where the word is asked for, exactly once")
    if re.search(BEGINNING + re.escape(MASK), text):
        raise ValueError(f"{text!r} begins a sentence with {MASK}, where a candidate would need a capital; reword it")
    for braced in BRACES.findall(text):
        if not SLOT.fullmatch(braced):
            raise ValueError(f"{text!r} has {braced!r}, which is no slot; write a form and a number, as {{NAME1}}")
    return text


def _row(words: Any) -> Any:
    """Let a row of one form be written as its word."""
    return [words] if isinstance(words, str) else words


Count = Annotated[int, Field(ge=1)]
FormName = Annotated[str, StringConstraints(pattern=r"^[A-Z]+$")]
SlotName = Annotated[str, StringConstraints(pattern=r"^[A-Z]+[1-9][0-9]*$")]
SetName = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z_]*$")]
ScenarioName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z][A-Za-z0-9]*$")]
Template = Annotated[str, AfterValidator(_template)]
Word = Annotated[str, StringConstraints(pattern=r"^\S(.*\S)?$")]
Row = Annotated[tuple[Word, ...], BeforeValidator(_row)]


class WordSet(Closed):
    """Words that fill the same slots. A row gives one word for each form, as taller and shorter for ADJ and ANT."""

    forms: Annotated[list[FormName], Field(min_length=1)]
    """What the words of a row are called in the names of slots."""
    turned: bool
    """Whether every row is also taken with its two forms exchanged."""
    rows: Annotated[list[Row], Field(min_length=1)]
    """The words, each once."""

    @model_validator(mode="after")
    def _whole_rows_of_different_words(self) -> "WordSet":
        if self.turned and len(self.forms) != 2:
            raise ValueError(f"turned exchanges two forms, and there are {len(self.forms)}: {', '.join(self.forms)}")
        for row in self.rows:
            if len(row) != len(self.forms):
                raise ValueError(f"the row {list(row)} has {len(row)} words for the forms {', '.join(self.forms)}")
        words = [word for row in self.rows for word in row]
        if twice := sorted({word for word in words if words.count(word) > 1}):
            raise ValueError(f"{', '.join(twice)} stands in its rows more than once; slots could be filled alike")
        return self


class Items(Closed):
    """Which words an item takes."""

    cross: Annotated[dict[SetName, Count], Field(min_length=1)]
    """Set -> so many of its rows, in every combination, order and turn."""
    draw: dict[SetName, Count]
    """Set -> so many of its rows, drawn for every combination."""
    draws: Count
    """How many draws a combination gets; no two of them share a row."""


class Test(Closed):
    """A text that has a right answer."""

    bias: str
    """What it holds against a model that does well in the base test: recency, vocabulary, name; or none."""
    text: Template
    answer: SlotName
    """The candidate that is right."""


class Calibration(Closed):
    """Texts without a right answer: how probable the candidates are for other reasons than the construction."""

    purpose: str
    """What its texts leave out or change: short, name, adjective ..."""
    texts: Annotated[list[Template], Field(min_length=1)]
    """The texts; their mean counts."""
    vary: list[SlotName]
    """Slots whose rows are drawn anew; items whose texts are otherwise the same share the draws."""
    draws: Count
    """How many times; no two draws share a row."""
    normalised: bool
    """Whether a candidate's probability is first divided by the sum of both candidates'."""

    @model_validator(mode="after")
    def _draws_differ(self) -> "Calibration":
        if self.draws > 1 and not self.vary:
            raise ValueError(f"draws is {self.draws}, but vary names no slot: all would be the same text; set draws: 1")
        return self


class PublishedTable(Closed):
    """A table of percentages with the columns model and scenario, then "none" and one for each calibration."""

    title: str
    """What the source calls it."""
    file: str
    """The .tsv file, from the project's folder; a calibration's column begins with its name, as S5_short."""


class Published(Closed):
    """Results of others, to compare with."""

    source: str
    accuracy: PublishedTable
    flips: PublishedTable


class Scenarios(Closed):
    """The tests of what a construction means, and how they are calibrated."""

    words: dict[SetName, WordSet]
    items: Items
    candidates: tuple[SlotName, SlotName]
    """The two slots whose words are asked for."""
    base: ScenarioName
    """The test from which decisions flip."""
    tests: Annotated[dict[ScenarioName, Test], Field(min_length=1)]
    calibrations: dict[ScenarioName, Calibration]
    published: Published | None

    @property
    def forms(self) -> dict[str, str]:
        """Form -> the set whose words have it."""
        return {form: name for name, words in self.words.items() for form in words.forms}

    def slots_of_items(self) -> list[str]:
        """Return the slots that an item's own words fill."""
        taken = {**self.items.cross, **self.items.draw}
        return [
            f"{form}{number}"
            for name, count in taken.items()
            for number in range(1, count + 1)
            for form in self.words[name].forms
        ]

    def row_of(self, slot: str) -> tuple[str, int]:
        """Return the set and the number, from 1, of the row that fills a slot: ADJ2 and ANT2 have the same."""
        form, number = form_and_number(slot)
        return self.forms[form], number
