"""Rules for minimal pairs: members differ only in the contrast, and only the construction decides which is right."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from cxprobe.constructions.checking import Fault, Keys, normalised, repeated
from cxprobe.constructions.people import PRONOUNS, People, Row
from cxprobe.tasks.pairs.frames import VERB, ContextKind, PairsFile, faults_of_pairs, fill_variant, keys_of
from cxprobe.text import faults_of_text, slots_of

MOST_OF_A_VERB = 2
"""The most frames that may have the same verb."""
FRAMES_TO_BALANCE = 10
"""With fewer frames, the balance of right and wrong words is not checked."""
_LEADING_ARTICLE = re.compile(r"^(?:the|an?) ")
_DETERMINER = r"\b(?:the|an?|his|her|their|my|our|your|its|this|that|some) "
_POSITIONS = ("Person1", "Person2")  # in the order in which a context names them


class _Rendered(NamedTuple):
    """A pair of texts: of a variant and a kind of context, and of the row that stands there for the first time."""

    variant: str
    sentence: ContextKind
    row: Keys
    context: str
    good: str
    bad: str

    def differing(self) -> list[tuple[str, str]]:
        """Return the right and the wrong word at each place where the two members differ."""
        words = zip(normalised(self.good).split(), normalised(self.bad).split(), strict=False)
        return [(good, bad) for good, bad in words if good != bad]


def lint_pairs(content: PairsFile, people: People) -> list[Fault]:
    """Find everything that is wrong with the pairs of a construction.

    Args:
        content: Its pairs.yaml.
        people: The nouns.

    Returns:
        The faults because of which pairs cannot be made (`faults_of_pairs`). If there are none: rows and templates that
        name other people, or people of one gender; a verb that is too frequent; and, in the rendered pairs, what is
        wrong with a text (`faults_of_text`), members that differ in more than the contrast, the same pair twice, and
        words that are not right as often as wrong (of pairs that do not test form and have at least `FRAMES_TO_BALANCE`
        frames).
    """
    if faults := list(faults_of_pairs(content, people)):
        return faults
    faults = [*_other_people(content, people), *_frequent_verbs(content)]
    pronouns = list(people.pronouns.values()) if content.people else [{}]
    rendered = list(_rendered(content, pronouns, content.groups))
    found = [*_faults_of_texts(rendered), *_faults_of_nouns(content, people)]
    found += _repeated_frames(content, list(_rendered(content, pronouns[:1], {"frames": content.frames})))
    if content.tests != "form" and len(content.frames) >= FRAMES_TO_BALANCE and not found:
        found += _unbalanced_words(rendered)
    return faults + found


def _rendered(content: PairsFile, pronouns: Sequence[Row], groups: Mapping[str, Sequence[Row]]) -> Iterator[_Rendered]:
    """Render each variant with every row of some groups at least once, beside the first rows of the others.

    People are called by their place, and pronouns take turns.
    """
    longest = max(groups, key=lambda group: len(groups[group]))
    for name, variant in content.variants.items():
        for sentence, context in variant.contexts.items():
            named = [slot for slot in dict.fromkeys(slots_of(context or "")) if slot in content.people]
            persons = dict.fromkeys(content.people, "Somebody") | dict(zip(named, _POSITIONS, strict=False))
            for turn in range(len(groups[longest])):
                values = content.first_words | pronouns[turn % len(pronouns)] | persons
                for rows in groups.values():
                    values |= rows[turn % len(rows)]
                yield _Rendered(name, sentence, (*keys_of(longest), turn), *fill_variant(variant, values, sentence))


def _faults_of_texts(rendered: Sequence[_Rendered]) -> Iterator[Fault]:
    """Find texts with a fault, and members that differ in more than one word, but for the order of the same words.

    A fault with several rows is reported once, for the variant; with one row alone it is reported for the row.
    """
    known: dict[tuple[str, ContextKind], list[tuple[Keys, str]]] = {}
    for pair in rendered:
        texts = [f"{pair.context} {member}".strip() for member in (pair.good, pair.bad)]
        found = [what for text in texts for what in faults_of_text(text)]
        # A different article does not count, since the word after it decides which article is right.
        differing = [words for words in pair.differing() if not {*words} <= {"a", "an", "the"}]
        right, wrong = (sorted(normalised(text).split()) for text in (pair.good, pair.bad))
        if pair.good == pair.bad:
            found.append("the two members do not differ")
        elif len(right) != len(wrong) or (len(differing) > 1 and right != wrong):
            found.append(f"the members differ in more than one word: {pair.good!r} and {pair.bad!r}")
        if found:
            known.setdefault((pair.variant, pair.sentence), []).append((pair.row, found[0]))
    for (variant, sentence), ((row, what), *others) in known.items():
        where = f"variant {variant}" + (", the rival" if sentence == "rival" else "")
        more = f" (so with {len(others)} more rows)" if others else ""
        yield Fault(("variants", variant) if others else row, f"{where}: {what}{more}")


def _faults_of_nouns(content: PairsFile, people: People) -> Iterator[Fault]:
    """Find faults of texts that the nouns of a type bring with them, such as a second article."""
    for kind in people.types.values() if content.people else ():
        persons = dict(zip(content.people, kind.nouns, strict=False))
        values = content.first_words | people.pronouns[kind.pronouns[0]] | persons
        for name, variant in content.variants.items():
            for sentence in variant.contexts:
                context, good, _ = fill_variant(variant, values, sentence)
                for what in faults_of_text(f"{context} {good}".strip()):
                    yield Fault(("variants", name), f"variant {name}: {what}; people bring their own article")


def _repeated_frames(content: PairsFile, pairs: Sequence[_Rendered]) -> Iterator[Fault]:
    """Find variants that do not show what tells two frames, or a sentence and its rival, apart."""
    for name, variant in content.variants.items():
        if not any({*slots_of(template)} & content.frames[0].keys() for _, template in variant.templates()):
            continue
        texts = []
        for pair in pairs:
            if pair.variant == name:
                members = " | ".join(sorted((pair.good, pair.bad)))
                texts.append(((pair.sentence, pair.row), f"{pair.context} | {members}"))
        positions = list(dict.fromkeys(str(row[-1]) for (_, row), *_ in repeated(texts)))
        if positions:
            what = f"frames {', '.join(positions[:5])}{' ...' * (len(positions) > 5)} say the same as others"
            yield Fault(("variants", name), f"variant {name}: {what}; replace them, or show more of them in it")


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
    names = "|".join(re.escape(noun) for noun in sorted(nouns) if noun[:1].isupper())
    common = "|".join(re.escape(_LEADING_ARTICLE.sub("", noun)) for noun in sorted(nouns) if not noun[:1].isupper())
    person = re.compile(rf"\b(?:{names or '(?!)'})\b|(?i:{_DETERMINER}(?:{common or '(?!)'})\b)")
    for group, rows in content.groups.items():
        for position, row in enumerate(rows):
            for slot, words in row.items():
                if match := person.search(words):
                    what = f"'{match[0]}' can also be one of the people, who would then be there twice"
                    yield Fault((*keys_of(group), position, slot), f"{slot}: {what}; take somebody else")


def _frequent_verbs(content: PairsFile) -> Iterator[Fault]:
    """Find verbs that are in more than `MOST_OF_A_VERB` frames."""
    counts = Counter(normalised(row[VERB]) for row in content.frames if VERB in row)
    for verb, number in counts.items():
        if number > MOST_OF_A_VERB:
            what = f"the verb '{verb}' is in {number} frames, and may be in {MOST_OF_A_VERB}; take others"
            yield Fault(("frames",), f"{what}, so that no verb decides much")


def _unbalanced_words(rendered: Sequence[_Rendered]) -> Iterator[Fault]:
    """Find words of the contrasts that are not right as often as wrong, over all frames, variants and sentences.

    People are counted by their place in a context, not by their noun: pairs come in both orders of the two people, so
    nouns are always balanced.
    """
    balance = Counter[tuple[int, str]]()  # place among the contrasts and word -> how much more often right than wrong
    for pair in rendered:
        for place, (good, bad) in enumerate(pair.differing()):
            balance[place, good] += 1
            balance[place, bad] -= 1
    unequal = []
    for (_, word), more in balance.items():
        if more:
            unequal.append(f"'{word}' is {'right' if more > 0 else 'wrong'} {abs(more)} times more")
    if unequal:
        shown = ", ".join(unequal[:4]) + f" and {len(unequal) - 4} more words" * (len(unequal) > 4)
        what = f"the words of the contrasts are not right as often as wrong: {shown}"
        remedy = "give the variants a rival, or add variants in which the other word is right"
        yield Fault(("variants",), f"{what}; {remedy}")
