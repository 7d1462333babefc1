from collections import Counter

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit, stdtrit
from wordfreq import top_n_list, zipf_frequency

from cxprobe.pairs import frequency
from cxprobe.pairs.frequency import NUMBERS, verbs_in_corpora, with_frequencies

WORDS = [word for word in top_n_list("en", 20_000)[50:] if word.isalpha()][::60]  # common and rare ones


def frequency_by(items, by):
    """Return the regressions on the words of pairs whose constructions were not mined."""
    return frequency.frequency_by(items, verbs_in_corpora({}), by).drop(columns="covariate")


def credited(pairs, log_odds, rng, alike=None):
    """Return pairs with accuracies of these log odds; half of those with one name in ``alike`` draw the same number."""
    drawn = rng.random(len(pairs))
    if alike is not None:
        names, codes = np.unique(alike, return_inverse=True)
        drawn = np.where(rng.random(len(pairs)) < 0.5, rng.random(len(names))[codes], drawn)
    return pairs.assign(accuracy=(drawn < expit(log_odds)).astype(float))


def pairs_of_words(rng, frames=20, per_frame=4, words=40, model="m"):
    """Return pairs in both orders whose texts differ in one word each."""
    chosen = rng.choice(len(WORDS), words, replace=False)
    sides = np.array([rng.choice(chosen, 2, replace=False) for _ in range(frames * per_frame)])
    good, bad = (np.array(WORDS)[np.concatenate([sides[:, side], sides[:, 1 - side]])] for side in (0, 1))
    frame = np.tile(np.repeat(np.arange(frames), per_frame), 2)
    table = pd.DataFrame({"good": good, "bad": bad, "cluster_frame": [f"f {number}" for number in frame]})
    zipf = [zipf_frequency(one, "en") - zipf_frequency(other, "en") for one, other in zip(good, bad, strict=True)]
    texts = {side: "That is the " + table[side] + "." for side in ("good", "bad")}
    return table.assign(**texts, model=model, zipf_of_one=zipf)


def simulated(seed=0, at_zero=0.3, per_zipf=0.8, **size):
    rng = np.random.default_rng(seed)
    pairs = pairs_of_words(rng, **size)
    return credited(pairs, at_zero + per_zipf * pairs["zipf_of_one"], rng, pairs["cluster_frame"])


def only_row(items):
    (row,) = frequency_by(items.drop(columns="zipf_of_one", errors="ignore"), ["model"]).to_dict("records")
    return row


def told(good, bad):
    return with_frequencies(pd.DataFrame({"good": [good], "bad": [bad]})).iloc[0]


@pytest.mark.parametrize(
    ("good", "bad", "good_words", "bad_words", "longer"),
    [
        ("The poet burned herself.", "The poet burned himself.", "herself", "himself", 0),
        ("They ended up in a different place.", "They ended up in the same place.", "a different", "same the", 0),
        ("The dog and the cat sleep.", "A dog and the cat sleep.", "the", "a", 0),  # "the" comes twice and once
        ("Anna saw the dog of Beth.", "Beth saw the dog of Anna.", "", "", 0),
        ("He slept there.", "He slept.", "there", "", 1),
        ("It was a blorvitzek.", "It was a dog.", "blorvitzek", "dog", 0),  # wordfreq does not list it
    ],
)
def test_two_texts_are_told_apart_by_the_words_that_only_one_has(good, bad, good_words, bad_words, longer):
    row = told(good, bad)
    assert (row["good_words"], row["bad_words"], row["longer"]) == (good_words, bad_words, longer)
    listed = [[zipf_frequency(word, "en") for word in words.split()] for words in (good_words, bad_words)]
    if all(listed) and all(listed[0]):
        assert row["zipf"] == pytest.approx(np.mean(listed[0]) - np.mean(listed[1]))
    else:
        assert np.isnan(row["zipf"])


def plain(items, columns=("zipf",)):
    """Return the regression as statsmodels makes it, with clusters by frame."""
    design = sm.add_constant(with_frequencies(items)[[*columns]])
    groups = pd.factorize(items["cluster_frame"])[0]
    model = sm.GLM(items["accuracy"], design, family=sm.families.Binomial())
    return model.fit(cov_type="cluster", cov_kwds={"groups": groups}, use_t=True)


def test_where_no_word_comes_twice_and_frames_are_alike_it_is_what_statsmodels_says():
    rng = np.random.default_rng(4)
    table = pairs_of_words(rng, frames=30, per_frame=4, words=240)
    once = [f"That is the {word}." for word in rng.permutation(WORDS)[:240]]
    items = table.iloc[:120].assign(good=once[:120], bad=once[120:], accuracy=0.0)
    zipf = with_frequencies(items)["zipf"]
    # In each frame, pairs follow frequency or oppose it, so that the clusters by frame have the largest variance.
    follows = items["cluster_frame"].str.split().str[1].astype(int) < 18
    items["accuracy"] = ((zipf > 0) == follows).astype(float)
    row, expected = only_row(items), plain(items)
    ends = expected.conf_int().loc["zipf"]
    assert (row["slope"], row["slope_low"], row["slope_high"]) == pytest.approx((expected.params["zipf"], *ends))
    assert row["at_zero"] == pytest.approx(expit(expected.params["const"]))
    assert (row["n"], row["frames"], row["words"], row["absent"]) == (120, 30, 240, "")


def test_pairs_depend_on_one_another_if_they_share_a_frame_or_a_word():
    items = simulated(seed=2, frames=14, per_frame=3, words=22)
    fit, texts = plain(items), with_frequencies(items)
    frames, sides = items["cluster_frame"].tolist(), texts[["good_words", "bad_words"]].agg(set, axis=1).tolist()
    design = np.column_stack([np.ones(len(items)), texts["zipf"]])
    residuals = items["accuracy"].to_numpy() - fit.fittedvalues.to_numpy()
    independent = np.linalg.inv(design.T @ (design * (fit.fittedvalues * (1 - fit.fittedvalues)).to_numpy()[:, None]))
    influence = design * residuals[:, None] @ independent
    variances = {"frame": np.zeros(2), "word": np.zeros(2), "either": np.zeros(2)}
    for i in range(len(items)):
        for j in range(len(items)):
            frame, word = frames[i] == frames[j], bool(sides[i] & sides[j])
            for name, share in (("frame", frame), ("word", word), ("either", frame or word)):
                variances[name] += share * influence[i] * influence[j]
    n, fewest = len(items), min(len(set(frames)), len(set().union(*sides)))
    largest = np.max([*variances.values()], axis=0) * fewest / (fewest - 1) * (n - 1) / (n - 2)
    half = stdtrit(fewest - 1, 0.975) * np.sqrt(np.maximum(largest, np.diag(independent)))
    row = only_row(items)
    assert row["slope_high"] - row["slope"] == pytest.approx(half[1])
    assert row["at_zero_low"] == pytest.approx(expit(fit.params["const"] - half[0]))


def test_the_length_is_a_covariate_where_it_varies():
    items = simulated(seed=3)
    items["good"] = np.where(
        np.arange(len(items)) % 3 == 0, items["good"].str.replace("the ", "the very "), items["good"]
    )
    assert with_frequencies(items)["longer"].unique().tolist() == [1, 0]
    fit, row = plain(items, ("zipf", "longer")), only_row(items)
    assert (row["slope"], row["at_zero"]) == pytest.approx((fit.params["zipf"], expit(fit.params["const"])))


@pytest.mark.pipeline
def test_intervals_hold_the_true_coefficient_and_accuracy_whatever_pairs_depend_on():
    rng = np.random.default_rng(0)
    parts = []
    for number in range(160):
        pairs = pairs_of_words(rng, frames=16, per_frame=3, words=30, model=number)
        # The marginal probabilities are those of the regression, whatever is alike.
        alike = pairs["cluster_frame"] if number % 2 else pairs["good"]
        parts.append(credited(pairs, 0.4 + 0.7 * pairs["zipf_of_one"], rng, alike))
    found = frequency_by(pd.concat(parts, ignore_index=True), ["model"])
    held = (found["slope_low"] <= 0.7) & (found["slope_high"] >= 0.7)
    assert 0.91 <= held.mean() < 1
    assert 0.91 <= ((found["at_zero_low"] <= expit(0.4)) & (found["at_zero_high"] >= expit(0.4))).mean() < 1
    assert found["slope"].mean() == pytest.approx(0.7, abs=0.12)  # small samples lead away from 0


@pytest.mark.pipeline
def test_a_liking_for_single_words_is_not_taken_for_an_effect_of_frequency():
    rng = np.random.default_rng(1)
    parts = []
    for number in range(60):
        pairs = pairs_of_words(rng, frames=60, per_frame=4, words=40, model=number)
        liking = dict(zip(WORDS, rng.normal(0, 2, len(WORDS)), strict=True))
        good, bad = (pairs[side].str.extract(r"the (\w+)\.")[0].map(liking) for side in ("good", "bad"))
        parts.append(credited(pairs, good - bad, rng))
    items = pd.concat(parts, ignore_index=True)
    found = frequency_by(items, ["model"])
    assert ((found["slope_low"] <= 0) & (found["slope_high"] >= 0)).mean() >= 0.88
    by_frame = [plain(own).conf_int().loc["zipf"] for own in parts]
    assert np.mean([low <= 0 <= high for low, high in by_frame]) < 0.75


@given(st.integers(0, 10_000))
@settings(max_examples=12, deadline=None)
def test_neither_the_order_of_rows_nor_the_names_of_frames_count(seed):
    items = simulated(seed, frames=12, per_frame=2, words=24)
    other = items.sample(frac=1, random_state=seed).assign(cluster_frame=lambda own: "of " + own["cluster_frame"])
    first, second = only_row(items), only_row(other)
    assert [second[name] for name in NUMBERS] == pytest.approx([first[name] for name in NUMBERS], nan_ok=True)
    assert {name: first[name] for name in first if name not in NUMBERS} == {
        name: second[name] for name in second if name not in NUMBERS
    }


@given(st.integers(0, 10_000))
@settings(max_examples=12, deadline=None)
def test_exchanging_right_and_wrong_turns_the_accuracy_round_and_leaves_the_coefficient(seed):
    items = simulated(seed, frames=12, per_frame=2, words=24)
    turned = items.rename(columns={"good": "bad", "bad": "good"}).assign(accuracy=1 - items["accuracy"])
    first, second = only_row(items), only_row(turned)
    ends = ("", "_low", "_high")
    assert [second[f"slope{end}"] for end in ends] == pytest.approx([first[f"slope{end}"] for end in ends], nan_ok=True)
    mirrored = [1 - first[f"at_zero{end}"] for end in ("", "_high", "_low")]
    assert [second[f"at_zero{end}"] for end in ends] == pytest.approx(mirrored, nan_ok=True)


@given(st.integers(0, 10_000), st.sampled_from([0.5, 2.0, 6.0]), st.sampled_from([0, 1, 3]))
@settings(max_examples=20, deadline=None)
def test_there_is_no_regression_where_frequency_decides_without_fail(seed, per_zipf, ties):
    items = simulated(seed, at_zero=0.0, per_zipf=per_zipf, frames=12, per_frame=1, words=20)
    items.loc[items.index[:ties], "accuracy"] = 0.5
    zipf, credit = with_frequencies(items)["zipf"], items["accuracy"]
    right, wrong = zipf[credit > 0], zipf[credit < 1]  # a tie is on both sides
    separated = right.min() >= wrong.max() or right.max() <= wrong.min()
    row = only_row(items)
    if row["words"] == 20:
        assert ("no finite coefficients" in row["absent"]) == separated
        assert np.isnan([row[name] for name in NUMBERS]).all() == separated


def test_where_there_is_no_regression_the_table_says_why():
    few = only_row(simulated(frames=11, words=30))
    assert "11 frames and" in few["absent"]
    few = only_row(simulated(frames=20, words=8))
    assert "20 frames and 8 words" in few["absent"]
    items = simulated()
    assert only_row(items.assign(accuracy=1.0))["absent"] == "all pairs have the same credit, 1"
    follows = with_frequencies(items)["zipf"].gt(0).astype(float)
    assert "no finite coefficients" in only_row(items.assign(accuracy=follows))["absent"]
    same = items.assign(good="Anna saw Beth.", bad="Beth saw Anna.")
    row = only_row(same)
    assert (row["pairs"], row["n"], row["frames"], row["words"]) == (160, 0, 0, 0)
    assert np.isnan([row[name] for name in NUMBERS]).all()


def test_pairs_without_a_difference_are_counted_and_left_out():
    items = simulated()
    same = items.head(30).assign(good="Anna saw Beth.", bad="Beth saw Anna.", accuracy=1.0)
    row, alone = only_row(pd.concat([items, same])), only_row(items)
    assert (row["pairs"], row["n"]) == (190, 160)
    assert [row[name] for name in NUMBERS] == [alone[name] for name in NUMBERS]


def test_each_group_has_a_row_in_its_order():
    parts = [simulated(seed, model=model) for seed, model in enumerate(("late", "early"))]
    found = frequency_by(pd.concat(parts), ["model"])
    assert found["model"].tolist() == ["late", "early"]
    for part, row in zip(parts, found.to_dict("records"), strict=True):
        assert row == only_row(part)
    assert Counter(found["absent"]) == {"": 2}


def fillers(**verbs):
    """Return what mined sentences have in their slots: each verb as often as is said."""
    rows = [("verb", verb) for verb, number in verbs.items() for _ in range(number)]
    return pd.DataFrame([*rows, ("theme", "find")], columns=["slot", "word"])


def test_a_frames_verb_is_counted_by_its_lemma_in_the_slot_of_the_verb():
    frames = [{"verb": "gave"}, {"verb": "sent off"}, {"verb": "baked"}, {"verb": "found"}]
    found = verbs_in_corpora({"toy": (frames, fillers(give=9, send=1, find=2))})
    assert found.to_numpy().tolist() == [
        ["toy 0", "give", 1.0],
        ["toy 1", "send", pytest.approx(np.log10(2))],
        ["toy 2", "bake", 0.0],
        ["toy 3", "find", pytest.approx(np.log10(3))],  # and not "found", which nothing has
    ]
    assert verbs_in_corpora({"toy": ([{"noun": "book"}], fillers(give=9))}).empty


def with_verbs(rng, slope, frames=40, verbs=25, model="m", liking=0.0):
    """Return pairs of frames whose verbs are found more or less often, and these verbs, for ``frequency_by``.

    Half of the pairs with one verb draw the same number, and names are liked by normal numbers of this size.
    """
    items = pairs_of_words(rng, frames=frames, per_frame=2, words=60, model=model)
    together = rng.integers(0, 4, verbs) * 0.7
    of_frame = rng.permutation(np.arange(frames) % verbs)
    table = pd.DataFrame({"cluster_frame": [f"f {number}" for number in range(frames)]})
    table = table.assign(verb=[f"v{verb}" for verb in of_frame], together=together[of_frame])
    told = items.merge(table, on="cluster_frame")
    likings = dict(zip(WORDS, rng.normal(0, liking, len(WORDS)), strict=True))
    good, bad = (items[side].str.extract(r"the (\w+)\.")[0].map(likings) for side in ("good", "bad"))
    return credited(items, slope * told["together"] - 0.2 + good - bad, rng, told["verb"]), table


def test_the_regression_on_verbs_is_what_statsmodels_says_with_clusters_by_verb():
    rng = np.random.default_rng(8)
    items, table = with_verbs(rng, 0.6)
    items = items[items.groupby("cluster_frame").cumcount() == 0].reset_index(drop=True)  # 40 pairs, one a frame
    row = frequency.frequency_by(items, table, ["model"]).set_index("covariate").loc["verb"]
    told = items.merge(table, on="cluster_frame")
    model = sm.GLM(told["accuracy"], sm.add_constant(told[["together"]]), family=sm.families.Binomial())
    by_verb, by_frame = (
        model.fit(cov_type="cluster", cov_kwds={"groups": pd.factorize(groups)[0]}, use_t=True)
        for groups in (told["verb"], told["cluster_frame"])
    )
    few = np.sqrt((25 / 24) / (40 / 39))  # 25 verbs have the degrees of freedom, and not 40 frames
    error = max(by_verb.bse["together"], few * by_frame.bse["together"], model.fit().bse["together"])
    assert row["slope"] == pytest.approx(by_verb.params["together"])
    assert row["slope_high"] - row["slope"] == pytest.approx(stdtrit(24, 0.975) * error)
    assert (row["n"], row["frames"], row["words"], row["absent"]) == (40, 40, 25, "")
    assert np.isnan(row[["at_zero", "at_zero_low", "at_zero_high"]].astype(float)).all()


def test_pairs_of_constructions_that_were_not_mined_have_no_regression_on_verbs():
    items, table = with_verbs(np.random.default_rng(3), 0.5)
    assert frequency.frequency_by(items, table, ["model"])["covariate"].tolist() == ["words", "verb"]
    other = items.assign(cluster_frame="other " + items["cluster_frame"])
    assert frequency.frequency_by(other, table, ["model"])["covariate"].tolist() == ["words"]


def test_where_there_is_no_regression_on_verbs_the_table_says_why():
    def absent(items, table):
        return frequency.frequency_by(items, table, ["model"]).set_index("covariate").loc["verb", "absent"]

    items, table = with_verbs(np.random.default_rng(3), 0.5)
    rare = table.assign(together=table["together"].where(table["verb"].isin(table["verb"].unique()[:5]), 0.0))
    assert absent(items, rare).endswith("of the verbs in the construction; a regression needs 6")
    few = absent(*with_verbs(np.random.default_rng(3), 0.5, verbs=12))
    assert few == "40 frames and 12 verbs in 160 pairs are too few; a regression needs 12 and 20"


@pytest.mark.pipeline
@pytest.mark.parametrize(("slope", "liking"), [(0.5, 0.0), (0.0, 2.0)])
def test_intervals_of_verbs_hold_the_true_slope_where_pairs_of_a_verb_are_alike_or_names_are_liked(slope, liking):
    rng = np.random.default_rng(5)
    made = [with_verbs(rng, slope, model=number, liking=liking) for number in range(120)]
    rows = [frequency.frequency_by(items, table, ["model"]).set_index("covariate").loc["verb"] for items, table in made]
    held = [row["slope_low"] <= slope <= row["slope_high"] for row in rows]
    assert np.mean(held) >= 0.9
    assert np.mean([row["slope_high"] - row["slope_low"] for row in rows]) < 4
