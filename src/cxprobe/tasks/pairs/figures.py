"""The figures of minimal pairs: all models side by side, drawn from the rates."""

import textwrap
from collections.abc import Mapping, Sequence
from itertools import product

import pandas as pd
from matplotlib.figure import Figure

from cxprobe.models.params import Member, Series, earlier_checkpoints, series_of
from cxprobe.results.comparisons import best_baseline
from cxprobe.results.dots import BEST_BASELINE, curves, dots
from cxprobe.results.inputs import ReportInputs
from cxprobe.results.params import task_members
from cxprobe.results.rates import ALL
from cxprobe.results.schema import HALF
from cxprobe.tasks.pairs.evaluate import BY_VARIANT, WHOLE
from cxprobe.tasks.pairs.frames import PairsFile
from cxprobe.tasks.pairs.params import PairsStage
from cxprobe.text import fill, slots_of

_QUESTION_WIDTH = 60  # in characters, of what a variant asks
_BIASES = {"order": "bias (i)", "variant": "bias (ii)"}  # the two ways of asking that are compared -> the bias


def figures_of_pairs(inputs: ReportInputs, params: PairsStage, contents: Mapping[str, PairsFile]) -> dict[str, Figure]:
    """Return figures of pairs of meaning by what is asked, of real words and pseudowords, and of series of models.

    Those without rows are left out. Mock models are drawn only if there are no others.

    Args:
        inputs: The results of the run.
        params: The parameters.
        contents: Construction -> its pairs.

    Source:
        Oba & Sugawara 2026, Figures 2 to 4, 6 to 8.
    """
    rates, members, section = inputs.rates("pairs"), task_members(params), params.pairs
    series = series_of(params.models, section.models)
    is_own = (
        (rates["construction"] != ALL) & ~rates["source"].isin(section.benchmarks) & (rates["measure"] == "accuracy")
    )
    own = rates[is_own].rename(columns={"value": "accuracy"})
    tests = own["construction"].map({name: content.tests for name, content in contents.items()})
    own = own.assign(tests=tests.fillna(""), row=_rows(own, contents))
    variants = own[BY_VARIANT.among(rates) & (own["source"] == "real") & (own["tests"] == "meaning")]
    whole = own[WHOLE.among(rates) & (own["tests"] != "")]
    both = whole[whole.groupby("construction")["source"].transform("nunique") == 2]
    seeing = {one.slug for one in members if not (one.is_baseline or one.is_mock)}
    seeing = seeing - {*earlier_checkpoints(series)} or {one.slug for one in members if one.is_mock}
    labels, score = {one.slug: one.label for one in members}, section.evaluate.score.replace("_", " ")
    figures = {}
    for name, title, panels, every in (
        ("meaning_by_variant", "Pairs of meaning by what is asked", "tests", variants),
        ("pseudowords", "Real words and pseudowords", "source", both),
    ):
        table = every[every["model"].isin(seeing)]
        if len(table):
            marks = {BEST_BASELINE: best_baseline(every, ["row", panels], members)}
            drawn = table.assign(model=table["model"].map(labels))
            figures[name] = dots(drawn, f"{title}, {score}", rows="row", colours="model", panels=panels, marks=marks)
    return figures | _along(rates, series, members, section.evaluate.score)


def _rows(rates: pd.DataFrame, contents: Mapping[str, PairsFile]) -> list[str]:
    """Return the name of each rate's row in figures: the construction, and the variant with its question."""
    rows = []
    for construction, variant in rates[["construction", "variant"]].to_numpy().tolist():
        if variant and construction in contents:
            asked = contents[construction].variants[variant].continuation
            question = fill(asked, dict.fromkeys(slots_of(asked), "…") | contents[construction].first_words)
            shown = textwrap.shorten(question, _QUESTION_WIDTH, placeholder=" …")
            rows.append(f"{construction}, {variant}\n{shown}")
        else:
            rows.append(construction)
    return rows


def _along(
    rates: pd.DataFrame, series: Mapping[str, Series], members: Sequence[Member], score: str
) -> dict[str, Figure]:
    """Return a figure for each quantity of series, by_<quantity> and by_<quantity>_biases, with a curve a series."""
    is_shown = WHOLE.among(rates) & (rates["measure"] == "accuracy") & (rates["source"] != "pseudo")
    whole = rates[is_shown]
    panel = whole["construction"].where(whole["source"] == "real", whole["source"] + ": " + whole["construction"])
    whole = whole.rename(columns={"value": "accuracy"}).assign(panel=panel)
    of_all = rates[(rates["measure"] == "bias") & (rates["construction"] == ALL)]
    panel = of_all.get("compared", pd.Series(dtype=str)).map(_BIASES) + ", " + of_all["noun_type"]
    biases = of_all.assign(panel=panel).rename(columns={"value": "bias"})
    of_score = score.replace("_", " ")
    drawn = {
        "": (whole, "accuracy", f"own ({of_score})"),
        "_biases": (biases, "bias", f"biases by noun type, {of_score}"),
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
            chance=HALF if value == "accuracy" else None,
            best=best_baseline(table, ["panel"], members) if value == "accuracy" else None,
        )
    return figures
