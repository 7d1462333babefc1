"""Recognition: rates by layer and value as figures, what subsets consist of, and searches over regularisation."""

from collections.abc import Sequence
from pathlib import Path

import pandas as pd
from matplotlib.figure import Figure

from cxprobe.files.tables import read_table
from cxprobe.models.params import Member
from cxprobe.results.baseline_report import composition_table, word_table
from cxprobe.results.comparisons import best_baseline
from cxprobe.results.dots import curves
from cxprobe.results.runs import RunExtras
from cxprobe.run.record import Trial
from cxprobe.tasks.recognition.make import TEMPLATE, seen_texts

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


def search_extras(measured: Path, title: str) -> RunExtras:
    """Return the search over regularisation of one model and source of sentences; nothing where there was none.

    Args:
        measured: The folder of what was measured.
        title: Of the figure.
    """
    if not (measured / "trials.parquet").is_file():
        return RunExtras()
    tried, tuned = (read_table(measured / f"{stem}.parquet") for stem in ("trials", "tuned"))
    series = {
        f"best_C.{feature}": [*zip(best["layer"].tolist(), best["C"].tolist(), strict=True)]
        for feature, best in tuned.groupby("feature", sort=False)
    }
    return RunExtras(series, {"tuned": tuned}, {"search": search_curves(tried, title)}, trials_of(tried))


def search_curves(tried: pd.DataFrame, title: str) -> Figure:
    """Draw the accuracy over C of every setting that a search has tried, a panel for each feature.

    Args:
        tried: Of `cxprobe.tasks.recognition.tuning.tune_subset`, with the column feature.
        title: Of the figure.
    """
    found = tried[tried["state"] == "COMPLETE"].sort_values(["feature", "layer", "C"])
    best = found.loc[found.groupby(["feature", "layer"])["accuracy"].idxmax(), "C"]
    shown = found.assign(low=found["accuracy"], high=found["accuracy"])
    note = f"the best C of a layer lies between {best.min():.2g} and {best.max():.2g}; accuracy on held-out folds"
    return curves(shown, f"{title}\n{note}", x="C", panels="feature", colours="layer")


def trials_of(tried: pd.DataFrame) -> list[Trial]:
    """Return every setting that a search has tried, as a child run.

    Args:
        tried: Of `cxprobe.tasks.recognition.tuning.tune_subset`, with the column feature.
    """
    trials = []
    for row in tried.to_dict("records"):
        is_complete = row["state"] == "COMPLETE"
        metrics = {"accuracy": row["accuracy"]} if is_complete else {}
        params = {name: str(row[name]) for name in ("feature", "layer", "C", "standardise")}
        name = f"{row['feature']} {row['layer']} {row['number']}"
        trials.append(Trial(name, metrics, params, "FINISHED" if is_complete else "FAILED"))
    return trials


def subset_tables(subsets: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Return what the balanced subsets of a source consist of.

    Args:
        subsets: Of `cxprobe.tasks.recognition.make.read_subsets`.

    Returns:
        composition (`composition_table`, by split), words (`word_table`) and templates (columns label, template,
        count, share: the ten most frequent of each label), of each feature.
    """
    once = subsets.drop_duplicates(["feature", "split", "id"])  # of several training draws
    items = once.assign(dataset=once["feature"], text=seen_texts(once))
    tables = {
        "composition": composition_table(items, by=["split"]),
        "words": word_table(items),
        "templates": _template_table(items),
    }
    return {stem: table.rename(columns={"dataset": "feature"}) for stem, table in tables.items()}


def _template_table(items: pd.DataFrame, most: int = 10) -> pd.DataFrame:
    counts = items.groupby(["dataset", "label", TEMPLATE], sort=False).size().rename("count").reset_index()
    share = counts["count"] / counts.groupby(["dataset", "label"])["count"].transform("sum")
    ranked = counts.assign(share=share).sort_values("count", ascending=False, kind="stable")
    first = ranked.groupby(["dataset", "label"], sort=False).head(most).sort_index()
    return first.rename(columns={TEMPLATE: "template"})
