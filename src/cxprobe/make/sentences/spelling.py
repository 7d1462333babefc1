"""From a grammar's terminals to a sentence as people read it, with the words at which its marked parts start."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple


class Spelled(NamedTuple):
    """A sentence as it is read; ``marks`` are the numbers, from 0, of the words that start a marked part."""

    text: str
    words: int
    marks: tuple[int, ...]


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

    def spell(self, terminals: Iterable[str]) -> Spelled:
        """Write terminals, each of one or several tokens, as a sentence."""
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
        return Spelled(" ".join(words), len(words), tuple(marks))

    def count_words(self, terminal: str) -> int:
        """Return how many words a terminal adds to a sentence that has begun."""
        return sum(token not in self.no_space_before for token in terminal.split())
