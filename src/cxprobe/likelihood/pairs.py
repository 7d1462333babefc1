"""Minimal pairs: every score of both members, under every scheme that fits the model."""

from collections.abc import Iterator, Mapping, Sequence

import pandas as pd

from cxprobe.errors import DataError
from cxprobe.likelihood.causal import causal_token_scores, texts_without_first_score
from cxprobe.likelihood.masked import pll_token_scores
from cxprobe.likelihood.scores import CONTEXT_SCORES, SCORES, decide, given_context, pmi
from cxprobe.models import CausalLM, MaskedLM
from cxprobe.params import ScorePairs
from cxprobe.records import Pair, TokenScores

Found = Mapping[str, TokenScores]  # text -> its tokens' scores
COLUMNS = ["id", "scheme", "score", "good", "bad", "margin"]


def score_pairs(model: MaskedLM | CausalLM, pairs: Sequence[Pair], settings: ScorePairs) -> pd.DataFrame:
    """Score both members of each pair.

    Args:
        model: A masked model is asked under each of ``settings.schemes``, a causal one under "causal".
        pairs: A member is the context directly followed by its continuation.
        settings: The schemes, the scores by name, and what stands before a text.

    Returns:
        One row a pair, scheme and score: id, scheme, score, good, bad (nats; a mean of nats where the score says so)
        and margin, good less bad. "given_context" and "pmi" have no row for a pair without a context.

    Raises:
        DataError: Before anything is computed: a text cannot be scored (see `pll_token_scores` and
            `causal_token_scores`), or a score needs a token that has none (`refuse_unscored`).
    """
    refuse_unscored(model, pairs, settings)
    tables = [
        _named(pairs, name, found, scheme)
        for scheme, found in _token_scores(model, _texts(pairs, settings.scores), settings)
        for name in settings.scores
    ]
    return pd.concat(tables, ignore_index=True)


def refuse_unscored(model: MaskedLM | CausalLM, pairs: Sequence[Pair], settings: ScorePairs) -> None:
    """Refuse pairs that a causal model without a beginning of sequence cannot tell apart, before it is asked.

    Args:
        model: The model.
        pairs: The pairs.
        settings: The scores by name, and what stands before a text.

    Raises:
        DataError: Nothing stands before a text, and the members of a pair differ in their first token, or "pmi" asks
            for the whole of a continuation alone.
    """
    if not isinstance(model, CausalLM):
        return
    members = list(dict.fromkeys(pair.context + end for pair in pairs for end in (pair.good, pair.bad)))
    first = texts_without_first_score(model, members, settings.bos)
    mend = f"the model's tokenizer puts nothing before a text under score_pairs.bos: {settings.bos}; take bos: add"
    if first and "pmi" in settings.scores and any(pair.context for pair in pairs):
        raise DataError(f"pmi needs the score of a continuation's first token, and there is none: {mend}, or no pmi")
    apart = [pair.id for pair in pairs if first.get(pair.context + pair.good) != first.get(pair.context + pair.bad)]
    if apart:
        which = f"{len(apart)} of {len(pairs)} pairs, such as {apart[0]},"
        raise DataError(f"{which} differ in their first token, which has no score: {mend}")


def _texts(pairs: Sequence[Pair], scores: Sequence[str]) -> list[str]:
    """Return the distinct texts to score: the members, and their continuations alone if a score asks for these."""
    texts = [pair.context + end for pair in pairs for end in (pair.good, pair.bad)]
    if "pmi" in scores:
        texts += [end.lstrip() for pair in pairs if pair.context for end in (pair.good, pair.bad)]
    return list(dict.fromkeys(texts))


def _token_scores(
    model: MaskedLM | CausalLM, texts: Sequence[str], settings: ScorePairs
) -> Iterator[tuple[str, Found]]:
    budget = settings.token_budget
    if isinstance(model, CausalLM):
        scores = causal_token_scores(model, texts, bos=settings.bos, token_budget=budget)
        yield "causal", dict(zip(texts, scores, strict=True))
        return
    for scheme in settings.schemes:
        scores = pll_token_scores(model, texts, scheme=scheme, token_budget=budget)
        yield scheme, dict(zip(texts, scores, strict=True))


def _named(pairs: Sequence[Pair], name: str, found: Found, scheme: str) -> pd.DataFrame:
    """Return the rows of one score under one scheme."""
    own = [pair for pair in pairs if pair.context or name not in CONTEXT_SCORES]
    if not own:
        return pd.DataFrame(columns=COLUMNS)
    good = [_score(name, pair.context, pair.good, found) for pair in own]
    bad = [_score(name, pair.context, pair.bad, found) for pair in own]
    ids = [pair.id for pair in own]
    columns = {"id": ids, "scheme": scheme, "score": name, "good": good, "bad": bad}
    return pd.DataFrame(columns | {"margin": decide(ids, good, bad).margins}, columns=COLUMNS)


def _score(name: str, context: str, end: str, found: Found) -> float:
    whole, alone = found[context + end], end.lstrip()
    start = len(whole.text) - len(alone)  # the blank before it belongs to its first token, or to none
    if name == "given_context":
        return given_context(whole, start)
    if name == "pmi":
        return pmi(whole, start, found[alone])
    return SCORES[name](whole)
