"""Texts and pairs measured: what a model scores of them, and the answers of rules and of classifiers on n-grams."""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain, zip_longest
from pathlib import Path
from typing import cast

import numpy as np
import pandas as pd
from scipy.sparse import vstack

from cxprobe.errors import DataError
from cxprobe.files.tables import write_table
from cxprobe.models.causal import CausalLM, load_causal_lm
from cxprobe.models.checkpoints import Source
from cxprobe.models.files import answers_in
from cxprobe.models.loading import kind_of
from cxprobe.models.masked import MaskedLM, load_masked_lm
from cxprobe.models.measuring import MeasuredModel
from cxprobe.models.ngrams import (
    baseline_facts,
    counted_texts,
    load_ngrams,
    ngram_counter,
    ngram_scores,
    prepend_contexts,
    unigram_scores,
    without_contexts,
    words_of,
)
from cxprobe.models.params import (
    AnswersFile,
    ContinuationAlone,
    Member,
    ModelParams,
    ModelSpec,
    NgramModel,
    PairClassifier,
    Rule,
    UnigramModel,
)
from cxprobe.models.store import OnProgress, answer
from cxprobe.models.texts import (
    PREFERENCES_FILE,
    TOKENS_FILE,
    Pair,
    ScoringConfig,
    Texts,
    TokenScores,
    distinct_texts,
    pair_table,
    token_table,
)
from cxprobe.run.record import write_model_facts
from cxprobe.run.stage import Stage

_POSSESSIVE = re.compile(r"(?<=.)['’](?:s|S)$")


def texts_of_pairs(_model: MaskedLM | CausalLM, pairs: Sequence[Pair]) -> dict[str, int]:
    """Return the texts to score, both members of each pair, each with 0: all its tokens are scored."""
    return dict.fromkeys(member_texts(pairs), 0)


def member_texts(pairs: Sequence[Pair]) -> list[str]:
    """Return both members of each pair, the context included."""
    return [pair.context + end for pair in pairs for end in (pair.good, pair.bad)]


def check_scored(model: MaskedLM | CausalLM, pairs: Sequence[Pair]) -> None:
    """Raise if a token that decides has no score, before the model scores anything.

    Args:
        model: The model; its weights are not needed.
        pairs: The pairs.

    Raises:
        DataError: Nothing stands before a text, so that its first token has no score, and the members of a pair differ
            there.
    """
    if isinstance(model, MaskedLM) or model.ids_before:
        return
    texts = member_texts(pairs)
    tokens = dict(zip(texts, model.tokenizer(texts, add_special_tokens=False)["input_ids"], strict=True))
    apart = [pair.id for pair in pairs if tokens[pair.context + pair.good][:1] != tokens[pair.context + pair.bad][:1]]
    if apart:
        named = model.tokenizer.bos_token_id is not None
        remedy = "take bos: add" if named else "take bos: <the token that began documents in its training>"
        where = f"{len(apart)} of {len(pairs)} pairs, such as {apart[0]}, differ in their first token"
        raise DataError(f"{where}, which has no score, since {model.name} reads nothing before a text; {remedy}")


Sources = Mapping[str, Sequence[Sequence[Pair]]]
"""Source -> its pairs in portions, such as constructions."""


def pairs_shown_to(member: Member, model: MeasuredModel[MaskedLM | CausalLM] | None, sources: Sources) -> Sources:
    """Return the pairs that a model is asked about: all, or the second sentences of those with a context.

    A file is shown those of all sources, so that an answer to none of them is noticed.

    Args:
        member: The model.
        model: What `scoring_model` returns.
        sources: All pairs.

    Raises:
        DataError: See `check_scored`.
    """
    if isinstance(member.spec, AnswersFile):  # one table has the answers to all of them
        every = [pairs for portions in sources.values() for pairs in portions]
        return dict.fromkeys(sources, every)
    if isinstance(member.spec, ContinuationAlone):
        alone = {name: [without_contexts(pairs) for pairs in portions] for name, portions in sources.items()}
        sources = {name: portions for name, portions in alone.items() if any(portions)}
    if model is not None:
        for pairs in chain.from_iterable(sources.values()):
            check_scored(model.described, pairs)
    return sources


def scoring_model(stage: Stage[ModelParams], member: Member) -> MeasuredModel[MaskedLM | CausalLM] | None:
    """Return the model that scores texts; None for a rule, or for counts of words."""
    match member.spec:
        case ModelSpec():
            return MeasuredModel.of(stage, member.slug, member.spec, load_language_model)
        case ContinuationAlone(checkpoint=spec):
            # Under the key of its own entry, so that both use one store of answers.
            slug = next((key for key, entry in stage.params.models.items() if entry == spec), member.slug)
            return MeasuredModel.of(stage, slug, spec, load_language_model)
    return None


def measure_pairs(
    model: MeasuredModel[MaskedLM | CausalLM] | None,
    member: Member,
    portions: Sequence[Sequence[Pair]],
    shown: Sequence[Sequence[Pair]],
    texts_of: Callable[[MaskedLM | CausalLM, Sequence[Pair]], Mapping[str, int]],
    how: ScoringConfig,
    folder: Path,
    seed: int,
) -> dict[str, float] | None:
    """Measure a model, a baseline or a file of answers on pairs, into files.

    A model, unigrams and n-grams write ``tokens.parquet``, a rule, a classifier and a file ``preferences.parquet``; all
    write ``model.json``.

    Args:
        model: What `scoring_model` returns.
        member: The model or baseline.
        portions: The pairs, such as those of each construction.
        shown: The pairs as the model is shown them, see `pairs_shown_to`.
        texts_of: Returns the texts that a model scores for some pairs.
        how: How the model is asked.
        folder: Where the files go.
        seed: The project's seed, by which folds are drawn.

    Returns:
        The number of pairs, and of distinct texts and scores of their words; or of the pairs that a rule, a classifier
        or a file decides. None if this process writes no files.

    Raises:
        DataError: See `measure_texts` and `answers_in`, or a text has no word.
        ModelError: The counts of an n-gram model, or a tagger, are not there, or are others.
        ProbeError: A classifier did not converge.
    """
    pairs = [pair for portion in portions for pair in portion]
    counts: dict[str, float] = {"pairs": len(pairs)}
    if model is not None:
        texts = distinct_texts(texts_of(model.described, portion) for portion in shown)
        counted = measure_texts(model, texts, how, folder)
        if counted is not None and isinstance(member.spec, ContinuationAlone):
            prepend_contexts(pairs, folder)
        return None if counted is None else counts | counted
    if isinstance(member.spec, AnswersFile):
        of_file, facts = answers_in(member, pair_table([pair for portion in shown for pair in portion]))
        answers = of_file[of_file["id"].isin([pair.id for pair in pairs])]
    else:
        answers, facts = baseline_answers(member, pairs, seed), baseline_facts(member.baseline.kind)
    write_model_facts(facts, folder)
    if "margin" in answers:
        write_table(answers, folder / PREFERENCES_FILE)
        return counts | {"decided": int((answers["margin"] != 0).sum())}
    write_table(answers, folder / TOKENS_FILE)
    return counts | {"texts": len(answers), "token_scores": int(answers["log_probs"].map(len).sum())}


def baseline_answers(member: Member, pairs: Sequence[Pair], seed: int) -> pd.DataFrame:
    """Return what a baseline answers: preferences (id and margin), or the scores of the texts' words (`token_table`).

    Errors are those of `measure_pairs`.
    """
    if isinstance(member.spec, Rule):
        return preferences_of(member.spec.kind, pairs)
    if isinstance(member.spec, PairClassifier):
        return learn_preferences(member.spec, pairs, seed, member.slug)
    texts = list(dict.fromkeys(member_texts(pairs)))
    spec = cast(UnigramModel | NgramModel, member.spec)  # params.yaml lets no others into the baselines of pairs
    if isinstance(spec, UnigramModel):
        return token_table(unigram_scores(texts, spec.language))
    return token_table(ngram_scores(texts, load_ngrams(f"models.{member.entry}.members.{member.slug}", spec)))


def preferences_of(kind: str, pairs: Sequence[Pair]) -> pd.DataFrame:
    """Return the preferences of a rule between the continuations of each pair.

    The rule is shown the two in the order of the alphabet, so that it cannot know which of them is right.

    Args:
        kind: "first_mentioned": of the first words in which the two differ, the one that the context names earlier for
            the first time; "last_mentioned": the one that it names later for the last time; "shorter": the continuation
            with fewer characters. A word that the context does not name yields to one that it names.
        pairs: The pairs.

    Returns:
        id; and margin, above 0 where the right one is preferred, below 0 where the wrong one is, and 0 where the rule
        has nothing to go by, such as where the context names neither word, or there is no context.
    """
    rows = []
    for pair in pairs:
        first, second = sorted((pair.good, pair.bad))
        preference = _prefer(kind, pair.context, first, second)
        rows.append((pair.id, preference if first == pair.good else -preference))
    return pd.DataFrame(rows, columns=["id", "margin"]).astype({"margin": "float64"})


def learn_preferences(spec: PairClassifier, pairs: Sequence[Pair], seed: int, name: str) -> pd.DataFrame:
    """Return the preferences of a classifier that was trained on other frames.

    It is a logistic regression on the difference of the two texts, taken in both directions, so that it prefers neither
    the first nor the second; each construction has its own, and so has a benchmark. The features are counts of the
    n-grams of both whole texts, and of the n-grams of the context with each word in which the continuations differ: the
    context is the same for both, so that alone it could decide nothing.

    Args:
        spec: The features, and the number of folds; there are fewer where there are fewer frames.
        pairs: The pairs; one without a frame, as benchmarks have it, is kept together with those of its item.
        seed: The project's seed, by which frames are dealt to folds.
        name: That of the model, for messages.

    Returns:
        id; and margin, the probability with which the right one is taken for the right one, less 0.5, in
        [-0.5, 0.5]; 0 where the members have the same features, where what was learnt says nothing about them, and in a
        construction of one frame.

    Raises:
        ModelError: There is no such tagger, or it is another one than params say.
        ProbeError: The solver did not converge.
    """
    # It takes a second to import, and models that are no baselines do without it.
    from sklearn.feature_extraction import DictVectorizer

    from cxprobe.probing import Fitting, cut_folds, predict_held_out

    margins = np.zeros(len(pairs))
    kinds = np.array([pair.groups.get("construction", "") for pair in pairs], dtype=object)
    frames = np.array([pair.clusters.get("frame", pair.item) for pair in pairs], dtype=object)
    differences = list(_differences(spec, pairs))
    for kind in dict.fromkeys(kinds):
        rows = np.flatnonzero(kinds == kind)
        features = DictVectorizer(dtype=np.float64).fit_transform([differences[row] for row in rows])
        if len(set(frames[rows])) > 1 and features.shape[1]:
            both, is_good = vstack([features, -features], format="csr"), np.repeat([True, False], len(rows))
            folds = cut_folds(is_good, np.tile(frames[rows], 2), spec.folds, seed)
            fitting = Fitting(1.0, False, 1000, seed, f"{name}, {kind}")
            probabilities = predict_held_out(both, is_good, folds, fitting)
            # What two opposite orders of a frame teach cancels but for the last digits, which decide nothing.
            margins[rows] = np.round(probabilities[: len(rows)] - 0.5, 6)
    return pd.DataFrame({"id": [pair.id for pair in pairs], "margin": margins})


def _differences(spec: PairClassifier, pairs: Sequence[Pair]) -> Iterator[dict[str, int]]:
    """Yield for each pair the features in which its texts differ -> how much more often the right one has each."""
    grams = ngram_counter(spec.counts).build_analyzer()
    contexts = counted_texts(spec.counts, [pair.context for pair in pairs])
    goods = counted_texts(spec.counts, [pair.context + pair.good for pair in pairs])
    bads = counted_texts(spec.counts, [pair.context + pair.bad for pair in pairs])
    for pair, context, good, bad in zip(pairs, contexts, goods, bads, strict=True):
        counts = Counter[str](grams(good))
        counts.subtract(grams(bad))
        words = Counter(word.text.lower() for word in words_of(pair.good))
        words.subtract(word.text.lower() for word in words_of(pair.bad))
        for gram, times in Counter(grams(context)).items():
            counts.update({f"{gram} with {word}": times * more for word, more in words.items() if more})
        yield {feature: more for feature, more in counts.items() if more}


def _prefer(rule: str, context: str, first: str, second: str) -> float:
    """Return a number above 0 for the first continuation, below 0 for the second, and 0 for none.

    The first mentioned is what the context names earlier, by its first mention; the last mentioned is what it names
    later, by its last. The first difference of the continuations decides of which the context names a word.
    """
    if rule == "shorter":
        return float(len(second) - len(first))
    words = _names(context) if rule == "last_mentioned" else _names(context)[::-1]
    # A word's position counts from the end that the rule likes less; 0 is nowhere.
    positions = {word: position for position, word in enumerate(words, start=1)}
    # A word may begin a sentence in one text and not in the other, so that its capital does not count; but the letter
    # of "Name A" is not the article.
    small = {word.lower(): position for position, word in enumerate(words, start=1)}

    def position_of(word: str) -> int:
        return positions.get(word, small.get(word.lower(), 0) if len(word) > 1 else 0)

    one, other = _names(first), _names(second)
    while one and other and one[-1] == other[-1]:  # what follows the difference, which may be longer in one of them
        one.pop()
        other.pop()
    differences = (position_of(left) - position_of(right) for left, right in zip_longest(one, other, fillvalue=""))
    return float(np.sign(next(filter(None, differences), 0)))


def _names(text: str) -> list[str]:
    """Return the words of a text without possessive endings: "the cook's" names the cook."""
    return [_POSSESSIVE.sub("", word.text) for word in words_of(text)]


def load_language_model(source: Source, device: str = "cpu") -> MaskedLM | CausalLM:
    """Load a model that fills masks, or one that reads from left to right; its configuration decides which it is.

    Code of a checkpoint is never run.

    Arguments are those of `cxprobe.models.embedding.load_encoder`.

    Raises:
        ModelError: As for `cxprobe.models.embedding.load_encoder` and `load_masked_lm`; or it is no language model.
    """
    load = load_masked_lm if kind_of(source.config) == "masked" else load_causal_lm
    return load(source, device)


def measure_texts(
    model: MeasuredModel[MaskedLM | CausalLM], portions: Sequence[Texts], how: ScoringConfig, folder: Path
) -> dict[str, float] | None:
    """Score the tokens of texts under each scheme that fits the model, and write ``tokens.parquet`` and ``model.json``.

    Args:
        model: The model.
        portions: Distinct texts; batches are formed within a portion, such as the texts of one construction, so that
            its numbers do not depend on the others in the last digit. The table has one row a text and scheme: for each
            portion all texts under the first scheme, then all under the next.
        how: How the model is asked.
        folder: Where the files are written.

    Returns:
        The number of distinct texts, the number of scores that their tokens have, and the share of tokens that the
        model does not know. None if this process writes no files.

    Raises:
        ModelError: See `MeasuredModel.check`.
        DataError: Before anything of a portion is computed: a text cannot be scored, see
            `cxprobe.models.masked.PllQuestions` and `cxprobe.models.causal.CausalQuestions`. Afterwards: a number is
            not finite.
    """
    described = model.described
    checked = model.check([text for texts in portions for text in texts])
    schemes = len(how.schemes) if isinstance(described, MaskedLM) else 1
    tokens = model.answer(lambda: described.questions(portions, how), schemes * sum(map(len, portions)))
    if tokens is None:
        return None
    write_table(token_table(tokens), folder / TOKENS_FILE)
    write_model_facts(model.facts, folder)
    scored = sum(int(np.isfinite(scores.log_probs).sum()) for scores in tokens)
    return {"texts": len({scores.text for scores in tokens}), "token_scores": scored, **checked}


def score_texts(
    model: MaskedLM | CausalLM, portions: Sequence[Texts], how: ScoringConfig, *, progress: OnProgress | None = None
) -> list[TokenScores]:
    """Return the scores of texts' tokens, as `measure_texts` writes them, by a loaded model in this process.

    Args:
        model: The model.
        portions: See `measure_texts`.
        how: How the model is asked.
        progress: Is called with the number of texts that have been finished; each counts once a scheme.
    """
    return answer(lambda: model.questions(portions, how), lambda: model, progress=progress)
