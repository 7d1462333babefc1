import pandas as pd
import pytest

from cxprobe.lm.params import Member, ModelSpec, Rule
from cxprobe.recognition.figures import accuracy_per_layer, accuracy_per_value, accuracy_side_by_side, smoothed

FEATURES = ["length", "distance", "first_start"]


def checkpoint(slug: str, name: str, **twin) -> Member:
    return Member(slug, ModelSpec(name=name, revision=None, sha256=None, dtype="float32", **twin), slug)


MEMBERS = [
    checkpoint("one", "first"),
    checkpoint("two", "second"),
    checkpoint("two-random", "second", weights="random", seed=1),
    Member("words", Rule(kind="positions"), "blind"),
    Member("letters", Rule(kind="positions"), "blind"),
]


def table(**columns) -> pd.DataFrame:
    rows = pd.MultiIndex.from_product(columns.values(), names=columns).to_frame(index=False)
    return rows.assign(low=0.1, high=0.9, n=90)


def by_layer() -> pd.DataFrame:
    rows = table(model=["one", "two"], feature=FEATURES, layer=range(4))
    return rows.assign(accuracy=0.5 + rows["layer"] / 10)


def controls(**columns) -> pd.DataFrame:
    return pd.DataFrame({"feature": FEATURES, "control": "majority", "accuracy": 0.5} | columns)


def test_a_line_per_model_and_the_controls_in_every_panel():
    figure = accuracy_per_layer(by_layer(), controls(), MEMBERS, "toy")
    titles = [panel.get_title() for panel in figure.axes]
    assert titles == ["length (n = 90)", "distance (n = 90)", "first start (n = 90)"]
    for panel in figure.axes:
        assert [line.get_label() for line in panel.get_lines()] == ["one", "two", "majority"]
    assert figure.axes[0].get_lines()[0].get_ydata().tolist() == pytest.approx([0.5, 0.6, 0.7, 0.8])


def test_sources_stand_side_by_side_and_what_one_lacks_has_no_panel():
    generated, mined = (by_layer().assign(source=source, n=1200) for source in ("generated", "mined"))
    lines = pd.concat([generated, mined[mined["feature"] != "distance"]])
    own = pd.concat([controls(source=source) for source in ("generated", "mined")])
    notes = {("mined", "length"): "can be solved\nby letters", ("mined", "distance"): "not drawn"}
    figure = accuracy_side_by_side(lines, own, MEMBERS, "toy", notes)
    wanted = {"generated": FEATURES, "mined": ["length", "first_start"]}
    titles = {f"{name.replace('_', ' ')}, {source} (n = 1,200)" for source, own in wanted.items() for name in own}
    assert {axes.get_title() for axes in figure.axes} == titles
    assert all(len(axes.get_lines()) == 3 for axes in figure.axes)
    said = {axes.get_title(): [text.get_text() for text in axes.texts] for axes in figure.axes}
    assert said["length, mined (n = 1,200)"] == ["can be solved\nby letters"]
    assert said["length, generated (n = 1,200)"] == [""]


def test_a_line_per_layer_over_the_values_with_those_that_were_trained_on():
    by_value = table(feature=FEATURES, value=(3, 5, 9), layer=range(4))
    by_value["accuracy"] = 0.2 + by_value["layer"] / 5
    trained = pd.DataFrame({"feature": FEATURES, "least": 3, "greatest": 4})
    figure = accuracy_per_value(by_value, controls(value=3), trained, "toy")
    panel = figure.axes[0]
    lines = {tuple(line.get_ydata()) for line in panel.get_lines() if len(line.get_xdata()) == 3}
    assert lines == {(0.2 + layer / 5,) * 3 for layer in range(4)}
    assert panel.get_ylim()[0] <= 0.2
    assert "90 sentences a point, whose 95 % interval is about ± 40 points" in figure.get_suptitle()
    colours = {line.get_color() for line in panel.get_lines()[1:]}
    assert len(colours) == 4


def test_lines_over_many_values_are_means_over_neighbours_and_those_over_few_stay_as_they_are():
    line = pd.DataFrame({"value": range(20), "accuracy": [0.0, 1.0] * 10, "n": 10})
    assert smoothed(line).iloc[2:-2].tolist() == pytest.approx([0.4, 0.6] * 8)
    assert smoothed(line.assign(n=[0, 10] * 10)).tolist() == pytest.approx([1.0] * 20)  # weighted by n
    few = line[:8]
    assert smoothed(few).tolist() == few["accuracy"].tolist()


@pytest.mark.parametrize("best", ["words", "letters"])
def test_a_blind_model_is_a_horizontal_line_and_the_best_one_is_heavier(best):
    rates = {"words": 0.9 if best == "words" else 0.6, "letters": 0.8}
    blind = table(model=rates, feature=FEATURES, layer=[0])
    blind["accuracy"] = blind["model"].map(rates)
    figure = accuracy_per_layer(pd.concat([by_layer(), blind]), controls(), MEMBERS, "toy")
    for panel in figure.axes:
        level = {float(line.get_ydata()[0]): line for line in panel.get_lines() if len(set(line.get_ydata())) == 1}
        heavy, thin = level[rates[best]], level[rates["letters" if best == "words" else "words"]]
        assert heavy.get_color() == "black"
        assert heavy.get_linewidth() > 2 * thin.get_linewidth()
        assert heavy.get_linestyle() != thin.get_linestyle()
        (band,) = panel.patches  # the interval of the best
        assert band.get_extents().transformed(panel.transData.inverted()).height == pytest.approx(0.9 - 0.1)
    (legend,) = figure.legends
    labels = [text.get_text() for text in legend.get_texts()]
    assert labels == ["one", "two", "words (blind)", "letters (blind)", "best blind (in its style)", "majority"]


def test_a_twin_says_that_it_is_one_and_has_the_colour_of_its_model_in_a_broken_line():
    twin = by_layer().query("model == 'two'").assign(model="two-random")
    figure = accuracy_per_layer(pd.concat([by_layer(), twin]), controls(), MEMBERS, "toy")
    lines = {line.get_label(): line for line in figure.axes[0].get_lines()}
    assert list(lines)[:3] == ["one", "two", "two-random (random weights)"]
    trained, random = lines["two"], lines["two-random (random weights)"]
    assert trained.get_color() == random.get_color() != lines["one"].get_color()
    assert trained.get_linestyle() == "-" != random.get_linestyle()


def test_the_one_line_of_a_blind_model_has_no_scale_of_layers():
    by_value = table(feature=FEATURES, value=[3], layer=[0]).assign(accuracy=0.5)
    trained = pd.DataFrame({"feature": FEATURES, "least": 3, "greatest": 3})
    figure = accuracy_per_value(by_value, controls(value=3), trained, "toy")
    assert len(figure.axes) == len(FEATURES)  # no colour bar
    assert "blind model" in [line.get_label() for line in figure.axes[0].get_lines()]
