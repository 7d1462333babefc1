from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cxprobe.errors import DataError
from cxprobe.models.scores import SCORES, ScoredTexts, score_pairs
from cxprobe.models.texts import TokenScores, token_table

NAN = float("nan")


def scored(text, spans, log_probs) -> TokenScores:
    places = np.arange(len(spans))
    return TokenScores(text, "causal", places, np.array(spans), np.array(log_probs, dtype=float))


#         the     ␣old    ␣cat     s
SPANS = [(0, 3), (3, 7), (8, 11), (11, 12)]
FIRST_UNSCORED = scored("the old cats", SPANS, [NAN, -2.0, -4.0, -0.5])


def test_a_text_without_a_scored_token_and_a_part_with_one_that_is_not_scored_have_no_score():
    unscored = ScoredTexts(token_table([scored("a", [(0, 1)], [NAN])]))
    assert unscored.whole().loc["a", [*SCORES]].isna().all()
    whole = pd.Series(["the old cats", "the old cats", "the new cats", "the old cats"])
    sums = ScoredTexts(token_table([FIRST_UNSCORED])).sums_from(whole, np.array([8, 0, 8, 12]))
    assert np.isnan(sums).tolist() == [False, True, True, True]


def test_a_score_that_cannot_be_computed_names_the_pair_and_what_to_do():
    texts = [scored("the old cats", SPANS, [NAN] * 4), scored("the old cat", SPANS[:3], [-1.0, -2.0, -4.25])]
    pairs = pd.DataFrame([("a", "the old", " cats", " cat")], columns=["id", "context", "good", "bad"])
    with pytest.raises(DataError, match=r"pair a, given_context: .*take bos: add, or leave the pair out"):
        score_pairs(pairs, token_table(texts), ["given_context"])


def drawn_scores(text: str, rng: np.random.Generator, *, unscored: bool) -> TokenScores:
    """Draw tokens that cover a text, each character with one token or two; the first may have no score."""
    cuts = [0, *np.flatnonzero(rng.random(len(text) - 1) < 0.7) + 1, len(text)]
    spans = [span for span in pairwise(cuts) for _ in range(rng.integers(1, 3))]
    log_probs = rng.uniform(-30, 0, len(spans))
    log_probs[0] = NAN if unscored else log_probs[0]
    return scored(text, spans, log_probs)


# The scores of one text, and of the part of it that follows a context, by their definitions.


def total(scores: TokenScores) -> float:
    return float(np.sum(scores.log_probs[~np.isnan(scores.log_probs)]))


def per_token(scores: TokenScores) -> float:
    return total(scores) / int((~np.isnan(scores.log_probs)).sum())


def per_character(scores: TokenScores) -> float:
    """Count each character of a scored token once, however many tokens have it, and no space."""
    spans = scores.spans[~np.isnan(scores.log_probs)]
    covered = {place for start, stop in spans for place in range(start, stop) if not scores.text[place].isspace()}
    return total(scores) / len(covered)


def starts_of_parts(context: str, ends: list[str], texts: dict[str, TokenScores]) -> list[int]:
    """Go back, in both texts, to the first character of any token that has letters on both sides of a start."""
    starts = [len(context + end) - len(end.lstrip()) for end in ends]
    while True:
        across = [
            start
            for at, end in zip(starts, ends, strict=True)
            for start, stop in texts[context + end].spans
            if stop > at and (context + end)[start:at].strip()
        ]
        if not across:
            return starts
        starts = [min(across)] * 2


def given_context(context: str, end: str, texts: dict[str, TokenScores], start: int) -> float:
    """Sum over the tokens whose last character is in what follows the context and its space."""
    whole = texts[context + end]
    return float(np.sum(whole.log_probs[whole.spans[:, 1] > start]))


CONTEXTS = ["", "", "the old", "é\u2003ab", "a" * 40]
ORACLES = {"sum": total, "per_token": per_token, "per_character": per_character}
ENDS = [" ab", "  bé b", " a-b", "x" * 40]


@given(st.integers(0, 2**32 - 1), st.booleans())
@settings(max_examples=30, deadline=None)
def test_scores_of_all_pairs_at_once_are_exactly_those_of_one_text_at_a_time(seed, unscored):
    rng = np.random.default_rng(seed)
    rows = [(str(n), rng.choice(CONTEXTS), *rng.choice(ENDS, 2)) for n in range(4)]
    texts = dict.fromkeys(context + end for _, context, *ends in rows for end in ends)
    names = [*SCORES] if unscored else [*SCORES, "given_context"]
    scores = {text: drawn_scores(f"{text}", rng, unscored=unscored and len(text) > 30) for text in texts}
    if any(np.isnan(text.log_probs).all() for text in scores.values()):
        return
    pairs = pd.DataFrame(rows, columns=["id", "context", "good", "bad"])
    table = score_pairs(pairs, token_table(list(scores.values())), names).set_index(["score", "id"])
    parts = {(name, row[0]) for name in {*names} - {*SCORES} for row in rows if row[1]}
    assert {*table.index} == {(name, row[0]) for name in SCORES for row in rows} | parts  # none without a context
    for id_, context, *ends in rows:
        starts = starts_of_parts(context, ends, scores)
        for member, end, start in zip(("good", "bad"), ends, starts, strict=True):
            whole_text = scores[context + end]
            expected = {name: score(whole_text) for name, score in ORACLES.items()}
            if context and not unscored:
                expected |= {"given_context": given_context(context, end, scores, start)}
            assert {name: table.loc[(name, id_), member] for name in expected} == expected
