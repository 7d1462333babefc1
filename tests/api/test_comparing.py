"""Minimal pairs from lists and tables."""

import pandas as pd
import pytest
from tiny_lms import save_lm

import cxprobe
from cxprobe.errors import DataError
from cxprobe.files.texts import read_texts, write_table_as

GOOD = ["the old cat runs.", "the dog eats.", "the queen sings."]
BAD = ["the old cat sings.", "the dog reads.", "the queen sings."]


@pytest.fixture(scope="module")
def lm(tmp_path_factory):
    folder = tmp_path_factory.mktemp("comparing") / "llama"
    save_lm(folder, "llama")
    return cxprobe.load(str(folder), device="cpu")


def test_the_right_text_wins_where_its_score_is_higher_and_a_tie_is_half(lm):
    found = lm.compare(GOOD, BAD)
    good, bad = lm.score(GOOD)["sum"], lm.score(BAD)["sum"]
    expected = [1.0 if g > b else 0.0 for g, b in zip(good, bad, strict=True)]
    expected[2] = 0.5
    assert found.table["accuracy"].tolist() == expected
    assert found.accuracy.value == pytest.approx(sum(expected) / 3)
    assert found.accuracy.n == 3
    assert found.accuracy.low < found.accuracy.value < found.accuracy.high


def test_a_context_stands_before_both_texts_with_a_space(lm):
    alone = lm.compare([f"we say {text}" for text in GOOD], [f"we say {text}" for text in BAD])
    for context in ("we say", ["we say"] * 3):
        behind = lm.compare(GOOD, BAD, context)
        assert behind.table["margin"].tolist() == pytest.approx(alone.table["margin"].tolist(), abs=1e-5)


def test_what_is_compared_is_chosen_by_no_name_alone_and_is_said(lm):
    table = pd.DataFrame({"good": GOOD, "bad": BAD, "condition": ["construction"] * 3})
    assert lm.compare(table).score == lm.compare(GOOD, BAD).score == "per_token"
    assert lm.compare(table.assign(frame=[1, 2, 3])).score == "sum"
    assert "pairs by per_token, " in repr(lm.compare(GOOD, BAD))


def test_a_table_keeps_its_columns_and_is_reported_by_them(lm):
    table = pd.DataFrame({"good": GOOD, "bad": BAD, "verb": ["a", "b", "a"]})
    found = lm.compare(table)
    assert found.table["verb"].tolist() == ["a", "b", "a"]
    rates = found.by("verb").set_index("verb")
    assert rates.loc["a", "n"] == 2
    assert rates.loc["a", "ties"] == 1
    gaps = lm.compare(table.assign(verb=["a", None, float("nan")], rating=pd.array([1, None, 2], "Int64")))
    assert dict(gaps.by("verb")[["verb", "n"]].to_numpy()) == {"a": 1, "": 2}
    assert dict(gaps.by("rating")[["rating", "n"]].to_numpy()) == {1: 1, "(none)": 1, 2: 1}
    with pytest.raises(DataError, match=r"no column 'noun' .allowed: accuracy, "):
        found.by("noun")


@pytest.mark.parametrize(
    "more",
    [
        {"tags": [["a"], [], ["b", "c"]], "rating": [1.5, None, 3.0]},
        {"unit": ["x", "x", "y"], "scheme": ["a", "b", "c"], "value": [1, 2, 3]},
    ],
)
def test_columns_that_nobody_asks_about_change_no_number_and_come_back_equal_from_a_file(lm, tmp_path, more):
    pd.DataFrame({"good": GOOD, "bad": BAD} | more).to_parquet(tmp_path / "a.parquet")
    read = read_texts(tmp_path / "a.parquet", ["good", "bad"])
    found = lm.compare(read)
    assert repr(found) == repr(lm.compare(GOOD, BAD))
    write_table_as(found.table, str(tmp_path / "b.parquet"))
    pd.testing.assert_frame_equal(read_texts(tmp_path / "b.parquet")[[*read]], read)


def test_a_column_is_reported_by_only_if_its_values_are_names_and_its_name_is_none_of_a_rate(lm):
    found = lm.compare(pd.DataFrame({"good": GOOD, "bad": BAD, "tags": [["a"]] * 3, "n": [1, 2, 3]}))
    with pytest.raises(DataError, match=r"tags is \['a'\]; write a text or a number"):
        found.by("tags")
    with pytest.raises(DataError, match="the column n would be one of the rates"):
        found.by("n")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((pd.DataFrame({"good": GOOD, "bad": BAD, "margin": [1, 2, 3]}),), "have the columns margin already"),
        ((pd.DataFrame({"good": GOOD, "bad": BAD, "cluster_x": [["a"]] * 3}),), r"cluster_x is \['a'\]; write a text"),
        ((GOOD,), "bad is missing"),
        ((GOOD, BAD[1:]), "good has 3 texts, and bad has 2"),
        ((GOOD, BAD, ["we say"]), "good has 3 texts, and context has 1"),
        ((GOOD[0], BAD[0]), "good and bad are lists of texts"),
        ((["", "a"], ["a", "b"]), "row 1: good is ''"),
        ((pd.DataFrame({"good": GOOD, "bad": BAD, "id": ["a", "b", "a"]}),), "the id 'a' is there twice"),
    ],
)
def test_what_are_no_pairs_is_refused(lm, arguments, message):
    with pytest.raises(DataError, match=message):
        lm.compare(*arguments)
    with pytest.raises(DataError, match="given_context needs a context, and pair 0 has none"):
        lm.compare(GOOD, BAD, score="given_context")
    for option in ("score", "scheme", "bos"):
        with pytest.raises(DataError, match=f"{option} is 'mean' .allowed: "):
            lm.compare(GOOD, BAD, **{option: "mean"})


@pytest.mark.parametrize(
    ("clusters", "said", "is_reserved"),
    [
        ({}, "not clustered (no two pairs share a cluster)", False),
        ({"cluster_verb": list("aabbccdd")}, "clustered by verb (4 clusters)", True),
        ({"cluster_verb": list("aabcdefg")}, "clustered by verb (7 clusters)", False),
        ({"cluster_frame": list("aabbccdd"), "order": ["original", "switched"] * 4}, "over 4 frames", True),
    ],
)
def test_a_comparison_says_what_its_interval_rests_on(lm, clusters, said, is_reserved):
    table = pd.DataFrame({"good": [GOOD[0]] * 8, "bad": [BAD[0]] * 8} | clusters)
    found = lm.compare(table)
    assert found.clustering == said
    assert repr(found).endswith(f"of 8 pairs by per_token, {said}>")
    assert bool(found.reservation) == is_reserved


def test_items_in_two_orders_are_compared_by_being_right_in_both_and_by_the_mean_margin(lm):
    pairs = pd.DataFrame({"good": [*GOOD, *BAD], "bad": [*BAD, *GOOD]})  # the other order turns every decision round
    n = len(GOOD)
    names = {"item": [*range(n)] * 2, "cluster_frame": [f"frame {number}" for number in range(n)] * 2}
    found = lm.compare(pairs.assign(**names, order=["original"] * n + ["switched"] * n))
    assert found.accuracy.value == 0.5
    credits = found.table["accuracy"].head(n)
    assert (found.both_orders.value, found.both_orders.n) == ((credits * (1 - credits)).mean(), n)
    assert lm.compare(pairs).both_orders is None


def test_contrasts_are_the_means_of_frames_by_condition_and_their_differences(lm):
    rows = [
        (frame, condition, good, bad)
        for frame, (good, bad) in {"a": (GOOD[0], BAD[0]), "b": (GOOD[1], BAD[1])}.items()
        for condition, (good, bad) in {"construction": (good, bad), "neutral": (bad, good)}.items()
    ]
    table = pd.DataFrame(rows, columns=["frame", "condition", "good", "bad"])
    comparison = lm.compare(table)
    margins = comparison.table.set_index(["condition", "frame"])["margin"]
    found = comparison.contrasts().set_index("condition")
    assert found.loc["construction", "contrast"] == pytest.approx(margins["construction"].mean())
    assert found.loc["less_neutral", "contrast"] == pytest.approx(2 * margins["construction"].mean())
    assert found.loc["construction", "above_zero"] == (margins["construction"] > 0).mean()
    assert found["n"].to_dict() == dict.fromkeys(["construction", "neutral", "less_neutral", "adds"], 2)
    assert comparison.verdict == "none without the condition control"
    with pytest.raises(DataError, match="contrasts need the column condition"):
        lm.compare(table.drop(columns="condition")).contrasts()
