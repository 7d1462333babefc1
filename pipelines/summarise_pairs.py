"""summarise_pairs: every model's scores -> accuracies, biases, series of checkpoints or sizes, figures."""

from collections.abc import Mapping
from pathlib import Path

import pandas as pd
from matplotlib.figure import Figure

from cxprobe.pairs import accuracy_by, bias_by
from cxprobe.reporting import ALL, curves, dots, pairs_beside_published
from cxprobe.stage import Outcome, Stage, run_stage
from cxprobe.storage import DATA, read_table

ESTIMATE = ["accuracy", "low", "high", "n", "tie_rate"]
PUBLISHED = Path("published")
SOURCE = "Oba & Sugawara 2026, their items"
BIASES = {"order": "Bias (i), between original and switched pairs", "variant": "Bias (ii), between the two variants"}
CELL = ["model", "construction", "tests", "words", "variant", "noun_type", "order"]


def summarise_pairs(stage: Stage) -> Outcome:
    settings = stage.params.summarise_pairs
    every = _scored(stage)
    schemes = {"causal", settings.scheme}
    headline = every[every["scheme"].isin(schemes) & (every["score"] == settings.score)]
    tables = {
        "cells": accuracy_by(headline, CELL),
        "constructions": accuracy_by(headline, ["model", "construction", "tests", "words"]),
        "variants": accuracy_by(headline, ["model", "construction", "tests", "words", "variant"]),
        "noun_types": accuracy_by(headline, ["model", "construction", "tests", "words", "noun_type"]),
        "scores": accuracy_by(every, ["model", "construction", "words", "scheme", "score"]),
        "beside_published": _beside_published(stage, headline),
        "biases": _biases(headline),
        "series": _series(stage, headline),
    }
    metrics = {
        str(model): {f"{row['construction']}_{row['words']}": row[ESTIMATE].to_dict() for _, row in rows.iterrows()}
        for model, rows in tables["constructions"].groupby("model", sort=False)
    }
    return Outcome(metrics=metrics, tables=tables, figures=_figures(stage, tables))


def _scored(stage: Stage) -> pd.DataFrame:
    """Return all pairs with all their margins, for every model of the grid."""
    grid = stage.params.grid.pairs
    folders = {model: stage.use(DATA / "score_pairs" / model) for model in grid.models}
    tables = []
    for name in grid.constructions:
        pairs = read_table(stage.use(DATA / "build_pairs" / f"{name}.parquet")).drop(columns=["context", "good", "bad"])
        for model, folder in folders.items():
            margins = read_table(folder / f"{name}.parquet")[["id", "scheme", "score", "margin"]]
            tables.append(pairs.merge(margins, on="id", validate="one_to_many").assign(model=model))
    return pd.concat(tables, ignore_index=True)


def _biases(headline: pd.DataFrame) -> pd.DataFrame:
    """Return both biases of real pairs of meaning; what has no switched form has no bias (i)."""
    meaning = headline[(headline["tests"] == "meaning") & (headline["words"] == "real")]
    both = meaning.groupby("construction")["order"].transform("nunique") == 2
    by = ["model", "construction", "noun_type"]
    return pd.concat(
        [
            bias_by(meaning[both], "order", by).assign(compares="order"),
            bias_by(meaning, "variant", by).assign(compares="variant"),
        ],
        ignore_index=True,
    )


def _beside_published(stage: Stage, headline: pd.DataFrame) -> pd.DataFrame:
    meaning = headline[(headline["tests"] == "meaning") & (headline["words"] == "real")]
    both = pd.concat([meaning.assign(construction=ALL), meaning])
    objectives, people = (
        pd.read_csv(stage.use(PUBLISHED / f"oba2026_{name}.tsv"), sep="\t")
        for name in ("objectives", "human_validation")
    )
    return pairs_beside_published(accuracy_by(both, ["construction", "model"]), objectives, people, SOURCE)


def _series(stage: Stage, headline: pd.DataFrame) -> pd.DataFrame:
    """Return the accuracy of each construction, of meaning and of form, along every series of models."""
    real = headline[headline["words"] == "real"]
    tables = []
    for name, series in stage.params.series.items():
        own = accuracy_by(real[real["model"].isin(series.models)], ["model", "construction"])
        quantity = own["model"].map(series.models).astype(float)
        tables.append(own.assign(series=name, axis=series.axis, quantity=quantity))
    columns = [
        "series",
        "axis",
        "model",
        "quantity",
        "construction",
        "accuracy",
        "low",
        "high",
        "n",
        "ties",
        "tie_rate",
    ]
    return pd.concat(tables, ignore_index=True)[columns] if tables else pd.DataFrame(columns=columns)


def _figures(stage: Stage, tables: Mapping[str, pd.DataFrame]) -> dict[str, Figure]:
    """Return the figures of what was asked; of the checkpoints of a training only the last stands beside the others."""
    score = stage.params.summarise_pairs.score.replace("_", " ")
    earlier = {
        model
        for series in stage.params.series.values()
        if series.axis == "training_tokens"
        for model in sorted(series.models, key=lambda model: series.models[model])[:-1]
    }
    kept = {name: table[~table["model"].isin(earlier)] for name, table in tables.items() if name != "series"}
    real = {name: table[table["words"] == "real"] for name, table in kept.items() if "words" in table}
    meaning = {name: table[table["tests"] == "meaning"] for name, table in real.items() if "tests" in table}
    form = real["constructions"][real["constructions"]["tests"] == "form"]
    replaced = kept["constructions"].groupby("construction")["words"].transform("nunique") == 2
    wanted = {
        "meaning_by_variant": (meaning["variants"], f"Pairs of meaning, {score}", "variant"),
        "meaning_by_noun_type": (meaning["noun_types"], f"Pairs of meaning by noun type, {score}", "noun_type"),
        "form": (form, f"Pairs of form, {score}", "tests"),
        "pseudowords": (kept["constructions"][replaced], f"Real words and pseudowords, {score}", "words"),
    }
    figures = {
        f"figures/{name}": dots(table, title, rows="construction", colours="model", panels=panels)
        for name, (table, title, panels) in wanted.items()
        if not table.empty
    }
    for way, own in kept["biases"].groupby("compares", sort=False):
        figures[f"figures/bias_{way}"] = dots(
            own,
            f"{BIASES[str(way)]}, {score}",
            rows="construction",
            colours="model",
            panels="noun_type",
            value="bias",
            chance=None,
        )
    orders = kept["biases"][kept["biases"]["compares"] == "order"]
    if not orders.empty:
        figures["figures/changed_with_order"] = dots(
            orders.assign(low=orders["changed_low"], high=orders["changed_high"]),
            f"Decisions that change when the two people are exchanged, {score}",
            rows="construction",
            colours="model",
            panels="noun_type",
            value="changed",
            chance=None,
        )
    for name, own in tables["series"].groupby("series", sort=False):
        axis = str(own["axis"].iloc[0])
        figures[f"figures/series_{name}"] = curves(
            own.rename(columns={"quantity": axis}), f"{name}, {score}", x=axis, panels="construction"
        )
    return figures


if __name__ == "__main__":
    run_stage(summarise_pairs)
