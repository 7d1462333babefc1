"""Pairs with pseudowords instead of content words, so that only the construction has a meaning.

pairs.yaml declares which slots hold content words. Function words are in no such slot. Pseudowords keep the endings
-ed, -ing and -s.
"""

import random
import re
from collections.abc import Callable, Collection, Iterator
from importlib.util import find_spec
from itertools import count
from pathlib import Path
from string import ascii_lowercase
from typing import Literal

import pandas as pd

from cxprobe.constructions.people import Row
from cxprobe.errors import DataError
from cxprobe.seeding import generator_for, seed_for
from cxprobe.tasks.pairs.frames import PairsFile
from cxprobe.text.english import article_of

PseudowordSource = Literal["wuggy", "random"]
Candidates = Callable[[str], list[str]]
"""Returns pseudowords for a word, the best first; none for an unknown word."""

LANGUAGE = "orthographic_english"
_WORD = re.compile(r"[a-z]+")
_ENDING = re.compile(r"(?<=[a-z]{3})(?:ed|ings?|(?<![ius])s)$")
# What English syllables are made of, as they are spelt; a word may begin with a vowel.
_ONSETS = [*"bcdfghjklmnprstvw", "bl", "br", "dr", "fl", "gr", "pl", "sh", "sl", "st", "th", "tr"]
_VOWELS = [*"aeiou", "ea", "ee", "oo", "ou"]
_CODAS = ["", *"bdgklmnprt", "ck", "ft", "ld", "mp", "nd", "nk", "nt", "rk", "rm", "st"]
_KNOWN = 3.0  # on the Zipf scale: what occurs once in a million words is a word, unless it has two letters


def candidates_of(source: PseudowordSource, seed: int) -> Candidates:
    """Return a function that proposes pseudowords: from Wuggy, or none, so that every word gets random syllables.

    Wuggy stops after ten seconds per word, so on a slow machine more words may get random syllables. The results
    name the source of each pseudoword.

    Args:
        source: "wuggy" or "random".
        seed: The project's seed.

    Raises:
        DataError: The source is "wuggy"; see `require_wuggy`.
    """
    if source == "random":
        return lambda _: []
    require_wuggy()
    from wuggy import WuggyGenerator  # an optional package

    generator = WuggyGenerator()
    generator.load(LANGUAGE)

    def propose(word: str) -> list[str]:
        if generator.lookup_reference_segments(word) is None:
            return []
        state = random.getstate()
        random.seed(seed_for(seed, LANGUAGE, word))  # Wuggy shuffles with the global generator
        try:
            matches = generator.generate_classic([word], ncandidates_per_sequence=10)
        finally:
            random.setstate(state)
        return [match["pseudoword"] for match in matches]

    return propose


def require_wuggy() -> None:
    """Check, without importing it, that Wuggy can propose English pseudowords.

    Raises:
        DataError: Wuggy or its English data is not installed. Nothing is downloaded.
    """
    spec = find_spec("wuggy")
    data = Path("plugins", "language_data", LANGUAGE, f"{LANGUAGE}.txt")
    if spec is None or spec.origin is None or not (Path(spec.origin).parent / data).is_file():
        lacking = "the package wuggy" if spec is None else "Wuggy's English data"
        raise DataError(
            f"pairs.make.pseudowords is wuggy, and {lacking} is not installed; pip install 'cxprobe[wuggy]', then "
            f'fetch the data once: python -c "from wuggy import WuggyGenerator as W; '
            f"W().download_language_plugin('{LANGUAGE}', auto_download=True)\"; or choose random"
        )


def replace_content(content: PairsFile, propose: Candidates, seed: int) -> tuple[PairsFile, pd.DataFrame]:
    """Replace every content word by a pseudoword; a word gets the same pseudoword everywhere.

    A pseudoword is as long as its word, ends in -ed, -ing or -s if the word does, and takes the same article. It is
    not a word of the frames and fillers, nor the pseudoword of another word. A word for which ``propose`` returns
    nothing that fits gets random syllables of English.

    Args:
        content: Pairs, some of whose slots hold content words.
        propose: Proposes pseudowords for a word, see `candidates_of`.
        seed: The project's seed.

    Returns:
        The pairs; and a table with one row per word: word, pseudoword, and its source, "wuggy" or "random".

    Source:
        Oba & Sugawara 2026, the pseudoword experiment: Wuggy, and a random string of the same length where it has no
        answer. Syllables in the place of random letters are our own.
    """
    slots = content.content_slots
    rows = [row for group in content.groups.values() for row in group]
    words = sorted({word for row in rows for slot in slots if slot in row for word in _WORD.findall(row[slot])})
    taken = {word.lower() for row in rows for value in row.values() for word in value.split()}
    mapping: dict[str, str] = {}
    sources: list[PseudowordSource] = []
    for word in words:
        proposed = next((candidate for candidate in propose(word) if _fits(candidate, word, taken)), "")
        sources.append("wuggy" if proposed else "random")
        mapping[word] = proposed or next(one for one in _random_syllables(word, seed) if _fits(one, word, taken))
        taken.add(mapping[word])
    table = pd.DataFrame({"word": words, "pseudoword": [*mapping.values()], "source": sources})

    def replace_words(value: str) -> str:
        return _WORD.sub(lambda match: mapping[match[0]], value)

    def replaced(rows: list[Row]) -> list[Row]:
        return [{slot: replace_words(value) if slot in slots else value for slot, value in row.items()} for row in rows]

    fillers = {group: replaced(rows) for group, rows in content.fillers.items()}
    return content.model_copy(update={"frames": replaced(content.frames), "fillers": fillers}), table


def _fits(candidate: str, word: str, taken: Collection[str]) -> bool:
    return (
        candidate not in taken
        and len(candidate) == len(word)
        and candidate.endswith(_ending(word))
        and article_of(candidate) == article_of(word)
    )


def _random_syllables(word: str, seed: int) -> Iterator[str]:
    """Yield random syllables of the length of a word, with its ending; a single letter is any letter."""
    from wordfreq import zipf_frequency  # here, since it is slow to import

    ending = _ending(word)
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


def _ending(word: str) -> str:
    ending = _ENDING.search(word)
    return ending[0] if ending else ""
