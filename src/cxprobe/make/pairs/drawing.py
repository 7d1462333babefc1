"""Items drawn so that every row and every noun is used equally often and no item comes twice."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import lcm

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Draw:
    """What an item is made of, as indices.

    Attributes:
        rows: Which row of each group, the frames first.
        people: Which nouns; as many as there are slots for people, and all different.
        pronouns: Which pronouns of the noun type.
    """

    rows: tuple[int, ...]
    people: tuple[int, ...]
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
    partners = nouns if people else groups[1] if len(groups) > 1 else 1
    n = min(wanted, groups[0] * partners)
    frames = rng.permutation(groups[0])[np.arange(n) % groups[0]]
    turns = _in_turns(groups[0], partners, n, rng)
    firsts = turns if people else np.zeros(n, dtype=np.int64)
    columns = [frames]
    for number, size in enumerate(groups[1:]):
        columns.append(turns if number == 0 and not people else _rounds(size, n, rng))
    seconds = _partners(firsts, nouns, rng) if people == 2 else firsts
    genders = _rounds(pronouns, n, rng)
    return [
        Draw(
            rows=tuple(int(column[item]) for column in columns),
            people=(int(firsts[item]), int(seconds[item]))[:people],
            pronouns=int(genders[item]),
        )
        for item in range(n)
    ]


def _in_turns(frames: int, partners: int, n: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Return a partner for each of n items so that (item mod frames, partner) never comes twice, shape (n,).

    Counting both up together meets every combination of equal remainders once in lcm(frames, partners) items; moving
    the partner on by one after each such round meets the others.
    """
    items = np.arange(n)
    order: NDArray[np.int64] = rng.permutation(partners)
    turns: NDArray[np.int64] = order[(items + items // lcm(frames, partners)) % partners]
    return turns


def _rounds(size: int, n: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Return n indices below ``size``, each used once before any is used again, shape (n,)."""
    rounds = [rng.permutation(size) for _ in range(-(-n // size))]
    return np.concatenate([np.zeros(0, dtype=np.int64), *rounds])[:n]


def _partners(firsts: NDArray[np.int64], nouns: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Return the second noun of each item: the first noun of another item of the same round, shape (n,)."""
    seconds = []
    for start in range(0, len(firsts), nouns):
        round_ = firsts[start : start + nouns]
        if len(round_) == 1:  # a round of one has no other item to take from
            seconds.append(np.array([(round_[0] + 1 + rng.integers(nouns - 1)) % nouns]))
        else:
            seconds.append(np.roll(round_, rng.integers(1, len(round_))))
    return np.concatenate([np.zeros(0, dtype=np.int64), *seconds])
