"""Words, their offsets, and n-grams: what baselines read, and the trigram model."""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet
from numpy.typing import NDArray

from cxprobe.errors import DataError, ModelError
from cxprobe.files.tables import write_table
from cxprobe.models.checkpoints import check_digest
from cxprobe.models.params import NgramFeatures, NgramModel, TagNgrams
from cxprobe.models.texts import TOKENS_FILE, Pair, TokenScores, read_pair_answers
from cxprobe.run.record import ModelFacts, read_model_facts, write_model_facts
from cxprobe.tagging import open_tagger, sentence_spans

if TYPE_CHECKING:
    from sklearn.feature_extraction.text import CountVectorizer

EVERY_WORD = r"(?u)\b\w+\b"  # for scikit-learn, whose own pattern ignores words of one letter
_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")


class WordSpan(NamedTuple):
    """A word of a text, with the offset of its first character and that of the character after its last."""

    text: str
    start: int
    stop: int


def words_of(text: str) -> list[WordSpan]:
    """Return the words of a text, in their order.

    A word is a run of letters and digits, which apostrophes and hyphens may join: "can't", "well-known". Punctuation is
    not a word.
    """
    return [WordSpan(match[0], *match.span()) for match in _WORD.finditer(text)]


def places_of(text: str, expression: str) -> list[int]:
    """Return the offsets at which an expression of one or more words begins in a text; case is ignored."""
    return [match.start() for match in re.finditer(rf"(?<!\w){re.escape(expression)}(?!\w)", text, re.IGNORECASE)]


def counted_texts(spec: NgramFeatures | TagNgrams, texts: Sequence[str]) -> list[str]:
    """Return the input of a baseline for each text: the text itself, or its tags with spaces between them.

    Raises:
        ModelError: The tagger does not exist, or is not the one that params.yaml names.
    """
    if isinstance(spec, TagNgrams):
        return open_tagger(spec.tagger, spec.sha256).tags_of(texts)
    return list(texts)


def ngram_counter(spec: NgramFeatures | TagNgrams, dtype: type = np.float64) -> "CountVectorizer":
    """Return scikit-learn's counter of n-grams, for what `counted_texts` returns.

    Args:
        spec: What is counted: n-grams of lower-cased words, of characters (lower-cased, with spaces and punctuation),
            or of tags.
        dtype: The type of the counts.
    """
    # Imported here, since it takes a second and only baselines need it.
    from sklearn.feature_extraction.text import CountVectorizer

    options: Mapping[str, Mapping[str, Any]] = {
        "word_ngrams": {"token_pattern": EVERY_WORD},
        "character_ngrams": {"analyzer": "char"},
        "tag_ngrams": {"token_pattern": r"\S+", "lowercase": False},
    }
    return CountVectorizer(ngram_range=tuple(spec.lengths), dtype=dtype, **options[spec.kind])


NGRAMS_FILE = "ngrams.parquet"
START, UNKNOWN = "<s>", "<unk>"
GRAM_COLUMNS = ("first", "second", "third")
DISCOUNTS = b"discounts"
_TOKEN = re.compile(r"[^\W_]+|['’][^\W\d_]+|\S")


@dataclass(frozen=True, eq=False)
class KneserNey:
    """An interpolated trigram model with Kneser-Ney smoothing.

    The probability of a word is the share of the n-gram that ends with it, plus ``backoff`` of the words before it
    times the probability given one word less.

    Attributes:
        words: Word -> its id; `START` and `UNKNOWN` are words too.
        discounted_prob: N-gram of one to three words -> its discounted count, divided by the total of the words before
            the last.
        backoff: Context of zero to two words -> the probability left for the shorter context; 1 for contexts not in it.
    """

    words: Mapping[str, int]
    discounted_prob: Mapping[tuple[str, ...], float]
    backoff: Mapping[tuple[str, ...], float]

    @classmethod
    def of(cls, table: pa.Table) -> "KneserNey":
        """Return the model of a table of counts, see ``models/pretraining/ngrams.py``.

        Args:
            table: One row per n-gram. `GRAM_COLUMNS` are its words; the first ones of a shorter n-gram are "". The
                column count is how often a triple, or a pair that begins with `START`, occurs; for all others, it is
                the number of different words before it. The column total is the sum of these counts over all n-grams
                with the same context, before pruning. The metadata `DISCOUNTS` are a JSON list: the discounts of pairs
                and of triples.
        """
        columns = [table[name].to_pylist() for name in GRAM_COLUMNS]
        grams = [tuple(filter(None, words)) for words in zip(*columns, strict=True)]
        discount_by_length = np.array([0.0, *json.loads(table.schema.metadata[DISCOUNTS])])
        discounts = discount_by_length[[len(gram) - 1 for gram in grams]]
        discounted = np.maximum(table["count"].to_numpy() - discounts, 0)
        discounted_prob = dict(zip(grams, (discounted / table["total"].to_numpy()).tolist(), strict=True))
        backoff = dict.fromkeys((gram[:-1] for gram in grams), 1.0)
        for gram, share in discounted_prob.items():
            backoff[gram[:-1]] -= share
        known = [START, UNKNOWN, *(gram[0] for gram in grams if len(gram) == 1)]
        words = {word: number for number, word in enumerate(dict.fromkeys(known))}
        return cls(words, discounted_prob, backoff)

    def log_probabilities(self, sentence: Sequence[str]) -> NDArray[np.float64]:
        """Return the log-probability of each word of a sentence, given the two words before it.

        Args:
            sentence: Words in lower case, without `START`.

        Returns:
            Shape (words,): natural logarithms.
        """
        words = (START, *(word if word in self.words else UNKNOWN for word in sentence))
        probabilities = []
        for last in range(1, len(words)):
            probability = 0.0
            for first in range(last, max(last - 3, -1), -1):  # without context, after one word, after two
                gram = words[first : last + 1]
                probability = self.discounted_prob.get(gram, 0.0) + self.backoff.get(gram[:-1], 1.0) * probability
            probabilities.append(probability)
        logs: NDArray[np.float64] = np.log(probabilities)
        return logs


def load_ngrams(slug: str, spec: NgramModel) -> KneserNey:
    """Read the trigram model in a folder.

    Args:
        slug: The model's key in params.yaml, for messages.
        spec: The folder, and the hash that the file of counts must have.

    Raises:
        ModelError: The file does not exist, or has another hash.
    """
    path = Path(spec.name) / NGRAMS_FILE
    if not path.is_file():
        raise ModelError(f"{slug}: {path} does not exist; name a folder that has it (see models/README.md)")
    check_digest(slug, path, spec.sha256)
    return KneserNey.of(pa.parquet.read_table(path))


def sentences_of(text: str) -> list[list[WordSpan]]:
    """Return the words of each sentence of a text, in lower case, with their offsets in the text.

    A word is a run of letters and digits, an apostrophe with the letters after it ("can", "'t"), or any other character
    except white space. So punctuation marks are words here.
    """
    return [
        [WordSpan(match[0].lower().replace("’", "'"), *match.span()) for match in _TOKEN.finditer(text, start, end)]
        for start, end in sentence_spans(text)
    ]


def baseline_facts(kind: str) -> ModelFacts:
    """Return the facts about a baseline. Its name is its kind; it has neither parameters nor weights.

    Args:
        kind: As params.yaml names it, such as "last_rule".
    """
    return ModelFacts(name=kind.replace("_", " "), kind="baseline", parameters=None, weights="", state="none")


def unigram_scores(texts: Sequence[str], language: str) -> list[TokenScores]:
    """Score each word by its log frequency, without context.

    Punctuation is left out: wordfreq has no frequencies for it, and a constant would only measure the length of a text.

    Args:
        texts: The texts.
        language: The language code of wordfreq, such as "en".

    Returns:
        One record per text, whose tokens are its words (see `words_of`). Ids number the words of all texts in
        alphabetical order.

    Raises:
        DataError: A text has no word.
        LookupError: wordfreq does not have the language.
    """
    from wordfreq import word_frequency  # here, since it is slow to import and only this model needs it

    words_of_texts = [words_of(text) for text in texts]
    vocabulary = sorted({word.text.lower() for words in words_of_texts for word in words})
    # The minimum is that of words which wordfreq does not list, such as pseudowords.
    frequencies = [word_frequency(word, language, minimum=1e-9) for word in vocabulary]
    log_frequencies = np.log(frequencies)  # (words,)
    id_of = {word: position for position, word in enumerate(vocabulary)}
    ids = [[id_of[word.text.lower()] for word in words] for words in words_of_texts]
    return [_record(*one, log_frequencies[one[-1]]) for one in zip(texts, words_of_texts, ids, strict=True)]


def ngram_scores(texts: Sequence[str], model: KneserNey) -> list[TokenScores]:
    """Score each word and punctuation mark by its log-probability, given the two before it in its sentence.

    Args:
        texts: The texts.
        model: The trigram model.

    Returns:
        One record per text, whose tokens are its words (see `sentences_of`). Ids are those of the model.

    Raises:
        DataError: A text has no word.
    """
    records = []
    for text in texts:
        sentences = sentences_of(text)
        words = [word for sentence in sentences for word in sentence]
        ids = [model.words.get(word.text, model.words[UNKNOWN]) for word in words]
        log_probs = [model.log_probabilities([word.text for word in sentence]) for sentence in sentences]
        records.append(_record(text, words, ids, np.concatenate([np.empty(0), *log_probs])))
    return records


def without_contexts(pairs: Iterable[Pair]) -> list[Pair]:
    """Return pairs without their contexts, and without the space before the continuations.

    Pairs that have no context are left out: a model that sees a whole pair is no baseline.
    """
    return [replace(pair, context="", good=pair.good.lstrip(), bad=pair.bad.lstrip()) for pair in pairs if pair.context]


def prepend_contexts(pairs: Iterable[Pair], folder: Path) -> None:
    """Add the scores of whole texts to a folder; they are those of the continuations, as if there were no context.

    Args:
        pairs: The pairs.
        folder: The folder with the scores of `without_contexts` of the pairs, under one or more schemes. To
            ``tokens.parquet`` is added a row for each member of a pair with a context, whose tokens are the scored
            tokens of the continuation; ``model.json`` then describes a baseline.
    """
    ends = {pair.context + end: end.lstrip() for pair in pairs if pair.context for end in (pair.good, pair.bad)}
    alone, behind = read_pair_answers(folder), pd.DataFrame(ends.items(), columns=["whole", "text"])
    whole = alone.merge(behind, on="text")
    scored = [~np.isnan(log_probs) for log_probs in whole["log_probs"]]
    lengths = whole["whole"].str.len() - whole["text"].str.len()
    for name in ("ids", "starts", "stops", "log_probs"):
        moved = lengths if name in ("starts", "stops") else [0] * len(whole)
        whole[name] = [column[some] + by for column, some, by in zip(whole[name], scored, moved, strict=True)]
    whole["text"] = whole.pop("whole")
    write_table(pd.concat([alone, whole], ignore_index=True), folder / TOKENS_FILE)
    checkpoint, facts = read_model_facts(folder), baseline_facts("continuation_alone")
    facts = replace(facts, name=f"{facts.name}, by {checkpoint.name}", weights=checkpoint.weights)
    write_model_facts(facts, folder)


def _record(text: str, words: Sequence[WordSpan], ids: Sequence[int], log_probs: NDArray[np.float64]) -> TokenScores:
    """Return the scores of a text, one token per word.

    Raises:
        DataError: The text has no word.
    """
    if not words:
        raise DataError(f"{text!r} has no word that a baseline could score; leave the pair out")
    spans = np.array([(word.start, word.stop) for word in words], dtype=np.int64)
    return TokenScores(text, "causal", np.array(ids, dtype=np.int32), spans, log_probs)
