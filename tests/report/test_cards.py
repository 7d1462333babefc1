import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict

from cxprobe.lm.params import Member, ModelSpec, NgramFeatures, Rule
from cxprobe.recognition.blind import count_features
from cxprobe.report.cards import card_figure, card_table, composition_table, word_table
from cxprobe.stats import rate_by

BLIND = {
    "character-ngrams": NgramFeatures(kind="character_ngrams", lengths=[2, 6]),
    "bag-of-words": NgramFeatures(kind="word_ngrams", lengths=[1, 1]),
    "positions": Rule(kind="positions"),
}
MEMBERS = [Member(slug, spec, "panel") for slug, spec in BLIND.items()]
REAL = Member("bert", ModelSpec(name="bert", revision=None, sha256=None, dtype="float32"), "bert")


def rates(*rows):
    return pd.DataFrame(rows, columns=["dataset", "model", "accuracy", "low", "high", "n"])


def test_a_card_says_by_whom_a_data_set_is_solved():
    table = card_table(
        rates(
            ("length", "character-ngrams", 0.977, 0.95, 0.99, 300),
            ("length", "positions", 0.6, 0.5, 0.7, 300),
            ("length", "bert", 0.99, 0.95, 1, 300),
        ),
        chance=0.5,
        limit=0.6,
        members=[*MEMBERS, REAL],
    )
    assert table["model"].tolist() == ["character-ngrams", "positions"]  # a real model solves it with the construction
    assert table["solved"].tolist() == [True, False]  # the limit itself is allowed
    assert table["says"].tolist() == [
        "is answered above chance without the construction by character-ngrams: 97.7 % (95.0 to 99.0)",
        "",
    ]
    assert table["n"].tolist() == [300, 300]


def test_the_limit_is_the_same_share_of_the_way_from_chance_to_all():
    table = card_table(
        rates(("pairs", "positions", 0.5, 0.4, 0.6, 90), ("reasoning", "positions", 0.5, 0.4, 0.6, 90)),
        chance={"pairs": 0.5, "reasoning": 1 / 3},
        limit=0.6,
        members=MEMBERS,
    )
    assert table["limit"].tolist() == pytest.approx([0.6, 1 / 3 + 0.2 * 2 / 3])
    assert table["solved"].tolist() == [False, True]


def spelling(rng):
    """Return a pair of texts that differ in how a word is spelt: its letters come in one order or in the other."""
    words = ["".join(rng.choice(list("bcdfglmnprst"), 5)) for _ in range(4)]
    place = rng.integers(4)
    return tuple(" ".join([*words[:place], words[place] + end, *words[place + 1 :]]) for end in ("qxz", "zxq"))


def order(rng):
    """Return a pair of texts that differ in where "the" stands; the words are long, so that no n-gram spans them."""
    words = rng.choice(["seventeenth", "elderberries", "gooseberries", "blackcurrants"], 5).tolist()
    return tuple(" ".join([*words[:place], "the", *words[place:]]) for place in (2, 3))


def nothing(rng):
    words = rng.choice(["ann", "bob", "cy", "dee"], 6).tolist()
    return " ".join(words), " ".join(rng.permutation(words))


def accuracies(dataset, make):
    """Return what each blind model reaches on a made data set, by cross-validation."""
    rng = np.random.default_rng(0)
    pairs = [make(rng) for _ in range(120)]
    texts, labels = [text for pair in pairs for text in pair], np.tile([1, 0], len(pairs))
    tables = []
    for slug, spec in BLIND.items():
        counts = count_features(texts, spec, "toy")
        guessed = cross_val_predict(LogisticRegression(max_iter=500), counts, labels, cv=5)
        own = pd.DataFrame({"dataset": dataset, "model": slug, "accuracy": (guessed == labels).astype(float)})
        tables.append(own.assign(cluster_pair=np.repeat(np.arange(len(pairs)), 2)))
    return rate_by(pd.concat(tables, ignore_index=True), "accuracy", ["dataset", "model"])


@pytest.mark.parametrize(
    ("make", "solvers"), [(spelling, {"character-ngrams"}), (order, {"positions"}), (nothing, set())]
)
def test_a_card_names_the_blind_model_that_solves_what_was_made_for_it(make, solvers):
    cards = card_table(accuracies("made", make), chance=0.5, limit=0.6, members=MEMBERS)
    assert set(cards.loc[cards["solved"], "model"]) == solvers
    for says in cards.loc[cards["solved"], "says"]:
        assert any(f"is answered above chance without the construction by {slug}: " in says for slug in solvers)


TEXTS = pd.DataFrame(
    [
        ("pairs", "No one left.", "right", "one"),
        ("pairs", "No cat, ever, left.", "right", "two"),
        ("pairs", "The cat has ever left.", "wrong", "one"),
        ("other", "Don't go.", "right", "one"),
    ],
    columns=["dataset", "text", "label", "template"],
)


def test_the_composition_of_a_data_set_has_the_share_and_the_lengths_of_each_label():
    table = composition_table(TEXTS)
    assert table[["dataset", "label", "n"]].to_numpy().tolist() == [
        ["pairs", "right", 2],
        ["pairs", "wrong", 1],
        ["other", "right", 1],
    ]
    assert table["share"].tolist() == pytest.approx([2 / 3, 1 / 3, 1])
    assert table[["words", "least", "most"]].to_numpy().tolist() == [[3.5, 3, 4], [5, 5, 5], [2, 2, 2]]
    by_template = composition_table(TEXTS, ["template"])
    assert by_template[["dataset", "label", "template", "n"]].to_numpy().tolist() == [
        ["pairs", "right", "one", 1],
        ["pairs", "right", "two", 1],
        ["pairs", "wrong", "one", 1],
        ["other", "right", "one", 1],
    ]


def test_the_words_that_are_most_unlike_between_labels_come_first():
    table = word_table(TEXTS[TEXTS["dataset"] == "pairs"], most=3)
    assert table[["word", "label", "count", "share"]].to_numpy().tolist() == [
        ["no", "right", 2, 1.0],
        ["no", "wrong", 0, 0.0],
        ["has", "right", 0, 0.0],
        ["has", "wrong", 1, 1.0],
        ["the", "right", 0, 0.0],
        ["the", "wrong", 1, 1.0],
    ]


def test_the_figure_has_a_row_for_each_data_set_with_its_own_limit():
    cards = card_table(
        rates(
            ("one-two", "character-ngrams", 0.9, 0.8, 1, 50),
            ("one-two", "positions", 0.5, 0.4, 0.6, 50),
            ("reasoning", "positions", 0.4, 0.3, 0.5, 50),
        ),
        chance={"one-two": 0.5, "reasoning": 1 / 3},
        limit=0.6,
        members=MEMBERS,
    )
    figure = card_figure(cards)
    (axes,) = figure.axes
    assert [label.get_text() for label in axes.get_yticklabels()] == ["one two (solved)", "reasoning"]
    lines = {line.get_label(): line for line in axes.collections}
    ends = [segment[0][0] for segment in lines["limit: solved above"].get_segments()]
    assert ends == pytest.approx(cards.drop_duplicates("dataset")["limit"].tolist())
    drawn = {line.get_label(): line.get_xdata().tolist() for line in axes.lines}
    assert drawn == {"character-ngrams": [0.9], "positions": [0.5, 0.4]}
