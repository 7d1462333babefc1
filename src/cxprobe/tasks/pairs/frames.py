"""Minimal pairs as data: ``constructions/<name>/pairs.yaml`` and ``form_pairs.yaml``, read and checked.

A pair has a context and two continuations, one right and one wrong. Both continuations come from one template, and the
slots in which they differ are declared, so that they differ nowhere else. `lint_pairs` has the rules: members differ
only in the contrast, and only the construction decides which is right.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from cxprobe.constructions.checking import Fault, Item, Keys, lint_items, normalised, with_lines
from cxprobe.constructions.construction import CONSTRUCTIONS_FOLDER, PRONOUNS, ROLE_NOUN_TYPE, People, Row
from cxprobe.errors import ConstructionError, raise_faults
from cxprobe.files.schema import Closed, Distinct, Two, read_checked, suggest
from cxprobe.tasks.pairs.params import FORM, PairsStage
from cxprobe.text import SlotName, Template, Words, fill, render, slots_of

_Rows = Annotated[list[Row], Field(min_length=1)]
ContextKind = Literal["construction", "rival"]
MOST_OF_A_VERB = 2
"""The most frames that may have the same verb."""
FRAMES_TO_BALANCE = 10
"""With fewer frames, the balance of right and wrong words is not checked."""
_LEADING_ARTICLE = re.compile(r"^(?:the|an?) ")
_DETERMINER = r"(?:the|an?|his|her|their|my|our|your|its|this|that|some) "
_PLACES = ("Person1", "Person2")  # of people in a context: each noun is there in both orders, so it is balanced


class FrameSlot(Closed):
    """A slot of the templates."""

    gloss: str
    """What it is."""
    content: bool = False
    """Whether its words are content words, which pseudowords replace."""


class Contrast(Closed):
    """A slot in which the two continuations differ."""

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
    """A context that looks alike and lacks the construction, or has it of someone or something else, so that the wrong
    member is right; absent for none."""
    origin: Literal["paper", "own"] | None = None
    """Whether the variant, with its rival, is of the published design that the pairs follow, or was added to it; absent
    where it is of that design and the rival, if there is one, was added."""

    def templates(self) -> Iterator[tuple[Keys, str]]:
        """Yield all templates, each with its keys: what comes first, what follows, and the contrasts."""
        yield ("context",), self.context or ""
        yield ("rival",), self.rival or ""
        yield ("continuation",), self.continuation
        yield from ((("contrast", slot), f"{one.good} {one.bad}") for slot, one in self.contrast.items())

    @property
    def contexts(self) -> Mapping[ContextKind, Template | None]:
        """What comes first: in the sentence with the construction, and in its rival if there is one."""
        rival: Mapping[ContextKind, Template] = {} if self.rival is None else {"rival": self.rival}
        return {"construction": self.context, **rival}

    def origin_of(self, sentence: ContextKind) -> Literal["paper", "own"]:
        """Return the origin of the pairs of a sentence."""
        return self.origin or ("own" if sentence == "rival" else "paper")


class PairsFile(Closed):
    """The pairs of a construction as pairs.yaml and form_pairs.yaml describe them."""

    tests: Literal["meaning", "form", "control"]
    """What the wrong member of a pair gets wrong: what the construction means, how it is formed, or what the text says
    in plain words. Pairs of the last kind are a control: the same questions, for which no construction is needed."""
    people: Annotated[Distinct[SlotName], Field(max_length=2)] = Field(default_factory=list)
    """The slots that nouns of lexicon/people.yaml fill, type by type; absent for none."""
    switched: bool = False
    """Whether each pair comes once more with its two people exchanged."""
    typical: Distinct[Two[Words]] = Field(default_factory=list)
    """Two nouns of which the first typically does to the second what is said: the people of `ROLE_NOUN_TYPE`, so that
    an exchange turns typical roles round; absent where that type's nouns are drawn like all others."""
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
    def first_words(self) -> Row:
        """Slot -> its words in the first row of each group."""
        return {slot: words for rows in self.groups.values() for slot, words in rows[0].items()}

    @property
    def content_slots(self) -> list[str]:
        """The slots whose words pseudowords replace."""
        return [name for name, slot in self.slots.items() if slot.content]


def pairs_file(name: str, constructions: Path = CONSTRUCTIONS_FOLDER) -> Path:
    """Return the file of pairs: ``pairs.yaml``, or ``form_pairs.yaml`` where the name ends in `FORM`."""
    file = "form_pairs.yaml" if name.endswith(FORM) else "pairs.yaml"
    return constructions / PairsStage.construction_of(name) / file


def read_pairs_file(name: str, constructions: Path = CONSTRUCTIONS_FOLDER) -> PairsFile:
    """Read pairs without checking whether they can be made.

    Raises:
        ConstructionError: The file cannot be read, or a form_pairs.yaml tests something else than form.
    """
    path = pairs_file(name, constructions)
    content = read_checked(PairsFile, path, ConstructionError)
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
    faults = faults_of_pairs(content, people)
    raise_faults(ConstructionError, with_lines(pairs_file(name, constructions), faults))
    return content


def keys_of(group: str) -> tuple[str, ...]:
    """Return the way to a group of rows from the top of the file."""
    return ("frames",) if group == "frames" else ("fillers", group)


def with_contrasts(variant: Variant, side: Literal["good", "bad"]) -> str:
    """Return the template of a continuation in which one side of each contrast is put in."""
    sides = {slot: getattr(contrast, side) for slot, contrast in variant.contrast.items()}
    return fill(variant.continuation, {slot: f"{{{slot}}}" for slot in slots_of(variant.continuation)} | sides)


def fill_variant(
    variant: Variant, values: Mapping[str, str], sentence: ContextKind = "construction"
) -> tuple[str, str, str]:
    """Return a variant's context, right and wrong continuation with their slots filled and their capitals set.

    Args:
        variant: The variant.
        values: Slot -> words.
        sentence: Which context; after a rival the two continuations are exchanged.
    """
    context = render(variant.contexts[sentence] or "", values)
    members = [render(with_contrasts(variant, side), values) for side in ("good", "bad")]
    good, bad = members if sentence == "construction" else members[::-1]
    return context, good, bad


def faults_of_pairs(content: PairsFile, people: People) -> Iterator[Fault]:
    """Yield the faults because of which pairs cannot be made.

    Args:
        content: The pairs.
        people: The nouns and pronouns.

    Returns:
        Faults: people that are needed and not there; rows of one group that fill different slots; slots that nothing
        fills, that are filled twice, or that are not declared or not used; and contrasts that no continuation has.
    """
    if (content.switched or content.typical) and len(content.people) != 2:
        what = f"people: two are exchanged, or have typical roles, and {len(content.people)} are named"
        yield Fault(("people",), what)
    if content.typical and ROLE_NOUN_TYPE not in people.types:
        what = f"typical: the people have no noun type '{ROLE_NOUN_TYPE}', whose nouns these replace"
        yield Fault(("typical",), what)
    if "frames" in content.fillers:
        yield Fault(("fillers", "frames"), "fillers.frames: this name belongs to the frames; give these rows another")
    pronouns = next(iter(people.pronouns.values()), {}) if content.people else {}
    filled = dict.fromkeys([*content.people, *pronouns], "the people")
    for group, rows in content.groups.items():
        usual = Counter(map(frozenset, rows)).most_common(1)[0][0]
        for position, row in enumerate(rows):
            if row.keys() != usual:
                what = f"this row fills {', '.join(row)}, and most rows of its group {', '.join(sorted(usual))}"
                yield Fault((*keys_of(group), position), f"{what}; let all of them fill the same slots")
        for slot in sorted(usual):
            if slot in filled:
                what = f"the slot '{slot}' is filled by {filled[slot]} and by {group}; keep one"
                yield Fault((*keys_of(group), 0), what)
            if slot not in content.slots:
                what = f"the slot '{slot}' is not declared under slots{suggest(slot, content.slots)}"
                yield Fault((*keys_of(group), 0), what)
            filled[slot] = group
    used = set[str]()
    for name, variant in content.variants.items():
        for keys, template in variant.templates():
            used |= {*slots_of(template)}
            allowed = filled.keys() | (variant.contrast.keys() if keys == ("continuation",) else ())
            for slot in dict.fromkeys(slots_of(template)):
                if slot not in allowed:
                    what = f"nothing fills the slot '{slot}'{suggest(slot, allowed)}"
                    yield Fault(("variants", name, *keys), what)
        for slot in variant.contrast:
            if slot in filled or slot not in slots_of(variant.continuation):
                what = (
                    f"the contrast '{slot}' must be a slot of the continuation, and none that {filled.get(slot)} fill"
                )
                yield Fault(("variants", name, "contrast", slot), what)
    for slot in content.slots:
        if slot not in filled or slot not in used:
            what = f"the slot '{slot}' is declared, and no row fills it, or no template uses it"
            yield Fault(("slots", slot), what)


def lint_pairs(content: PairsFile, people: People) -> list[Fault]:
    """Find everything that is wrong with the pairs of a construction.

    Args:
        content: Its pairs.yaml.
        people: The nouns.

    Returns:
        The faults because of which pairs cannot be made (`faults_of_pairs`). If there are none: rows and templates that
        name other people, or people of one gender; a verb that is too frequent; members that differ in more than the
        contrast; and what `lint_items` finds in the rendered pairs, of which those that do not test form and have at
        least `FRAMES_TO_BALANCE` frames are to be balanced.
    """
    if faults := list(faults_of_pairs(content, people)):
        return faults
    faults = [*_other_people(content, people)]
    for verb, number in Counter(normalised(row["verb"]) for row in content.frames if "verb" in row).items():
        if number > MOST_OF_A_VERB:
            what = f"the verb '{verb}' is in {number} frames, and may be in {MOST_OF_A_VERB}; take others"
            faults.append(Fault(("frames",), f"{what}, so that no verb decides much"))
    pronouns = next(iter(people.pronouns.values())) if content.people else {}
    of_rows = {
        group: [item for row in range(len(rows)) for item in _rendered(content, group, row, _PLACES, pronouns)]
        for group, rows in content.groups.items()
    }
    items = of_rows.pop("frames")
    found = [
        fault for name in content.variants for fault in lint_items(item for item in items if item.place[1] == name)
    ]
    if content.tests != "form" and len(content.frames) >= FRAMES_TO_BALANCE and not found:
        found += lint_items(items, are_distinct=False, are_balanced=True)
    others = [*chain.from_iterable(of_rows.values())]
    for kind in people.types.values() if content.people else ():  # whose nouns may bring a second article
        others += _rendered(content, "frames", 0, kind.nouns, people.pronouns[kind.pronouns[0]])
    return faults + (found or list(lint_items(others, are_distinct=False)))


def _rendered(content: PairsFile, group: str, row: int, persons: Sequence[str], pronouns: Row) -> Iterator[Item]:
    """Yield the pairs of each variant and context with a row of a group, beside the first rows of the others.

    Args:
        content: The pairs.
        group: "frames", or a group of fillers.
        row: The number of its row.
        persons: The people, in the order in which a context names them.
        pronouns: Their pronouns.
    """
    values = content.first_words | content.groups[group][row] | pronouns
    for name, variant in content.variants.items():
        for sentence, context in variant.contexts.items():
            named = [slot for slot in slots_of(context or "") if slot in content.people]
            seats = dict(zip(dict.fromkeys([*named, *content.people]), persons, strict=False))
            context, good, bad = fill_variant(variant, values | seats, sentence)
            right, wrong = (normalised(text).split() for text in (good, bad))
            answers = [words for words in zip(right, wrong, strict=False) if words[0] != words[1]]
            # A different article does not count, since the word after it decides which article is right.
            apart = [words for words in answers if not {*words} <= {"a", "an", "the"}]
            several = sorted(right) != sorted(wrong) and (len(right) != len(wrong) or len(apart) > 1)
            yield Item(
                ("variants", name),
                f"variant {name}" + (", the rival" if sentence == "rival" else ""),
                [f"{context} {member}".strip() for member in (good, bad)],
                (*keys_of(group), row),
                answers,
                f"the members differ in more than one word: {good!r} and {bad!r}" if several else "",
            )


def _other_people(content: PairsFile, people: People) -> Iterator[Fault]:
    """Find rows that name somebody who can also be one of the people, and pronouns of one gender in templates."""
    if not content.people:
        return
    gendered = {word for forms in PRONOUNS.values() for word in forms}
    for name, variant in content.variants.items():
        for keys, template in variant.templates():
            for word in sorted(gendered & {*normalised(template).split()}):
                what = f"'{word}' agrees with women or with men only, and the people are both; write {{they}} or so"
                yield Fault(("variants", name, *keys), what)
    nouns = {noun for kind in people.types.values() for noun in kind.nouns}
    nouns |= {noun for roles in content.typical for noun in roles}
    patterns = [
        re.escape(noun) if noun[:1].isupper() else f"(?i:{_DETERMINER}{re.escape(_LEADING_ARTICLE.sub('', noun))})"
        for noun in sorted(nouns)
    ]
    person = re.compile(rf"\b(?:{'|'.join(patterns)})\b")
    for group, rows in content.groups.items():
        for position, row in enumerate(rows):
            for slot, words in row.items():
                if match := person.search(words):
                    what = f"'{match[0]}' can also be one of the people, who would then be there twice"
                    yield Fault((*keys_of(group), position, slot), f"{slot}: {what}; take somebody else")
