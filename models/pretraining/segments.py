"""Text as training sees it: whole sentences between [CLS] and [SEP], as when a sentence is scored later, in batches."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

SHORTEST = 8  # tokens; the shortest length that a segment is aimed at


@dataclass(frozen=True)
class Segments:
    """Many segments in flat arrays.

    Attributes:
        ids: All token ids, one segment after the other, (tokens,) uint16.
        starts: Where each segment begins in ``ids``, and at last where the last one ends, (segments + 1,) int64.
        given: How many tokens at the beginning of a segment a causal model reads and does not learn, (segments,) int64.
    """

    ids: np.ndarray
    starts: np.ndarray
    given: np.ndarray

    def __len__(self) -> int:
        """Return how many segments there are."""
        return len(self.starts) - 1

    def __getitem__(self, row: int) -> np.ndarray:
        """Return the token ids of one segment."""
        return self.ids[self.starts[row] : self.starts[row + 1]]

    @property
    def lengths(self) -> np.ndarray:
        """Tokens of each segment, special tokens included, (segments,) int64."""
        return np.diff(self.starts)

    def some(self, tokens: int, generator: np.random.Generator) -> "Segments":
        """Return segments drawn at random, of so many tokens at most."""
        rows = generator.permutation(len(self))
        rows = rows[np.cumsum(self.lengths[rows]) <= tokens]
        ids = [self.ids[:0], *(self[row] for row in rows)]
        starts = np.cumsum([0, *self.lengths[rows]], dtype=np.int64)
        return Segments(np.concatenate(ids), starts, self.given[rows])


def cut_segments(
    records: Iterable[Sequence[list[int]]], opening: int, closing: int, longest: int, generator: np.random.Generator
) -> Segments:
    """Cut records into segments of whole sentences, each aimed at a length of its own.

    Lengths are log-uniform between `SHORTEST` and ``longest``: single sentences, as a benchmark has them, and whole
    paragraphs. A sentence that is longer than a segment may be is cut off.

    Args:
        records: For each record, the token ids of its sentences in order.
        opening: The id before each segment ([CLS]).
        closing: The id after each segment ([SEP]).
        longest: The most tokens of a segment, both of these included.
        generator: Draws the lengths.
    """
    room = longest - 2

    def draw_length() -> int:
        return int(np.exp(generator.uniform(np.log(SHORTEST), np.log(max(room, SHORTEST + 1)))))

    segments: list[list[int]] = []
    for record in records:
        segment: list[int] = []
        target = draw_length()
        for sentence in record:
            if segment and (len(segment) >= target or len(segment) + len(sentence) > room):
                segments.append(segment)
                segment, target = [], draw_length()
            segment = (segment + sentence)[:room]
        if segment:
            segments.append(segment)
    arrays = [np.array([opening, *segment, closing], dtype=np.uint16) for segment in segments]
    starts = np.cumsum([0, *map(len, arrays)], dtype=np.int64)
    ids = np.concatenate(arrays) if arrays else np.zeros(0, np.uint16)
    return Segments(ids, starts, np.zeros(len(segments), np.int64))


def plan_batches(lengths: np.ndarray, budget: int, generator: np.random.Generator) -> list[np.ndarray]:
    """Arrange all segments once, in a random order, in batches of neighbours in length.

    Args:
        lengths: Tokens of each segment.
        budget: The most tokens, padding included, of a batch; a longer segment makes a batch of its own.
        generator: Draws the order.

    Returns:
        For each batch the rows of its segments.
    """
    rows = generator.permutation(len(lengths))
    rows = rows[np.argsort(lengths[rows], kind="stable")]
    batches, first = [], 0
    while first < len(rows):
        # The last row of a batch is its longest, so a batch can grow while rows times that length fit.
        ahead = lengths[rows[first : first + budget]] * np.arange(1, len(rows[first : first + budget]) + 1)
        count = max(1, int(np.searchsorted(ahead, budget, side="right")))
        batches.append(rows[first : first + count])
        first += count
    return [batches[number] for number in generator.permutation(len(batches))]


def pad(segments: Segments, rows: np.ndarray, filler: int) -> np.ndarray:
    """Return the token ids of some segments, (rows, longest of them) int64, filled up at the right."""
    batch = np.full((len(rows), int(segments.lengths[rows].max())), filler, dtype=np.int64)
    for number, row in enumerate(rows):
        segment = segments[row]
        batch[number, : len(segment)] = segment
    return batch


def mask_tokens(
    ids: np.ndarray, special: np.ndarray, share: float, mask_id: int, generator: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Hide a random share of the ordinary tokens behind [MASK], always at least one in a batch that has any.

    All of them become [MASK], none a random word and none itself: a score is later read off at a [MASK].

    Args:
        ids: Token ids, (batch, length).
        special: Ids that are never masked.
        share: How many of the ordinary tokens, in (0, 1].
        mask_id: The id of [MASK].
        generator: Draws the positions.

    Returns:
        The ids with [MASK] in them, and where it is, both (batch, length).
    """
    ordinary = ~np.isin(ids, special)
    hidden = ordinary & (generator.random(ids.shape) < share)
    if not hidden.any() and ordinary.any():
        hidden.flat[generator.choice(np.flatnonzero(ordinary))] = True
    return np.where(hidden, mask_id, ids), hidden
