import pandas as pd
import pytest

from cxprobe.report import accuracy_per_layer, accuracy_per_value, accuracy_side_by_side

FEATURES = ["length", "distance", "first_start"]


def by_layer() -> pd.DataFrame:
    rows = [
        {"model": model, "feature": feature, "layer": layer, "accuracy": 0.5 + layer / 10, "low": 0.4, "high": 0.9}
        for model in ("one", "two")
        for feature in FEATURES
        for layer in range(4)
    ]
    return pd.DataFrame(rows)


def controls(**columns) -> pd.DataFrame:
    rows = [
        {"feature": feature, "control": control, "accuracy": 0.5} | columns
        for feature in FEATURES
        for control in ("majority", "bag_of_words")
    ]
    return pd.DataFrame(rows)


def test_a_line_per_model_and_the_controls_in_every_panel():
    figure = accuracy_per_layer(by_layer(), controls(), "toy")
    panels = figure.axes
    assert [panel.get_title() for panel in panels] == ["length", "distance", "first start"]
    for panel in panels:
        labels = [line.get_label() for line in panel.get_lines()]
        assert labels == ["one", "two", "majority", "bag of words"]
    assert panels[0].get_lines()[0].get_ydata().tolist() == pytest.approx([0.5, 0.6, 0.7, 0.8])


def test_sources_stand_side_by_side_and_what_one_lacks_is_said():
    generated, mined = (by_layer().assign(source=source, n=1200) for source in ("generated", "mined"))
    lines = pd.concat([generated, mined[mined["feature"] != "distance"]])
    own = pd.concat([controls(source=source) for source in ("generated", "mined")])
    figure = accuracy_side_by_side(lines, own, "toy")
    titles = [axes.get_title() for axes in figure.axes]
    assert titles[:2] == ["length, generated (n = 1,200)", "length, mined (n = 1,200)"]
    assert titles[2:4] == ["distance, generated (n = 1,200)", ""]
    assert "no sentences drawn" in figure.axes[3].texts[0].get_text()
    assert all(len(axes.get_lines()) == 4 for axes in figure.axes if axes.get_title())


def test_a_line_per_layer_over_the_values_with_those_that_were_trained_on():
    by_value = pd.DataFrame(
        [
            {
                "feature": feature,
                "value": value,
                "layer": layer,
                "accuracy": 0.2 + layer / 5,
                "low": 0.1,
                "high": 0.9,
                "n": 80,
            }
            for feature in FEATURES
            for value in (3, 5, 9)
            for layer in range(4)
        ]
    )
    trained = pd.DataFrame({"feature": FEATURES, "least": 3, "greatest": 4})
    figure = accuracy_per_value(by_value, controls(value=3), trained, "toy")
    panel = figure.axes[0]
    lines = {tuple(line.get_ydata()) for line in panel.get_lines() if len(line.get_xdata()) == 3}
    assert lines == {(0.2 + layer / 5,) * 3 for layer in range(4)}
    assert panel.get_ylim()[0] <= 0.2
    assert "80 sentences a point, whose 95 % interval is about ± 40 points" in figure.get_suptitle()
    colours = {line.get_color() for line in panel.get_lines()[2:]}
    assert len(colours) == 4


def test_one_layer_alone_can_be_drawn():
    by_value = pd.DataFrame(
        {"feature": FEATURES, "value": 3, "layer": 0, "accuracy": 0.5, "low": 0.4, "high": 0.6, "n": 8}
    )
    trained = pd.DataFrame({"feature": FEATURES, "least": 3, "greatest": 3})
    accuracy_per_value(by_value, controls(value=3), trained, "toy")
