import pandas as pd
import pytest

from cxprobe.lm.params import Member, ModelSpec, Rule
from cxprobe.recognition.figures import accuracy_by_layer, accuracy_by_value

FEATURES = ["length", "distance", "first_start"]
SPEC = ModelSpec(name="m", revision=None, sha256=None, dtype="float32")
TWIN = ModelSpec(**SPEC.model_dump() | {"weights": "random", "seed": 1})
MEMBERS = [Member("one", SPEC, "one"), Member("twin", TWIN, "twin"), Member("letters", Rule(kind="positions"), "blind")]


def table(**columns) -> pd.DataFrame:
    rows = pd.MultiIndex.from_product(columns.values(), names=columns).to_frame(index=False)
    return rows.assign(low=0.1, high=0.9, n=90)


def by_layer(**columns) -> pd.DataFrame:
    rows = table(model=["one", "twin", "letters"], feature=FEATURES, layer=range(4), **columns)
    return rows.assign(accuracy=0.5 + rows["layer"] / 10)


def lines(axes) -> dict[str, list[float]]:
    """Return label -> the heights of each line of a panel."""
    return {line.get_label(): list(line.get_ydata()) for line in axes.get_lines()}


def test_models_that_are_not_blind_have_a_line_in_a_panel_for_each_source_and_feature():
    cards = pd.DataFrame(
        [("mined", "length", 0.8, "can be solved without it"), ("generated", "length", 0.6, "")],
        columns=["source", "feature", "accuracy", "says"],
    )
    whole = by_layer(source=["generated", "mined"])
    lacking = whole[(whole["source"] != "mined") | (whole["feature"] != "distance")]
    figure = accuracy_by_layer(lacking, MEMBERS, "toy", cards)
    panels = {" ".join(axes.get_title().split()): lines(axes) for axes in figure.axes}
    assert set(panels) == {
        "length, generated (n = 90)",
        "distance, generated (n = 90)",
        "first start, generated (n = 90)",
        "length, mined can be solved without it (n = 90)",
        "first start, mined (n = 90)",
    }
    own = panels["length, mined can be solved without it (n = 90)"]
    assert list(own) == ["one", "twin (random weights)", "chance", "best blind"]
    assert own["one"] == pytest.approx([0.5, 0.6, 0.7, 0.8])
    assert own["best blind"] == [0.8, 0.8]
    assert list(panels["distance, generated (n = 90)"]) == ["one", "twin (random weights)", "chance"]


def test_each_layer_has_a_line_by_value_and_the_panel_says_what_was_trained_on():
    by_value = table(feature=FEATURES, value=(3, 5, 9), layer=range(5))
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
