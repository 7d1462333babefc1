"""What the run of a model on a source of sentences has: its numbers, tables, figures and trials."""

from pathlib import Path
from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from cxprobe.constructions.construction import SentenceSource
from cxprobe.files.tables import read_table
from cxprobe.lm.params import Member
from cxprobe.recognition.judge import Recognition, curves_by_layer, metrics_of, trials_of
from cxprobe.report.dots import curves
from cxprobe.run.record import Trial


def run_fields(
    member: Member, judged: Recognition, construction: str, source: SentenceSource, splits: Path, measured: Path | None
) -> dict[str, Any]:
    """Return the fields of `cxprobe.run.stage.JudgedRun` that follow from what was judged.

    Args:
        member: The model.
        judged: What its probes got.
        construction: The construction.
        source: Where its sentences come from.
        splits: The file of its subsets.
        measured: The folder of what was measured of it, if there was a search over regularisation; else None.
    """
    title = f"{member.label}: {construction}, {source} sentences"
    metrics, tables = metrics_of(judged), recognition_tables(judged)
    figures, trials, series = {}, list[Trial](), curves_by_layer(judged)
    if measured is not None and (measured / "trials.parquet").is_file():
        tried, tables["tuned"] = (read_table(measured / f"{stem}.parquet") for stem in ("trials", "tuned"))
        figures["search"], trials = search_curves(tried, title), trials_of(tried)
        for feature, best in tables["tuned"].groupby("feature", sort=False):
            series[f"best_C.{feature}"] = [*zip(best["layer"].tolist(), best["C"].tolist(), strict=True)]
    if not member.is_blind:
        figures["accuracy_per_value"] = accuracy_by_value(judged.by_value, read_table(splits), title)
    return {
        "construction": construction,
        "source": source,
        "dataset": splits,
        "items": int(metrics["n"]),
        "metrics": metrics,
        "series": series,
        "tables": tables,
        "figures": figures,
        "trials": trials,
    }


def search_curves(tried: pd.DataFrame, title: str) -> Figure:
    """Draw the accuracy over C of every setting that a search has tried, a panel for each feature.

    Args:
        tried: Of `cxprobe.recognition.tuning.tune_subset`, with the column feature.
        title: Of the figure.
    """
    found = tried[tried["state"] == "COMPLETE"].sort_values(["feature", "layer", "C"])
    best = found.loc[found.groupby(["feature", "layer"])["accuracy"].idxmax(), "C"]
    shown = found.assign(low=found["accuracy"], high=found["accuracy"])
    note = f"the best C of a layer lies between {best.min():.2g} and {best.max():.2g}; accuracy on held-out folds"
    return curves(shown, f"{title}\n{note}", x="C", panels="feature", colours="layer")


def recognition_tables(judged: Recognition) -> dict[str, pd.DataFrame]:
    """Return the tables of what was judged by their names."""
    tables = {"accuracy_by_layer": judged.by_layer, "accuracy_by_value": judged.by_value, "controls": judged.controls}
    return tables | {stem: getattr(judged, stem) for stem in ("best_layer", "selectivity", "code_length")}


def accuracy_by_value(by_value: pd.DataFrame, splits: pd.DataFrame, title: str) -> Figure:
    """Draw the accuracies of one model on one source of sentences by value, as they are, a panel for each feature.

    Args:
        by_value: Columns feature, value, layer, accuracy, low, high, n.
        splits: Columns feature, split and value of its sentences.
        title: Of the figure.

    Source:
        Weissweiler et al. 2022, Figures 2 to 7.
    """
    trained = splits[splits["split"] == "train"].groupby("feature")["value"].agg(["min", "max"]).to_dict("index")
    panels = {name: f"{name}, trained on {ends['min']} to {ends['max']}" for name, ends in trained.items()}
    half_width = 50 * float((by_value["high"] - by_value["low"]).median())
    note = f"the 95 % interval of a value is about ± {half_width:.0f} points"
    accuracy = by_value["accuracy"]  # intervals of all layers would hide the lines
    shown = by_value.assign(panel=by_value["feature"].map(panels), low=accuracy, high=accuracy)
    return curves(shown, f"{title}\n{note}", x="value", panels="panel", colours="layer", linear=True)
