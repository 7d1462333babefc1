"""The figures of minimal pairs: of single runs, and of all models side by side."""

import textwrap
from collections.abc import Collection, Mapping, Sequence
from typing import Literal, NamedTuple

import pandas as pd
from matplotlib.figure import Figure

from cxprobe.lm.params import Member
from cxprobe.pairs.balance import fixed_preferences
from cxprobe.pairs.margins import of_meaning
from cxprobe.report.cards import card_figure
from cxprobe.report.comparisons import best_blind
from cxprobe.report.dots import BEST_BLIND, FIXED_PREFERENCE, PEOPLE, curves, dots
from cxprobe.report.findings import CHANCE_IN_BOTH, HALF

_WAYS = {  # way of asking -> its entry in the legend
    "recognised": "probe (best layer of other frames)",
    "expected": "likelihood",
    "said": "asked in words",
    "words": "probe on counts of words",
}
_CHANCE = {"accuracy": HALF, "both": CHANCE_IN_BOTH, "margin": 0.0}
_QUESTION_WIDTH = 60  # in characters, of what a variant asks


class Dots(NamedTuple):
    """A figure of dots that shows rows of a table.

    Attributes:
        title: The title of the figure, without the score.
        table: The name of the table.
        panels: The column that divides the figure into panels, one for each value.
        only: Column -> value: rows with another value are not drawn.
        of_two: A column with two values: constructions that have only one of them are not drawn. None to draw all.
        models: Which models are drawn: "seeing" (all that are not blind), "trained" or "blind".
        value: The column that is drawn.
        best: Whether a tick in each row shows the best blind model.
    """

    title: str
    table: str
    panels: str
    only: Mapping[str, str] = {}
    of_two: str | None = None
    models: Literal["seeing", "trained", "blind"] = "seeing"
    value: str = "accuracy"
    best: bool = False


_REAL = {"words": "real"}
_MEANING = {"tests": "meaning", **_REAL}
_ORDER, _VARIANT = {"compares": "order"}, {"compares": "variant"}
FIGURES: Mapping[str, Dots] = {
    "both_orders": Dots(
        "Pairs of meaning that are right in both orders of two people", "both", "words", _REAL, value="both"
    ),
    "margins": Dots(
        "By how much the right text scores higher, mean over both orders", "margins", "words", _REAL, value="margin"
    ),
    "meaning_by_variant": Dots("Pairs of meaning by what is asked", "variants", "tests", _MEANING, best=True),
    "meaning_by_sentence": Dots(
        "Sentences with the construction and their rivals", "sentences", "sentence", _MEANING, "sentence"
    ),
    "meaning_by_noun_type": Dots("Pairs of meaning by noun type", "noun_types", "noun_type", _MEANING, best=True),
    "form": Dots("Pairs of form", "constructions", "tests", {"tests": "form", **_REAL}, best=True),
    "pseudowords": Dots(
        "Real words and pseudowords", "constructions", "words", of_two="words", models="trained", best=True
    ),
    "blind_by_construction": Dots("Blind models", "constructions", "tests", _REAL, models="blind"),
    "bias_order": Dots("Bias (i), between original and switched pairs", "biases", "noun_type", _ORDER, value="bias"),
    "bias_variant": Dots("Bias (ii), between the two variants", "biases", "noun_type", _VARIANT, value="bias"),
    "changed_with_order": Dots(
        "Decisions that change when the two people are exchanged", "changes", "noun_type", _ORDER, value="changed"
    ),
}


def ways_figure(rates: pd.DataFrame, title: str) -> Figure:
    """Draw the accuracy of each way of asking, one row per construction.

    Args:
        rates: Columns construction, way, accuracy, low, high, n, see `cxprobe.pairs.ways.rates_of_ways`.
        title: The title of the figure.
    """
    shown = rates.assign(way=rates["way"].map(_WAYS), panel="the same pairs")
    return dots(shown, title, rows="construction", colours="way", panels="panel")


def series_figures(
    along: pd.DataFrame, title: str, best: pd.DataFrame | None = None, value: str = "accuracy"
) -> dict[str, Figure]:
    """Return a figure for each axis, "by_<axis>", with a curve for each series that has values on it.

    Args:
        along: Columns series, axis, quantity, panel, ``value``, low, high and n (`cxprobe.pairs.report.with_series`).
        title: The title of the figures.
        best: The best blind model of each panel, see `cxprobe.report.dots.curves`.
        value: The column that is drawn. A line shows chance if `_CHANCE` has it.
    """
    figures = {}
    for axis, rows in along.groupby("axis", sort=False):
        x, chance = str(axis), _CHANCE.get(value)
        rows = rows.rename(columns={"quantity": x})
        figures[f"by_{x}"] = curves(
            rows, title, x=x, panels="panel", colours="series", value=value, chance=chance, best=best
        )
    return figures


def benchmark_figures(
    tables: Mapping[str, pd.DataFrame], name: str, score: str, members: Sequence[Member]
) -> dict[str, Figure]:
    """Return the figures of a published benchmark: accuracy, blind and cards. Those without rows are left out.

    Args:
        tables: accuracy, by model and group; and card, see `cxprobe.pairs.report.cards_of`.
        name: The name of the benchmark.
        score: The score that decides which text a model prefers, for the titles.
        members: The models; figures show their labels.
    """
    drawn = {
        "accuracy": Dots(name, "accuracy", "panel", best=True),
        "blind": Dots(f"{name}, blind models", "accuracy", "panel", models="blind"),
    }
    shown = {"accuracy": tables["accuracy"].assign(row=tables["accuracy"]["group"], panel=name)}
    cards = {"cards": card_figure(tables["card"])} if len(tables["card"]) else {}
    return _dots(drawn, shown, score, members) | cards


def pair_figures(
    tables: Mapping[str, pd.DataFrame],
    score: str,
    members: Sequence[Member],
    earlier: Collection[str],
    people: pd.DataFrame,
) -> dict[str, Figure]:
    """Return the figures of the project's own pairs. Those without rows are left out.

    Mock models are drawn only if there are no others. Models with a fixed preference (`fixed_preferences`) have hollow
    marks.

    Args:
        tables: The tables of `FIGURES`, see `cxprobe.pairs.judge.pair_tables`; and card and card_questions, see
            `cxprobe.pairs.report.pair_cards`.
        score: The score that decides which text a model prefers, for the titles.
        members: The models; figures show their labels.
        earlier: Training checkpoints that are not drawn: all but the last.
        people: The judgements of people on this project's items; drawn in meaning_by_variant.

    Returns:
        The figures of `FIGURES`, and cards: the card of each construction. Cards of variants are only in the table.
    """
    biases = tables["biases"]
    changes = biases.assign(low=biases["changed_low"], high=biases["changed_high"])
    shown = {"both": tables["both"], "margins": of_meaning(tables["margins"]), "biases": biases, "changes": changes}
    shown = {name: table.assign(row=table["construction"]) for name, table in shown.items()}
    preferences = fixed_preferences(tables["sentences"])
    questions = tables["card_questions"].set_index(["construction", "variant"])["question"].to_dict()

    def variant_label(construction: str, variant: str) -> str:
        question = questions.get((construction, variant), "")
        return f"{construction}, {variant}\n{textwrap.shorten(question, _QUESTION_WIDTH, placeholder=' …')}"

    for name in ("constructions", "variants", "sentences", "noun_types"):
        table = tables[name]
        keys = zip(table["model"], table["construction"], table["words"], strict=True)
        shown[name] = table.assign(row=table["construction"])
        shown[name][FIXED_PREFERENCE] = [key in preferences for key in keys]
        if "variant" in table:
            shown[name]["row"] = list(map(variant_label, table["construction"], table["variant"]))
    figures = _dots(FIGURES, shown, score, members, earlier, people)
    card = tables["card"]
    if len(card):
        figures["cards"] = card_figure(card[card["dataset"].isin(tables["constructions"]["construction"])])
    return figures


def _dots(
    figures: Mapping[str, Dots],
    tables: Mapping[str, pd.DataFrame],
    score: str,
    members: Sequence[Member],
    left_out: Collection[str] = (),
    people: pd.DataFrame | None = None,
) -> dict[str, Figure]:
    """Draw the figures that have rows.

    Args:
        figures: Name -> what is drawn.
        tables: The tables of the figures, with the column row: the name of each row.
        score: Added to each title.
        members: The models.
        left_out: Slugs of models that are not drawn.
        people: The judgements of people on constructions, a tick in the rows of variants.
    """
    labels = {member.slug: member.label for member in members}
    kinds = {
        "blind": {member.slug for member in members if member.is_blind},
        "seeing": {member.slug for member in members if not member.is_blind},
        "trained": {member.slug for member in members if member.state == "trained"},
    }
    mocks = {member.slug for member in members if member.is_mock}
    hidden = mocks.union(left_out) if kinds["seeing"] - mocks else left_out
    drawn = {}
    for name, figure in figures.items():
        all_models = tables[figure.table]
        for column, value in figure.only.items():
            all_models = all_models[all_models[column] == value]
        table = all_models[all_models["model"].isin(kinds[figure.models]) & ~all_models["model"].isin(hidden)]
        if figure.of_two:
            table = table[table.groupby("construction")[figure.of_two].transform("nunique") == 2]
        if table.empty:
            continue
        best = best_blind(all_models, ["row", figure.panels], members) if figure.best else pd.DataFrame()
        marks = {BEST_BLIND: best} if len(best) else {}
        if figure.table == "variants" and people is not None and len(people):
            marks[PEOPLE] = people.merge(table[["construction", "row"]].drop_duplicates())
        drawn[name] = dots(
            table.assign(model=table["model"].map(labels)),
            f"{figure.title}, {score.replace('_', ' ')}",
            rows="row",
            colours="model",
            panels=figure.panels,
            value=figure.value,
            chance=_CHANCE.get(figure.value),
            marks=marks,
            unit="nats" if figure.value == "margin" else "",
        )
    return drawn
