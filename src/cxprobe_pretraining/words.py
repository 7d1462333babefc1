"""The words that must be single tokens, so that one of them can be scored at a mask or as the next word."""

from pathlib import Path
from typing import Annotated

from pydantic import Field

from cxprobe.errors import DataError
from cxprobe.files.schema import Closed, read_yaml, validate

Word = Annotated[str, Field(pattern=r"^[a-z]+$")]


class Words(Closed):
    """The lists of models/words.yaml."""

    comparatives: list[Annotated[list[Word], Field(min_length=2, max_length=2)]]
    """Pairs of antonyms."""
    names: list[Word]
    """First names."""
    others: list[Word]
    """Nouns, verbs, adjectives and adverbs of everyday scenes."""

    @property
    def all(self) -> list[str]:
        """Every word once, in order."""
        pairs = [word for pair in self.comparatives for word in pair]
        return list(dict.fromkeys([*pairs, *self.names, *self.others]))


def read_words(path: Path) -> Words:
    """Read a list of words.

    Raises:
        DataError: It is not what it should be.
    """
    return validate(Words, read_yaml(path, DataError), path, DataError)
