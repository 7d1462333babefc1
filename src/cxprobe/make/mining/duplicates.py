"""Sentences that a corpus has more than once, exactly or nearly: the first of them is kept."""

import re
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from datasketch import MinHash
from numpy.typing import NDArray

_WORD = re.compile(r"\w+")


class Twin(NamedTuple):
    """A sentence that is removed, and the one that is kept instead; both are positions in the list."""

    position: int
    stays: int
    exact: bool


def find_duplicates(texts: Sequence[str], *, shingle: int, permutations: int, threshold: float) -> list[Twin]:
    """Find the sentences that repeat an earlier one.

    Exact means the same words, whatever their case and punctuation. Near means an estimated Jaccard similarity of
    the sets of ``shingle`` words in a row of ``threshold`` or more with a sentence that is kept; all such pairs are
    found. The first of the list is kept, so the order of the texts must not change.

    With 128 permutations it takes 1 to 2 kB of memory for each text.

    Source:
        Broder 1997 (MinHash), as datasketch has it; its permutations are seeded.
    """
    rows: dict[str, int] = {}
    row_of = [rows.setdefault(" ".join(_WORD.findall(text.lower())), len(rows)) for text in texts]
    firsts = np.unique(row_of, return_index=True)[1].tolist()
    stays = _stays(_minhashes(list(rows), shingle, permutations), threshold)
    return [
        Twin(position, firsts[stays[row]], exact=position != firsts[row])
        for position, row in enumerate(row_of)
        if position != firsts[stays[row]]
    ]


def _minhashes(sentences: Sequence[str], shingle: int, permutations: int) -> NDArray[np.uint32]:
    hashes = np.empty((len(sentences), permutations), np.uint32)
    shingles = (_shingles(words.split(" "), shingle) for words in sentences)
    for row, minhash in enumerate(MinHash.generator(shingles, num_perm=permutations, seed=1)):
        hashes[row] = minhash.hashvalues
    return hashes


def _shingles(words: Sequence[str], size: int) -> list[bytes]:
    last = max(1, len(words) - size + 1)
    return [" ".join(words[start : start + size]).encode() for start in range(last)]


def _stays(hashes: NDArray[np.uint32], threshold: float) -> list[int]:
    """Return, for each sentence, the first similar one that is kept, or the sentence itself.

    Sentences are compared if all their values of some band are equal. There is one band more than two similar
    sentences may have unequal values, so they have at least one band in common.

    Args:
        hashes: Shape (n, permutations).
        threshold: The least part of equal values.

    Source:
        Manku, Jain & Das Sarma 2007, §3, for bands as pigeonholes.
    """
    count, permutations = hashes.shape
    alike = int(np.searchsorted(np.arange(permutations + 1) / permutations, threshold))  # so many values are equal
    rows, bands = _shared_bands(hashes, permutations - alike + 1)
    starts = np.searchsorted(rows, np.arange(count + 1))  # (n + 1,)
    last = np.full(bands.max(initial=-1) + 1, -1, np.int32)  # for each band, the place of the last that stays
    before = np.empty_like(rows)  # for each place, that of the one before it in its band
    stays = list(range(count))
    for row in np.unique(rows):
        own = slice(starts[row], starts[row + 1])
        others = np.unique(rows[_chained(last[bands[own]], before)])
        found = others[np.count_nonzero(hashes[others] == hashes[row], axis=1) >= alike]
        if len(found):
            stays[row] = int(found[0])
        else:
            before[own] = last[bands[own]]
            last[bands[own]] = np.arange(own.start, own.stop)
    return stays


def _shared_bands(hashes: NDArray[np.uint32], number: int) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return which sentences have equal values in which bands.

    Args:
        hashes: Shape (n, permutations).
        number: Of bands.

    Returns:
        Two arrays of shape (places,), one place for each band that a sentence has in common with others: the
        sentence's row, in order, and a name for the band with its values.
    """
    factors = np.random.default_rng(1).integers(1 << 63, size=hashes.shape[1:], dtype=np.uint64)  # (permutations,)
    rows, bands = [np.empty(0, np.int32)], [np.empty(0, np.int32)]
    named = 0
    for columns in np.array_split(np.arange(hashes.shape[1]), number):
        keys = hashes[:, columns] @ factors[columns]  # (n,); if two fall together by chance, their values are compared
        _, band, members = np.unique(keys, return_inverse=True, return_counts=True)
        shared = np.flatnonzero(members[band] > 1)
        rows.append(shared.astype(np.int32))
        bands.append((band[shared] + named).astype(np.int32))
        named += len(members)
    by_row = np.argsort(np.concatenate(rows), kind="stable")
    return np.concatenate(rows)[by_row], np.concatenate(bands)[by_row]


def _chained(places: NDArray[np.int32], before: NDArray[np.int32]) -> NDArray[np.int32]:
    """Return some places and all that come before them in their bands; -1 is none."""
    found = []
    while len(places := places[places >= 0]):
        found.append(places)
        places = before[places]
    return np.concatenate([*found, places])
