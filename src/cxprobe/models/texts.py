"""Texts that a model scores: minimal pairs, answers, and the scores of their tokens."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.normalizers import BertNormalizer
from tokenizers.pre_tokenizers import BertPreTokenizer

from cxprobe.errors import DataError
from cxprobe.files.tables import read_table
from cxprobe.models.params import Scheme
from cxprobe.stats import CLUSTER, cluster_columns

if TYPE_CHECKING:  # which brings torch
    from cxprobe.models.loading import LoadedModel


@dataclass(frozen=True, eq=False)
class TokenScores:
    """How probable a model finds each token of a text; special tokens are none of the text's.

    Attributes:
        text: The text.
        scheme: How the tokens were scored: "causal", given what stands before; "pll", given all others; or
            "pll_word_l2r", given all others but those after it in its own word.
        ids: Shape (tokens,): the tokens in the model's vocabulary.
        spans: Shape (tokens, 2): the first character of each token and the one after its last.
        log_probs: Shape (tokens,): natural logarithms, at most 0; NaN for a token without a score, and for no other.
    """

    text: str
    scheme: Scheme
    ids: NDArray[np.int32]
    spans: NDArray[np.int64]
    log_probs: NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Pair:
    """Two texts that differ minimally, the right one and the wrong one, with what they share in front.

    A text is the context directly followed by the continuation, which therefore begins with its own space where there
    is a context. Pairs with one context can share its computation.

    Attributes:
        id: Names the pair by its groups and texts, so the same pair keeps its id in every run.
        item: Names what the pair is made of; the members of an item ask about the same thing in several ways.
        context: What comes first; "" for nothing.
        good: How the right text goes on.
        bad: How the wrong text goes on.
        groups: What the pair is reported under: "variant" -> "A".
        clusters: What it shares with other pairs, for intervals: "frame" -> which.
    """

    id: str
    item: str
    context: str
    good: str
    bad: str
    groups: Mapping[str, str]
    clusters: Mapping[str, str]


PAIR_COLUMNS = ("id", "item", "context", "good", "bad")
"""The columns that every table of pairs has; all others are groups and clusters."""


def pair_table(pairs: Sequence[Pair]) -> pd.DataFrame:
    """Return pairs as a table: id, item, context, good, bad, each group, and each cluster as cluster_<name>.

    Where files differ in their columns, gaps are filled, see `without_gaps`.
    """
    columns = {name: [getattr(pair, name) for pair in pairs] for name in PAIR_COLUMNS}
    for kind, before in (("groups", ""), ("clusters", CLUSTER)):
        of_pairs = [getattr(pair, kind) for pair in pairs]
        names = dict.fromkeys(name for values in of_pairs for name in values)
        columns |= {f"{before}{name}": [values.get(name) for values in of_pairs] for name in names}
    return without_gaps(pd.DataFrame(columns))


def pairs_of(table: pd.DataFrame) -> list[Pair]:
    """Return the pairs of a table that `pair_table` made."""
    clusters = cluster_columns(table)
    groups = table.columns.drop([*PAIR_COLUMNS, *clusters])
    texts = table[[*PAIR_COLUMNS]].itertuples(index=False, name=None)
    of_groups = table[groups].to_dict("records")
    of_clusters = table[clusters].rename(columns=lambda name: name.removeprefix(CLUSTER)).to_dict("records")
    return [Pair(*row, *known) for row, *known in zip(texts, of_groups, of_clusters, strict=True)]


def without_gaps(pairs: pd.DataFrame) -> pd.DataFrame:
    """Return pairs that come from tables with different columns, without empty cells.

    A pair without a group has an empty text there, and NaN if the others have numbers; without a cluster, its own id,
    so that it shares a cluster of that kind with no other.
    """
    filled = {}
    for name in pairs.columns[pairs.isna().any()]:
        column = pairs[name]
        if name.startswith(CLUSTER):
            filled[name] = column.astype(str).where(column.notna(), pairs["id"].astype(str))
        elif not pd.api.types.is_numeric_dtype(column):
            filled[name] = column.fillna("")
    return pairs.assign(**filled)


Texts = Mapping[str, int]
"""Texts, each with the position of its first character that matters: the tokens from there on are scored."""


class ScoringConfig(NamedTuple):
    """How a model is asked.

    Attributes:
        schemes: For a masked model, each of which gives every text a record; a causal one has the scheme "causal" only.
        token_budget: The most tokens in a batch.
    """

    schemes: Sequence[Scheme]
    token_budget: int


def distinct_texts(portions: Iterable[Texts]) -> list[dict[str, int]]:
    """Return portions in which every text occurs once: in the first that has it, with its earliest position."""
    portions = list(portions)
    firsts: dict[str, int] = {}
    for portion in portions:
        firsts |= {text: min(first, firsts.get(text, first)) for text, first in portion.items()}
    return [{text: firsts.pop(text) for text in portion if text in firsts} for portion in portions]


_WORDS = Tokenizer(WordLevel({"word": 0}, "word"))  # of which the offsets count alone
_WORDS.normalizer = BertNormalizer(clean_text=False, strip_accents=False, lowercase=False)
_WORDS.pre_tokenizer = BertPreTokenizer()


def ends_of_words(text: str) -> list[int]:
    """Return the character after the last of each word, as BERT's basic tokenizer cuts them.

    A word is a run of letters, digits and symbols; or one mark of punctuation; or one Chinese character.
    """
    return [stop for _, stop in _WORDS.encode(text).offsets]


class Encoded(NamedTuple):
    """A tokenised text.

    Attributes:
        text: The text.
        ids: Shape (length,): all ids, special tokens included.
        first: The position in ``ids`` of the text's first token.
        spans: Shape (tokens, 2): the characters of each token of the text.
        words: Shape (tokens,): the word of each token of the text.
    """

    text: str
    ids: NDArray[np.int32]
    first: int
    spans: NDArray[np.int64]
    words: NDArray[np.int64]

    @property
    def text_ids(self) -> NDArray[np.int32]:
        """The ids of the text's tokens, without special ones, shape (tokens,)."""
        return self.ids[self.first : self.first + len(self.spans)]


def encode(tokenizer: Any, texts: Sequence[str], *, special_tokens: bool) -> list[Encoded]:
    """Tokenise whole texts.

    A token belongs to the word of its last character (`ends_of_words`); one that covers only white space belongs to the
    word that follows. The white space after others, which ends a token in some tokenizers, is none of its characters.

    Args:
        tokenizer: A fast tokenizer.
        texts: Whole texts, since the ids of a text are not those of its parts.
        special_tokens: Whether the tokenizer adds [CLS], [SEP] and the like.

    Raises:
        DataError: A text has no token.
    """
    if not texts:
        return []
    batch = tokenizer(
        list(texts),
        add_special_tokens=special_tokens,
        return_offsets_mapping=True,
        return_special_tokens_mask=True,
        verbose=False,
    )
    encoded = []
    columns = (batch["input_ids"], batch["offset_mapping"], batch["special_tokens_mask"])
    for text, ids, offsets, special in zip(texts, *columns, strict=True):
        positions = [position for position, added in enumerate(special) if not added]
        if not positions:
            raise DataError(f"{text!r} has no token; is it empty?")
        spans = np.array([offsets[position] for position in positions], dtype=np.int64)  # (tokens, 2)
        tokens = [text[start:stop] for start, stop in spans.tolist()]
        spans[:, 1] -= [len(token) - len(token.rstrip() or token) for token in tokens]
        last = np.maximum(spans[:, 1] - 1, spans[:, 0])  # the last character of each token
        words = np.searchsorted(ends_of_words(text), last, side="right")
        encoded.append(Encoded(text, np.array(ids, dtype=np.int32), positions[0], spans, words))
    return encoded


def check_length(text: str, tokens: int, max_tokens: int) -> None:
    """Refuse a text that the model has no positions for; no text is ever truncated.

    Raises:
        DataError: It has more tokens than the model takes.
    """
    if tokens > max_tokens:
        raise DataError(
            f"{text!r} has {tokens} tokens, the model takes {max_tokens}; leave it out, or take another model"
        )


def encode_inputs(model: "LoadedModel", texts: Sequence[str]) -> list[Encoded]:
    """Tokenise whole texts with the special tokens of the model.

    Raises:
        DataError: A text has no token, or more than the model takes.
    """
    encoded = encode(model.tokenizer, texts, special_tokens=True)
    for one in encoded:
        check_length(one.text, len(one.ids), model.max_tokens)
    return encoded


TOKENS_FILE, PREFERENCES_FILE = "tokens.parquet", "preferences.parquet"


def read_pair_answers(folder: Path) -> pd.DataFrame:
    """Read what a model answered to minimal pairs: the scores of tokens (see `token_table`), or a rule's preferences.

    Raises:
        DataError: The folder has neither.
    """
    for file in (TOKENS_FILE, PREFERENCES_FILE):
        if (folder / file).is_file():
            return read_table(folder / file)
    raise DataError(f"{folder} has neither {TOKENS_FILE} nor {PREFERENCES_FILE}; run `dvc repro`, or `dvc pull`")


def token_table(scores: Sequence[TokenScores]) -> pd.DataFrame:
    """Return scores as a table that `cxprobe.files.tables.write_table` can write.

    Args:
        scores: What was scored.

    Returns:
        One row a record: text; scheme; and, with one entry a token, ids, starts and stops (the characters of the
        token) and log_probs (NaN, which .parquet keeps as null, for a token without a score).
    """
    rows = [(one.text, one.scheme, one.ids, *one.spans.T, one.log_probs) for one in scores]
    return pd.DataFrame(rows, columns=["text", "scheme", "ids", "starts", "stops", "log_probs"])
