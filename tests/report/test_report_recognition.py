import pandas as pd

from cxprobe.report import figures_of_grid, figures_of_model

RATES = {"accuracy": 0.7, "low": 0.6, "high": 0.8, "n": 40}


def table(**columns: list) -> pd.DataFrame:
    return pd.MultiIndex.from_product(columns.values(), names=list(columns)).to_frame(index=False).assign(**RATES)


def test_a_model_has_a_figure_by_layer_and_one_by_value():
    splits = pd.DataFrame({"feature": "length", "split": ["train", "train", "test"], "value": [3, 5, 9]})
    figures = figures_of_model(
        table(model=["one"], feature=["length"], layer=[0, 1]),
        table(feature=["length"], value=[3, 9], layer=[0, 1]),
        {
            "layer": table(feature=["length"], control=["majority"]),
            "value": table(feature=["length"], value=[3, 9], control=["majority"]),
        },
        splits=splits,
        title="toy",
    )
    assert list(figures) == ["accuracy_per_layer", "accuracy_per_value"]
    labels = [line.get_label() for line in figures["accuracy_per_layer"].axes[0].get_lines()]
    assert labels == ["one", "majority"]
    (trained,) = [patch for patch in figures["accuracy_per_value"].axes[0].patches if patch.get_label() == "trained on"]
    assert (trained.get_x(), trained.get_width()) == (2.5, 3)  # the values 3 to 5, each half a word to either side


def test_a_construction_has_a_figure_with_all_models_and_its_own_sources():
    by_layer = pd.concat(
        [
            table(
                construction=["one"], source=["generated", "mined"], model=["a", "b"], feature=["length"], layer=[0, 1]
            ),
            table(construction=["two"], source=["mined"], model=["a", "b"], feature=["length"], layer=[0, 1]),
        ]
    )
    origin = by_layer[["construction", "source", "model", "feature"]].drop_duplicates()
    controls = origin.assign(control="majority", accuracy=origin["model"].map({"a": 0.5, "b": 0.4}))
    figures = figures_of_grid(by_layer, controls)
    assert list(figures) == ["recognition_one", "recognition_two"]
    assert [len(figure.axes) for figure in figures.values()] == [2, 1]
    for axes in figures["recognition_one"].axes:
        lines = {line.get_label(): line for line in axes.get_lines()}
        assert list(lines) == ["a", "b", "majority"]
        assert set(lines["majority"].get_ydata()) == {0.5}  # those of the first model stand for all


def test_an_empty_grid_has_no_figures():
    empty = table(construction=[], source=[], model=[], feature=[], control=[], layer=[])
    assert figures_of_grid(empty, empty) == {}
