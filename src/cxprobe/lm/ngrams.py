"""The words of a text, their places, and n-grams, as blind models read them."""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet
from numpy.typing import NDArray

from cxprobe.errors import DataError, ModelError
from cxprobe.files.writing import digest
from cxprobe.lm.language_models import read_model_facts
from cxprobe.lm.params import NgramFeatures, NgramModel, TagNgrams
from cxprobe.lm.texts import Pair, TokenScores, read_pair_answers, token_scores_of, write_token_scores
from cxprobe.run.record import ModelFacts
from cxprobe.segmentation import Spans, cut, sentence_spans
from cxprobe.tagging import open_tagger

if TYPE_CHECKING:
    from sklearn.feature_extraction.text import CountVectorizer

EVERY_WORD = r"(?u)\b\w+\b"  # for scikit-learn, whose own pattern ignores words of one letter
_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")


class WordSpan(NamedTuple):
    """A word: what is written, its first character, and the one after its last."""

    text: str
    start: int
    stop: int


def words_of(text: str) -> list[WordSpan]:
    """Return the words of a text, in their order.

    A word is a run of letters and digits, which apostrophes and hyphens may join: "can't", "well-known". Punctuation is
    none.
    """
    return [WordSpan(match[0], *match.span()) for match in _WORD.finditer(text)]


def places_of(text: str, expression: str) -> list[int]:
    """Return where a word, or several words with spaces between them, begin in a text, in lower or upper case."""
    return [match.start() for match in re.finditer(rf"(?<!\w){re.escape(expression)}(?!\w)", text, re.IGNORECASE)]


def counted_texts(spec: NgramFeatures | TagNgrams, texts: Sequence[str], spans: Spans = None) -> list[str]:
    """Return what a blind model reads of each text, or of a span of it: its tags, with spaces between them, or itself.

    Raises:
        ModelError: There is no such tagger, or it is another one than params say.
    """
    if isinstance(spec, TagNgrams):
        return open_tagger(spec.tagger, spec.sha256).tags_of(texts, spans)
    return cut(texts, spans)


def ngram_counter(spec: NgramFeatures | TagNgrams, dtype: type = np.float64) -> "CountVectorizer":
    """Return scikit-learn's counter of the n-grams of what is read (`counted_texts`).

    Args:
        spec: What is counted: n-grams of lower-cased words, of characters of the lower-cased text, spaces and
            punctuation included, or of tags.
        dtype: Of the counts.
    """
    # scikit-learn takes a second to import, and models that are not blind do without these parts of it.
    from sklearn.feature_extraction.text import CountVectorizer

    ways: Mapping[str, Mapping[str, Any]] = {
        "word_ngrams": {"token_pattern": EVERY_WORD},
        "character_ngrams": {"analyzer": "char"},
        "tag_ngrams": {"token_pattern": r"\S+", "lowercase": False},
    }
    return CountVectorizer(ngram_range=tuple(spec.lengths), dtype=dtype, **ways[spec.kind])


NGRAMS_FILE = "ngrams.parquet"
START, UNKNOWN = "<s>", "<unk>"
GRAM_COLUMNS = ("first", "second", "third")
DISCOUNTS = b"discounts"
_TOKEN = re.compile(r"[^\W_]+|['’][^\W\d_]+|\S")


@dataclass(frozen=True, eq=False)
class KneserNey:
    """A trigram model.

    Attributes:
        words: WordSpan -> its number; `START` and `UNKNOWN` are words too.
        shares: One to three words -> what they add to the probability of the last one.
        left: No word to two words -> the weight of the shorter n-gram behind them; 1 for those that it lacks.
    """

    words: Mapping[str, int]
    shares: Mapping[tuple[str, ...], float]
    left: Mapping[tuple[str, ...], float]

    @classmethod
    def of(cls, table: pa.Table) -> "KneserNey":
        """Return the model of a table of counts, which has the form that the module describes."""
        grams = [
            tuple(filter(None, words))
            for words in zip(*(table[name].to_pylist() for name in GRAM_COLUMNS), strict=True)
        ]
        discounts = np.array([0.0, *json.loads(table.schema.metadata[DISCOUNTS])])[[len(gram) - 1 for gram in grams]]
        shares = np.maximum(table["count"].to_numpy() - discounts, 0) / table["total"].to_numpy()  # (n-grams,)
        left = dict.fromkeys((gram[:-1] for gram in grams), 1.0)
        for gram, share in zip(grams, shares.tolist(), strict=True):
            left[gram[:-1]] -= share
        known = [START, UNKNOWN, *(gram[0] for gram in grams if len(gram) == 1)]
        words = {word: number for number, word in enumerate(dict.fromkeys(known))}
        return cls(words, dict(zip(grams, shares.tolist(), strict=True)), left)

    def log_probabilities(self, sentence: Sequence[str]) -> NDArray[np.float64]:
        """Return how probable each word of a sentence is after the two before it.

        Args:
            sentence: Words in lower case; `START` stands before the first, and is none of them.

        Returns:
            Shape (words,): natural logarithms.
        """
        words = (START, *(word if word in self.words else UNKNOWN for word in sentence))
        probabilities = np.zeros(len(sentence))
        for position in range(len(sentence)):
            for first in range(position + 1, max(position - 2, -1), -1):  # the word alone, behind one word, behind two
                before, gram = words[first : position + 1], words[first : position + 2]
                shorter = self.left.get(before, 1.0) * probabilities[position]
                probabilities[position] = self.shares.get(gram, 0.0) + shorter
        return np.log(probabilities)


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


def sentences_of(text: str) -> list[list[WordSpan]]:
    """Return the words of each sentence of a text in lower case, with their places in the text.

    A word is a run of letters and digits, an apostrophe with the letters after it ("can", "'t"), or any other character
    except white space, so that punctuation counts.
    """
    return [
        [WordSpan(match[0].lower().replace("’", "'"), *match.span()) for match in _TOKEN.finditer(text, start, end)]
        for start, end in sentence_spans(text)
    ]


def blind_facts(kind: str) -> ModelFacts:
    """Return the facts about a blind model: its kind in words, and that it has neither parameters nor weights.

    Args:
        kind: As params.yaml names it, such as "last_rule".
    """
    return ModelFacts(name=kind.replace("_", " "), kind="blind", parameters=None, weights="", state="none")


LEAST_FREQUENCY = 1e-9  # of a word that wordfreq does not list, such as a pseudoword; one in a billion


def unigram_scores(texts: Sequence[str], language: str) -> list[TokenScores]:
    """Score words by how frequent they are, whatever stands around them.

    Punctuation is no token: wordfreq gives it no frequency, and any number in its place would only add what a text's
    length adds.

    Args:
        texts: The texts.
        language: As wordfreq names it, such as "en".

    Returns:
        One record a text, whose tokens are its words (see `words_of`); ids number the words of all texts in the order
        of the alphabet.

    Raises:
        DataError: A text has no word, or wordfreq does not have the language.
    """
    from wordfreq import word_frequency  # slow to import, and models that are not blind do without it

    read = [words_of(text) for text in texts]
    vocabulary = sorted({word.text.lower() for words in read for word in words})
    try:
        frequencies = [word_frequency(word, language, minimum=LEAST_FREQUENCY) for word in vocabulary]
    except LookupError as fault:
        raise DataError(f"unigrams: the package wordfreq has no language '{language}': {fault}") from fault
    frequency = dict(zip(vocabulary, np.log(frequencies), strict=True))
    number = {word: position for position, word in enumerate(vocabulary)}
    return [
        _record(text, words, [number[word.text.lower()] for word in words], [frequency[w.text.lower()] for w in words])
        for text, words in zip(texts, read, strict=True)
    ]


def ngram_scores(texts: Sequence[str], model: KneserNey) -> list[TokenScores]:
    """Score words, and punctuation, by the two that stand before them in their sentence.

    Args:
        texts: The texts.
        model: The trigram model.

    Returns:
        One record a text, whose tokens are its words (see `sentences_of`); ids are the model's numbers of the words.

    Raises:
        DataError: A text has no word.
    """
    records = []
    for text in texts:
        sentences = [sentence for sentence in sentences_of(text) if sentence]
        words = [word for sentence in sentences for word in sentence]
        log_probs = [model.log_probabilities([word.text for word in sentence]) for sentence in sentences]
        ids = [model.words.get(word.text, model.words[UNKNOWN]) for word in words]
        records.append(_record(text, words, ids, np.concatenate([np.empty(0), *log_probs])))
    return records


def without_contexts(pairs: Iterable[Pair]) -> list[Pair]:
    """Return the continuations alone, without the space before them, of the pairs that have a context.

    A model that is shown the whole of a pair is not blind, so that pairs without a context are left out.
    """
    return [replace(pair, context="", good=pair.good.lstrip(), bad=pair.bad.lstrip()) for pair in pairs if pair.context]


def put_behind_contexts(pairs: Iterable[Pair], folder: Path) -> None:
    """Give the texts of pairs the scores that their continuations have alone, in ``tokens.parquet`` of a folder.

    Args:
        pairs: The pairs.
        folder: Where `without_contexts` of them were measured. ``model.json`` then says that the model is a blind one.
    """
    alone = token_scores_of(read_pair_answers(folder))
    checkpoint, facts = read_model_facts(folder), blind_facts("continuation_alone")
    facts = replace(facts, name=f"{facts.name}, by {checkpoint.name}", weights=checkpoint.weights)
    write_token_scores(scores_behind_contexts(pairs, alone), facts, folder)


def scores_behind_contexts(pairs: Iterable[Pair], alone: Iterable[TokenScores]) -> list[TokenScores]:
    """Give texts the scores that their continuations have alone, as if no context had been read.

    Args:
        pairs: The pairs.
        alone: The scores of the continuations, without the space before them, under one or more schemes.

    Returns:
        Under each scheme the records of the continuations alone, as they are, and one for every member of a pair with a
        context: its tokens are those of the continuation that have a score.
    """
    schemes: dict[str, dict[str, TokenScores]] = {}
    for token_scores in alone:
        schemes.setdefault(token_scores.scheme, {})[token_scores.text] = token_scores
    ends = dict.fromkeys((pair.context, end) for pair in pairs for end in (pair.good, pair.bad) if pair.context)
    records: list[TokenScores] = []
    for scores in schemes.values():
        whole = dict(scores)
        for context, end in ends:
            of_end, text = scores[end.lstrip()], context + end
            scored = ~np.isnan(of_end.log_probs)
            spans = of_end.spans[scored] + len(text) - len(of_end.text)
            columns = (of_end.ids[scored], spans, of_end.words[scored], of_end.log_probs[scored])
            whole[text] = TokenScores(text, of_end.scheme, *columns)
        records += whole.values()
    return records


def _record(
    text: str, words: Sequence[WordSpan], ids: Sequence[int], log_probs: Sequence[float] | NDArray[np.float64]
) -> TokenScores:
    if not words:
        raise DataError(f"{text!r} has no word that a blind model could score; leave the pair out")
    places = np.arange(len(words), dtype=np.int64)
    numbers = np.asarray(log_probs, dtype=np.float64)
    spans = np.array([(word.start, word.stop) for word in words], dtype=np.int64)
    return TokenScores(text, "causal", np.asarray(ids, dtype=np.int32), spans, places, numbers)
