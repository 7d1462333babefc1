import pandas as pd
import pytest

from cxprobe.lm.params import Member, ModelSpec, NgramFeatures, Rule
from cxprobe.recognition.report import recognition_cards

RATES = {"accuracy": 0.7, "low": 0.6, "high": 0.8, "n": 40}
CHECKPOINT = ModelSpec(name="m", revision=None, sha256=None, dtype="float32")
MEMBERS = [
    Member("a", CHECKPOINT, "a"),
    Member("b", CHECKPOINT.model_copy(update={"name": "n"}), "b"),
    Member("letters", NgramFeatures(kind="character_ngrams", lengths=[2, 6]), "blind"),
    Member("places", Rule(kind="positions"), "blind"),
]


def table(**columns: list) -> pd.DataFrame:
    return pd.MultiIndex.from_product(columns.values(), names=list(columns)).to_frame(index=False).assign(**RATES)


@pytest.fixture
def by_layer() -> pd.DataFrame:
    """Letters solve the lengths of generated sentences, places solve those of mined ones; nothing solves the starts."""
    of_all = {"model": ["a", "letters", "places"], "feature": ["length", "start"], "layer": [0]}
    rates = table(construction=["one"], source=["generated", "mined"], **of_all)
    rates = rates.assign(accuracy=0.55, low=0.5, high=0.6)
    solved = {("generated", "letters"): (0.977, 0.95, 0.99), ("mined", "places"): (0.8, 0.7, 0.9)}
    for (source, model), rate in solved.items():
        cell = (rates["source"] == source) & (rates["model"] == model) & (rates["feature"] == "length")
        rates.loc[cell, ["accuracy", "low", "high"]] = rate
    return rates


@pytest.fixture
def sentences() -> pd.DataFrame:
    """Sentences of both labels in both parts."""
    rows = pd.MultiIndex.from_product(
        [["generated", "mined"], ["length", "start"], ["train", "test"], ["positive", "negative"], range(3)],
        names=["source", "feature", "split", "label", "number"],
    ).to_frame(index=False)
    text = rows["label"].map({"positive": "the older the", "negative": "the the older fox"})
    return rows.assign(construction="one", text=text, cluster_template=rows["label"] + " of all")


def test_a_card_names_the_blind_model_that_solves_a_subset(by_layer, sentences):
    card = recognition_cards(by_layer, sentences, MEMBERS, limit=0.6)["card"]
    assert set(card["model"]) == {"letters", "places"}  # blind ones alone
    solved = card[card["solved"]]
    assert solved[["construction", "source", "feature", "model"]].to_numpy().tolist() == [
        ["one", "generated", "length", "letters"],
        ["one", "mined", "length", "places"],
    ]
    expected = "is answered above chance without the construction by letters: 97.7 % (95.0 to 99.0)"
    assert solved["says"].iloc[0] == expected
    assert not recognition_cards(by_layer, sentences, MEMBERS, limit=0.98)["card"]["solved"].any()
