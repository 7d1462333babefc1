"""Blind models that give the words of a text a probability, in the form in which causal models are measured."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from cxprobe.errors import DataError
from cxprobe.measure.blind.facts import blind_facts
from cxprobe.measure.blind.ngrams import KneserNey, sentences_of
from cxprobe.measure.blind.words import Word, spans_of, words_of
from cxprobe.records import Pair, TokenScores
from cxprobe.storage import read_model_facts, read_pair_answers, token_scores_of, write_token_scores

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
        found = [word_frequency(word, language, minimum=LEAST_FREQUENCY) for word in vocabulary]
    except LookupError as fault:
        raise DataError(f"unigrams: the package wordfreq has no language '{language}': {fault}") from fault
    frequency = dict(zip(vocabulary, np.log(found), strict=True))
    number = {word: place for place, word in enumerate(vocabulary)}
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
        ids = [model.number_of(word.text) for word in words]
        records.append(_record(text, words, ids, np.concatenate([np.empty(0), *log_probs])))
    return records


def without_contexts(pairs: Iterable[Pair]) -> list[Pair]:
    """Return the continuations alone, without the space before them, of the pairs that have a context.

    A model that is shown the whole of a pair is not blind, so that pairs without a context are left out.
    """
    return [replace(pair, context="", good=pair.good.lstrip(), bad=pair.bad.lstrip()) for pair in pairs if pair.context]


def refuse_without_contexts(slug: str, pairs: Sequence[Pair]) -> None:
    """Refuse a blind model that is not shown the context, where there is none.

    Args:
        slug: The model's slug, for the message.
        pairs: All pairs.

    Raises:
        DataError: No pair has a context.
    """
    if not any(pair.context for pair in pairs):
        raise DataError(
            f"{slug}: none of {len(pairs)} pairs has a context, so that the continuation alone is the whole text and "
            "the model is not blind; take continuation_alone out of this panel"
        )


def put_behind_contexts(pairs: Iterable[Pair], folder: Path) -> None:
    """Give the texts of pairs the scores that their continuations have alone, in ``tokens.parquet`` of a folder.

    Args:
        pairs: The pairs.
        folder: Where `without_contexts` of them were measured. ``model.json`` then says that the model is a blind one.
    """
    alone = token_scores_of(read_pair_answers(folder))
    facts = blind_facts("continuation_alone")
    checkpoint = read_model_facts(folder)
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
    for one in alone:
        schemes.setdefault(one.scheme, {})[one.text] = one
    ends = dict.fromkeys((pair.context, end) for pair in pairs for end in (pair.good, pair.bad) if pair.context)
    records = []
    for scores in schemes.values():
        whole = {context + end: _behind(context + end, scores[end.lstrip()]) for context, end in ends}
        records += list((scores | whole).values())
    return records


def _behind(text: str, alone: TokenScores) -> TokenScores:
    """Return the scores of the end of a text as those of the text."""
    scored = ~np.isnan(alone.log_probs)
    shift = len(text) - len(alone.text)
    return TokenScores(
        text,
        alone.scheme,
        alone.ids[scored],
        alone.spans[scored] + shift,
        alone.words[scored],
        alone.log_probs[scored],
    )


def _record(
    text: str, words: Sequence[Word], ids: Sequence[int], log_probs: Sequence[float] | NDArray[np.float64]
) -> TokenScores:
    if not words:
        raise DataError(f"{text!r} has no word that a blind model could score; leave the pair out")
    places = np.arange(len(words), dtype=np.int64)
    numbers = np.asarray(log_probs, dtype=np.float64)
    return TokenScores(text, "causal", np.asarray(ids, dtype=np.int32), spans_of(words), places, numbers)
