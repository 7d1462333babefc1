"""Minimal pairs as data: ``constructions/<name>/pairs.yaml`` and ``form_pairs.yaml``, read and checked.

A pair has a context and two continuations, one right and one wrong. Both continuations come from one template, and the
slots in which they differ are declared, so that they differ nowhere else.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from string import Formatter
from typing import Annotated, Literal, NamedTuple

from pydantic import AfterValidator, Field, StringConstraints

from cxprobe.constructions.construction import CONSTRUCTIONS_FOLDER
from cxprobe.constructions.faults import Fault, Keys, article_faults, with_lines
from cxprobe.constructions.people import ROLE_NOUN_TYPE, People, Row, SlotName, Words
from cxprobe.english import capitalise_sentences
from cxprobe.errors import ConstructionError
from cxprobe.files.schema import Closed, Slug, Two, read_yaml, suggest, validate
from cxprobe.pairs.params import FORM, construction_of_pairs


def _readable(template: str) -> str:
    try:
        parsed = list(Formatter().parse(template))
    except ValueError as fault:
        raise ValueError(f"{template!r} is not a template: {fault}") from None
    for _, slot, style, conversion in parsed:
        if slot is not None and (not slot.isidentifier() or style or conversion):
            raise ValueError(f"{template!r} has a slot {slot!r}; a slot is a name in braces and nothing more")
    return template


_Template = Annotated[str, StringConstraints(pattern=r"^\S+( \S+)*$"), AfterValidator(_readable)]
_Rows = Annotated[list[Row], Field(min_length=1)]
ContextKind = Literal["construction", "rival"]
VERB = "verb"
"""What the slot of the verb is called, in frames and in what is mined."""
PAPER_FORMAT = "paper"
"""The format whose wording is `Variant.continuation`; others are in `Variant.formats`."""
_SLOT = re.compile(r"{(\w+)}")


class FrameSlot(Closed):
    """A slot of the templates."""

    gloss: str
    """What it is."""
    content: bool = False
    """Whether its words are content words, which pseudowords replace."""


class Contrast(Closed):
    """A slot in which the two continuations differ."""

    good: _Template
    """What makes the right one."""
    bad: _Template
    """What makes the wrong one."""


class Variant(Closed):
    """One way of asking."""

    context: _Template | None = None
    """What comes first, in both members of a pair; absent for nothing."""
    continuation: _Template
    """What follows; it has a slot for each contrast."""
    contrast: Annotated[dict[SlotName, Contrast], Field(min_length=1)]
    """Slot -> how it is filled in the right and in the wrong member."""
    rival: _Template | None = None
    """A context that looks alike and lacks the construction, or has it of someone or something else, so that the wrong
    member is right; absent for none."""
    origin: Literal["paper", "own"] = "paper"
    """Whether the variant is of the published design that the pairs follow, or was added to it."""
    rival_origin: Literal["paper", "own"] = "own"
    """The same for its rival."""
    formats: dict[Slug, _Template] = Field(default_factory=dict)
    """Format -> the continuation in other words, with a slot of the contrasts (`pairs.make.format`)."""

    def in_format(self, name: str) -> "Variant":
        """Return the variant with the continuation of a format; as it is where it has no such format."""
        if name not in self.formats:
            return self
        slots = slot_names(self.formats[name])
        contrast = {slot: one for slot, one in self.contrast.items() if slot in slots}
        return self.model_copy(update={"continuation": self.formats[name], "contrast": contrast})

    @property
    def contexts(self) -> Mapping[ContextKind, _Template | None]:
        """What comes first: in the sentence with the construction, and in its rival if there is one."""
        contexts: dict[ContextKind, _Template | None] = {"construction": self.context}
        return contexts if self.rival is None else {**contexts, "rival": self.rival}

    def origin_of(self, sentence: ContextKind) -> Literal["paper", "own"]:
        """Return whether the pairs of a sentence are of the published design."""
        return self.rival_origin if sentence == "rival" and self.origin == "paper" else self.origin


class PairsFile(Closed):
    """The pairs of a construction as pairs.yaml and form_pairs.yaml describe them."""

    tests: Literal["meaning", "form", "control"]
    """What the wrong member of a pair gets wrong: what the construction means, how it is formed, or what the text says
    in plain words. Pairs of the last kind are a control: the same questions, for which no construction is needed."""
    control: Slug | None = None
    """Of pairs of meaning: the folder of the pairs that are the control of their questions; absent for none."""
    people: Annotated[list[SlotName], Field(max_length=2)] = Field(default_factory=list)
    """The slots that nouns of lexicon/people.yaml fill, type by type; absent for none."""
    switched: bool = False
    """Whether each pair comes once more with its two people exchanged."""
    typical: list[Two[Words]] = Field(default_factory=list)
    """Two nouns of which the first typically does to the second what is said: the people of `ROLE_NOUN_TYPE`, so that
    an exchange turns typical roles round; absent where that type's nouns are drawn like all others."""
    one_answer: bool = False
    """Whether it is meant that one answer is right in all pairs of a variant; `cxprobe check` then does not tell it."""
    slots: dict[SlotName, FrameSlot]
    """Every slot of the templates except the people, their pronouns and the contrasts."""
    variants: Annotated[dict[str, Variant], Field(min_length=1)]
    """The ways of asking; each is asked of every item."""
    frames: _Rows
    """The rows that make an item what it is; intervals are clustered by them."""
    fillers: dict[str, _Rows] = Field(default_factory=dict)
    """More rows, of which each item draws one a group; absent for none."""

    @property
    def groups(self) -> Mapping[str, list[Row]]:
        """The frames and the fillers: an item has one row of each."""
        return {"frames": self.frames, **self.fillers}

    @property
    def formats(self) -> list[str]:
        """The formats besides the paper's."""
        return [*dict.fromkeys(name for variant in self.variants.values() for name in variant.formats)]

    def in_format(self, name: str) -> "PairsFile":
        """Return the pairs with the continuations of a format, as far as there are any."""
        variants = {letter: variant.in_format(name) for letter, variant in self.variants.items()}
        return self.model_copy(update={"variants": variants})

    @property
    def content_slots(self) -> list[str]:
        """The slots whose words pseudowords replace."""
        return [name for name, slot in self.slots.items() if slot.content]


def pairs_file(name: str, constructions: Path = CONSTRUCTIONS_FOLDER) -> Path:
    """Return the file of pairs: ``pairs.yaml``, or ``form_pairs.yaml`` where the name ends in `FORM`."""
    return constructions / construction_of_pairs(name) / ("form_pairs.yaml" if name.endswith(FORM) else "pairs.yaml")


def read_pairs_file(name: str, constructions: Path = CONSTRUCTIONS_FOLDER) -> PairsFile:
    """Read pairs without checking whether they can be made.

    Raises:
        ConstructionError: The file cannot be read, or a form_pairs.yaml tests something else than form.
    """
    path = pairs_file(name, constructions)
    content = validate(PairsFile, read_yaml(path, ConstructionError), path, ConstructionError)
    if name.endswith(FORM) and content.tests != "form":
        raise ConstructionError(f"{path}: tests is {content.tests}, and here it is form; move the pairs to pairs.yaml")
    return content


def load_pairs(name: str, people: People, constructions: Path = CONSTRUCTIONS_FOLDER) -> PairsFile:
    """Read and check pairs.

    Args:
        name: A construction, or its pairs of form, see `pairs_file`.
        people: The nouns and pronouns.
        constructions: The folder of all constructions.

    Raises:
        ConstructionError: One line for every fault, with file and line, see `read_pairs_file` and `faults_of_pairs`.
    """
    content = read_pairs_file(name, constructions)
    if faults := faults_in_every_format(faults_of_pairs, content, people):
        raise ConstructionError("\n".join(with_lines(pairs_file(name, constructions), faults)))
    return content


def slot_names(template: str) -> list[str]:
    """Return the slots of a template in their order."""
    return [slot for _, slot, _, _ in Formatter().parse(template) if slot is not None]


def keys_of(group: str) -> tuple[str, ...]:
    """Return the way to a group of rows from the top of the file."""
    return ("frames",) if group == "frames" else ("fillers", group)


def with_contrasts(variant: Variant, side: Literal["good", "bad"]) -> str:
    """Return the template of a continuation in which one side of each contrast is put in."""
    sides = {slot: getattr(contrast, side) for slot, contrast in variant.contrast.items()}
    return _SLOT.sub(lambda slot: sides.get(slot[1], slot[0]), variant.continuation)


def slots_of_variant(variant: Variant) -> set[str]:
    """Return the slots that people, pronouns or rows must fill; contrasts fill slots of the continuation alone."""
    contrasts = [template for one in variant.contrast.values() for template in (one.good, one.bad)]
    others = [slot for text in (*variant.contexts.values(), *contrasts) for slot in slot_names(text or "")]
    return {*others, *slot_names(variant.continuation)} - (variant.contrast.keys() - set(others))


def fill_variant(
    variant: Variant, values: Mapping[str, str], sentence: ContextKind = "construction"
) -> tuple[str, str, str]:
    """Return a variant's context, right and wrong continuation with their slots filled and their capitals set.

    Args:
        variant: The variant.
        values: Slot -> words.
        sentence: Which context; after a rival the two continuations are exchanged.
    """
    context = capitalise_sentences((variant.contexts[sentence] or "").format_map(values))
    members = [capitalise_sentences(with_contrasts(variant, side).format_map(values)) for side in ("good", "bad")]
    good, bad = members if sentence == "construction" else members[::-1]
    return context, good, bad


def place_of(variant: Variant, people: Sequence[str], sentence: ContextKind) -> str:
    """Return whether the person that is right is the "first" or the "second" in a context; "" where it is neither."""
    named = [slot for slot in dict.fromkeys(slot_names(variant.contexts[sentence] or "")) if slot in people]
    contrasts = [variant.contrast[slot] for slot in slot_names(variant.continuation) if slot in variant.contrast]
    right = contrasts[0].good if sentence == "construction" else contrasts[0].bad
    places = [place for place, slot in zip(("first", "second"), named, strict=False) if slot in slot_names(right)]
    return places[0] if len(named) == 2 and len(places) == 1 else ""


class SoundPart(NamedTuple):
    """What has no fault so far, so that further rules can be held against it.

    Attributes:
        variants: Name -> variant; only those whose slots are all filled.
        rows: Group -> the position in the group -> the row.
    """

    variants: Mapping[str, Variant]
    rows: Mapping[str, Mapping[int, Row]]

    @classmethod
    def of(cls, content: PairsFile, people: People, faults: Iterable[Fault]) -> "SoundPart":
        """Return the variants and rows of a pairs.yaml that none of the faults is in."""
        faulty = {fault.keys[:length] for fault in faults for length in (2, 3)}
        rows = {
            group: {position: row for position, row in enumerate(rows) if (*keys_of(group), position) not in faulty}
            for group, rows in content.groups.items()
        }
        filled = {*content.people, *(pronoun_slots(people) if content.people else ())}
        filled |= {slot for listed in rows.values() for slot in next(iter(listed.values()), ())}
        variants = {
            name: variant
            for name, variant in content.variants.items()
            if ("variants", name) not in faulty and slots_of_variant(variant) <= filled
        }
        return cls(variants if all(rows.values()) else {}, rows)


def faults_in_every_format(
    find: Callable[[PairsFile, People], list[Fault]], content: PairsFile, people: People
) -> list[Fault]:
    """Return what a rule finds in pairs, and then in their other formats; each fault once.

    Args:
        find: The rule.
        content: The pairs.
        people: The nouns and pronouns.
    """
    faults = find(content, people)
    for name in content.formats:
        lacking = [letter for letter, variant in content.variants.items() if name not in variant.formats]
        faults += (
            Fault(("variants", letter), f"variant {letter} has no format '{name}', which other variants have")
            for letter in lacking
        )
        for keys, what in find(content.in_format(name), people):
            if keys[2:3] == ("continuation",):
                keys = (*keys[:2], "formats", name)
            if keys[0] != "slots" and Fault(keys, what) not in faults:  # the paper's wording alone may use a slot
                faults.append(Fault(keys, what))
    return faults


def faults_of_pairs(content: PairsFile, people: People) -> list[Fault]:
    """Return everything that keeps pairs from being made, whatever else is wrong.

    Args:
        content: The pairs.
        people: The nouns and pronouns.

    Returns:
        A slot that is not declared, not filled, filled twice or never used; rows of one group with different slots; a
        row that is given twice; a rival that is the context; two people needed for what is switched or for typical
        roles; members that do not differ, or not as declared; a wrong article. What is wrong in
        one part of a variant with several rows is one fault.
    """
    faults = [*_faults_of_people(content, people), *_faults_of_slots(content, people)]
    for group, rows in content.groups.items():
        faults += (fault.below(*keys_of(group)) for fault in _faults_of_rows(content, rows))
    for name, variant in content.variants.items():
        faults += (fault.below("variants", name) for fault in _faults_of_templates(content, people, variant))
    return [*faults, *faults_in_texts(content, people, SoundPart.of(content, people, faults), _faults_of_texts)]


def _faults_of_people(content: PairsFile, people: People) -> Iterator[Fault]:
    if content.switched and len(content.people) != 2:
        yield Fault(("switched",), f"switched: two people are exchanged, and people names {len(content.people)}")
    if content.typical and len(content.people) != 2:
        yield Fault(("typical",), f"typical: roles are those of two people, and people names {len(content.people)}")
    if content.typical and ROLE_NOUN_TYPE not in people.types:
        what = f"typical: the people have no noun type '{ROLE_NOUN_TYPE}', whose nouns these replace"
        yield Fault(("typical",), what)
    known = set[tuple[str, str]]()
    for position, (first, second) in enumerate(content.typical):
        if first == second:
            yield Fault(("typical", position), f"typical: '{first}' cannot have both roles")
        if (first, second) in known:
            yield Fault(("typical", position), f"typical: '{first}' and '{second}' are listed twice")
        known.add((first, second))
    if len(set(content.people)) < len(content.people):
        yield Fault(("people",), f"people: {content.people[0]} is named twice; each person needs a slot of its own")


def _faults_of_slots(content: PairsFile, people: People) -> Iterator[Fault]:
    """Find slots that are declared and not filled, or filled and not declared, or both twice."""
    if "frames" in content.fillers:
        what = "fillers.frames: this name belongs to the frames; give these rows another"
        yield Fault(("fillers", "frames"), what)
    filled: dict[str, str] = {}
    for group, rows in content.groups.items():
        for slot in _usual_slots(rows):
            if slot in filled:
                what = f"the slot '{slot}' is filled by {filled[slot]} and by {group}; keep one"
                yield Fault((*keys_of(group), 0), what)
            filled[slot] = group
    for slot in sorted({*content.people, *pronoun_slots(people)} & content.slots.keys()):
        what = f"'{slot}' is a slot of the people or their pronouns; give yours another name"
        yield Fault(("slots", slot), what)
    used = {slot for variant in content.variants.values() for slot in slots_of_variant(variant)}
    for slot in content.slots:
        for known, what in ((filled, "no row fills it"), (used, "no template uses it")):
            if slot not in known:
                yield Fault(("slots", slot), f"the slot '{slot}' is declared, and {what}")


def _usual_slots(rows: Sequence[Row]) -> list[str]:
    """Return the slots that most rows of a group fill."""
    return sorted(Counter(map(frozenset, rows)).most_common(1)[0][0])


def _faults_of_rows(content: PairsFile, rows: Sequence[Row]) -> Iterator[Fault]:
    """Find rows of a group that differ in their slots, repeat each other, or have a wrong article in their words."""
    usual, known, unknown = set(_usual_slots(rows)), dict[frozenset[tuple[str, str]], int](), dict[str, list[int]]()
    for position, row in enumerate(rows):
        for slot, words in row.items():
            if slot not in content.slots:
                unknown.setdefault(slot, []).append(position)
            yield from (Fault((position, slot), f"{slot}: {what}") for what in article_faults(words))
        if lacking := usual - row.keys():
            yield Fault((position,), f"this row lacks {', '.join(sorted(lacking))}, which most rows of its group have")
        if beyond := (row.keys() - usual) & content.slots.keys():
            what = f"this row has {', '.join(sorted(beyond))}, which most rows of its group do not have"
            yield Fault((position,), what)
        first = known.setdefault(frozenset(row.items()), position)
        if first != position:
            yield Fault((position,), f"this row repeats row {first} of its group (counted from 0)")
    for slot, (first, *others) in unknown.items():
        what = f"the slot '{slot}' is unknown{suggest(slot, list(content.slots))}; declare it under slots"
        yield Fault((first, slot), what + (f" ({len(others)} more rows have it)" if others else ""))


def _faults_of_templates(content: PairsFile, people: People, variant: Variant) -> Iterator[Fault]:
    """Find slots of a variant that nothing can fill, and contrasts that do not differ."""
    known = {*content.slots, *content.people, *(pronoun_slots(people) if content.people else ())}
    templates = {
        "context": (variant.context or "", known),
        "rival": (variant.rival or "", known),
        "continuation": (variant.continuation, known | variant.contrast.keys()),
    }
    if not variant.contrast:
        yield Fault(("continuation",), "has no slot of the contrasts, so the two members do not differ")
    if variant.rival is not None and variant.rival == variant.context:
        yield Fault(("rival",), "the rival is the context itself; the two cannot have different answers")
    for part, (template, allowed) in templates.items():
        for slot in slot_names(template):
            if slot not in allowed:
                yield Fault((part,), f"the slot '{slot}' is unknown{suggest(slot, sorted(allowed))}")
    for slot, contrast in variant.contrast.items():
        where = ("contrast", slot)
        if slot in known:
            yield Fault(where, f"the contrast '{slot}' has the name of a slot; give it another name")
        if slot not in slot_names(variant.continuation):
            yield Fault(where, f"the continuation has no slot {{{slot}}}, so the pair does not differ there")
        if contrast.good == contrast.bad:
            yield Fault(where, f"the two members do not differ: good and bad are both {contrast.good!r}")
        for wanted in sorted({*slot_names(contrast.good), *slot_names(contrast.bad)} - known):
            yield Fault(where, f"the slot '{wanted}' is unknown{suggest(wanted, sorted(known))}")


def _faults_of_texts(variant: Variant, values: Row) -> Iterator[tuple[Keys, str]]:
    for slot, contrast in variant.contrast.items():
        if (what := contrast.good.format_map(values)) == contrast.bad.format_map(values):
            yield ("contrast", slot), f"the two members do not differ in {{{slot}}}: both have {what!r}"
    for sentence in variant.contexts:
        context, good, bad = fill_variant(variant, values, sentence)
        known = list(article_faults(context))
        yield from ((CONTEXT_KEYS[sentence], what) for what in known)
        for text in (good, bad):
            faulty = article_faults(f"{context} {text}".strip())
            yield from ((("continuation",), what) for what in faulty if what not in known)


CONTEXT_KEYS: Mapping[ContextKind, Keys] = {"construction": ("context",), "rival": ("rival",)}
"""Where in a variant each context is."""
_SHOWN = 5  # rows of a group that a fault names


def faults_in_texts(
    content: PairsFile,
    people: People,
    sound: SoundPart,
    find: Callable[[Variant, Row], Iterable[tuple[Keys, str]]],
) -> Iterator[Fault]:
    """Put rows into variants, and find what is wrong there.

    Every row is put beside the first row of each other group, and then rows of all groups take turns. What is wrong in
    one part of a variant with several rows is one fault of that variant; with one row alone it is one of the row.

    Args:
        content: The pairs.
        people: The pronouns; the people themselves are "Person-1" and "Person-2".
        sound: What is looked at.
        find: Given a variant and slot -> words, gives what is wrong, with its keys in the variant.
    """
    if not sound.variants:
        return
    pronouns = list(people.pronouns.values()) if content.people else [{}]
    persons = {slot: f"Person-{number}" for number, slot in enumerate(content.people, start=1)}
    first = {slot: words for rows in sound.rows.values() for slot, words in next(iter(rows.values())).items()}
    alone: list[tuple[Keys, Row]] = [
        ((*keys_of(group), position), first | row)
        for group, listed in sound.rows.items()
        for position, row in listed.items()
    ]
    for name, variant in sound.variants.items():
        touched: dict[Keys, dict[Keys, str]] = {}  # keys in the variant -> row -> what is wrong
        for fillings in (alone, rows_in_turns(sound) if len(sound.rows) > 1 else ()):
            faulty: dict[Keys, dict[Keys, str]] = {}
            for number, (row, words) in enumerate(fillings):
                for keys, what in find(variant, {**pronouns[number % len(pronouns)], **words, **persons}):
                    faulty.setdefault(keys, {}).setdefault(row, what)
            touched = faulty | touched
        for keys, rows in touched.items():
            (row, what), *others = rows.items()
            if others:
                yield Fault(("variants", name, *keys), f"variant {name}: {what}; so in {listed_rows(rows)}")
            else:
                yield Fault(row, f"variant {name}: {what}")


def rows_in_turns(sound: SoundPart) -> list[tuple[Keys, Row]]:
    """Return every row of every group at least once, beside rows of the other groups that take turns.

    Returns:
        The keys of the row that is new, and slot -> words.
    """
    longest = max(sound.rows, key=lambda group: len(sound.rows[group]))
    groups = [list(rows.values()) for rows in sound.rows.values()]
    return [
        (
            (*keys_of(longest), position),
            {slot: words for rows in groups for slot, words in rows[turn % len(rows)].items()},
        )
        for turn, position in enumerate(sound.rows[longest])
    ]


def listed_rows(rows: Iterable[Keys]) -> str:
    """Return positions of rows as a message names them: the first ones, and how many more there are."""
    positions: dict[str | int, list[str]] = {}
    for *_, group, position in rows:
        positions.setdefault(group, []).append(str(position))
    parts = [
        f"{group} {', '.join(listed[:_SHOWN])}" + (f" and {len(listed) - _SHOWN} more" if len(listed) > _SHOWN else "")
        for group, listed in positions.items()
    ]
    return f"{', '.join(parts)} (counted from 0)"


def pronoun_slots(people: People) -> set[str]:
    """Return the slots that pronouns fill."""
    return {slot for row in people.pronouns.values() for slot in row}
