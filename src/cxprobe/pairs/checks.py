"""Rules for minimal pairs: members differ only in the contrast, and only the construction decides which is right."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from cxprobe.constructions.faults import PRONOUNS, Fault, Keys, normalised, repeated, unbearable
from cxprobe.constructions.people import ROLE_NOUN_TYPE, People, Row
from cxprobe.pairs.frames import (
    CONTEXT_KEYS,
    VERB,
    ContextKind,
    PairsFile,
    SoundPart,
    Variant,
    faults_in_every_format,
    faults_in_texts,
    faults_of_pairs,
    keys_of,
    listed_rows,
    rows_in_turns,
    slot_names,
    with_contrasts,
)

MOST_OF_A_VERB = 2
"""The most frames that may have the same verb."""
MOST_OF_A_NOUN = 2
"""The most pairs of typical roles that may have the same noun."""
FRAMES_TO_BALANCE = 10
"""With fewer frames, the balance of right and wrong words is not checked."""
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+")
_ARTICLE = re.compile(r"\b(?:an?|the) {(\w+)}", re.IGNORECASE)
_LEADING_ARTICLE = re.compile(r"^(?:the|an?) ")
_DETERMINER = r"\b(?:the|an?|his|her|their|my|our|your|its|this|that|some) "


def lint_pairs(content: PairsFile, people: People) -> list[Fault]:
    """Find everything that is wrong with the pairs of a construction.

    Args:
        content: Its pairs.yaml.
        people: The nouns.

    Returns:
        First the faults because of which pairs cannot be made (`faults_of_pairs`). Then, for variants and rows without
        such a fault:

        - members that differ in more than the contrast;
        - pronouns that do not agree with all people, or that refer to nobody;
        - people who are named twice in a text;
        - the same sentence twice;
        - a verb, or a noun of typical roles, that is too frequent.

        If nothing has such a fault, and the pairs do not test form and have at least `FRAMES_TO_BALANCE` frames: words
        of the contrasts that are not right as often as wrong. All of this in each format.
    """
    return faults_in_every_format(_lint, content, people)


def _lint(content: PairsFile, people: People) -> list[Fault]:
    faults = faults_of_pairs(content, people)
    sound = SoundPart.of(content, people, faults)
    further = [
        *_rows_with_people(content, people, sound),
        *_faults_of_roles(content, people, sound),
        *faults_in_texts(content, people, sound, _beyond_contrast),
        *_frequent_verbs(sound),
    ]
    have_articles = any(noun.startswith(("the ", "a ", "an ")) for kind in people.types.values() for noun in kind.nouns)
    for name, variant in sound.variants.items():
        in_variant = [*_faults_of_pronouns(variant, content), *_people_twice(variant, content)]
        if have_articles:
            in_variant += _articles_before_people(variant, content)
        further += (fault.below("variants", name) for fault in in_variant)
        further += _repeated_frames(name, variant, sound)
    if content.tests != "form" and len(content.frames) >= FRAMES_TO_BALANCE and not faults:
        further += _unbalanced_words(content, people, sound)
    return [*faults, *further]


def _templates(variant: Variant) -> Iterator[tuple[Keys, str]]:
    """Yield all templates of a variant, each with its keys: the contexts, the continuation and the contrasts."""
    yield from ((CONTEXT_KEYS[sentence], context) for sentence, context in variant.contexts.items() if context)
    yield ("continuation",), variant.continuation
    yield from ((("contrast", slot), f"{one.good} {one.bad}") for slot, one in variant.contrast.items())


def _articles_before_people(variant: Variant, content: PairsFile) -> Iterator[Fault]:
    for keys, template in _templates(variant):
        for match in _ARTICLE.finditer(template):
            if match[1] in content.people:
                yield Fault(keys, f"{match[0]!r}: the people bring their own article, or need none; take it out")


def _faults_of_pronouns(variant: Variant, content: PairsFile) -> Iterator[Fault]:
    """Find pronouns that agree with women or with men only, and pronouns that refer to nobody."""
    if not content.people:
        return
    for keys, template in _templates(variant):
        yield from (Fault(keys, what) for what in _fixed_pronouns(template))
    contrasts = " ".join(f"{one.good} {one.bad}" for one in variant.contrast.values())
    pronouns = sorted(_pronouns(f"{variant.continuation} {contrasts}", content))
    in_continuation = set(slot_names(variant.continuation)) & set(content.people)
    for sentence, context in variant.contexts.items():
        named = set(slot_names(context or "")) & set(content.people)
        if pronouns and not named and not in_continuation:
            what = f"the continuation has {{{pronouns[0]}}}, and nobody is named before; name a person"
            yield Fault(CONTEXT_KEYS[sentence], what)
        in_context = sorted(_pronouns(context or "", content))
        if in_context and not named:
            yield Fault(
                CONTEXT_KEYS[sentence], f"{{{in_context[0]}}} is nobody whom this sentence names; name a person"
            )


def _pronouns(template: str, content: PairsFile) -> set[str]:
    """Return the pronoun slots of a template: those that are neither people, nor declared slots, nor contrasts."""
    contrasts = {slot for variant in content.variants.values() for slot in variant.contrast}
    return set(slot_names(template)) - {*content.people, *content.slots, *contrasts}


def _fixed_pronouns(text: str) -> Iterator[str]:
    """Yield a message for each pronoun that is written out, such as "she", instead of as a slot."""
    for word in dict.fromkeys(normalised(text).split()):
        if any(word in forms for forms in PRONOUNS.values()):
            yield (
                f"'{word}' agrees with women or with men only, and the people are both; write a slot of the pronouns, "
                "such as {they}"
            )


def _people_twice(variant: Variant, content: PairsFile) -> Iterator[Fault]:
    """Find people who are named more than once in a sentence of a context, or in a continuation."""
    texts: list[tuple[Keys, str]] = [
        (CONTEXT_KEYS[sentence], part)
        for sentence, context in variant.contexts.items()
        for part in _SENTENCE_END.split(context or "")
    ]
    texts += [(("continuation",), with_contrasts(variant, side)) for side in ("good", "bad")]
    for keys, text in texts:
        slots = slot_names(text)
        for person in content.people:
            if slots.count(person) > 1:
                yield Fault(keys, f"{{{person}}} is in {text!r} {slots.count(person)} times; name each person once")


def _rows_with_people(content: PairsFile, people: People, sound: SoundPart) -> Iterator[Fault]:
    """Find rows that name somebody who can also be one of the people, and pronouns that are written out."""
    if not content.people:
        return
    nouns = {noun for kind in people.types.values() for noun in kind.nouns}
    nouns |= {noun for roles in content.typical for noun in roles}
    names = [re.escape(noun) for noun in sorted(nouns) if noun[:1].isupper()]
    common = [re.escape(_LEADING_ARTICLE.sub("", noun)) for noun in sorted(nouns) if not noun[:1].isupper()]
    patterns = []
    if names:
        patterns.append(re.compile(rf"\b(?:{'|'.join(names)})\b"))
    if common:
        patterns.append(re.compile(rf"{_DETERMINER}(?:{'|'.join(common)})\b", re.IGNORECASE))
    for group, rows in sound.rows.items():
        for index, row in rows.items():
            for slot, words in row.items():
                keys: Keys = (*keys_of(group), index, slot)
                matches = [match for pattern in patterns if (match := pattern.search(words))]
                if matches:
                    what = f"'{matches[0][0]}' can also be one of the people, who would then be there twice"
                    yield Fault(keys, f"{slot}: {what}; take somebody else")
                if len(words.split()) > 1:  # a filler that is only a pronoun refers to somebody else: "He can't ..."
                    yield from (Fault(keys, f"{slot}: {what}") for what in _fixed_pronouns(words))


def _faults_of_roles(content: PairsFile, people: People, sound: SoundPart) -> Iterator[Fault]:
    """Find nouns of typical roles that are too frequent, or that do not agree with the pronouns of their type."""
    counts = Counter[str]()
    known = set[tuple[str, ...]]()
    kind = people.types.get(ROLE_NOUN_TYPE)
    templates = [template for variant in sound.variants.values() for _, template in _templates(variant)]
    has_pronouns = any(_pronouns(template, content) for template in templates)
    for position, roles in enumerate(content.typical):
        for noun in roles:
            counts[noun] += 1
            if counts[noun] > MOST_OF_A_NOUN:
                what = f"'{noun}' is in more than {MOST_OF_A_NOUN} pairs; take another, since its pairs depend on it"
                yield Fault(("typical", position), what)
            for what in unbearable(noun, ROLE_NOUN_TYPE, kind, people) if has_pronouns and kind else ():
                yield Fault(("typical", position), what)
        if roles[::-1] in known:
            what = f"'{roles[0]}' and '{roles[1]}' are listed the other way round too; keep one"
            yield Fault(("typical", position), what)
        known.add(roles)


def _beyond_contrast(variant: Variant, values: Row) -> Iterator[tuple[Keys, str]]:
    """Find contrasts in which more than one word differs, and several contrasts that do not only exchange words."""
    sides = {
        slot: (one.good.format_map(values).lower().split(), one.bad.format_map(values).lower().split())
        for slot, one in variant.contrast.items()
    }
    for slot, (good, bad) in sides.items():
        differing = [{a, b} for a, b in zip(good, bad, strict=False) if a != b]
        # A different article does not count, since the word after it decides which article is right.
        if len(good) != len(bad) or sum(not words <= {"a", "an", "the"} for words in differing) > 1:
            what = f"the members differ in more than one word of {{{slot}}}: {' '.join(good)!r} and {' '.join(bad)!r}"
            yield ("contrast", slot), f"{what}; write what both can have into the continuation"
    rights = sorted(" ".join(good) for good, _ in sides.values())
    wrongs = sorted(" ".join(bad) for _, bad in sides.values())
    if len(sides) > 1 and rights != wrongs:
        what = (
            f"the members differ in {', '.join(f'{{{slot}}}' for slot in sides)} by more than the order of the same "
            f"words: {', '.join(rights)} in the right one, {', '.join(wrongs)} in the wrong one; keep one contrast"
        )
        yield ("contrast",), what


def _repeated_frames(name: str, variant: Variant, sound: SoundPart) -> Iterator[Fault]:
    """Find frames that give the same pair of texts in a variant."""
    frames = sound.rows["frames"]
    in_contrasts = [slot for one in variant.contrast.values() for slot in slot_names(f"{one.good} {one.bad}")]
    for sentence, context in variant.contexts.items():
        shown = {*slot_names(context or ""), *slot_names(variant.continuation), *in_contrasts}
        shown &= next(iter(frames.values())).keys()  # only slots that the frames fill
        texts = ((position, " | ".join(row[slot] for slot in sorted(shown))) for position, row in frames.items())
        where = f"variant {name}" + (", the rival" if sentence == "rival" else "")
        same = list(repeated(texts)) if shown else []
        if len(same) == 1:
            position, known, _ = same[0]
            yield Fault(("frames", position), f"{where}: says the same as frame {known} (counted from 0); replace it")
        elif same:
            what = f"{listed_rows(('frames', position) for position, *_ in same)} say the same as others"
            keys = ("variants", name, *CONTEXT_KEYS[sentence])
            yield Fault(keys, f"{where}: {what}; show more of the frame here, or replace them")


def _frequent_verbs(sound: SoundPart) -> Iterator[Fault]:
    """Find verbs that are in more than `MOST_OF_A_VERB` frames."""
    frames_of: dict[str, list[int]] = {}
    for position, row in sound.rows["frames"].items():
        if VERB in row:
            frames_of.setdefault(normalised(row[VERB]), []).append(position)
    for positions in frames_of.values():
        if len(positions) > MOST_OF_A_VERB:
            verb = sound.rows["frames"][positions[MOST_OF_A_VERB]][VERB]
            where = listed_rows(("frames", position) for position in positions)
            yield Fault(
                ("frames", positions[MOST_OF_A_VERB]),
                f"the verb '{verb}' is in more than {MOST_OF_A_VERB} frames: {where}; take others, so that no verb "
                "decides much",
            )


def _unbalanced_words(content: PairsFile, people: People, sound: SoundPart) -> Iterator[Fault]:
    """Find words of the contrasts that are not right as often as wrong, over all frames, variants and sentences.

    People are counted by their position ("the first person"), not by their noun: pairs come in both orders of the two
    people, so nouns are always balanced.
    """
    pronouns = next(iter(people.pronouns.values())) if content.people else {}
    right, wrong = Counter[tuple[int, str]](), Counter[tuple[int, str]]()
    for _, values in rows_in_turns(sound):
        for variant in content.variants.values():
            for sentence, context in variant.contexts.items():
                filled = {**pronouns, **values, **_positions_of_people(content.people, context or "")}
                for position, (good, bad) in enumerate(_contrasts(variant, filled, sentence)):
                    right[position, good] += 1
                    wrong[position, bad] += 1
    unequal = [key for key in dict.fromkeys([*right, *wrong]) if right[key] != wrong[key]]
    if unequal:
        shown = ", ".join(
            f"'{word}' is right in {right[position, word]} and wrong in {wrong[position, word]}"
            for position, word in unequal[:4]
        )
        more = f" (and {len(unequal) - 4} more words)" if len(unequal) > 4 else ""
        yield Fault(
            ("variants",),
            f"the words of the contrasts are not right as often as wrong: {shown}{more} of the texts; "
            "give the variants a rival, or add variants in which the other word is right",
        )


def _positions_of_people(people: Sequence[str], context: str) -> Row:
    """Return the slot of each person -> their position in a context, such as "the first person"."""
    named = [slot for slot in dict.fromkeys(slot_names(context)) if slot in people]
    positions = ("the first person", "the second person")
    return {slot: positions[named.index(slot)] if slot in named else "somebody else" for slot in people}


def _contrasts(variant: Variant, values: Mapping[str, str], sentence: ContextKind) -> Iterator[tuple[str, str]]:
    """Yield the right and the wrong words of each contrast, in the order of the continuation."""
    for slot in slot_names(variant.continuation):
        if slot in variant.contrast:
            one = variant.contrast[slot]
            good = normalised(one.good.format_map(values))
            bad = normalised(one.bad.format_map(values))
            yield (good, bad) if sentence == "construction" else (bad, good)
