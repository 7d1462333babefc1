"""Minimal pairs: every score of both members, under every scheme that fits the model."""

from collections.abc import Iterator, Mapping, Sequence

import pandas as pd

from cxprobe.likelihood.causal import causal_token_scores
from cxprobe.likelihood.masked import pll_token_scores
from cxprobe.likelihood.scores import SCORES, decide, given_context, pmi, refuse_unscored_differences
from cxprobe.models import CausalLM, MaskedLM
from cxprobe.params import ScorePairs
from cxprobe.records import TokenScores

Found = Mapping[str, TokenScores]  # text -> its tokens' scores


def score_pairs(model: MaskedLM | CausalLM, pairs: pd.DataFrame, settings: ScorePairs) -> pd.DataFrame:
    """Score both members of each pair.

    Args:
        model: A masked model is asked under each of ``settings.schemes``, a causal one under "causal".
        pairs: Columns id, context, good, bad: a member is the context directly followed by its continuation.
        settings: The schemes, the scores by name, and what stands before a text.

    Returns:
        One row a pair, scheme and score: id, scheme, score, good, bad (nats, over tokens or characters where the score
        says so) and margin, good less bad. "pmi" has no row for a pair without a context.

    Raises:
        DataError: A text cannot be scored (see `pll_token_scores` and `causal_token_scores`), or the members of a pair
            differ in a token that has no score.
    """
    tables = [
        _named(pairs, name, found, scheme)
        for scheme, found in _token_scores(model, _texts(pairs, settings.scores), settings)
        for name in settings.scores
    ]
    return pd.concat(tables, ignore_index=True)


def _texts(pairs: pd.DataFrame, scores: Sequence[str]) -> list[str]:
    """Return the distinct texts to score: the members, and their continuations alone if a score asks for these."""
    texts = [row.context + end for row in pairs.itertuples() for end in (row.good, row.bad)]
    if "pmi" in scores:
        texts += [end.lstrip() for row in pairs.itertuples() if row.context for end in (row.good, row.bad)]
    return list(dict.fromkeys(texts))


def _token_scores(
    model: MaskedLM | CausalLM, texts: Sequence[str], settings: ScorePairs
) -> Iterator[tuple[str, Found]]:
    budget = settings.token_budget
    if isinstance(model, CausalLM):
        yield "causal", dict(
            zip(texts, causal_token_scores(model, texts, bos=settings.bos, token_budget=budget), strict=True)
        )
        return
    for scheme in settings.schemes:
        found = pll_token_scores(model, texts, scheme=scheme, token_budget=budget)
        yield scheme, dict(zip(texts, found, strict=True))


def _named(pairs: pd.DataFrame, name: str, found: Found, scheme: str) -> pd.DataFrame:
    """Return the rows of one score under one scheme."""
    own = pairs[pairs["context"] != ""] if name == "pmi" else pairs
    scored = {member: [] for member in ("good", "bad")}
    for row in own.itertuples():
        members = {"good": row.good, "bad": row.bad}
        whole = {member: found[row.context + end] for member, end in members.items()}
        refuse_unscored_differences(row.id, whole["good"], whole["bad"])
        for member, end in members.items():
            scored[member].append(_score(name, whole[member], row.context, end, found))
    ids = own["id"].tolist()
    table = pd.DataFrame({"id": ids, "scheme": scheme, "score": name, **scored})
    return table.assign(margin=decide(ids, scored["good"], scored["bad"]).margins if ids else [])


def _score(name: str, whole: TokenScores, context: str, end: str, found: Found) -> float:
    # The blank between context and continuation belongs to the token after it, or to none.
    start = len(context) + len(end) - len(end.lstrip())
    if name == "given_context":
        return given_context(whole, start)
    if name == "pmi":
        return pmi(whole, start, found[end.lstrip()])
    return SCORES[name](whole)
