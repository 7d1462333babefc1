from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cxprobe.errors import DataError
from cxprobe.lm.scores import (
    SCORES,
    Part,
    given_context,
    part_after,
    per_character,
    per_token,
    pmi,
    score_pairs,
    score_part,
    total,
)
from cxprobe.lm.texts import TokenScores, token_table

NAN = float("nan")


def scored(text, spans, log_probs, ids=None) -> TokenScores:
    numbers = list(range(len(spans))) if ids is None else ids
    return TokenScores(
        text, "causal", np.array(numbers), np.array(spans), np.arange(len(spans)), np.array(log_probs, dtype=float)
    )


#                       the     ␣old    ␣cat     s
WHOLE = scored("the old cats", [(0, 3), (3, 7), (8, 11), (11, 12)], [-1.0, -2.0, -4.0, -0.5])
FIRST_UNSCORED = scored("the old cats", [(0, 3), (3, 7), (8, 11), (11, 12)], [NAN, -2.0, -4.0, -0.5])


def test_scores_by_name():
    assert {name: score(WHOLE) for name, score in SCORES.items()} == {
        "sum": -7.5,
        "per_token": -7.5 / 4,
        "per_character": -7.5 / 10,
    }


def test_only_scored_tokens_count_in_a_denominator():
    assert total(FIRST_UNSCORED) == -6.5
    assert per_token(FIRST_UNSCORED) == -6.5 / 3
    assert per_character(FIRST_UNSCORED) == -6.5 / 7


def test_a_character_of_several_tokens_counts_once():
    assert per_character(scored("é", [(0, 1), (0, 1)], [-1.0, -3.0])) == -4.0


def test_given_context_takes_the_tokens_that_end_in_the_part():
    assert given_context(Part(WHOLE, 8)) == -4.5
    assert given_context(Part(WHOLE, 4)) == given_context(Part(WHOLE, 3)) == -6.5
    with pytest.raises(DataError, match="not every token from character 0 on has a score"):
        given_context(Part(FIRST_UNSCORED, 0))
    with pytest.raises(DataError, match="not every token from character 12 on has a score"):
        given_context(Part(WHOLE, 12))


def test_pmi_is_what_the_context_adds():
    alone = scored("cats", [(0, 3), (3, 4)], [-6.0, -0.75])
    assert pmi(Part(WHOLE, 8), Part(alone, 0)) == -4.5 + 6.75
    with pytest.raises(DataError, match="' cats' and 'cats' are not the same part of two texts"):
        pmi(Part(WHOLE, 7), Part(alone, 0))
    with pytest.raises(DataError, match="'cats': not every token from character 0 on has a score"):
        pmi(Part(WHOLE, 8), Part(scored("cats", [(0, 3), (3, 4)], [NAN, -0.75]), 0))


def test_a_text_without_a_scored_token_has_no_score():
    with pytest.raises(DataError, match="'a' has no scored token"):
        total(scored("a", [(0, 1)], [NAN]))


ALONE = scored("cats", [(0, 3), (3, 4)], [-6.0, -0.75])
#                             an      ␣hour    s
AFTER_NOTHING = scored("an hour, cats", [(0, 2), (2, 8), (8, 12), (12, 13)], [-1.0, -1.0, -5.0, -0.25])


def test_a_part_is_scored_by_its_own_tokens_and_characters():
    texts = {one.text: one for one in (WHOLE, ALONE, AFTER_NOTHING)}
    part = part_after("the old", " cats", texts)
    assert (part.text, part.start) == ("cats", 8)
    assert score_part("sum", part) == -4.5
    assert score_part("per_token", part) == -4.5 / 2
    assert score_part("per_character", part) == -4.5 / 4
    assert score_part("pmi", part, part_after("", "cats", texts)) == -4.5 + 6.75
    assert score_part("pmi", part, part_after("an hour,", " cats", texts)) == -4.5 + 5.25


def test_a_score_that_a_part_cannot_have_and_a_text_that_was_not_scored_are_refused():
    part = Part(WHOLE, 8)
    with pytest.raises(DataError, match="'pmi' is not a score of a part"):
        score_part("pmi", part)
    with pytest.raises(DataError, match=r"'loss' is not a score of a part .allowed: sum, per_token, per_character"):
        score_part("loss", part)
    with pytest.raises(DataError, match="'the new cats' has no scores"):
        part_after("the new", " cats", {WHOLE.text: WHOLE})


def under(scheme, one) -> TokenScores:
    return TokenScores(one.text, scheme, one.ids, one.spans, one.words, one.log_probs)


OTHER = scored("the old cat", [(0, 3), (3, 7), (8, 11)], [-1.0, -2.0, -4.25])
OTHER_ALONE = scored("cat", [(0, 3)], [-6.5])
PAIRS = pd.DataFrame(
    [("a", "the old", " cats", " cat"), ("b", "", "the old cats", "the old cat")],
    columns=["id", "context", "good", "bad"],
)


def test_pairs_have_every_score_under_every_scheme_and_none_of_a_context_without_one():
    texts = [WHOLE, OTHER, ALONE, OTHER_ALONE]
    tokens = token_table([under(scheme, text) for scheme in ("pll", "pll_word_l2r") for text in texts])
    table = score_pairs(PAIRS, tokens, ["sum", "per_token", "given_context", "pmi"])
    assert table.groupby("scheme").size().to_dict() == {"pll": 6, "pll_word_l2r": 6}
    rows = table[table["scheme"] == "pll"].set_index(["score", "id"])
    assert rows.loc[("sum", "a"), ["good", "bad", "margin"]].tolist() == [-7.5, -7.25, -0.25]
    assert rows.loc[("sum", "b")].tolist() == rows.loc[("sum", "a")].tolist()
    assert rows.loc[("given_context", "a"), ["good", "bad"]].tolist() == [-4.5, -4.25]
    assert rows.loc[("pmi", "a"), ["good", "bad", "margin"]].tolist() == [-4.5 + 6.75, -4.25 + 6.5, 0.0]
    assert ("pmi", "b") not in rows.index
    assert ("given_context", "b") not in rows.index


@pytest.mark.parametrize(("name", "alone"), [("pmi", [NAN, -0.75]), ("pmi", None), ("given_context", None)])
def test_a_score_that_cannot_be_computed_names_the_pair_and_what_to_do(name, alone):
    texts = [OTHER, OTHER_ALONE, FIRST_UNSCORED if name == "pmi" else scored(WHOLE.text, WHOLE.spans, [NAN] * 4)]
    texts += [scored("cats", [(0, 3), (3, 4)], alone)] if alone else []
    with pytest.raises(DataError, match=rf"pair a, {name}: .*take bos: add.*or leave {name} out of pairs.judge.scores"):
        score_pairs(PAIRS, token_table(texts), [name])


def drawn_scores(text: str, rng: np.random.Generator, *, unscored: bool) -> TokenScores:
    """Draw tokens that cover a text, each character with one token or two; the first may have no score."""
    cuts = [0, *np.flatnonzero(rng.random(len(text) - 1) < 0.7) + 1, len(text)]
    spans = [span for span in pairwise(cuts) for _ in range(rng.integers(1, 3))]
    log_probs = rng.uniform(-30, 0, len(spans))
    log_probs[0] = NAN if unscored else log_probs[0]
    return scored(text, spans, log_probs)


CONTEXTS = ["", "", "the old", "é\u2003ab", "a" * 40]
ENDS = [" ab", "  bé b", " a-b", "x" * 40]


@given(st.integers(0, 2**32 - 1), st.booleans())
@settings(max_examples=30, deadline=None)
def test_scores_of_all_pairs_at_once_are_exactly_those_of_one_text_at_a_time(seed, unscored):
    rng = np.random.default_rng(seed)
    rows = [(str(n), rng.choice(CONTEXTS), *rng.choice(ENDS, 2)) for n in range(4)]
    texts = {text: None for _, context, *ends in rows for end in ends for text in (context + end, end.lstrip())}
    names = [*SCORES] if unscored else [*SCORES, "given_context", "pmi"]
    scores = {text: drawn_scores(f"{text}", rng, unscored=unscored and len(text) > 30) for text in texts}
    if any(np.isnan(text.log_probs).all() for text in scores.values()):
        return
    pairs = pd.DataFrame(rows, columns=["id", "context", "good", "bad"])
    table = score_pairs(pairs, token_table(list(scores.values())), names).set_index(["score", "id"])
    for id_, context, *ends in rows:
        for member, end in zip(("good", "bad"), ends, strict=True):
            part, alone = part_after(context, end, scores), part_after("", end.lstrip(), scores)
            expected = {name: score(part.scores) for name, score in SCORES.items()}
            if context and not unscored:
                expected |= {"given_context": given_context(part), "pmi": pmi(part, alone)}
            assert {name: table.loc[(name, id_), member] for name in expected} == expected
