"""Minimal pairs made: items drawn from a construction's rows, in every variant and order.

With pseudowords instead of content words only the construction has a meaning. pairs.yaml declares which slots hold
content words. Function words are in no such slot. Pseudowords keep the endings -ed, -ing and -s.
"""

import hashlib
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import count
from math import lcm
from string import ascii_lowercase
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from cxprobe.constructions.construction import PEOPLE_FILE, ROLE_NOUN_TYPE, NounType, People, Row, load_people
from cxprobe.errors import DataError
from cxprobe.files.tables import write_table
from cxprobe.files.writing import DATA
from cxprobe.models.texts import Pair, pair_table
from cxprobe.run.stage import Outcome, Stage
from cxprobe.seeding import generator_for
from cxprobe.tasks.pairs.benchmarks import read_benchmark
from cxprobe.tasks.pairs.frames import PairsFile, fill_variant, load_pairs, pairs_file, with_contrasts
from cxprobe.tasks.pairs.params import MakePairs, PairsStage
from cxprobe.tasks.pairs.sources import folder_of, unbalanced_cells
from cxprobe.text import article_of, faults_of_text

_WORD = re.compile(r"[a-z]+")
_ENDING = re.compile(r"(?<=[a-z]{3})(?:ed|ings?|(?<![ius])s)$")
# What English syllables are made of, as they are spelt; a word may begin with a vowel.
_ONSETS = [*"bcdfghjklmnprstvw", "bl", "br", "dr", "fl", "gr", "pl", "sh", "sl", "st", "th", "tr"]
_VOWELS = [*"aeiou", "ea", "ee", "oo", "ou"]
_CODAS = ["", *"bdgklmnprt", "ck", "ft", "ld", "mp", "nd", "nk", "nt", "rk", "rm", "st"]
_KNOWN = 3.0  # on the Zipf scale: what occurs once in a million words is a word, unless it has two letters
NO_TYPE = "none"  # the noun type of pairs without people
_SAMPLE = 10  # rows; a group of fewer, such as two modals, is part of the design and no sample of words


class Draw(NamedTuple):
    """The rows, people and pronouns of an item, as indices.

    Attributes:
        rows: Which row of each group, the frames first.
        people: Which nouns; as many as there are slots for people, and all different.
        pronouns: Which pronouns of the noun type.
    """

    rows: Sequence[int]
    people: Sequence[int]
    pronouns: int


def draw_items(
    groups: Sequence[int], nouns: int, people: int, pronouns: int, wanted: int, rng: np.random.Generator
) -> list[Draw]:
    """Draw items in which everything is used equally often: no count differs from another by more than 1.

    The frames take turns with the nouns (or, without people, with the first group of fillers) so that no two items
    have both in common; that bounds how many there can be. The second noun of an item is the first noun of another,
    so a noun is as often the second as the first.

    Args:
        groups: How many rows each group has, the frames first.
        nouns: How many nouns there are; at least 2 for two people.
        people: How many of them an item has: 0, 1 or 2.
        pronouns: How many sets of pronouns can refer to the nouns.
        wanted: How many items to draw.
        rng: The generator.

    Returns:
        The items; fewer than ``wanted`` if there are not enough distinct ones.
    """
    partners = nouns if people else [*groups, 1][1]
    n = min(wanted, groups[0] * partners)
    items = np.arange(n)
    frames = rng.permutation(groups[0])[items % groups[0]]
    # A partner for each item so that (item mod frames, partner) never comes twice: counting both up together meets
    # every combination of equal remainders once in lcm(frames, partners) items; moving the partner on by one after
    # each such round meets the others.
    turns = rng.permutation(partners)[(items + items // lcm(groups[0], partners)) % partners]  # (n,)
    columns = [frames]
    for number, size in enumerate(groups[1:]):
        columns.append(turns if number == 0 and not people else _rounds(size, n, rng))
    persons = [turns, _partners(turns, nouns, rng)] if people == 2 else [turns][:people]
    rows, drawn = np.column_stack(columns).tolist(), np.reshape(persons, (people, n)).T.tolist()
    return [Draw(*item) for item in zip(rows, drawn, _rounds(pronouns, n, rng).tolist(), strict=True)]


def _rounds(size: int, n: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Return n indices below ``size``, each used once before any is used again, shape (n,)."""
    rounds = [rng.permutation(size) for _ in range(-(-n // size))]
    return np.concatenate(rounds)[:n]


def _partners(firsts: NDArray[np.int64], nouns: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Return the second noun of each item: the first noun of another item of the same round, shape (n,)."""
    seconds = []
    for start in range(0, len(firsts), nouns):
        round_ = firsts[start : start + nouns]
        if len(round_) == 1:  # a round of one has no other item to take from
            seconds.append((round_ + 1 + rng.integers(nouns - 1)) % nouns)
        else:
            seconds.append(np.roll(round_, rng.integers(1, len(round_))))
    return np.concatenate(seconds)


def render_pairs(
    name: str,
    content: PairsFile,
    people: People,
    pairs_per_condition: int,
    seed: int,
    words: str = "real",
) -> list[Pair]:
    """Draw ``pairs_per_condition`` items for every noun type and ask about each in every variant and order.

    Switched means that the two people are exchanged in everything that is said of them: the continuations stay the
    same two, and the one that was right is wrong. A variant with a rival is asked after both sentences. Where the
    construction gives people in typical roles, the common nouns are these, so that an exchange turns the roles round.

    Args:
        name: The construction's folder, or its name with "-form" (`cxprobe.tasks.pairs.frames.pairs_file`).
        content: Its pairs.
        people: The nouns.
        pairs_per_condition: Items per noun type: pairs in a cell, one variant in one order; fewer where there are not
            so many, such as of frames with other fillers where a variant shows no filler.
        seed: The project's seed.
        words: "real", or "pseudo" if the content's words have been replaced; draws do not depend on it.

    Returns:
        Every pair once.

    Raises:
        DataError: Two pairs of one cell are the same, the members of a pair do not differ, or an article is wrong.

    Source:
        Oba & Sugawara 2026 for the design: variants, noun types, switching and 300 items a cell.
    """
    pairs: list[Pair] = []
    nothing = NounType(pronouns=["none"], nouns=["none", "no one"])
    groups = [len(rows) for rows in content.groups.values()]
    known: set[tuple[str, ...]] = set()
    for kind, nouns in (people.types if content.people else {NO_TYPE: nothing}).items():
        rng = generator_for(seed, name, kind)
        typical = content.typical if kind == ROLE_NOUN_TYPE else []  # two people who are drawn together
        number, seats = (len(typical), 1) if typical else (len(nouns.nouns), len(content.people))
        frames = set[int]()
        for draw in draw_items(groups, number, seats, len(nouns.pronouns), pairs_per_condition, rng):
            persons = typical[draw.people[0]] if typical else [nouns.nouns[index] for index in draw.people]
            pronouns = people.pronouns[nouns.pronouns[draw.pronouns]] if content.people else {}
            of_item = [*_pairs_of_item(name, content, words, kind, draw.rows, pronouns, persons)]
            keys = {(*pair.groups.values(), pair.context, pair.good, pair.bad): pair for pair in of_item}
            twice = [pair for key, pair in keys.items() if key in known]
            if twice and (content.people or draw.rows[0] not in frames):
                raise DataError(
                    f"{name}: variant {twice[0].groups['variant']} has the pair {twice[0].context + twice[0].good!r} "
                    "twice; two rows of its pairs.yaml differ in nothing that the variant shows"
                )
            if not twice:
                pairs += of_item
            known |= keys.keys()
            frames.add(draw.rows[0])
    return pairs


def _pairs_of_item(
    name: str,
    content: PairsFile,
    words: str,
    kind: str,
    rows: Sequence[int],
    pronouns: Mapping[str, str],
    persons: Sequence[str],
) -> Iterator[Pair]:
    """Yield the pairs of an item: of the row of each group and the people in the order of their slots."""
    values: dict[str, str] = {}
    clusters = {"frame": f"{name} {rows[0]}"}
    for (group, known), row in zip(content.groups.items(), rows, strict=True):
        values |= known[row]
        if group != "frames" and len(known) >= _SAMPLE:
            clusters[group] = f"{name} {group} {row}"
    values |= pronouns
    item = _hash(name, words, kind, *values.values(), *persons)
    clusters |= {f"noun{number}": noun for number, noun in enumerate(persons, start=1)}
    for variant_name, variant in content.variants.items():
        wording = " / ".join(sorted(with_contrasts(variant, side) for side in ("good", "bad")))
        for order in ("original", "switched") if content.switched else ("original",):
            seats = content.people if order == "original" else content.people[::-1]
            filled = values | dict(zip(seats, persons, strict=True))
            for sentence in variant.contexts:
                context, good, bad = fill_variant(variant, filled, sentence)
                _check_sound(name, variant_name, context, good, bad)
                gap = " " if context else ""
                yield Pair(
                    id=f"{name}-{_hash(item, variant_name, order, context, good, bad)}",
                    item=f"{name}-{item}",
                    context=context,
                    good=gap + good,
                    bad=gap + bad,
                    groups={
                        "construction": name,
                        "tests": content.tests,
                        "words": words,
                        "variant": variant_name,
                        "origin": variant.origin_of(sentence),
                        "sentence": sentence,
                        "noun_type": kind,
                        "order": order,
                    },
                    clusters=clusters | {"wording": f"{name} {wording}"},
                )


def _check_sound(name: str, variant: str, context: str, good: str, bad: str) -> None:
    """Refuse what only a combination of rows causes; `cxprobe check` puts each row beside some others alone."""
    where = f"{pairs_file(name)}, variant {variant}"
    if good == bad:
        raise DataError(f"{where}: {good!r} is both the right and the wrong member; rows of two groups give one word")
    for text in (f"{context} {good}".strip(), f"{context} {bad}".strip()):
        for what in faults_of_text(text):
            raise DataError(f"{where}: {text!r}: {what}")


def _hash(*parts: str) -> str:
    return hashlib.blake2b("\x1f".join(parts).encode(), digest_size=8).hexdigest()


def replace_content(content: PairsFile, seed: int) -> PairsFile:
    """Replace every content word by random syllables of English; a word gets the same pseudoword everywhere.

    A pseudoword is as long as its word, ends in -ed, -ing or -s if the word does, and takes the same article. It is
    not a word of the frames and fillers, nor the pseudoword of another word.

    Args:
        content: Pairs, some of whose slots hold content words.
        seed: The project's seed.

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

    def replace_words(value: str) -> str:
        return _WORD.sub(lambda match: mapping[match[0]], value)

    def replaced(rows: list[Row]) -> list[Row]:
        return [{slot: replace_words(value) if slot in slots else value for slot, value in row.items()} for row in rows]

    fillers = {group: replaced(rows) for group, rows in content.fillers.items()}
    return content.model_copy(update={"frames": replaced(content.frames), "fillers": fillers})


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


def build_pairs(name: str, content: PairsFile, people: People, settings: MakePairs, seed: int) -> pd.DataFrame:
    """Return the pairs of a construction, also those with pseudowords, as a table (`pair_table`).

    Args:
        name: The construction's folder.
        content: Its pairs.
        people: The nouns.
        settings: How many pairs a cell gets, and how many with pseudowords.
        seed: The project's seed.

    Raises:
        DataError: See `render_pairs`.
    """
    pairs = render_pairs(name, content, people, getattr(settings.pairs_per_condition, content.tests), seed)
    if settings.pseudowords and content.content_slots:
        replaced = replace_content(content, seed)
        pairs += render_pairs(name, replaced, people, settings.pseudowords, seed, "pseudo")
    return pair_table(pairs)


def make(stage: Stage[PairsStage]) -> Outcome:
    """Make the pairs of every construction, and read those of benchmarks."""
    section, seed = stage.params.pairs, stage.params.seed
    people, how = load_people(stage.use(PEOPLE_FILE)), section.make
    counts = Counter[str](constructions=len(section.constructions))
    tables, own = {}, []
    for name in section.constructions:
        stage.use(pairs_file(name))
        content = load_pairs(name, people)
        pairs = build_pairs(name, content, people, how, seed)
        write_table(pairs, stage.data / f"{name}.parquet")
        own.append(pairs)
        wanted = {"real": getattr(how.pairs_per_condition, content.tests), "pseudo": how.pseudowords}
        cells = pairs.groupby(["words", "variant", "sentence", "noun_type", "order"]).size()
        not_filled = int((cells < cells.index.get_level_values("words").map(wanted)).sum())
        counts.update(pairs=len(pairs), items=pairs["item"].nunique(), cells_not_filled=not_filled)
    if own:
        of_all = pd.concat(own, ignore_index=True)
        tables = {"unbalanced": unbalanced_cells(of_all[of_all["words"] == "real"])}
    for name, benchmark in section.benchmarks.items():
        others = read_benchmark(stage.use(DATA / "benchmarks" / name), benchmark)
        write_table(others, stage.data / folder_of(name).with_suffix(".parquet"))
        counts |= {
            f"{name}.pairs": len(others),
            f"{name}.items": others["item"].nunique(),
            f"{name}.identical": int((others["good"] == others["bad"]).sum()),  # they tie under any model
        }
    return Outcome(counts=counts, tables=tables)
