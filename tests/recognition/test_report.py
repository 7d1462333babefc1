import pandas as pd
import pytest

from cxprobe.lm.params import Member, ModelSpec, NgramFeatures, Rule
from cxprobe.recognition.report import accuracy_by_layer, figures_of_grid, recognition_cards
from cxprobe.recognition.runs import accuracy_by_value

RATES = {"accuracy": 0.7, "low": 0.6, "high": 0.8, "n": 40}
CHECKPOINT = ModelSpec(name="m", revision=None, sha256=None, dtype="float32")
MEMBERS = [
    Member("a", CHECKPOINT, "a"),
    Member("b", CHECKPOINT.model_copy(update={"name": "n"}), "b"),
    Member("letters", NgramFeatures(kind="character_ngrams", lengths=[2, 6]), "blind"),
    Member("places", Rule(kind="positions"), "blind"),
]
TWIN = CHECKPOINT.model_copy(update={"weights": "random", "seed": 1})
FEATURES = ["length", "distance", "first_start"]
NO_CARDS = pd.DataFrame(columns=["construction", "source", "feature", "accuracy", "solved", "says"])


def table(**columns: list) -> pd.DataFrame:
    return pd.MultiIndex.from_product(columns.values(), names=list(columns)).to_frame(index=False).assign(**RATES)


def test_a_construction_has_a_figure_with_all_models_and_its_own_sources():
    of_all = {"model": ["a", "b"], "feature": ["length"], "layer": [0, 1]}
    one = table(construction=["one"], source=["generated", "mined"], **of_all)
    by_layer = pd.concat([one, table(construction=["two"], source=["mined"], **of_all)])
    figures = figures_of_grid(by_layer, MEMBERS, NO_CARDS)
    assert list(figures) == ["recognition_one", "recognition_two"]
    assert [len(figure.axes) for figure in figures.values()] == [2, 1]
    for axes in figures["recognition_one"].axes:
        assert [line.get_label() for line in axes.get_lines()] == ["a", "b", "chance"]


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


def test_a_card_says_what_a_subset_consists_of(by_layer, sentences):
    tables = recognition_cards(by_layer, sentences, MEMBERS, limit=0.6)
    assert list(tables) == ["card", "card_composition", "card_words", "card_templates"]
    for own in tables.values():
        assert own.columns[:3].tolist() == ["construction", "source", "feature"]
        assert len(own.drop_duplicates(["source", "feature"])) == 4
    composition = tables["card_composition"].set_index(["source", "feature", "split", "label"])
    assert composition.loc[("mined", "start", "test", "negative"), ["n", "words"]].tolist() == [3, 4]
    words = tables["card_words"].query("source == 'mined' and feature == 'start' and word == 'fox'")
    assert words.set_index("label")["count"].to_dict() == {"positive": 0, "negative": 6}
    templates = tables["card_templates"].query("source == 'mined' and feature == 'start'")
    assert templates[["label", "template", "count", "share"]].to_numpy().tolist() == [
        ["positive", "positive of all", 6, 1.0],
        ["negative", "negative of all", 6, 1.0],
    ]


def test_figures_say_which_subsets_can_be_solved_blindly(by_layer, sentences):
    card = recognition_cards(by_layer, sentences, MEMBERS, limit=0.6)["card"]
    figures = figures_of_grid(by_layer, MEMBERS, card)
    assert list(figures) == ["recognition_one", "cards_one"]
    titles = [" ".join(axes.get_title().split()) for axes in figures["recognition_one"].axes]
    solved = "is answered above chance without the construction by letters: 97.7 % (95.0 to 99.0)"
    assert titles[:2] == [f"length, generated {solved} (n = 40)", "start, generated (n = 40)"]
    rows = [label.get_text() for label in figures["cards_one"].axes[0].get_yticklabels()]
    assert rows == ["generated, length (solved)", "generated, start", "mined, length (solved)", "mined, start"]


def lines(axes) -> dict[str, list[float]]:
    """Return label -> the heights of each line of a panel."""
    return {line.get_label(): list(line.get_ydata()) for line in axes.get_lines()}


def test_models_that_are_not_blind_have_a_line_in_a_panel_for_each_source_and_feature():
    members = [Member("one", CHECKPOINT, "one"), Member("twin", TWIN, "twin"), MEMBERS[2]]
    cards = pd.DataFrame(
        [("mined", "length", 0.8, "can be solved without it"), ("generated", "length", 0.6, "")],
        columns=["source", "feature", "accuracy", "says"],
    )
    of_all = {"source": ["generated", "mined"], "model": ["one", "twin", "letters"]}
    whole = table(**of_all, feature=FEATURES, layer=range(4))
    whole["accuracy"] = 0.5 + whole["layer"] / 10
    lacking = whole[(whole["source"] != "mined") | (whole["feature"] != "distance")]
    figure = accuracy_by_layer(lacking, members, "toy", cards)
    panels = {" ".join(axes.get_title().split()): lines(axes) for axes in figure.axes}
    assert set(panels) == {
        "length, generated (n = 40)",
        "distance, generated (n = 40)",
        "first start, generated (n = 40)",
        "length, mined can be solved without it (n = 40)",
        "first start, mined (n = 40)",
    }
    own = panels["length, mined can be solved without it (n = 40)"]
    assert list(own) == ["one", "twin (random weights)", "chance", "best blind"]
    assert own["one"] == pytest.approx([0.5, 0.6, 0.7, 0.8])
    assert own["best blind"] == [0.8, 0.8]
    assert list(panels["distance, generated (n = 40)"]) == ["one", "twin (random weights)", "chance"]


def test_each_layer_has_a_line_by_value_and_the_panel_says_what_was_trained_on():
    by_value = table(feature=FEATURES, value=(3, 5, 9), layer=range(5)).assign(low=0.1, high=0.9)
    by_value["accuracy"] = 0.2 + by_value["layer"] / 10
    splits = table(feature=FEATURES, split=["train"], value=[3, 4])
    figure = accuracy_by_value(by_value, splits, "toy")
    assert "about ± 40 points" in figure.get_suptitle()
    assert "trained on 3 to 4" in figure.axes[0].get_title()
    found = lines(figure.axes[0])
    assert found.pop("chance") == [0.5, 0.5]
    assert found == {f"layer {layer}": pytest.approx([0.2 + layer / 10] * 3) for layer in range(5)}


def test_accuracies_over_many_values_are_drawn_as_they_are():
    by_value = table(feature=["length"], value=range(20), layer=[0])
    by_value["accuracy"] = by_value["value"] % 2
    splits = table(feature=["length"], split=["train"], value=[0, 5])
    assert lines(accuracy_by_value(by_value, splits, "toy").axes[0])["layer 0"] == [0, 1] * 10
