"""Recognition: rates by layer and value as figures, and searches over regularisation."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from cxprobe.files.tables import read_table
from cxprobe.models.params import Member
from cxprobe.results.comparisons import best_baseline
from cxprobe.results.dots import curves
from cxprobe.results.runs import RunExtras
from cxprobe.run.record import Trial

_LAYER = "layer (0 = embeddings)"


def figures_by_layer(rates: pd.DataFrame, members: Sequence[Member]) -> dict[str, Figure]:
    """Draw accuracy by layer: a figure for each construction, a panel for each feature and source.

    Models that are no baselines have a line each, and the best baseline of a panel is drawn across it.

    Args:
        rates: Columns of `cxprobe.results.schema.RATES`, of recognition.
        members: What the models are.

    Source:
        Weissweiler et al. 2022, Figure 1.
    """
    labels = {member.slug: member.label for member in members if not member.is_baseline}
    of_features = rates[(rates["facet"] == "feature") & (rates["measure"] == "accuracy")]
    parts = of_features["level"].str.rpartition(".")
    drawn = of_features.rename(columns={"value": "accuracy"})
    drawn = drawn.assign(panel=parts[0] + ", " + drawn["source"], label=drawn["model"].map(labels))
    drawn[_LAYER] = parts[2].astype(int)
    figures = {}
    for name, rows in drawn.groupby("construction", sort=False):
        seeing, best = rows[rows["label"].notna()], best_baseline(rows, ["panel"], members)
        if len(seeing):
            title = f"{name}: probes by layer"
            figures[str(name)] = curves(
                seeing, title, x=_LAYER, panels="panel", colours="label", best=best, linear=True
            )
    return figures


def figure_by_value(rates: pd.DataFrame, splits: pd.DataFrame, title: str) -> Figure:
    """Draw the accuracies of one model on one source of sentences by value, a panel for each feature.

    Args:
        rates: Columns of `cxprobe.results.schema.RATES`.
        splits: Columns feature, split and value of its sentences.
        title: Of the figure.

    Source:
        Weissweiler et al. 2022, Figures 2 to 7.
    """
    of_values = rates[rates["facet"] == "value"]
    keys = of_values["level"].str.extract(r"^(?P<feature>.+)\.(?P<value>-?\d+)\.(?P<layer>\d+)$")
    trained = splits[splits["split"] == "train"].groupby("feature")["value"].agg(["min", "max"]).to_dict("index")
    panels = {name: f"{name}, trained on {ends['min']} to {ends['max']}" for name, ends in trained.items()}
    half_width = 50 * float((of_values["high"] - of_values["low"]).median())
    note = f"the 95 % interval of a value is about ± {half_width:.0f} points"
    accuracy = of_values["value"]  # intervals of all layers would hide the lines
    shown = keys.assign(panel=keys["feature"].map(panels), accuracy=accuracy, low=accuracy, high=accuracy)
    shown = shown.astype({"value": int, "layer": int}).assign(n=of_values["n"])
    return curves(shown, f"{title}\n{note}", x="value", panels="panel", colours="layer", linear=True)


def run_extras(rates: pd.DataFrame, member: Member, splits: pd.DataFrame, measured: Path) -> RunExtras:
    """Return the figure of accuracies by value, and the search over regularisation if there was one.

    Args:
        rates: The rates of one model on one source of sentences.
        member: The model; a baseline has no figure by value.
        splits: Columns feature, split and value of the sentences.
        measured: The folder with the predictions of the probes, and the trials of a search.
    """
    title = f"{member.label}: {rates['construction'].iloc[0]}, {rates['source'].iloc[0]} sentences"
    figures = {} if member.is_baseline else {"accuracy_per_value": figure_by_value(rates, splits, title)}
    if not (measured / "trials.parquet").is_file():
        return RunExtras(figures=figures)
    trials, tuned = (read_table(measured / f"{stem}.parquet") for stem in ("trials", "tuned"))
    series = {
        f"best_log10_C.{feature}": [*zip(best["layer"].tolist(), np.log10(best["C"]).tolist(), strict=True)]
        for feature, best in tuned.groupby("feature", sort=False)
    }
    figures = {"search": search_curves(trials, title), **figures}
    return RunExtras(series, {"tuned": tuned}, figures, [*map(_child_run, trials.to_dict("records"))])


def search_curves(trials: pd.DataFrame, title: str) -> Figure:
    """Draw the accuracy over C of the trials of a search, a panel for each feature.

    Args:
        trials: Of `cxprobe.tasks.recognition.tuning.tune_subset`, with the column feature.
        title: Of the figure.
    """
    complete = trials[trials["state"] == "COMPLETE"].sort_values(["feature", "layer", "C"])
    best = complete.loc[complete.groupby(["feature", "layer"])["accuracy"].idxmax(), "C"]
    shown = complete.assign(low=complete["accuracy"], high=complete["accuracy"])
    note = f"the best C of a layer lies between {best.min():.2g} and {best.max():.2g}; accuracy on held-out folds"
    return curves(shown, f"{title}\n{note}", x="C", panels="feature", colours="layer")


def _child_run(trial: Mapping[Any, Any]) -> Trial:
    """Return a trial of a search as a child run of MLflow."""
    name = f"{trial['feature']} {trial['layer']} {trial['number']}"
    params = {key: str(trial[key]) for key in ("feature", "layer", "C", "standardise")}
    if trial["state"] != "COMPLETE":
        return Trial(name, {}, params, "FAILED")
    # MLflow has no logarithmic axis for a parameter.
    return Trial(name, {"accuracy": trial["accuracy"], "log10_C": float(np.log10(trial["C"]))}, params, "FINISHED")
