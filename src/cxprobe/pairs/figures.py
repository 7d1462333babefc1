"""The figures of minimal pairs: those of runs, and those that show all models side by side."""

import textwrap
from collections.abc import Mapping, Sequence

import pandas as pd
from matplotlib.figure import Figure

from cxprobe.lm.params import Member, Series, earlier_checkpoints
from cxprobe.pairs.report import ALL, fixed_preferences, meaning_with_real_words, mocks_beside_others
from cxprobe.pairs.sources import OWN
from cxprobe.report.cards import card_figure
from cxprobe.report.dots import BEST_BLIND, PEOPLE, PREFERENCE, curves, dots

_WAYS = {
    "recognised": "probe (best layer of other frames)",
    "expected": "likelihood",
    "said": "asked in words",
    "words": "probe on counts of words",
}
# Name -> title, the column of the panels, what is drawn.
_OF_PAIRS = {
    "both_orders": ("Pairs of meaning that are right in both orders of two people", "words", "both"),
    "margins": ("By how much the right text scores higher, mean over both orders", "words", "margin"),
    "meaning_by_variant": ("Pairs of meaning by what is asked", "tests", "accuracy"),
    "meaning_by_sentence": ("Sentences with the construction and their rivals without it", "sentence", "accuracy"),
    "meaning_by_noun_type": ("Pairs of meaning by noun type", "noun_type", "accuracy"),
    "form": ("Pairs of form", "tests", "accuracy"),
    "pseudowords": ("Real words and pseudowords", "words", "accuracy"),
    "blind_by_construction": ("Blind models", "tests", "accuracy"),
    "bias_order": ("Bias (i), between original and switched pairs", "noun_type", "bias"),
    "bias_variant": ("Bias (ii), between the two variants", "noun_type", "bias"),
    "changed_with_order": ("Decisions that change when the two people are exchanged", "noun_type", "changed"),
}
_CHANCE = {"accuracy": 0.5, "both": 0.25, "margin": 0.0}  # of two answers, of two independent guesses, of a score
_QUESTION = 60  # letters of what a variant asks


def ways_figure(rates: pd.DataFrame, title: str) -> Figure:
    """Draw how often each way is right, a row per construction.

    Args:
        rates: Columns construction, way, accuracy, low, high, n, see `cxprobe.pairs.ways.rates_of_ways`.
        title: Of the figure.
    """
    shown = rates.assign(way=rates["way"].map(_WAYS), panel="the same pairs")
    return dots(shown, title, rows="construction", colours="way", panels="panel")


def series_figures(
    along: pd.DataFrame, by: str, title: str, best: pd.DataFrame | None = None, value: str = "accuracy"
) -> dict[str, Figure]:
    """Return a figure of curves for every series: "series_<name>" -> figure.

    Args:
        along: Columns series, axis, quantity, ``by``, value, low, high and n, see `cxprobe.pairs.series`.
        by: The column each of whose values has a panel.
        title: Follows the name of the series.
        best: The best blind model of each panel, see `cxprobe.report.dots.curves`.
        value: What is drawn; chance has a line where this is the accuracy.
    """
    figures = {}
    for name, own in along.groupby("series", sort=False):
        axis, chance = str(own["axis"].iloc[0]), 0.5 if value == "accuracy" else None
        table = own.rename(columns={"quantity": axis})
        drawn = curves(table, f"{name}, {title}", x=axis, panels=by, best=best, value=value, chance=chance)
        figures[f"series_{name}"] = drawn
    return figures


def side_by_side(along: pd.DataFrame, title: str, best: pd.DataFrame) -> dict[str, Figure]:
    """Return a figure for each quantity, "by_<axis>", with a curve for each series that has it.

    Args:
        along: Accuracies by source and group along series, see `cxprobe.pairs.report.rates_by_source` and
            `cxprobe.pairs.series.with_series`. A panel shows one group of one source.
        title: Of the figures.
        best: The best blind model of each group: source, group and accuracy.
    """
    drawn, ticks = (
        table.assign(panel=table["group"].where(table["source"] == OWN, table["source"] + ": " + table["group"]))
        for table in (along, best)
    )
    figures = {}
    for axis, rows in drawn.groupby("axis", sort=False):
        table = rows.rename(columns={"quantity": str(axis)})
        figures[f"by_{axis}"] = curves(table, title, x=str(axis), panels="panel", colours="series", best=ticks)
    return figures


def benchmark_figures(
    tables: Mapping[str, pd.DataFrame], best: pd.DataFrame, title: str, members: Sequence[Member]
) -> dict[str, Figure]:
    """Return the figures of a benchmark of others.

    Args:
        tables: accuracy, by model and group; series, by group; and card, see `cxprobe.pairs.report.cards_of`.
        best: The best blind model of each group.
        title: Of the figures.
        members: What the models are; figures name them by their labels.

    Returns:
        As far as there is anything to draw: accuracy, blind, series_<name> and cards.
    """
    panel = title.partition(",")[0]
    every = tables["accuracy"]
    shown = every[~every["model"].isin(mocks_beside_others(members))].assign(panel=panel)
    blind = shown["model"].isin([member.slug for member in members if member.is_blind])
    shown["model"] = shown["model"].map({member.slug: member.label for member in members})
    wanted = {
        "accuracy": (shown[~blind], title, {BEST_BLIND: best} if len(best) else {}),
        "blind": (shown[blind], f"{title}, blind models", {}),
    }
    figures = {
        name: dots(table, heading, rows="group", colours="model", panels="panel", marks=marks)
        for name, (table, heading, marks) in wanted.items()
        if len(table)
    }
    cards = {"cards": card_figure(tables["card"])} if len(tables["card"]) else {}
    return figures | series_figures(tables["series"], "group", title, best) | cards


def pair_figures(
    tables: Mapping[str, pd.DataFrame],
    best: Mapping[str, pd.DataFrame],
    score: str,
    members: Sequence[Member],
    series: Mapping[str, Series],
    people: pd.DataFrame,
) -> dict[str, Figure]:
    """Return the figures of those kinds of pairs that there are.

    Blind models have two figures of their own and are ticks in the others. Models with real words and pseudowords
    beside each other are the trained ones. Of the checkpoints of a training only the last is drawn, and a mock model
    nowhere beside others. Marks of models with a fixed preference (`fixed_preferences`) are hollow.

    Args:
        tables: constructions, both, margins, variants, sentences, noun_types and biases of
            `cxprobe.pairs.judge.pair_tables`; card and card_questions, see `cxprobe.pairs.report.pair_cards`; series,
            by construction, see `cxprobe.pairs.series.pairs_along_series`; and series_biases, see
            `cxprobe.pairs.report.biases_along_series`.
        best: The best blind model of each row, see `cxprobe.pairs.judge.best_blind_pairs`.
        score: The score that decided, for the titles.
        members: What the models are; figures name them by their labels.
        series: Series of models.
        people: What people say of this project's items; drawn in meaning_by_variant.

    Returns:
        As far as there is anything to draw: both_orders and margins (of constructions that are asked about in two
        orders), meaning_by_variant, meaning_by_sentence (for constructions that have
        rivals), meaning_by_noun_type, form, pseudowords (beside real words, for constructions that have both),
        blind_by_construction, bias_order, bias_variant, changed_with_order, series_<name>,
        series_<name>_biases (by noun type, of all constructions together) and cards (of whole
        constructions; those of variants are in the table).
    """
    score = score.replace("_", " ")
    blind = [member.slug for member in members if member.is_blind]
    left_out = earlier_checkpoints(series) | mocks_beside_others(members)
    preferences = fixed_preferences(tables["sentences"])
    shown = {}
    for name in ("constructions", "both", "margins", "variants", "sentences", "noun_types", "biases"):
        table = shown[name] = tables[name][~tables[name]["model"].isin(left_out)]
        if name not in ("biases", "both", "margins"):
            rows = zip(table["model"], table["construction"], table["words"], strict=True)
            shown[name] = table.assign(**{PREFERENCE: [row in preferences for row in rows]})
    asked = tables["card_questions"]
    questions = dict(zip(zip(asked["construction"], asked["variant"], strict=True), asked["question"], strict=True))

    def by_variant(table: pd.DataFrame) -> pd.DataFrame:
        """Give each row a name: the construction and the variant, and below them what is asked."""
        rows = [
            f"{name}, {variant}\n{textwrap.shorten(questions.get((name, variant), ''), _QUESTION, placeholder=' …')}"
            for name, variant in zip(table["construction"], table["variant"], strict=True)
        ]
        return table.assign(row=rows)

    constructions, best_of_all = shown["constructions"], best["constructions"]
    real, best_of_real = (table[table["words"] == "real"] for table in (constructions, best_of_all))
    replaced = constructions[constructions.groupby("construction")["words"].transform("nunique") == 2]
    own = {name: table[~table["model"].isin(blind)] for name, table in shown.items()}
    meaning = {name: meaning_with_real_words(own[name]) for name in ("variants", "sentences", "noun_types")}
    sentences, biases = meaning["sentences"], own["biases"]
    orders = biases[biases["compares"] == "order"]
    drawn = {
        "both_orders": own["both"][own["both"]["words"] == "real"],
        "margins": own["margins"][own["margins"]["words"] == "real"],
        "meaning_by_variant": by_variant(meaning["variants"]),
        "meaning_by_sentence": by_variant(
            sentences[sentences.groupby("construction")["sentence"].transform("nunique") == 2]
        ),
        "meaning_by_noun_type": meaning["noun_types"],
        "form": real[(real["tests"] == "form") & ~real["model"].isin(blind)],
        "pseudowords": replaced[
            replaced["model"].isin([member.slug for member in members if member.state == "trained"])
        ],
        "blind_by_construction": real[real["model"].isin(blind)],
        "bias_order": orders,
        "bias_variant": biases[biases["compares"] == "variant"],
        "changed_with_order": orders.assign(low=orders["changed_low"], high=orders["changed_high"]),
    }
    ticks = {
        "meaning_by_variant": by_variant(meaning_with_real_words(best["variants"])),
        "meaning_by_noun_type": meaning_with_real_words(best["noun_types"]),
        "form": best_of_real,
        "pseudowords": best_of_all,
    }
    labels = {member.slug: member.label for member in members}
    figures = {}
    for name, table in drawn.items():
        if table.empty:
            continue
        title, panels, value = _OF_PAIRS[name]
        marks = {BEST_BLIND: ticks[name]} if len(ticks.get(name, ())) else {}
        if name == "meaning_by_variant" and len(people):
            marks[PEOPLE] = people.merge(table[["construction", "row"]].drop_duplicates())
        figures[name] = dots(
            table.assign(model=table["model"].map(labels)),
            f"{title}, {score}",
            rows="row" if "row" in table else "construction",
            colours="model",
            panels=panels,
            value=value,
            chance=_CHANCE.get(value),
            unit="nats" if value == "margin" else "",
            marks=marks,
        )
    figures |= series_figures(tables["series"], "construction", score, best_of_real)
    along = tables["series_biases"]
    if len(along):  # a panel for each noun type and bias, of all constructions together
        along = along[along["construction"] == ALL].rename(columns={"value": "difference or share"})
        along["panel"] = along["bias"] + ", " + along["noun_type"]
        of_biases = series_figures(along, "panel", f"biases by noun type, {score}", value="difference or share")
        figures |= {f"{name}_biases": figure for name, figure in of_biases.items()}
    card = tables["card"]
    if len(card):
        figures["cards"] = card_figure(card[card["dataset"].isin(tables["constructions"]["construction"])])
    return figures
