"""The faults that rules find in files, and the rules that several tasks share."""

import re
from collections.abc import Hashable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple, TypeVar

from cxprobe.constructions.people import People
from cxprobe.files.reading import line_of

Keys = tuple[str | int, ...]


class Fault(NamedTuple):
    """Something in a file that breaks a rule.

    Attributes:
        keys: The way to it from the top of the file.
        what: What is wrong, the value, and what to do.
    """

    keys: Keys
    what: str

    def below(self, *keys: str | int) -> "Fault":
        """Return the fault with the way to it from further up."""
        return Fault((*keys, *self.keys), self.what)


def with_lines(path: Path, faults: Iterable[Fault]) -> list[str]:
    """Return each fault once, as a line with its file and its place there, in the order of the file.

    Args:
        path: The file that they are in; it can be read as YAML.
        faults: The faults.
    """
    numbered = sorted((line_of(path, *fault.keys), fault.what) for fault in set(faults))
    return [f"{path}, line {line}: {what}" for line, what in numbered]


K = TypeVar("K", bound=Hashable)

_NOT_WORDS = re.compile(r"[^\w'’{}]+")

PRONOUNS: Mapping[str, frozenset[str]] = {
    "he": frozenset({"he", "him", "his", "himself"}),
    "she": frozenset({"she", "her", "hers", "herself"}),
}
"""Pronoun -> its forms."""
OTHER_GENDER = {"he": "she", "she": "he"}
_FEMININE = """
    abbess actress aunt ballerina baroness bride countess daughter daughter-in-law duchess empress girl girlfriend
    goddess godmother grandma granddaughter grandmother granny heiress heroine hostess lady landlady mother
    mother-in-law mum niece nun princess queen schoolgirl seamstress sister sister-in-law stepdaughter stepmother
    waitress widow wife witch woman"""
_MASCULINE = """
    abbot baron boy boyfriend bridegroom brother brother-in-law count dad daddy duke emperor father father-in-law
    gentleman godfather grandad grandfather grandpa grandson groom husband king man monk nephew prince
    schoolboy son son-in-law stepfather stepson uncle widower wizard"""
GENDERED: Mapping[str, str] = dict.fromkeys(_FEMININE.split(), "she") | dict.fromkeys(_MASCULINE.split(), "he")
"""Nouns that only women bear, or only men: noun -> its pronoun. Nouns in -man are borne by both often enough."""


def normalised(text: str) -> str:
    """Return the words of a text in lower case, without punctuation."""
    return " ".join(_NOT_WORDS.sub(" ", text.lower()).split())


def repeated(texts: Iterable[tuple[K, str]]) -> Iterator[tuple[K, K, str]]:
    """Yield each text that repeats an earlier one: its key, the earlier one's, and the text."""
    first: dict[str, K] = {}
    for key, text in texts:
        known = first.setdefault(normalised(text), key)
        if known != key:
            yield key, known, text


def gender_of(noun_phrase: str) -> str | None:
    """Return "he" or "she" for a noun phrase whose last noun only men or only women bear, else None."""
    words = normalised(noun_phrase).split()
    return GENDERED.get(words[-1]) if words else None


def lint_people(people: People) -> Iterator[Fault]:
    """Yield the faults of nouns in the lexicon that cannot take the pronouns of their type."""
    for name, kind in people.types.items():
        for position, noun in enumerate(kind.nouns):
            other = OTHER_GENDER.get(gender_of(noun) or "")
            for row in kind.pronouns:
                if other in people.pronouns[row].values():
                    what = (
                        f"'{noun}' would be called '{other}', since people of the type {name} get the pronouns {row}; "
                        "take a noun for both women and men"
                    )
                    yield Fault(("types", name, "nouns", position), what)
