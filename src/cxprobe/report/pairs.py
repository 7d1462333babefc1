"""Minimal pairs: what the models that ran have reached, side by side and beside what others have published."""

from collections.abc import Collection, Mapping

import pandas as pd
from matplotlib.figure import Figure

from cxprobe.params import Series
from cxprobe.report.dots import dots
from cxprobe.report.series import along_series
from cxprobe.report.tables import cell
from cxprobe.stats import rate_by

ALL = "all pairs of meaning"
_COLUMNS = ["construction", "model", "source", "accuracy", "n"]
_BIASES = {"order": "Bias (i), between original and switched pairs", "variant": "Bias (ii), between the two variants"}


def accuracies_of_meaning(items: pd.DataFrame) -> pd.DataFrame:
    """Return the accuracies of pairs of meaning with real words, over all of them (`ALL`) and by construction.

    Args:
        items: Judged pairs of several models: construction, tests, words, model, accuracy and ``cluster_<name>``.

    Returns:
        construction, model, accuracy, low, high, n and ties.
    """
    meaning = _meaning(items)
    both = pd.concat([meaning.assign(construction=ALL), meaning], ignore_index=True)
    return rate_by(both, "accuracy", ["construction", "model"])


def pairs_beside_published(
    accuracies: pd.DataFrame, objectives: pd.DataFrame, people: pd.DataFrame, source: str
) -> pd.DataFrame:
    """Return one table of accuracies by construction, published ones below those of this run.

    The published numbers are about the paper's own items, which differ from this project's: they show what is usual,
    and nothing is marked as different.

    Args:
        accuracies: Columns construction (`ALL` for all of them), model, accuracy, low, high and n.
        objectives: As published: model, data (what it was trained on) and score, a rate over all items.
        people: As published: construction ("overall" for all), items, and majority_percent, how often the majority of
            the people asked chose the right member.
        source: Where the published numbers come from.

    Returns:
        construction, model, source, accuracy (in percent, with its interval where there is one) and n; a table for
        reading, in which what was not published is an empty text.
    """
    models = objectives.assign(construction=ALL, accuracy=[f"{100 * score:.1f}" for score in objectives["score"]], n="")
    majority = people.assign(
        construction=people["construction"].replace("overall", ALL),
        model="people (majority)",
        accuracy=[f"{percent:.1f}" for percent in people["majority_percent"]],
        n=people["items"],
    )
    run = accuracies.assign(accuracy=[cell(*row) for row in accuracies[["accuracy", "low", "high"]].to_numpy()])
    both = pd.concat(
        [run.assign(source="this run"), models.assign(source=source), majority.assign(source=source)], ignore_index=True
    )
    first = {name: place for place, name in enumerate([ALL, *dict.fromkeys(accuracies["construction"])])}
    both = both.sort_values("construction", key=lambda names: names.map(first), kind="stable")
    return both[_COLUMNS].astype({"n": str}).reset_index(drop=True)


def pairs_along_series(items: pd.DataFrame, series: Mapping[str, Series]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the accuracies of pairs with real words along every series of models.

    Args:
        items: Judged pairs of several models, see `accuracies_of_meaning`.
        series: Name -> the models, each with its quantity.

    Returns:
        See `cxprobe.report.series.along_series`: by construction; and over all pairs of meaning, as construction "all".
    """
    parts = items[items["words"] == "real"], _meaning(items).assign(construction="all")
    by_construction, overall = (along_series(part, series, "construction") for part in parts)
    return by_construction, overall


def pair_figures(tables: Mapping[str, pd.DataFrame], score: str, left_out: Collection[str] = ()) -> dict[str, Figure]:
    """Return the figures of those kinds of pairs that there are.

    Args:
        tables: constructions, variants, noun_types and biases of `cxprobe.judge.pair_tables`, by model.
        score: The score that decided, for the titles.
        left_out: Models that are not drawn.

    Returns:
        As far as there is anything to draw: meaning_by_variant, meaning_by_noun_type, form, pseudowords (beside real
        words, for constructions that have both), bias_order, bias_variant and changed_with_order.
    """
    kept = {name: table[~table["model"].isin(left_out)] for name, table in tables.items()}
    constructions, biases = kept["constructions"], kept["biases"]
    form = constructions[(constructions["tests"] == "form") & (constructions["words"] == "real")]
    replaced = constructions[constructions.groupby("construction")["words"].transform("nunique") == 2]
    orders = biases[biases["compares"] == "order"]
    changed = orders.assign(low=orders["changed_low"], high=orders["changed_high"])
    # Name -> table, title, the column of the panels, what is drawn.
    wanted = {
        "meaning_by_variant": (_meaning(kept["variants"]), "Pairs of meaning", "variant", "accuracy"),
        "meaning_by_noun_type": (
            _meaning(kept["noun_types"]),
            "Pairs of meaning by noun type",
            "noun_type",
            "accuracy",
        ),
        "form": (form, "Pairs of form", "tests", "accuracy"),
        "pseudowords": (replaced, "Real words and pseudowords", "words", "accuracy"),
        **{
            f"bias_{way}": (biases[biases["compares"] == way], title, "noun_type", "bias")
            for way, title in _BIASES.items()
        },
        "changed_with_order": (
            changed,
            "Decisions that change when the two people are exchanged",
            "noun_type",
            "changed",
        ),
    }
    return {
        name: dots(
            table,
            f"{title}, {score.replace('_', ' ')}",
            rows="construction",
            colours="model",
            panels=panels,
            value=value,
            chance=0.5 if value == "accuracy" else None,
        )
        for name, (table, title, panels, value) in wanted.items()
        if not table.empty
    }


def _meaning(table: pd.DataFrame) -> pd.DataFrame:
    return table[(table["tests"] == "meaning") & (table["words"] == "real")]
