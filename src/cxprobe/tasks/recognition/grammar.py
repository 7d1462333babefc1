"""Grammars as data: context-free rules in NLTK's notation, read and checked."""

import re
from bisect import bisect
from collections import defaultdict
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import NamedTuple

import numpy as np
from nltk import CFG, Nonterminal

from cxprobe.errors import ConstructionError
from cxprobe.files.reading import read_text

_QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"")


def read_grammar(path: Path, required: Collection[str] = ()) -> CFG:
    """Read a grammar in NLTK's notation; repeated alternatives weight a choice.

    Args:
        path: The ``.cfg`` file, UTF-8.
        required: Non-terminals that the construction names and the grammar must therefore define.

    Raises:
        ConstructionError: The file is absent, is no UTF-8 text or does not parse, a non-terminal has no rule, or a
            required one is missing. The message says which file, line and symbol.
    """
    if not path.exists():
        raise ConstructionError(
            f"{path} does not exist; construction.yaml describes this grammar, so write it, or take that section out"
        )
    text = read_text(path, ConstructionError)
    try:
        grammar = CFG.fromstring(text)
    except ValueError as error:
        raise ConstructionError(f"{path}: the grammar does not parse: {' '.join(str(error).split())}") from error
    defined = {str(production.lhs()) for production in grammar.productions()}
    symbols = [symbol for production in grammar.productions() for symbol in production.rhs()]
    used = {str(symbol) for symbol in symbols if isinstance(symbol, Nonterminal)}
    faults = [
        f"{path}, line {_first_line(path, symbol)}: {symbol} is used and has no rule; add one, or quote it if it "
        "is a word"
        for symbol in sorted(used - defined)
    ]
    faults += [
        f"{path}: construction.yaml names {symbol}, which has no rule here; the grammar defines "
        f"{', '.join(sorted(defined))}"
        for symbol in sorted(set(required) - defined)
    ]
    if faults:
        raise ConstructionError("\n".join(faults))
    return grammar


def content_words(grammar: CFG, categories: Collection[str]) -> dict[str, str]:
    """Return lower-cased word -> category for every word that a content category can expand to."""
    words: dict[str, str] = {}
    for category in categories:
        below = [Nonterminal(category)]
        for symbol in below:  # which grows
            for production in grammar.productions(lhs=symbol):
                for part in production.rhs():
                    if isinstance(part, str):
                        words |= dict.fromkeys(part.lower().split(), category)
                    elif part not in below:
                        below.append(part)
    return words


def check_lexical_halves(train: Path, test: Path, categories: Collection[str]) -> None:
    """Refuse two grammars that share a content word, since a probe could then recognise the word.

    Raises:
        ConstructionError: A word is in a content category of both; the message names both lines.
    """
    halves = {path: content_words(read_grammar(path, categories), categories) for path in (train, test)}
    faults = [
        f"{test}, line {_first_line(test, word, quoted=True)}: '{word}' ({halves[test][word]}) is also in {train}, "
        f"line {_first_line(train, word, quoted=True)} ({halves[train][word]}); the halves must share no content word"
        for word in sorted(halves[train].keys() & halves[test].keys())
    ]
    if faults:
        raise ConstructionError("\n".join(faults))


def _first_line(path: Path, part: str, *, quoted: bool = False) -> int:
    """Return the number of the first rule that uses a word between quotes, or a symbol outside of them.

    Where NLTK reads quotes otherwise than they are meant, it is that of the first line in which the part stands.
    """
    lines = [line.lower() for line in read_text(path, ConstructionError).splitlines()]
    pattern = re.compile(rf"(?<![\w-]){re.escape(part.lower())}(?![\w-])")
    rules = ["" if line.lstrip().startswith("#") else line.rpartition("->")[2] for line in lines]
    uses = [" ".join(_QUOTED.findall(rule)) if quoted else _QUOTED.sub(" ", rule) for rule in rules]
    numbers = [number for number, text in enumerate(uses, 1) if pattern.search(text)]
    return [*numbers, *(number for number, line in enumerate(lines, 1) if part.lower() in line), 1][0]


Sequence = tuple[str | Nonterminal, ...]


class Shape(NamedTuple):
    """What features depend on: a string's number of words, and the numbers of the words at which marked parts start."""

    words: int
    marks: tuple[int, ...]

    def followed_by(self, end: "Shape") -> "Shape":
        """Return the shape of this string followed by another."""
        return Shape(self.words + end.words, self.marks + tuple(self.words + mark for mark in end.marks))


@dataclass(frozen=True)
class Spelling:
    """How the terminals of a grammar are written.

    A *word* is what is between two spaces of the finished sentence, so punctuation belongs to the word before it, and
    the features can be counted from the text alone.

    Attributes:
        marker: The terminal that says where a part of the construction starts; it is not a word.
        no_space_before: Punctuation that is written without a space before it.
    """

    marker: str
    no_space_before: frozenset[str]

    def spell(self, terminals: Iterable[str]) -> tuple[str, Shape]:
        """Write terminals, each of one or several tokens, as a sentence; return it and its shape."""
        words: list[str] = []
        marks: list[int] = []
        for terminal in terminals:
            if terminal == self.marker:
                marks.append(len(words))
                continue
            for token in terminal.split():
                if words and token in self.no_space_before:
                    words[-1] += token
                else:
                    words.append(token)
        return " ".join(words), Shape(len(words), tuple(marks))


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
        self.spelling = spelling
        self._distributions: dict[Sequence, dict[Shape, float]] = {}
        self._options: dict[_Part, tuple[list[tuple[_Part, ...]], list[float]]] = {}

    def shapes(self, symbol: str) -> dict[Shape, float]:
        """Return every shape that a symbol's strings can have, with its probability (they sum to 1).

        Raises:
            ConstructionError: The symbol can contain itself, so that its strings have no maximal length.
        """
        return self._distribution((Nonterminal(symbol),), ())

    def draw(self, symbol: str, shape: Shape, rng: np.random.Generator) -> list[Leaf]:
        """Draw the leaves of one string of ``symbol`` that has ``shape``, one of those that `shapes` returns."""
        self.shapes(symbol)
        return self._expand(_Part((Nonterminal(symbol),), shape), None, rng)

    def _distribution(self, sequence: Sequence, above: tuple[Nonterminal, ...]) -> dict[Shape, float]:
        """Return the shapes of the strings of a sequence; ``above`` are the symbols that it was expanded from."""
        if sequence in self._distributions:
            return self._distributions[sequence]
        sums: dict[Shape, float] = defaultdict(float)
        if not sequence:
            sums[Shape(0, ())] = 1.0
        elif len(sequence) > 1:
            for start, p in self._distribution(sequence[:-1], above).items():
                for end, q in self._distribution(sequence[-1:], above).items():
                    sums[start.followed_by(end)] += p * q
        elif sequence[0] == self.spelling.marker:
            sums[Shape(0, (0,))] = 1.0
        elif isinstance(sequence[0], str):
            words = [token for token in sequence[0].split() if token not in self.spelling.no_space_before]
            sums[Shape(len(words), ())] = 1.0  # which it adds to a sentence that has begun
        else:
            above = (*above, sequence[0])
            if sequence[0] in above[:-1]:
                loop = " -> ".join(map(str, above[above.index(sequence[0]) :]))
                raise ConstructionError(f"the grammar is recursive ({loop}), so its sentences have no maximal length")
            alternatives = self._grammar.productions(lhs=sequence[0])
            for production in alternatives:
                for shape, p in self._distribution(production.rhs(), above).items():
                    sums[shape] += p / len(alternatives)
        self._distributions[sequence] = dict(sums)
        return self._distributions[sequence]

    def _expand(self, part: _Part, category: str | None, rng: np.random.Generator) -> list[Leaf]:
        """Draw the leaves of a part, whose content words are of a category if they are below one."""
        if not part.sequence:
            return []
        if len(part.sequence) == 1:
            (symbol,) = part.sequence
            if isinstance(symbol, str):
                return [Leaf(symbol, category)]
            category = str(symbol) if str(symbol) in self._content else category
        if part not in self._options:
            self._list_options(part.sequence)
        ways, cumulated = self._options[part]
        chosen = ways[bisect(cumulated, rng.random() * cumulated[-1], hi=len(ways) - 1)]
        return [leaf for piece in chosen for leaf in self._expand(piece, category, rng)]

    def _list_options(self, sequence: Sequence) -> None:
        """List the ways to expand a sequence by a step, by shape, with their cumulated shares of its probability."""
        ways, shares = defaultdict[Shape, list[tuple[_Part, ...]]](list), defaultdict[Shape, list[float]](list)
        if len(sequence) > 1:
            start_of, end_of = sequence[:-1], sequence[-1:]
            for end, q in self._distributions[end_of].items():
                for start, p in self._distributions[start_of].items():
                    whole = start.followed_by(end)
                    ways[whole].append((_Part(start_of, start), _Part(end_of, end)))
                    shares[whole].append(p * q)
        else:
            for production in self._grammar.productions(lhs=sequence[0]):
                for shape, p in self._distributions[production.rhs()].items():
                    ways[shape].append((_Part(production.rhs(), shape),))
                    shares[shape].append(p)
        for shape, of_shape in ways.items():
            self._options[_Part(sequence, shape)] = (of_shape, list(accumulate(shares[shape])))
