"""The figures of minimal pairs: all models side by side, drawn from the rates."""

import textwrap
from collections.abc import Collection, Mapping, Sequence
from itertools import product
from typing import Literal, NamedTuple

import pandas as pd
from matplotlib.figure import Figure

from cxprobe.labels.estimates import human_agreement, load_ratings
from cxprobe.models.params import Member, Series, earlier_checkpoints, series_of
from cxprobe.results.baseline_report import baseline_figure
from cxprobe.results.comparisons import best_baseline
from cxprobe.results.dots import BEST_BASELINE, FIXED_PREFERENCE, PEOPLE, curves, dots
from cxprobe.results.inputs import ReportInputs
from cxprobe.results.members import task_members
from cxprobe.results.rates import ALL
from cxprobe.results.schema import CHANCE_IN_BOTH, HALF
from cxprobe.tasks.pairs.evaluate import fixed_preferences
from cxprobe.tasks.pairs.params import PairsStage

_WAYS = {  # way of asking -> its entry in the legend
    "recognised": "probe (best layer of other frames)",
    "expected": "likelihood",
    "said": "asked in words",
    "words": "probe on counts of words",
}
_CHANCE = {"accuracy": HALF, "both_orders": CHANCE_IN_BOTH, "margin": 0.0}
_QUESTION_WIDTH = 60  # in characters, of what a variant asks


class Dots(NamedTuple):
    """A figure of dots that shows rates.

    Attributes:
        title: The title of the figure, without the score.
        facet: Of the rates that are drawn.
        panels: The column that divides the figure into panels, one for each value: a column of the rates, tests, or
            part, the last part of the level.
        where: A condition on the rates; they have the columns tests and part too.
        of_two: A column with two values: constructions that have only one of them are not drawn. None to draw all.
        models: Which models are drawn: "seeing" (all that are not baselines), "trained" or "baseline".
        measure: The measure that is drawn.
        best: Whether a tick in each row shows the best baseline.
    """

    title: str
    facet: str
    panels: str
    where: str = "source == 'real'"
    of_two: str | None = None
    models: Literal["seeing", "trained", "baseline"] = "seeing"
    measure: str = "accuracy"
    best: bool = False


_MEANING = "source == 'real' and tests == 'meaning'"
_ORDER, _VARIANT = (f"level.str.startswith('{way}.')" for way in ("order", "variant"))
FIGURES: Mapping[str, Dots] = {
    "both_orders": Dots(
        "Pairs of meaning that are right in both orders of two people", "", "source", measure="both_orders"
    ),
    "margins": Dots("By how much the right text scores higher, mean over both orders", "", "source", measure="margin"),
    "meaning_by_variant": Dots("Pairs of meaning by what is asked", "variant", "tests", _MEANING, best=True),
    "meaning_by_sentence": Dots("Sentences with the construction and their rivals", "sentence", "part", _MEANING),
    "meaning_by_noun_type": Dots("Pairs of meaning by noun type", "noun_type", "part", _MEANING, best=True),
    "form": Dots("Pairs of form", "", "tests", "source == 'real' and tests == 'form'", best=True),
    "pseudowords": Dots(
        "Real words and pseudowords", "", "source", "tests != ''", of_two="source", models="trained", best=True
    ),
    "baseline_by_construction": Dots("Baselines", "", "tests", models="baseline"),
    "bias_order": Dots(
        "Bias (i), between original and switched pairs", "compared_noun_type", "part", _ORDER, measure="bias"
    ),
    "bias_variant": Dots("Bias (ii), between the two variants", "compared_noun_type", "part", _VARIANT, measure="bias"),
    "changed_with_order": Dots(
        "Decisions that change when the two people are exchanged",
        "compared_noun_type",
        "part",
        _ORDER,
        measure="changed",
    ),
}
_ALONG = {  # name -> the two ways of asking that are compared, and the measure
    "bias (i)": ("order", "bias"),
    "bias (ii)": ("variant", "bias"),
    "changed": ("order", "changed"),
}


def figures_of_pairs(inputs: ReportInputs, params: PairsStage, tests: Mapping[str, str]) -> dict[str, Figure]:
    """Return the figures of this project's pairs, of benchmarks, and of series. Those without rows are left out.

    Mock models are drawn only if there are no others. Models with a fixed preference (`fixed_preferences`) have hollow
    marks.

    Args:
        inputs: The results of the run.
        params: The parameters.
        tests: Construction -> what its pairs test.
    """
    rates, members, section = inputs.rates("pairs"), task_members(params), params.pairs
    series = series_of(params.models, section.models)
    each = rates[rates["construction"] != ALL]
    shown = each[~each["source"].isin(section.benchmarks)]
    kinds, part = shown["construction"].map(tests).fillna(""), shown["level"].str.rpartition(".")[2]
    shown = shown.assign(tests=kinds, part=part, row=_rows(shown, inputs))
    ratings = load_ratings(section.constructions)
    people = human_agreement(ratings[ratings["kind"] == "pairs"])
    figures = _dots(FIGURES, shown, section.evaluate.score, members, earlier_checkpoints(series), people)
    baselines = inputs.table("evaluate_pairs/tables/baselines")
    if len(baselines):
        own = baselines[baselines["dataset"].isin(shown["construction"] + ", real")]
        if len(own):
            figures["cards"] = baseline_figure(own)
    for name, benchmark in section.benchmarks.items():
        drawn = {
            f"benchmarks/{name}/accuracy": Dots(name, "group", "source", "tests == ''", best=True),
            f"benchmarks/{name}/baseline": Dots(
                f"{name}, baselines", "group", "source", "tests == ''", models="baseline"
            ),
        }
        groups = each[each["source"] == name]
        grouped = groups[groups["facet"] == ("group" if len(benchmark.by) > 1 else "")]
        named = (grouped["construction"] + ", " + grouped["level"]).str.removesuffix(", ")
        figures |= _dots(drawn, grouped.assign(facet="group", tests="", part="", row=named), benchmark.score, members)
    ways = rates[(rates["facet"] == "way") & ~rates["model"].isin([one.slug for one in members if one.is_baseline])]
    for model, of_model in ways.groupby("model", sort=False):
        shown_ways = of_model.assign(
            way=of_model["level"].map(_WAYS), panel="the same pairs", accuracy=of_model["value"]
        )
        title = f"{model}, the same pairs asked in several ways"
        figures[f"ways_{model}"] = dots(shown_ways, title, rows="construction", colours="way", panels="panel")
    return figures | _along(rates, series, members, section.evaluate.score)


def _rows(rates: pd.DataFrame, inputs: ReportInputs) -> list[str]:
    """Return the name of each rate's row in figures: the construction, and the variant with its question."""
    questions = inputs.table("make_pairs/questions")
    columns = ["construction", "variant", "question"]
    asked = {(name, variant): text for name, variant, text in (questions[columns].to_numpy() if len(questions) else ())}
    rows = []
    for construction, facet, level in rates[["construction", "facet", "level"]].to_numpy().tolist():
        variant = level.partition(".")[0]
        question = textwrap.shorten(asked.get((construction, variant), ""), _QUESTION_WIDTH, placeholder=" …")
        rows.append(f"{construction}, {variant}\n{question}" if facet in ("variant", "sentence") else construction)
    return rows


def _along(
    rates: pd.DataFrame, series: Mapping[str, Series], members: Sequence[Member], score: str
) -> dict[str, Figure]:
    """Return a figure for each quantity of series, by_<quantity> and by_<quantity>_biases, with a curve a series."""
    whole = rates[(rates["facet"] == "") & (rates["measure"] == "accuracy") & (rates["source"] != "pseudo")]
    panel = whole["construction"].where(whole["source"] == "real", whole["source"] + ": " + whole["construction"])
    whole = whole.rename(columns={"value": "accuracy"}).assign(panel=panel)
    of_all = rates[(rates["facet"] == "compared_noun_type") & (rates["construction"] == ALL)]
    ways = {f"{way}.{measure}": name for name, (way, measure) in _ALONG.items()}
    parts = of_all["level"].str.partition(".")
    names = (parts[0] + "." + of_all["measure"]).map(ways)
    biases = of_all.assign(panel=names + ", " + parts[2]).rename(columns={"value": _BIAS_VALUE})[names.notna()]
    of_score = score.replace("_", " ")
    drawn = {
        "": (whole, "accuracy", f"own ({of_score})"),
        "_biases": (biases, _BIAS_VALUE, f"biases by noun type, {of_score}"),
    }
    figures = {}
    for (end, (table, value, title)), axis in product(
        drawn.items(), dict.fromkeys(one.axis for one in series.values())
    ):
        steps = {name: one.models for name, one in series.items() if one.axis == axis}
        of_series = [table[table["model"].isin(models)].assign(series=name) for name, models in steps.items()]
        along = pd.concat(of_series)
        if along.empty:
            continue
        at = [float(steps[name][model]) for name, model in along[["series", "model"]].to_numpy()]
        figures[f"by_{axis}{end}"] = curves(
            along.assign(**{axis: at}),
            title,
            x=axis,
            panels="panel",
            colours="series",
            value=value,
            chance=_CHANCE.get(value),
            best=best_baseline(table, ["panel"], members) if value == "accuracy" else None,
        )
    return figures


_BIAS_VALUE = "difference or share"  # of a bias, in figures


def _dots(
    figures: Mapping[str, Dots],
    rates: pd.DataFrame,
    score: str,
    members: Sequence[Member],
    left_out: Collection[str] = (),
    people: pd.DataFrame | None = None,
) -> dict[str, Figure]:
    """Draw the figures that have rows.

    Args:
        figures: Name -> what is drawn.
        rates: The rates, with the columns tests, part and row: the name of each row.
        score: Added to each title.
        members: The models.
        left_out: Slugs of models that are not drawn.
        people: The ratings by people of constructions, a tick in the rows of variants.
    """
    labels = {member.slug: member.label for member in members}
    kinds = {
        "baseline": {member.slug for member in members if member.is_baseline},
        "seeing": {member.slug for member in members if not member.is_baseline},
        "trained": {member.slug for member in members if member.state == "trained"},
    }
    mocks = {member.slug for member in members if member.is_mock}
    hidden = mocks.union(left_out) if kinds["seeing"] - mocks else left_out
    preferences = fixed_preferences(rates)
    drawn = {}
    for name, figure in figures.items():
        all_models = rates[(rates["facet"] == figure.facet) & (rates["measure"] == figure.measure)].query(figure.where)
        table = all_models[all_models["model"].isin(kinds[figure.models]) & ~all_models["model"].isin(hidden)]
        if figure.of_two:
            table = table[table.groupby("construction")[figure.of_two].transform("nunique") == 2]
        if table.empty:
            continue
        keys = table[["model", "construction", "source"]].to_numpy().tolist()
        hollow = [figure.measure == "accuracy" and tuple(key) in preferences for key in keys]
        table = table.rename(columns={"value": figure.measure}).assign(**{FIXED_PREFERENCE: hollow})
        all_models = all_models.rename(columns={"value": figure.measure})
        best = best_baseline(all_models, ["row", figure.panels], members) if figure.best else pd.DataFrame()
        marks = {BEST_BASELINE: best} if len(best) else {}
        if figure.facet == "variant" and people is not None and len(people):
            marks[PEOPLE] = people.merge(table[["construction", "row"]].drop_duplicates())
        drawn[name] = dots(
            table.assign(model=table["model"].map(labels)),
            f"{figure.title}, {score.replace('_', ' ')}",
            rows="row",
            colours="model",
            panels=figure.panels,
            value=figure.measure,
            chance=_CHANCE.get(figure.measure),
            marks=marks,
            unit="nats" if figure.measure == "margin" else "",
        )
    return drawn
