"""Pairs with pseudowords instead of content words, so that only the construction has a meaning.

pairs.yaml declares which slots hold content words. Function words are in no such slot. Pseudowords keep the endings
-ed, -ing and -s.
"""

import re
from collections.abc import Iterator
from itertools import count
from string import ascii_lowercase

import pandas as pd

from cxprobe.constructions.people import Row
from cxprobe.seeding import generator_for
from cxprobe.tasks.pairs.frames import PairsFile
from cxprobe.text import article_of

_WORD = re.compile(r"[a-z]+")
_ENDING = re.compile(r"(?<=[a-z]{3})(?:ed|ings?|(?<![ius])s)$")
# What English syllables are made of, as they are spelt; a word may begin with a vowel.
_ONSETS = [*"bcdfghjklmnprstvw", "bl", "br", "dr", "fl", "gr", "pl", "sh", "sl", "st", "th", "tr"]
_VOWELS = [*"aeiou", "ea", "ee", "oo", "ou"]
_CODAS = ["", *"bdgklmnprt", "ck", "ft", "ld", "mp", "nd", "nk", "nt", "rk", "rm", "st"]
_KNOWN = 3.0  # on the Zipf scale: what occurs once in a million words is a word, unless it has two letters


def replace_content(content: PairsFile, seed: int) -> tuple[PairsFile, pd.DataFrame]:
    """Replace every content word by random syllables of English; a word gets the same pseudoword everywhere.

    A pseudoword is as long as its word, ends in -ed, -ing or -s if the word does, and takes the same article. It is
    not a word of the frames and fillers, nor the pseudoword of another word.

    Args:
        content: Pairs, some of whose slots hold content words.
        seed: The project's seed.

    Returns:
        The pairs; and a table with one row per word: word and pseudoword.

    Source:
        Oba & Sugawara 2026, the pseudoword experiment: by Wuggy, which has to download its data, and a random string of
        the same length where it has no answer. Syllables in the place of both are our own.
    """
    slots = content.content_slots
    rows = [row for group in content.groups.values() for row in group]
    words = sorted({word for row in rows for slot in slots if slot in row for word in _WORD.findall(row[slot])})
    taken = {word.lower() for row in rows for value in row.values() for word in value.split()}
    mapping: dict[str, str] = {}
    for word in words:
        article = article_of(word)
        syllables = _random_syllables(word, seed)
        mapping[word] = next(one for one in syllables if one not in taken and article_of(one) == article)
        taken.add(mapping[word])
    table = pd.DataFrame({"word": words, "pseudoword": [*mapping.values()]})

    def replace_words(value: str) -> str:
        return _WORD.sub(lambda match: mapping[match[0]], value)

    def replaced(rows: list[Row]) -> list[Row]:
        return [{slot: replace_words(value) if slot in slots else value for slot, value in row.items()} for row in rows]

    fillers = {group: replaced(rows) for group, rows in content.fillers.items()}
    return content.model_copy(update={"frames": replaced(content.frames), "fillers": fillers}), table


def _random_syllables(word: str, seed: int) -> Iterator[str]:
    """Yield random syllables of the length of a word, with its ending; a single letter is any letter."""
    from wordfreq import zipf_frequency  # here, since it is slow to import

    known_ending = _ENDING.search(word)
    ending = known_ending[0] if known_ending else ""
    size = len(word) - len(ending)
    for attempt in count():
        rng = generator_for(seed, "pseudoword", word, attempt)
        letters = str(rng.choice(list(ascii_lowercase))) if size == 1 else ""
        while len(letters) < size:
            onsets = _ONSETS if letters else [*_ONSETS, ""]
            letters += "".join(str(rng.choice(parts)) for parts in (onsets, _VOWELS, _CODAS))
        meets = letters[-1:] in _VOWELS and ending[:1] in _VOWELS  # as in "shai" and "ed", which English avoids
        is_word = size > 2 and zipf_frequency(letters + ending, "en") >= _KNOWN
        if len(letters) == size and not (meets or is_word):
            yield letters + ending
