"""A trigram model of words: interpolated Kneser-Ney, from a file of counts.

The probability of a word w after u v is alpha(u v w) + gamma(u v) P(w | v), and so on down to single words:

    alpha(h w) = max(c(h w) - D, 0) / c(h), where c(h w) was kept, and 0 where it was pruned
    gamma(h)   = 1 - the sum of alpha(h w) over all w, and 1 for a history that the model does not know

so the probabilities after any history sum to 1, whatever was pruned. c is how often the trigram occurs. For shorter
n-grams it is the number of different words that stand before them (Kneser & Ney 1995; Chen & Goodman 1999), except
behind the start of a sentence, before which nothing stands: there it is how often they occur. The lowest level is not
discounted. A model reads a text sentence by sentence, in lower case, and takes a word that it does not know for
`UNKNOWN`.

The file is a table with a row for each n-gram: first, second and third (texts; an n-gram that is shorter has empty
texts in front), count (c(h w)), total (c(h)), in the order of the three words, the empty text being the first. The
discounts D of pairs and of triples of words stand in the metadata of the file as ``discounts``.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet
from numpy.typing import NDArray

from cxprobe.errors import ModelError
from cxprobe.measure.blind.words import Word
from cxprobe.params import NgramModel
from cxprobe.segmentation import sentences
from cxprobe.storage import digest

NGRAMS_FILE = "ngrams.parquet"
START, UNKNOWN = "<s>", "<unk>"
COLUMNS = ("first", "second", "third")
DISCOUNTS = b"discounts"
_TOKEN = re.compile(r"[^\W_]+|['’][^\W\d_]+|\S")


class _Level(NamedTuple):
    """The n-grams of one length of two or three words.

    Attributes:
        keys: Shape (n-grams,), ascending: each n-gram as one number.
        alphas: Shape (n-grams,): what each contributes to the probability of its last word.
        histories: Shape (histories,), ascending: all words of an n-gram but the last, as one number.
        gammas: Shape (histories,): the weight of the shorter n-gram.
    """

    keys: NDArray[np.int64]
    alphas: NDArray[np.float64]
    histories: NDArray[np.int64]
    gammas: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class KneserNey:
    """A trigram model.

    Attributes:
        words: Word -> its number; `START` and `UNKNOWN` are words too.
        singles: Shape (words,): the probability of each word whatever stands before it.
        pairs: The pairs of words.
        triples: The triples of words.
    """

    words: Mapping[str, int]
    singles: NDArray[np.float64]
    pairs: _Level
    triples: _Level

    @classmethod
    def of(cls, table: pa.Table) -> "KneserNey":
        """Return the model of a table of counts, which has the form that the module describes."""
        first, second, third = (table[name].to_pylist() for name in COLUMNS)
        known = [word for one, two, word in zip(first, second, third, strict=True) if not (one or two)]
        words = {word: number for number, word in enumerate(dict.fromkeys([START, UNKNOWN, *known]))}
        numbers = np.array(
            [[words.get(word, -1) for word in column] for column in (first, second, third)], dtype=np.int64
        )  # (3, n-grams)
        count, total = (table[name].to_numpy().astype(np.float64) for name in ("count", "total"))
        lengths = (numbers >= 0).sum(axis=0)
        one, two, three = (np.flatnonzero(lengths == length) for length in (1, 2, 3))
        singles = np.zeros(len(words))
        singles[numbers[2, one]] = count[one] / total[one]
        of_pairs, of_triples = json.loads(table.schema.metadata[DISCOUNTS])
        return cls(
            words,
            singles,
            _level(numbers[1, two], numbers[2, two], count[two], total[two], of_pairs, len(words)),
            _level(
                numbers[0, three] * len(words) + numbers[1, three],
                numbers[2, three],
                count[three],
                total[three],
                of_triples,
                len(words),
            ),
        )

    def number_of(self, word: str) -> int:
        """Return the number of a word in lower case; that of `UNKNOWN` for a word that the model does not know."""
        return self.words.get(word, self.words[UNKNOWN])

    def log_probabilities(self, sentence: Sequence[str]) -> NDArray[np.float64]:
        """Return how probable each word of a sentence is after the two before it.

        Args:
            sentence: Words in lower case; `START` stands before the first, and is none of them.

        Returns:
            Shape (words,): natural logarithms.
        """
        numbers = np.array([self.words[START], *map(self.number_of, sentence)], dtype=np.int64)
        before, last = numbers[:-1], numbers[1:]  # (words,)
        found = self._add(self.pairs, before, last, self.singles[last])
        if len(last) > 1:  # the first word has one word before it
            earlier = numbers[:-2] * len(self.words) + before[1:]
            found[1:] = self._add(self.triples, earlier, last[1:], found[1:])
        return np.log(found)

    def _add(
        self, level: _Level, histories: NDArray[np.int64], last: NDArray[np.int64], shorter: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Return the probabilities of words after histories, given those after the shorter histories."""
        alphas = _look_up(level.keys, level.alphas, histories * len(self.words) + last, 0.0)
        gammas = _look_up(level.histories, level.gammas, histories, 1.0)
        return alphas + gammas * shorter


def load_ngrams(slug: str, spec: NgramModel) -> KneserNey:
    """Read the model of a folder.

    Args:
        slug: The model's key in params.yaml, for messages.
        spec: The folder, and the hash that the file of counts must have.

    Raises:
        ModelError: There is no such file, or it has another hash.
    """
    path = Path(spec.name) / NGRAMS_FILE
    if not path.is_file():
        raise ModelError(f"{slug}: {path} does not exist; name a folder that has it (see models/README.md)")
    actual = digest(path)
    if spec.sha256 and actual != spec.sha256:
        raise ModelError(
            f"{slug}: {path} has SHA-256 {actual}, params say {spec.sha256}; these are other counts: take the right "
            "ones, or change sha256 if these are the ones you want"
        )
    return KneserNey.of(pa.parquet.read_table(path))


def sentences_of(text: str) -> list[list[Word]]:
    """Return the words of each sentence of a text in lower case, with their places in the text.

    A word is a run of letters and digits, an apostrophe with the letters after it ("can", "'t"), or any other character
    except white space, so that punctuation counts.
    """
    found = []
    for start, end in sentences(text):
        own = [Word(match[0].lower().replace("’", "'"), *match.span()) for match in _TOKEN.finditer(text, start, end)]
        found.append(own)
    return found


def _level(
    histories: NDArray[np.int64],
    last: NDArray[np.int64],
    count: NDArray[np.float64],
    total: NDArray[np.float64],
    discount: float,
    words: int,
) -> _Level:
    keys = histories * words + last
    order = np.argsort(keys, kind="stable")
    alphas = np.maximum(count - discount, 0)[order] / total[order]
    distinct, starts = np.unique(histories[order], return_index=True)
    sums = np.add.reduceat(alphas, starts) if len(starts) else np.empty(0)
    return _Level(keys[order], alphas, distinct, 1 - sums)


def _look_up(
    keys: NDArray[np.int64], values: NDArray[np.float64], wanted: NDArray[np.int64], absent: float
) -> NDArray[np.float64]:
    """Return the value of each wanted key, and a given number for one that is absent."""
    if not len(keys):
        return np.full(len(wanted), absent)
    places = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    return np.where(keys[places] == wanted, values[places], absent)
