"""A smaller vocabulary out of a larger one, so that a small model keeps the embeddings that it starts with."""

import json
import string
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cxprobe.errors import DataError

CONTINUES = "##"  # what marks a WordPiece that does not begin a word
# Books have typographic quotes where most other text, and every benchmark, has the keyboard's.
_STRAIGHTENED = {"“": '"', "”": '"', "‘": "'", "’": "'"}


@dataclass(frozen=True)
class Vocabulary:
    """The pieces of a trimmed vocabulary, in the order of their new ids.

    Attributes:
        pieces: The piece of each id.
        origins: The old ids of each piece: its own, or, for a word that was none, those of the pieces it was cut into.
    """

    pieces: list[str]
    origins: list[list[int]]

    def trim(self, embeddings: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the embeddings of the new ids; a word that was not a piece gets the mean of those it was cut into.

        Args:
            embeddings: (old ids, dimensions).

        Returns:
            (new ids, dimensions).
        """
        return np.stack([embeddings[ids].mean(axis=0) for ids in self.origins])


def trim_vocabulary(
    old: Mapping[str, int],
    counts: NDArray[np.int64],
    required: Mapping[str, list[int]],
    size: int,
) -> Vocabulary:
    """Choose the pieces that a smaller vocabulary keeps.

    Kept are the special tokens; the characters of ASCII and of the corpus, alone and within a word, so that every
    word can still be spelt; the required words; and of the rest those with the least product of two ranks: how
    frequent a piece is in the corpus, and its place in the old vocabulary, which was made by the frequencies of a
    larger and more modern corpus. Special tokens come first, the others keep their old order.

    Args:
        old: Every piece -> its id.
        counts: (old ids,) how often the corpus has each.
        required: Words that must be one piece -> the old ids that they are cut into.
        size: How many pieces to keep.

    Raises:
        DataError: The pieces that must be kept are more than ``size``.
    """
    special = [piece for piece in old if piece.startswith("[") and piece.endswith("]") and piece[1:-1].isupper()]
    characters = {
        piece
        for piece, old_id in old.items()
        if len(bare := piece.removeprefix(CONTINUES)) == 1 and (bare in string.printable or counts[old_id] > 0)
    }
    must = {*special, *characters, *required}
    if len(must) > size:
        raise DataError(f"{len(must)} pieces must be kept, but the vocabulary is to have {size}; allow more")
    by_count = sorted(old, key=lambda piece: (-counts[old[piece]], old[piece]))
    place = {piece: rank for rank, piece in enumerate(by_count, start=1)}
    by_both = sorted(old, key=lambda piece: (place[piece] * (old[piece] + 1), old[piece]))
    free = [piece for piece in by_both if piece not in must and not piece.startswith("[unused")]
    kept = {*must, *free[: size - len(must)]}
    added = sorted(word for word in kept if word not in old)
    pieces = special + sorted(kept.difference(special, added), key=lambda piece: old[piece]) + added
    return Vocabulary(pieces, [[old[piece]] if piece in old else required[piece] for piece in pieces])


def trim_tokenizer(tokenizer_json: str, vocabulary: Vocabulary) -> str:
    """Return the tokenizer.json of a WordPiece tokenizer with another vocabulary.

    It straightens typographic quotes and neither cuts nor pads, whatever the old one did.
    """
    content: dict[str, Any] = json.loads(tokenizer_json)
    new = {piece: position for position, piece in enumerate(vocabulary.pieces)}
    content["model"]["vocab"] = new
    content["truncation"] = content["padding"] = None
    for token in content["added_tokens"]:
        token["id"] = new[token["content"]]
    for token in content["post_processor"].get("special_tokens", {}).values():
        token["ids"] = [new[name] for name in token["tokens"]]
    for end in ("cls", "sep"):
        if isinstance(content["post_processor"].get(end), list):
            name = content["post_processor"][end][0]
            content["post_processor"][end] = [name, new[name]]
    straighten = [{"type": "Replace", "pattern": {"String": old}, "content": to} for old, to in _STRAIGHTENED.items()]
    content["normalizer"] = {"type": "Sequence", "normalizers": [*straighten, content["normalizer"]]}
    return json.dumps(content, ensure_ascii=False)
