"""The shapes of a grammar's strings: how many words they have, and where their marked parts start.

A feature such as the length rarely takes some values, so drawing sentences until there are enough of every value would
take days. Here the probability of each shape is computed exactly, and a string is drawn *given* its shape, from the
grammar's own distribution.
"""

from bisect import bisect
from collections import defaultdict
from collections.abc import Collection
from itertools import accumulate
from typing import NamedTuple

import numpy as np
from nltk import CFG, Nonterminal

from cxprobe.errors import ConstructionError
from cxprobe.make.sentences.spelling import Spelling

Sequence = tuple[str | Nonterminal, ...]


class Shape(NamedTuple):
    """What features depend on: a string's number of words, and the numbers of the words at which marked parts start."""

    words: int
    marks: tuple[int, ...]

    def followed_by(self, end: "Shape") -> "Shape":
        """Return the shape of this string followed by another."""
        return Shape(self.words + end.words, self.marks + tuple(self.words + mark for mark in end.marks))

    def without(self, end: "Shape") -> "Shape | None":
        """Return the shape that ``end`` completes to this one, or None if there is none."""
        kept = len(self.marks) - len(end.marks)
        if kept < 0 or end.words > self.words:
            return None
        start = Shape(self.words - end.words, self.marks[:kept])
        return start if start.followed_by(end) == self else None


class Leaf(NamedTuple):
    """A terminal of a derivation, and the content category that it was expanded from, if any."""

    terminal: str
    category: str | None


class _Part(NamedTuple):
    """A sequence of symbols that is to be expanded to a string of this shape."""

    sequence: Sequence
    shape: Shape


class ShapeSampler:
    """Draws strings of a grammar given their shape; alternatives are equally likely, repeated ones weigh more.

    Args:
        grammar: Context-free rules without recursion.
        content: The categories whose leaves are remembered as content words.
        spelling: Says which terminal is the marker and how many words the others add.
    """

    def __init__(self, grammar: CFG, content: Collection[str], spelling: Spelling) -> None:
        self._grammar = grammar
        self._content = frozenset(content)
        self._spelling = spelling
        self._distributions: dict[Sequence, dict[Shape, float]] = {}
        self._options: dict[_Part, tuple[list[tuple[_Part, ...]], list[float]]] = {}

    def shapes(self, symbol: str) -> dict[Shape, float]:
        """Return every shape that a symbol's strings can have, with its probability (they sum to 1).

        Raises:
            ConstructionError: The symbol can contain itself, so that its strings have no maximal length.
        """
        return dict(self._distribution((Nonterminal(symbol),), ()))

    def draw(self, symbol: str, shape: Shape, rng: np.random.Generator) -> list[Leaf]:
        """Draw the leaves of one string of ``symbol`` that has ``shape``, one of those that `shapes` returns."""
        self.shapes(symbol)
        return self._expand(_Part((Nonterminal(symbol),), shape), None, rng)

    def _distribution(self, sequence: Sequence, above: tuple[Nonterminal, ...]) -> dict[Shape, float]:
        if sequence not in self._distributions:
            self._distributions[sequence] = self._compute_distribution(sequence, above)
        return self._distributions[sequence]

    def _compute_distribution(self, sequence: Sequence, above: tuple[Nonterminal, ...]) -> dict[Shape, float]:
        if not sequence:
            return {Shape(0, ()): 1.0}
        sums: dict[Shape, float] = defaultdict(float)
        if len(sequence) > 1:
            for start, p in self._distribution(sequence[:-1], above).items():
                for end, q in self._distribution(sequence[-1:], above).items():
                    sums[start.followed_by(end)] += p * q
            return dict(sums)
        (symbol,) = sequence
        if isinstance(symbol, str):
            return {self._leaf_shape(symbol): 1.0}
        if symbol in above:
            loop = " -> ".join(map(str, (*above[above.index(symbol) :], symbol)))
            raise ConstructionError(f"the grammar is recursive ({loop}), so its sentences have no maximal length")
        alternatives = self._grammar.productions(lhs=symbol)
        for production in alternatives:
            for shape, p in self._distribution(production.rhs(), (*above, symbol)).items():
                sums[shape] += p / len(alternatives)
        return dict(sums)

    def _leaf_shape(self, terminal: str) -> Shape:
        if terminal == self._spelling.marker:
            return Shape(0, (0,))
        return Shape(self._spelling.count_words(terminal), ())

    def _expand(self, part: _Part, category: str | None, rng: np.random.Generator) -> list[Leaf]:
        if not part.sequence:
            return []
        if len(part.sequence) == 1:
            (symbol,) = part.sequence
            if isinstance(symbol, str):
                return [Leaf(symbol, category)]
            category = str(symbol) if str(symbol) in self._content else category
        return [leaf for piece in self._choose(part, rng) for leaf in self._expand(piece, category, rng)]

    def _choose(self, part: _Part, rng: np.random.Generator) -> tuple[_Part, ...]:
        if part not in self._options:
            ways = self._weigh(part)
            self._options[part] = ([way for way, _ in ways], list(accumulate(weight for _, weight in ways)))
        options, cumulated = self._options[part]
        return options[bisect(cumulated, rng.random() * cumulated[-1], hi=len(options) - 1)]

    def _weigh(self, part: _Part) -> list[tuple[tuple[_Part, ...], float]]:
        """List the ways to expand a part by one step, each with its share of the part's probability."""
        sequence, shape = part
        if len(sequence) > 1:
            starts, ends = self._distributions[sequence[:-1]], self._distributions[sequence[-1:]]
            cuts = ((start, end) for end in ends if (start := shape.without(end)) in starts)
            return [
                ((_Part(sequence[:-1], start), _Part(sequence[-1:], end)), starts[start] * ends[end])
                for start, end in cuts
            ]
        rules = (production.rhs() for production in self._grammar.productions(lhs=sequence[0]))
        return [
            ((_Part(rhs, shape),), self._distributions[rhs][shape])
            for rhs in rules
            if shape in self._distributions[rhs]
        ]
