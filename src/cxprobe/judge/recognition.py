"""How well probes recognise a construction: from predictions to accuracies, by feature and over all features."""

from collections.abc import Sequence
from typing import NamedTuple

import pandas as pd

from cxprobe.records import CLUSTER
from cxprobe.stats import credit, rate_by

_HEADLINE = ("accuracy", "low", "high", "n", "accuracy_layer_0", "control_bag_of_words")


class Credited(NamedTuple):
    """Credited predictions for test sentences (`credit_predictions`).

    Attributes:
        probes: Columns feature, value, id, layer, accuracy, and at least one that begins with ``cluster_``.
        controls: The same with the column control in place of layer.
    """

    probes: pd.DataFrame
    controls: pd.DataFrame


class Recognition(NamedTuple):
    """The accuracies of one model on one source of sentences; every table ends in accuracy, low, high, n.

    Attributes:
        by_layer: Columns feature, layer.
        by_value: Columns feature, value, layer.
        controls: Columns feature, control.
        controls_by_value: Columns feature, value, control.
        together: Column layer: all features together.
        controls_together: Column control: all features together.
    """

    by_layer: pd.DataFrame
    by_value: pd.DataFrame
    controls: pd.DataFrame
    controls_by_value: pd.DataFrame
    together: pd.DataFrame
    controls_together: pd.DataFrame

    @property
    def metrics(self) -> dict[str, float | int]:
        """What sums recognition up: the accuracy of all features together at the middle layer.

        The middle layer has the number ``layers // 2``, where layer 0 is the embeddings. It is fixed in advance: the
        highest of several accuracies on the same test sentences is too optimistic, so it is given as a second number.
        The names are accuracy, low, high, n, layer, accuracy_layer_0, accuracy_highest, and control_<name> for each
        control.
        """
        return _metrics(self.together, self.controls_together)

    @property
    def series(self) -> dict[str, list[tuple[int, float]]]:
        """The accuracies by layer, of all features together and of each: name -> (layer, accuracy) pairs."""
        by_feature = self.by_layer.groupby("feature", sort=False)
        lines = {"accuracy": self.together, **{str(feature): rows for feature, rows in by_feature}}
        return {
            f"by_layer.{name}": list(zip(rows["layer"].tolist(), rows["accuracy"].tolist(), strict=True))
            for name, rows in lines.items()
        }


def credit_predictions(probes: pd.DataFrame, controls: pd.DataFrame) -> Credited:
    """Return predictions with the column accuracy: 1 for a right one, 0 for a wrong one, 0.5 for a tie.

    Args:
        probes: Columns probability (of "positive") and label, and any others, which are kept.
        controls: The same.
    """
    return Credited(_credited(probes), _credited(controls))


def judge_recognition(credited: Credited) -> Recognition:
    """Return the accuracies of a model's probes and of the controls on one source of sentences."""
    probes, controls = credited
    return Recognition(
        by_layer=_accuracies(probes, ["feature", "layer"]),
        by_value=_accuracies(probes, ["feature", "value", "layer"]),
        controls=_accuracies(controls, ["feature", "control"]),
        controls_by_value=_accuracies(controls, ["feature", "value", "control"]),
        together=accuracy_together(probes, "layer"),
        controls_together=accuracy_together(controls, "control"),
    )


def accuracy_together(credited: pd.DataFrame, by: str) -> pd.DataFrame:
    """Return the accuracy over all features together.

    A sentence may be in the subsets of several features, so it is a cluster, in addition to the usual ones.

    Args:
        credited: The probes or the controls of `Credited`, of one construction or of several.
        by: "layer" or "control".

    Returns:
        Columns ``by``, accuracy, low, high, n.
    """
    return _accuracies(credited.assign(**{f"{CLUSTER}sentence": credited["id"]}), [by])


def recognition_headline(credited: Sequence[Credited]) -> dict[str, float | int]:
    """Return the few numbers that summarise a model on one source of sentences, over all constructions together.

    Args:
        credited: The predictions for each construction.
    """
    probes = pd.concat([one.probes for one in credited], ignore_index=True)
    controls = pd.concat([one.controls for one in credited], ignore_index=True)
    metrics = _metrics(accuracy_together(probes, "layer"), accuracy_together(controls, "control"))
    return {name: metrics[name] for name in _HEADLINE}


def _metrics(together: pd.DataFrame, controls: pd.DataFrame) -> dict[str, float | int]:
    """Return `Recognition.metrics` from the tables of all features together."""
    by_layer = together.set_index("layer").to_dict("index")
    middle = len(by_layer) // 2
    return {
        **{str(name): value for name, value in by_layer[middle].items()},
        "layer": middle,
        "accuracy_layer_0": by_layer[0]["accuracy"],
        "accuracy_highest": max(row["accuracy"] for row in by_layer.values()),
        **{f"control_{name}": float(rate) for name, rate in controls[["control", "accuracy"]].to_numpy()},
    }


def _credited(predictions: pd.DataFrame) -> pd.DataFrame:
    positive = (predictions["label"] == "positive").to_numpy()
    return predictions.assign(accuracy=credit(predictions["probability"].to_numpy(), positive))


def _accuracies(credited: pd.DataFrame, by: Sequence[str]) -> pd.DataFrame:
    return rate_by(credited, "accuracy", by).drop(columns="ties")
