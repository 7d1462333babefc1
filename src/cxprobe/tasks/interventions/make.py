"""Items: a base and a source sentence with the same words, except where the label decides.

Sentences with two labels are data: ``constructions/<name>/interventions.yaml``, read and checked here. Their words come
from the frames of the construction's minimal pairs. The regions of a sentence are its slots, each where it stands
first, and the last word before the answer.
"""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Literal, NamedTuple

import numpy as np
import pandas as pd
from pydantic import Field, StringConstraints

from cxprobe.constructions.construction import CONSTRUCTIONS_FOLDER, PEOPLE_FILE, People, Row, load_people
from cxprobe.errors import ConstructionError
from cxprobe.files.schema import Closed, Slug, read_checked, suggest
from cxprobe.files.tables import write_table
from cxprobe.run.stage import Outcome, Stage
from cxprobe.seeding import generator_for
from cxprobe.tasks.interventions.params import FRAME_OF_ITEM, NEUTRAL, TEST, TRAIN, InterventionsStage, Regions
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


class _Rows(Closed, extra="ignore"):
    """Rows of words, as files of minimal pairs have them beside other keys."""

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
    sentences = read_checked(NeutralSentences, path, ConstructionError).sentences
    for first, second in pairwise([*sentences, sentences[0]]):
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


class FilledSentence(NamedTuple):
    """A sentence with its words.

    Attributes:
        before: What stands before the answer.
        regions: The regions of that part: name -> the words, and the character after the last of them.
        answer: The answer.
        after: What follows.
    """

    before: str
    regions: dict[str, tuple[str, int]]
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
    content = read_checked(InterventionsFile, path, ConstructionError)
    listed = constructions / name / content.rows
    rows = read_checked(_Rows, listed, ConstructionError)
    groups = {"frames": rows.frames, **rows.fillers}
    for slot, kind in content.people.items():
        if kind not in people.types:
            raise ConstructionError(
                f"{path}: people.{slot}: '{kind}' is no noun type of the people{suggest(kind, people.types)}"
            )
    values = {slot: words for listed_rows in groups.values() for slot, words in listed_rows[0].items()}
    values |= {slot: people.types[kind].nouns[number] for number, (slot, kind) in enumerate(content.people.items())}
    names = list[tuple[str, ...]]()
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
        regions = [*first.regions]
        differ = [region for region in regions if first.regions[region][0] != second.regions[region][0]]
        if not differ:
            raise ConstructionError(f"{place}: what stands before the answer is the same with both labels")
        names.append(tuple(regions[regions.index(differ[0]) :]))
    if len({*map(len, names)}) > 1:
        numbers = ", ".join(str(len(one)) for one in names)
        raise ConstructionError(
            f"{path}: the sentences have {numbers} regions from the first one on in which the labels differ; let all "
            "have equally many"
        )
    return LabelledSentences(content, groups, values, names[0])


def fill_labelled(
    content: InterventionsFile, sentence: AskedSentence, label: str, values: Mapping[str, str]
) -> FilledSentence:
    """Fill a sentence with one label.

    Raises:
        ValueError: A slot has no words, or there is none before the answer.
    """
    words = dict(values) | {slot: fill(text, values) for slot, text in content.labels[label].items()}
    before, regions, end = render(sentence.before, words), dict[str, tuple[str, int]](), 0
    for slot in slots_of(sentence.before):
        end = sentence.before.index("}", end) + 1
        regions.setdefault(slot, (words[slot], len(fill(sentence.before[:end], words))))
    if not regions:
        raise ValueError(f"{sentence.before!r} has no slot, so the label changes nothing; write one")
    if max(end for _, end in regions.values()) < len(before):
        regions[LAST] = (before.split()[-1], len(before))
    return FilledSentence(before, regions, fill(sentence.answer, words), fill(sentence.after, words))


def neutral_items(sentences: Sequence[str]) -> pd.DataFrame:
    """Return an item for each neutral sentence, whose source is the next one; the answers are their last words.

    Returns:
        One row a sentence, with the columns of `draw_base_and_source`; all are in the part `TEST`.
    """
    rows = []
    for number, base in enumerate(sentences):
        row: dict[str, object] = {"id": f"neutral/{number}", "construction": NEUTRAL, "part": TEST, "sentence": base}
        row |= {"tests": "", "control": "", "regions": [MIDDLE, LAST], FRAME_OF_ITEM: f"neutral {number}"}
        sides = {"base": base, "source": sentences[(number + 1) % len(sentences)]}
        for label, (side, sentence) in zip("ab" if number % 2 else "ba", sides.items(), strict=True):
            before, answer = sentence.removesuffix(".").rsplit(" ", 1)
            words = before.split(" ")
            middle = " ".join(words[: (len(words) + 1) // 2])
            row |= {side: label, f"{side}_before": before, f"{side}_answer": answer, f"{side}_after": "."}
            row[f"{side}_ends"] = [len(middle), len(before)]
        rows.append(row)
    return pd.DataFrame(rows)


def draw_base_and_source(
    name: str,
    labelled: LabelledSentences,
    people: People,
    sizes: Mapping[str, int],
    seed: int,
    regions: Regions = "all",
) -> pd.DataFrame:
    """Draw items for each part.

    No frame, row of fillers or person is in two parts. Frames take turns; the other words are drawn. Each label is the
    base as often as the other, and every sentence is asked equally often.

    Args:
        name: The construction.
        labelled: Its sentences.
        people: The people.
        sizes: Part (see `cxprobe.tasks.interventions.params`) -> the number of its items.
        seed: The project's seed.
        regions: Which regions, see `cxprobe.tasks.interventions.params.MakeInterventions`.

    Returns:
        One row an item: id, construction, tests, control ("" for none), part, sentence (its name), regions (their
        names), cluster_frame, base and source (their labels), and of both sides before, answer, after, and ends (of
        each region the character after its last), as in base_before.
    """
    content, rng = labelled.content, generator_for(seed, "interventions", name)
    groups = dict(labelled.groups)  # group of fillers, or slot of a person -> its rows
    for slot, kind in content.people.items():
        groups[slot] = [{slot: noun} for noun in people.types[kind].nouns]
    divided = {group: np.array_split(rng.permutation(len(of)), len(sizes)) for group, of in groups.items()}
    labels, sentences = list(content.labels), list(content.sentences)
    step = max(len(labelled.regions) - 1, 1) if regions == "ends" else 1
    rows = []
    for position, (part, size) in enumerate(sizes.items()):
        frames = divided["frames"][position]
        for item in range(size):
            drawn = {group: int(rng.choice(shares[position])) for group, shares in divided.items()}
            drawn["frames"] = int(frames[item % len(frames)])
            values = {slot: words for group, of in groups.items() for slot, words in of[drawn[group]].items()}
            turn = item + item // len(frames)  # so that a frame is asked with either label
            sides = dict(zip(("base", "source"), labels if turn % 2 == 0 else labels[::-1], strict=True))
            sentence = sentences[(turn // 2) % len(sentences)]
            row: dict[str, object] = {
                "id": f"{name}/{part}/{item}",
                "construction": name,
                "part": part,
                "tests": content.tests,
                "control": content.control or "",
                "sentence": sentence,
                "regions": list(labelled.regions)[::step],
                FRAME_OF_ITEM: f"{name} {drawn['frames']}",
                **sides,
            }
            for side, label in sides.items():
                filled = fill_labelled(content, content.sentences[sentence], label, values)
                row |= {f"{side}_{field}": getattr(filled, field) for field in ("before", "answer", "after")}
                ends = [end for _, end in filled.regions.values()]
                row[f"{side}_ends"] = ends[-len(labelled.regions) :][::step]
            rows.append(row)
    return pd.DataFrame(rows)


def make(stage: Stage[InterventionsStage]) -> Outcome:
    """Make ``items.parquet``: pairs of a base and a source sentence from labelled sentences and their frames."""
    section, people = stage.params.interventions, load_people(stage.use(PEOPLE_FILE))
    tables = []
    for name in section.constructions:
        stage.use(interventions_file(name))
        labelled, sizes = load_labelled(name, people), {TEST: section.make.test}
        if section.make.learn is None or name in section.make.learn:
            sizes[TRAIN] = section.make.train
        tables.append(draw_base_and_source(name, labelled, people, sizes, stage.params.seed, section.make.regions))
    tables.append(neutral_items(load_neutral(stage.use(NEUTRAL_FILE))))
    items = pd.concat(tables, ignore_index=True)
    write_table(items, stage.data / "items.parquet")
    return Outcome(counts={"constructions": len(section.constructions), "items": len(items)})
