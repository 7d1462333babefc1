"""Sentences with two labels as data: ``constructions/<name>/interventions.yaml``, read and checked.

The words come from the frames of the construction's minimal pairs. The regions of a sentence are its slots, each where
it stands first, and the last word before the answer.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal, NamedTuple

from pydantic import Field, StringConstraints

from cxprobe.constructions.construction import CONSTRUCTIONS_FOLDER
from cxprobe.constructions.people import People, Row
from cxprobe.errors import ConstructionError
from cxprobe.files.schema import Closed, Slug, read_yaml, suggest, validate
from cxprobe.text import SlotName, Template, fill, render, slots_of

LAST, MIDDLE = "last", "middle"
"""The regions of the last word before the answer, where no slot ends there, and of the middle of neutral sentences."""
NEUTRAL_FILE = Path("lexicon/neutral.yaml")


class AskedSentence(Closed):
    """A sentence whose label decides which answer is right."""

    before: Template
    """What stands before the answer."""
    answer: Template
    """The answer of a label."""
    after: Template
    """What follows the answer; a masked model reads it too."""


class _Rows(Closed):
    """Rows of words, as files of minimal pairs have them."""

    frames: Annotated[list[Row], Field(min_length=2)]
    fillers: dict[str, Annotated[list[Row], Field(min_length=2)]] = Field(default_factory=dict)


class InterventionsFile(Closed):
    """The sentences of a construction in which vectors are exchanged."""

    tests: Literal["meaning", "form", "control"]
    """What the label is about; sentences of the last kind say it in plain words, and no construction is needed."""
    control: Slug | None = None
    """The construction whose sentences are the control of these; absent for none."""
    rows: Literal["pairs.yaml", "form_pairs.yaml"]
    """The file of the same construction whose frames and fillers fill the slots."""
    people: dict[SlotName, str] = Field(default_factory=dict)
    """Slot -> a noun type of lexicon/people.yaml; absent for none."""
    labels: Annotated[dict[str, dict[SlotName, Template]], Field(min_length=2, max_length=2)]
    """Two labels, each with the words of the slots in which they differ; both have the same slots."""
    sentences: Annotated[dict[str, AskedSentence], Field(min_length=1)]
    """The sentences, which have equally many regions."""


class NeutralSentences(Closed):
    """Sentences that are about no construction: how much does an intervention break at all?"""

    sentences: Annotated[list[Annotated[str, StringConstraints(pattern=r"^\S+( \S+){3,}\.$")]], Field(min_length=8)]
    """Each of four words or more, with a full stop; neighbours end in different words."""


def load_neutral(path: Path = NEUTRAL_FILE) -> list[str]:
    """Read and check the neutral sentences.

    Raises:
        ConstructionError: The file does not fit the schema, or neighbours end in the same word.
    """
    sentences = validate(NeutralSentences, read_yaml(path, ConstructionError), path, ConstructionError).sentences
    for first, second in zip(sentences, sentences[1:] + sentences[:1], strict=True):
        if first.split()[-1] == second.split()[-1]:
            raise ConstructionError(f"{path}: {first!r} and the next sentence end in one word; change their order")
    return sentences


class LabelledSentences(NamedTuple):
    """The sentences of a construction with the words that fill them.

    Attributes:
        content: The file.
        groups: "frames", and each group of fillers -> its rows.
        first: Slot -> its first words.
        regions: The names of the regions, those of the first sentence, from the first one on in which labels differ:
            in a causal model those before it are the same in both sentences.
    """

    content: InterventionsFile
    groups: Mapping[str, list[Row]]
    first: Mapping[str, str]
    regions: tuple[str, ...]


class Region(NamedTuple):
    """The words of a region, and the character after the last of them."""

    words: str
    end: int


class FilledSentence(NamedTuple):
    """A sentence with its words: up to the answer, the regions of that part by name, the answer, and what follows."""

    before: str
    regions: dict[str, Region]
    answer: str
    after: Template


def interventions_file(name: str, constructions: Path = CONSTRUCTIONS_FOLDER) -> Path:
    """Return the file of a construction's sentences for interventions."""
    return constructions / name / "interventions.yaml"


def load_labelled(name: str, people: People, constructions: Path = CONSTRUCTIONS_FOLDER) -> LabelledSentences:
    """Read and check the sentences of a construction.

    Raises:
        ConstructionError: The file does not fit the schema; a slot has no words; a noun type is unknown; sentences
            differ in the number of their regions; or two labels have the same answer.
    """
    path = interventions_file(name, constructions)
    content = validate(InterventionsFile, read_yaml(path, ConstructionError), path, ConstructionError)
    listed = constructions / name / content.rows
    read = {key: value for key, value in read_yaml(listed, ConstructionError).items() if key in _Rows.model_fields}
    rows = validate(_Rows, read, listed, ConstructionError)
    groups = {"frames": rows.frames, **rows.fillers}
    for slot, kind in content.people.items():
        if kind not in people.types:
            raise ConstructionError(
                f"{path}: people.{slot}: '{kind}' is no noun type of the people{suggest(kind, list(people.types))}"
            )
    values = {slot: words for listed_rows in groups.values() for slot, words in listed_rows[0].items()}
    values |= {slot: people.types[kind].nouns[number] for number, (slot, kind) in enumerate(content.people.items())}
    names = dict[str, tuple[str, ...]]()
    for key, sentence in content.sentences.items():
        place = f"{path}: sentences.{key}"
        try:
            first, second = (fill_labelled(content, sentence, label, values) for label in content.labels)
        except ValueError as fault:
            raise ConstructionError(f"{place}: {fault}") from None
        if first.answer == second.answer:
            raise ConstructionError(
                f"{place}: both labels have the answer {first.answer!r}; let the answer depend on the label"
            )
        differ = [name for name, region in first.regions.items() if region.words != second.regions[name].words]
        if not differ:
            raise ConstructionError(f"{place}: what stands before the answer is the same with both labels")
        listed_regions = tuple(first.regions)
        names[key] = listed_regions[listed_regions.index(differ[0]) :]
    if len({len(regions) for regions in names.values()}) > 1:
        raise ConstructionError(
            f"{path}: the sentences have {', '.join(str(len(regions)) for regions in names.values())} regions from the "
            "first one on in which the labels differ; let all have equally many"
        )
    return LabelledSentences(content, groups, values, next(iter(names.values())))


def fill_labelled(
    content: InterventionsFile, sentence: AskedSentence, label: str, values: Mapping[str, str]
) -> FilledSentence:
    """Fill a sentence with one label.

    Raises:
        ValueError: A slot has no words, or there is none before the answer.
    """
    words = dict(values) | {slot: fill(text, values) for slot, text in content.labels[label].items()}
    before, regions, end = render(sentence.before, words), dict[str, Region](), 0
    for slot in slots_of(sentence.before):
        end = sentence.before.index("}", end) + 1
        regions.setdefault(slot, Region(words[slot], len(fill(sentence.before[:end], words))))
    if not regions:
        raise ValueError(f"{sentence.before!r} has no slot, so the label changes nothing; write one")
    if max(region.end for region in regions.values()) < len(before):
        regions[LAST] = Region(before.split()[-1], len(before))
    return FilledSentence(before, regions, fill(sentence.answer, words), fill(sentence.after, words))
