"""Sentences that a corpus has more than once, exactly or nearly: each is kept once."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from datasketch import MinHash, MinHashLSH

_WORD = re.compile(r"\w+")


class Twin(NamedTuple):
    """A sentence that goes, and the one that stays in its place; both are positions in the list."""

    position: int
    stays: int
    exact: bool


def find_duplicates(texts: Sequence[str], *, shingle: int, permutations: int, threshold: float) -> list[Twin]:
    """Find the sentences that repeat an earlier one.

    Exact means the same words, whatever their case and punctuation. Near means an estimated Jaccard similarity of
    the sets of ``shingle`` words in a row of ``threshold`` or more with a sentence that stays. The first of the
    list stays, so give them in an order that does not change.

    Source:
        Broder 1997 (MinHash), as datasketch has it; its permutations are seeded.
    """
    exact: dict[tuple[str, ...], int] = {}
    hashes: dict[int, MinHash] = {}
    index = MinHashLSH(threshold=threshold, num_perm=permutations)
    twins: list[Twin] = []
    for position, text in enumerate(texts):
        words = tuple(_WORD.findall(text.lower()))
        if words in exact:
            twins.append(Twin(position, exact[words], exact=True))
            continue
        own = _minhash(words, shingle, permutations)
        alike = [other for other in sorted(index.query(own)) if hashes[other].jaccard(own) >= threshold]
        exact[words] = alike[0] if alike else position
        if alike:
            twins.append(Twin(position, alike[0], exact=False))
        else:
            hashes[position] = own
            index.insert(position, own)
    return twins


def _minhash(words: tuple[str, ...], shingle: int, permutations: int) -> MinHash:
    minhash = MinHash(num_perm=permutations, seed=1)
    last = max(1, len(words) - shingle + 1)
    minhash.update_batch([" ".join(words[start : start + shingle]).encode() for start in range(last)])
    return minhash
