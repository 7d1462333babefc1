"""The contrast of a frame: which tokens count, and what a stage says of it."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tiny_lms import save_lm

from cxprobe.errors import DataError
from cxprobe.models.loading import open_source
from cxprobe.models.pairs import load_language_model, member_texts, score_texts
from cxprobe.models.params import ModelSpec
from cxprobe.models.scores import score_pairs
from cxprobe.models.texts import Pair, ScoringConfig, pair_table, token_table
from cxprobe.tasks.contrasts.contrast import frame_contrasts, pair_margins, shared_start
from cxprobe.tasks.contrasts.measure import contrasts_in_words, texts_of_contrasts

CONDITIONS = ("construction", "control")
PAIRS = [
    Pair("a", "1", "the old cat runs.", " the cat sings.", " the dog sings.", {"condition": "construction"}, {}),
    Pair("b", "1", "the old cat runs.", " the dog sings.", " the cat sings loud.", {"condition": "control"}, {}),
    Pair("c", "2", "the cat sings.", " the old cat runs.", " the old dog runs.", {"condition": "construction"}, {}),
]


@pytest.mark.parametrize("kind", ["bert", "gpt2"])
def test_a_margin_by_the_words_that_differ_is_that_of_the_whole_texts(tmp_path, kind):
    save_lm(tmp_path / kind, kind)
    spec = ModelSpec(name=str(tmp_path / kind), bos="add", revision=None, sha256=None, dtype="float32")
    model = load_language_model(open_source("tiny", spec))
    texts = texts_of_contrasts(model, PAIRS)
    assert [*texts] == list(dict.fromkeys(member_texts(PAIRS)))
    tables = [
        token_table(score_texts(model, [asked], ScoringConfig(["pll"], 64)))
        for asked in (texts, dict.fromkeys(texts, 0))
    ]
    by_difference, of_whole = tables
    assert by_difference["log_probs"].map(lambda row: np.isnan(row).any()).all() == (kind == "gpt2")
    found = pair_margins(pair_table(PAIRS), by_difference)["margin"]
    expected = score_pairs(pair_table(PAIRS), of_whole, ["sum"])["margin"]
    assert found.to_numpy() == pytest.approx(expected.to_numpy(), abs=1e-5)


@given(st.text("ab ", max_size=12), st.text("ab ", max_size=12))
def test_texts_are_the_same_up_to_where_they_differ_and_the_next_word_is_not(first, second):
    start = shared_start(first, second)
    assert first[:start] == second[:start]
    assert start == 0 or first[start - 1] == " "
    for end in range(start + 1, min(len(first), len(second)) + 1):
        assert first[:end] != second[:end] or first[end - 1] != " "


def tokens_of(log_probs: dict[str, float]) -> pd.DataFrame:
    """Return scores of texts that are one token each."""
    rows = [
        (text, "causal", np.array([0]), np.array([len(text)]), np.array([number])) for text, number in log_probs.items()
    ]
    return pd.DataFrame(rows, columns=["text", "scheme", "starts", "stops", "log_probs"])


def test_a_text_without_a_score_is_named():
    with pytest.raises(DataError, match="pair a: not every token has a score"):
        pair_margins(pair_table(PAIRS[:1]), tokens_of({"the old cat runs. the cat sings.": -1.0}))


def test_the_contrast_of_a_frame_is_the_mean_margin_of_each_condition_and_less_the_others():
    margins = pd.DataFrame(
        {
            "frame": ["1"] * 5 + ["2"],
            "condition": ["construction", "construction", "neutral", "control", "rival", "construction"],
            "margin": [1.0, 3.0, 0.5, 9.0, 4.0, -1.0],
        }
    )
    found = frame_contrasts(margins, ["frame"]).set_index(["frame", "condition"])["value"]
    expected = {"construction": 2.0, "control": 9.0, "neutral": 0.5, "rival": 4.0, "less_neutral": 1.5}
    assert found["1"].to_dict() == expected | {"less_rival": -2.0, "adds": -2.0, "control_over_words": 9.0}
    assert found["2"].to_dict() == {"construction": -1.0}


def test_a_finding_is_the_share_of_frames_above_0_with_the_item():
    pairs = [
        Pair(f"{frame} {condition}", frame, f"{condition}.", f" {frame}r", f" {frame}w", {"condition": condition}, {})
        for frame in "ab"
        for condition in CONDITIONS
    ]
    log_probs = {text: -1.0 if text.endswith("r") else -2.0 for text in member_texts(pairs)}
    tokens = tokens_of(log_probs | {"construction. br": -3.0})
    [said] = contrasts_in_words(pair_table(pairs).assign(construction="toy"), tokens)
    assert said.replace("\u00a0", " ") == (
        "toy: the contrast is above 0 in 50 % [6, 94] of 2 frames, and that of the control in 100 % [34, 100] of "
        '2 frames; an item: "construction.", then "ar" or "aw"'
    )
