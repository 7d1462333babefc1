"""Pairs whose content words mean nothing: what is left of the meaning is the construction's.

Which slots hold content words is declared in pairs.yaml. Function words are outside these slots, and the endings
-ed and -ing are kept.
"""

import random
import re
from collections.abc import Callable, Iterable
from importlib.util import find_spec
from itertools import count
from pathlib import Path
from string import ascii_lowercase
from typing import Literal

import pandas as pd

from cxprobe.constructions.people import Row
from cxprobe.english import starts_with_vowel_sound
from cxprobe.errors import DataError
from cxprobe.pairs.frames import PairsFile
from cxprobe.seeding import generator_for, seed_for

PseudowordSource = Literal["wuggy", "random"]
# Returns pseudowords that could replace a word, the best first; none for a word it does not know.
Candidates = Callable[[str], list[str]]

LANGUAGE = "orthographic_english"
_WORD = re.compile(r"[a-z]+")
_ENDING = re.compile(r"(?<=[a-z]{3})(?:ed|ing)$")


def candidates_of(source: PseudowordSource, seed: int) -> Candidates:
    """Return what proposes pseudowords: Wuggy, or nothing, which leaves every word to a random string.

    Wuggy stops after ten seconds a word, so a slow machine may use a random string where another would not; the
    results say for which words.

    Args:
        source: "wuggy" or "random".
        seed: The project's seed.

    Raises:
        DataError: Wuggy is asked for and it or its English data is not installed. Nothing is fetched.
    """
    if source == "random":
        return lambda _: []
    spec = find_spec("wuggy")
    data = Path("plugins", "language_data", LANGUAGE, f"{LANGUAGE}.txt")
    if spec is None or spec.origin is None or not (Path(spec.origin).parent / data).is_file():
        lacking = "the package wuggy" if spec is None else "Wuggy's English data"
        raise DataError(
            f"pairs.make.pseudowords is wuggy, and {lacking} is not installed; pip install 'cxprobe[wuggy]', then "
            f'fetch the data once: python -c "from wuggy import WuggyGenerator as W; '
            f"W().download_language_plugin('{LANGUAGE}', auto_download=True)\"; or choose random"
        )
    return _wuggy(seed)


def _wuggy(seed: int) -> Candidates:
    from wuggy import WuggyGenerator  # an optional package

    generator = WuggyGenerator()
    generator.load(LANGUAGE)

    def propose(word: str) -> list[str]:
        if generator.lookup_reference_segments(word) is None:
            return []
        state = random.getstate()
        random.seed(seed_for(seed, LANGUAGE, word))  # Wuggy shuffles with the generator that all share
        try:
            matches = generator.generate_classic([word], ncandidates_per_sequence=10)
        finally:
            random.setstate(state)
        return [match["pseudoword"] for match in matches]

    return propose


def replace_content(content: PairsFile, propose: Candidates, seed: int) -> tuple[PairsFile, pd.DataFrame]:
    """Replace every content word by a pseudoword, the same for the same word everywhere.

    A pseudoword is as long as its word, ends in -ed or -ing if the word does, takes the same article, and is neither a
    word of these pairs nor another's pseudoword. A word for which ``propose`` has no fitting answer gets a random
    string.

    Args:
        content: Pairs, some of whose slots hold content words.
        propose: Gives pseudowords for a word.
        seed: The project's seed.

    Returns:
        The pairs; and one row a word: word, pseudoword, and the source that gave it, "wuggy" or "random".

    Source:
        Oba & Sugawara 2026, the pseudoword experiment: Wuggy, and a random string of the same length where it has no
        answer.
    """
    slots = content.content_slots
    rows = [row for group in content.groups.values() for row in group]
    words = sorted({word for row in rows for slot in slots if slot in row for word in _WORD.findall(row[slot])})
    taken = {word.lower() for row in rows for value in row.values() for word in value.split()}
    mapping: dict[str, str] = {}
    sources: list[PseudowordSource] = []
    for word in words:
        fitting = [one for one in propose(word) if _fits(one, word, taken)]
        sources.append("wuggy" if fitting else "random")
        mapping[word] = fitting[0] if fitting else next(one for one in _strings(word, seed) if _fits(one, word, taken))
        taken.add(mapping[word])
    table = pd.DataFrame({"word": words, "pseudoword": [mapping[word] for word in words], "source": sources})

    def replaced(rows: list[Row]) -> list[Row]:
        return [
            {
                slot: _WORD.sub(lambda word: mapping[word[0]], value) if slot in slots else value
                for slot, value in row.items()
            }
            for row in rows
        ]

    fillers = {group: replaced(rows) for group, rows in content.fillers.items()}
    return content.model_copy(update={"frames": replaced(content.frames), "fillers": fillers}), table


def _fits(candidate: str, word: str, taken: Iterable[str]) -> bool:
    return (
        candidate not in taken
        and len(candidate) == len(word)
        and candidate.endswith(_ending(word))
        and starts_with_vowel_sound(candidate) == starts_with_vowel_sound(word)
    )


def _strings(word: str, seed: int) -> Iterable[str]:
    """Yield random strings as long as a word, each with the word's ending."""
    ending = _ending(word)
    for attempt in count():
        rng = generator_for(seed, "pseudoword", word, attempt)
        yield "".join(rng.choice(list(ascii_lowercase), size=len(word) - len(ending))) + ending


def _ending(word: str) -> str:
    ending = _ENDING.search(word)
    return ending[0] if ending else ""
