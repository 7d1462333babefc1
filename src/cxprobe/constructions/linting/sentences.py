"""What several rules ask of texts: whether two say the same, whether articles and pronouns fit."""

import re
from collections.abc import Hashable, Iterable, Iterator, Mapping
from typing import TypeVar

from cxprobe.english import wrong_articles

K = TypeVar("K", bound=Hashable)

_NOT_WORDS = re.compile(r"[^\w'’{}]+")
_TWO_ARTICLES = re.compile(r"(?<![\w/])(?:an?|the) (?:a|an|the)\b(?! la\b| posteriori\b| priori\b)", re.IGNORECASE)

PRONOUNS: Mapping[str, frozenset[str]] = {
    "he": frozenset({"he", "him", "his", "himself"}),
    "she": frozenset({"she", "her", "hers", "herself"}),
}
"""Pronoun -> its forms; those that only a man, or only a woman, can bear."""
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


def words_of(text: str) -> list[str]:
    """Return the words of a text in lower case."""
    return normalised(text).split()


def repeated(texts: Iterable[tuple[K, str]]) -> Iterator[tuple[K, K, str]]:
    """Give each text that says the same as an earlier one: its key, the earlier one's, and the text."""
    first: dict[str, K] = {}
    for key, text in texts:
        known = first.setdefault(normalised(text), key)
        if known != key:
            yield key, known, text


def article_faults(text: str) -> Iterator[str]:
    """Give what is wrong with the articles of a text."""
    for wrong in dict.fromkeys(wrong_articles(text)):
        yield f"{wrong!r} has the wrong article; write {_other_article(wrong)!r}"
    for two in dict.fromkeys(_TWO_ARTICLES.findall(text)):
        yield f"{two!r} is two articles in a row; take one out"


def gender_of(noun_phrase: str) -> str | None:
    """Return "he" or "she" for a noun phrase whose last noun only men or only women bear, else None."""
    words = words_of(noun_phrase)
    return GENDERED.get(words[-1]) if words else None


def _other_article(wrong: str) -> str:
    article, rest = wrong.split(maxsplit=1)
    return f"{article + 'n' if article in ('a', 'A') else article[:1]} {rest}"
