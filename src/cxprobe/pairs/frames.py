"""Minimal pairs as data: ``constructions/<name>/pairs.yaml``, read and checked.

A pair has a context and two continuations, one right and one wrong. Both continuations come from one template, and the
slots in which they differ are declared, so that they differ nowhere else.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from string import Formatter
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, StringConstraints

from cxprobe.constructions.construction import CONSTRUCTIONS_FOLDER
from cxprobe.constructions.people import TYPICAL_TYPE, People, Row, SlotName, Words
from cxprobe.english import capitalise_sentences, wrong_articles
from cxprobe.errors import ConstructionError
from cxprobe.files.reading import line_of
from cxprobe.files.schema import Closed, read_yaml, suggest, validate


def _readable(template: str) -> str:
    try:
        parsed = list(Formatter().parse(template))
    except ValueError as fault:
        raise ValueError(f"{template!r} is not a template: {fault}") from None
    for _, slot, style, conversion in parsed:
        if slot is not None and (not slot.isidentifier() or style or conversion):
            raise ValueError(f"{template!r} has a slot {slot!r}; a slot is a name in braces and nothing more")
    return template


Template = Annotated[str, StringConstraints(pattern=r"^\S+( \S+)*$"), AfterValidator(_readable)]
Rows = Annotated[list[Row], Field(min_length=1)]
Sentence = Literal["construction", "rival"]
_SLOT = re.compile(r"{(\w+)}")


class Slot(Closed):
    """A slot of the templates."""

    gloss: str
    """What it is."""
    content: bool = False
    """Whether its words are content words, which pseudowords replace."""


class Contrast(Closed):
    """A place in which the two continuations differ."""

    good: Template
    """What makes the right one."""
    bad: Template
    """What makes the wrong one."""


class Variant(Closed):
    """One way of asking."""

    context: Template | None = None
    """What comes first, in both members of a pair; absent for nothing."""
    continuation: Template
    """What follows; it has a slot for each contrast."""
    contrast: Annotated[dict[SlotName, Contrast], Field(min_length=1)]
    """Slot -> how it is filled in the right and in the wrong member."""
    rival: Template | None = None
    """A context that looks alike and lacks the construction, so that the wrong member is right; absent for none."""
    origin: Literal["paper", "own"] = "paper"
    """Whether the variant is of the published design that the pairs follow, or was added to it."""
    rival_origin: Literal["paper", "own"] = "own"
    """The same for its rival."""

    @property
    def contexts(self) -> Mapping[Sentence, Template | None]:
        """What comes first: in the sentence with the construction, and in its rival if there is one."""
        own: dict[Sentence, Template | None] = {"construction": self.context}
        return own if self.rival is None else {**own, "rival": self.rival}

    def origin_of(self, sentence: Sentence) -> Literal["paper", "own"]:
        """Return whether the pairs of a sentence are of the published design."""
        return self.rival_origin if sentence == "rival" and self.origin == "paper" else self.origin


class PairsFile(Closed):
    """The pairs of a construction as pairs.yaml describes them."""

    tests: Literal["meaning", "form"]
    """What the wrong member of a pair gets wrong: what the construction means, or how it is formed."""
    people: Annotated[list[SlotName], Field(max_length=2)] = Field(default_factory=list)
    """The slots that nouns of lexicon/people.yaml fill, type by type; absent for none."""
    switched: bool = False
    """Whether each pair comes once more with its two people exchanged."""
    typical: list[tuple[Words, Words]] = Field(default_factory=list)
    """Two nouns of which the first typically does to the second what is said: the people of `TYPICAL_TYPE`, so that an
    exchange turns typical roles round; absent where that type's nouns are drawn like all others."""
    slots: dict[SlotName, Slot]
    """Every slot of the templates except the people, their pronouns and the contrasts."""
    variants: Annotated[dict[str, Variant], Field(min_length=1)]
    """The ways of asking; each is asked of every item."""
    frames: Rows
    """The rows that make an item what it is; intervals are clustered by them."""
    fillers: dict[str, Rows] = Field(default_factory=dict)
    """More rows, of which each item draws one a group; absent for none."""

    @property
    def groups(self) -> Mapping[str, list[Row]]:
        """The frames and the fillers: an item has one row of each."""
        return {"frames": self.frames, **self.fillers}

    @property
    def content_slots(self) -> list[str]:
        """The slots whose words pseudowords replace."""
        return [name for name, slot in self.slots.items() if slot.content]


def has_pairs(name: str, constructions: Path = CONSTRUCTIONS_FOLDER) -> bool:
    """Return whether a construction has a pairs.yaml."""
    return (constructions / name / "pairs.yaml").is_file()


def load_pairs(name: str, people: People, constructions: Path = CONSTRUCTIONS_FOLDER) -> PairsFile:
    """Read and check ``constructions/<name>/pairs.yaml``.

    Raises:
        ConstructionError: One line for every fault, with file and line: a slot that is not declared, not filled, filled
            twice or never used; rows of one group with different slots; a row that is given twice; a pair that does not
            differ, or not as declared; a rival that is the context; a wrong "a" or "an"; two people needed for what is
            switched or for typical roles.
    """
    path = constructions / name / "pairs.yaml"
    content = validate(PairsFile, read_yaml(path, ConstructionError, english=True), path, ConstructionError)
    faults = [
        *_faults_of_slots(content, people),
        *_faults_of_templates(content, people),
        *faults_of_sentences(content, people),
    ]
    if faults:
        raise ConstructionError("\n".join(f"{path}, line {line_of(path, *keys)}: {what}" for keys, what in faults))
    return content


Fault = tuple[tuple[str | int, ...], str]


def slots_of(template: str) -> list[str]:
    """Return the slots of a template in their order."""
    return [slot for _, slot, _, _ in Formatter().parse(template) if slot is not None]


def keys_of(group: str) -> tuple[str, ...]:
    """Return the way to a group of rows from the top of the file."""
    return ("frames",) if group == "frames" else ("fillers", group)


def with_contrasts(variant: Variant, side: Literal["good", "bad"]) -> str:
    """Return the template of a continuation in which one side of each contrast is put in."""
    sides = {slot: getattr(contrast, side) for slot, contrast in variant.contrast.items()}
    return _SLOT.sub(lambda slot: sides.get(slot[1], slot[0]), variant.continuation)


def _faults_of_slots(content: PairsFile, people: People) -> Iterator[Fault]:
    """Find what is wrong with how the rows fill the slots that are declared."""
    if content.switched and len(content.people) != 2:
        yield ("switched",), f"switched: two people are exchanged, and people names {len(content.people)}"
    if content.typical and len(content.people) != 2:
        yield ("typical",), f"typical: roles are those of two people, and people names {len(content.people)}"
    if content.typical and TYPICAL_TYPE not in people.types:
        yield ("typical",), f"typical: the people have no noun type '{TYPICAL_TYPE}', whose place these nouns take"
    for index, (first, second) in enumerate(content.typical):
        if first == second:
            yield ("typical", index), f"typical: '{first}' cannot have both roles"
        if (first, second) in content.typical[:index]:
            yield ("typical", index), f"typical: '{first}' and '{second}' are listed twice"
    if len(set(content.people)) < len(content.people):
        yield ("people",), f"people: {content.people[0]} is named twice; each person needs a slot of its own"
    if "frames" in content.fillers:
        yield ("fillers", "frames"), "fillers.frames: this name belongs to the frames; give these rows another"
    filled: dict[str, str] = {}
    for group, rows in content.groups.items():
        for slot in rows[0]:
            if slot in filled:
                yield (*keys_of(group), 0), f"the slot '{slot}' is filled by {filled[slot]} and by {group}; keep one"
            filled[slot] = group
        for index in range(len(rows)):
            yield from (((*keys_of(group), index, *keys), what) for keys, what in _faults_of_row(content, rows, index))
    taken = {*content.people, *_pronoun_slots(people)} & content.slots.keys()
    yield from (
        (("slots", slot), f"'{slot}' is a slot of the people or their pronouns; give yours another name")
        for slot in sorted(taken)
    )
    used = {slot for variant in content.variants.values() for slot in _slots_of_variant(variant)}
    for slot in content.slots:
        if slot not in filled:
            yield ("slots", slot), f"the slot '{slot}' is declared, and no row fills it"
        if slot not in used:
            yield ("slots", slot), f"the slot '{slot}' is declared, and no template uses it"


def _faults_of_row(content: PairsFile, rows: Sequence[Row], index: int) -> Iterator[Fault]:
    row = rows[index]
    for slot in row:
        if slot not in content.slots:
            yield (slot,), f"the slot '{slot}' is unknown{suggest(slot, list(content.slots))}; declare it under slots"
    if lacking := rows[0].keys() - row.keys():
        yield (), f"this row lacks {', '.join(sorted(lacking))}, which the first row of its group has"
    if beyond := (row.keys() - rows[0].keys()) & content.slots.keys():
        yield (), f"this row has {', '.join(sorted(beyond))}, which the first row of its group does not have"
    if row in rows[:index]:
        yield (), f"this row repeats row {rows.index(row)} of its group (counted from 0)"


def _faults_of_templates(content: PairsFile, people: People) -> Iterator[Fault]:
    """Find slots of templates that nothing can fill, and contrasts that do not differ."""
    known = {*content.slots, *content.people, *(_pronoun_slots(people) if content.people else ())}
    for name, variant in content.variants.items():
        keys = ("variants", name)
        templates = {
            "context": (variant.context or "", known),
            "rival": (variant.rival or "", known),
            "continuation": (variant.continuation, known | variant.contrast.keys()),
        }
        if variant.rival is not None and variant.rival == variant.context:
            yield (*keys, "rival"), "the rival is the context itself; the two cannot have different answers"
        for part, (template, allowed) in templates.items():
            for slot in slots_of(template):
                if slot not in allowed:
                    yield (*keys, part), f"the slot '{slot}' is unknown{suggest(slot, sorted(allowed))}"
        for slot, contrast in variant.contrast.items():
            where = ("variants", name, "contrast", slot)
            if slot in known:
                yield where, f"the contrast '{slot}' has the name of a slot; give it another name"
            if slot not in slots_of(variant.continuation):
                yield where, f"the continuation has no slot {{{slot}}}, so the pair does not differ there"
            if contrast.good == contrast.bad:
                yield where, f"the two members do not differ: good and bad are both {contrast.good!r}"
            for wanted in sorted({*slots_of(contrast.good), *slots_of(contrast.bad)} - known):
                yield where, f"the slot '{wanted}' is unknown{suggest(wanted, sorted(known))}"


def faults_of_sentences(content: PairsFile, people: People) -> Iterator[Fault]:
    """Put every row into every variant, beside the first row of each other group, and look at what comes out.

    A variant with a slot that nothing fills is left out; that is a fault of its templates.
    """
    first = {slot: value for rows in content.groups.values() for slot, value in rows[0].items()}
    persons = {slot: f"Person {number}" for number, slot in enumerate(content.people)}
    pronouns = next(iter(people.pronouns.values()))
    for group, rows in content.groups.items():
        for index, row in enumerate(rows):
            values = pronouns | first | row | persons
            for name, variant in content.variants.items():
                if _can_be_filled(variant, values):
                    where: tuple[str | int, ...] = (*keys_of(group), index)
                    yield from ((where, f"variant {name}: {what}") for what in _faults_of_sentence(variant, values))


def _can_be_filled(variant: Variant, values: Mapping[str, str]) -> bool:
    """Return whether there is something for every slot; a contrast fills slots of the continuation alone."""
    of_contrasts = [slot for one in variant.contrast.values() for slot in slots_of(one.good) + slots_of(one.bad)]
    alone = {*slots_of(variant.context or ""), *slots_of(variant.rival or ""), *of_contrasts}
    return alone <= values.keys() and set(slots_of(variant.continuation)) <= values.keys() | variant.contrast.keys()


def _faults_of_sentence(variant: Variant, values: Mapping[str, str]) -> Iterator[str]:
    texts = [text for sentence in variant.contexts for text in fill(variant, values, sentence)]
    for slot, contrast in variant.contrast.items():
        if (what := contrast.good.format_map(values)) == contrast.bad.format_map(values):
            yield f"the two members do not differ in {{{slot}}}: both have {what!r}"
    for wrong in dict.fromkeys(wrong_articles(" ".join(texts))):
        yield f"{wrong!r} has the wrong article"


def fill(variant: Variant, values: Mapping[str, str], sentence: Sentence = "construction") -> tuple[str, str, str]:
    """Return a variant's context, right and wrong continuation with their slots filled and their capitals set.

    Args:
        variant: The variant.
        values: Slot -> words.
        sentence: Which context; after a rival the two continuations change places.
    """
    context = capitalise_sentences((variant.contexts[sentence] or "").format_map(values))
    members = [capitalise_sentences(with_contrasts(variant, side).format_map(values)) for side in ("good", "bad")]
    good, bad = members if sentence == "construction" else members[::-1]
    return context, good, bad


def _slots_of_variant(variant: Variant) -> Iterator[str]:
    yield from slots_of(variant.context or "")
    yield from slots_of(variant.rival or "")
    yield from slots_of(variant.continuation)
    for contrast in variant.contrast.values():
        yield from slots_of(contrast.good) + slots_of(contrast.bad)


def _pronoun_slots(people: People) -> set[str]:
    return {slot for row in people.pronouns.values() for slot in row}
