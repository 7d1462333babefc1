"""Scenarios: accuracies and flips of several models, beside published ones."""

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter

from cxprobe.lm.params import Member
from cxprobe.report.cards import card_figure, card_table, composition_table, word_table
from cxprobe.report.dots import BEST_BLIND, WEIGHTS, legend_of, write_title
from cxprobe.report.plots import MARKERS, OKABE_ITO
from cxprobe.report.tables import cell
from cxprobe.scenarios.rules import Scenarios
from cxprobe.stats import Estimate, differs_from_published

CHANCE = 0.5
PANEL = (3.3, 2.6)  # inches
ROW = 3  # panels beside each other
COLUMNS = 4  # of the legend
SPREAD = 0.7  # of the width of a scenario, over which the models are spread
# What a test holds against a model, and what a calibration leaves out or changes -> how figures say so.
CHANGES = {"recency": "order of the\nsentences", "vocabulary": "the other\nword right", "name": "names\nexchanged"}
PURPOSES = {"short": "without the construction", "name": "about others", "adjective": "about another property"}
_GREYS = ("x", "+", "1", "2", "3", "4", "|", ".", ",", "_")  # markers of published models that did not run
_MASK = "[MASK]"
_ROW = ["model", "scenario", "source", "n"]


def published_rates(table: pd.DataFrame | None) -> pd.DataFrame:
    """Return a published table in the long form: model, scenario, calibration, published, a rate in [0, 1], and items.

    Args:
        table: Columns model and scenario; items, the number of items of each rate, NaN or no column where it is not
            known; then percentages: "none" and one for each calibration, whose name the column begins with, as
            S5_short. Empty cells were not reported. None if nothing was published.
    """
    keys = ["model", "scenario", "items"]
    if table is None:
        return pd.DataFrame(columns=["model", "scenario", "calibration", "published", "items"])
    known = table if "items" in table else table.assign(items=np.nan)
    named = known.rename(columns={column: column.split("_")[0] for column in known.columns if column not in keys})
    long = named.melt(keys, var_name="calibration", value_name="published").dropna(subset="published")
    return long.assign(published=long["published"] / 100).reset_index(drop=True)


def read_published_rates(scenarios: Scenarios, kind: str, use: Callable[[Path], Path]) -> tuple[pd.DataFrame, str]:
    """Return the published rates of a kind and their source; none for a construction without published results.

    Args:
        scenarios: Which names the files.
        kind: accuracy or flips.
        use: Is told a file before it is read, and returns it.
    """
    if scenarios.published is None:
        return published_rates(None), ""
    table = {"accuracy": scenarios.published.accuracy, "flips": scenarios.published.flips}[kind]
    content = pd.read_csv(use(Path(table.file)), sep="\t")
    return published_rates(content), f"{scenarios.published.source}, {table.title}"


def scenarios_beside_published(rates: pd.DataFrame, rate: str, published: pd.DataFrame, source: str) -> pd.DataFrame:
    """Return a table for reading, in percent: each model that ran, its published row below it, then all others.

    Args:
        rates: What `cxprobe.judge.scenario_rates` returns.
        rate: accuracy or flips.
        published: What `published_rates` returns; a model is the one that ran if its name in lower case is the slug.
        source: The source of the published rates.

    Returns:
        model, scenario, source ("this run" or the published one), n (items; those with a candidate that is not one
        token of the model's tokenizer are left out), and a column for each calibration. An asterisk marks a rate that
        differs from the published one: the 95 % interval of the difference, to which both have added their own error,
        does not contain 0 (`cxprobe.stats.differs_from_published`). Absent values are empty texts.
    """
    keys = ["key", "scenario", "calibration"]
    run = rates.assign(key=rates["model"].str.lower(), source="this run")
    theirs = published.assign(key=published["model"].str.lower(), source=source, n=published["items"].astype(float))
    run = run.merge(theirs[[*keys, "published", "items"]], on=keys, how="left", validate="many_to_one")
    compared = [rate, "low", "high", "n", "published", "items"]
    run["cell"] = [_cell(Estimate(*row[:4]), *row[4:]) for row in run[compared].itertuples(index=False, name=None)]
    theirs["cell"] = theirs["published"].map(lambda value: f"{100 * value:.2f}")
    ran = list(dict.fromkeys(run["key"]))
    place = {key: number for number, key in enumerate(dict.fromkeys([*ran, *theirs["key"]]))}
    both = pd.concat([run, theirs]).sort_values("key", key=lambda names: names.map(place), kind="stable")
    rows: dict[tuple[str, ...], dict[str, str]] = {}
    both["n"] = both["n"].map(lambda n: "" if np.isnan(n) else str(int(n)))
    for *names, calibration, text in both[[*_ROW, "calibration", "cell"]].to_numpy().tolist():
        rows.setdefault(tuple(names), {})[calibration] = text
    table = pd.DataFrame.from_dict(rows, orient="index", columns=list(dict.fromkeys(run["calibration"])))
    return table.fillna("").rename_axis(_ROW).reset_index()


def rates_by_scenario(
    rates: pd.DataFrame,
    rate: str,
    published: pd.DataFrame,
    *,
    scenarios: Mapping[str, str],
    calibrations: Mapping[str, str],
    title: str,
    labels: Mapping[str, str] | None = None,
    best: pd.DataFrame | None = None,
) -> Figure:
    """Draw a rate by scenario, a panel for each calibration and a marker for each model, with 95 % intervals.

    The number of items stands below each scenario, and marks of few items are smaller and paler. Every published model
    that did not run has a grey marker of its own.

    Args:
        rates: What `cxprobe.judge.scenario_rates` returns, of the models that are drawn.
        rate: accuracy or flips.
        published: What `published_rates` returns, drawn hollow for a model that ran, grey for another.
        scenarios: Scenario -> what it tests, in the order of the axis.
        calibrations: Calibration -> the title of its panel, in their order.
        title: Of the figure.
        labels: Model -> its name in the legend; one that is not there has its slug.
        best: The rate of the best blind model in each scenario: scenario and the rate. It is drawn as a black tick in
            every panel, since a blind model has nothing that a calibration could take off.
    """
    lines = -(-len(calibrations) // ROW)
    others = _others(published, rates["model"])
    entries = -(-(rates["model"].nunique() + len(others) + 3) // COLUMNS) * 0.22
    columns = min(ROW, len(calibrations))
    figure = Figure(figsize=(columns * PANEL[0] + 0.4, lines * PANEL[1] + 0.8 + entries), layout="constrained")
    panels = np.atleast_1d(figure.subplots(lines, columns, sharey=True)).ravel()
    for spare in panels[len(calibrations) :]:
        spare.remove()
    write_title(figure, title)
    for place, (calibration, name) in enumerate(calibrations.items()):
        axes = panels[place]
        axes.axhline(CHANCE, color="0.35", linestyle=":", linewidth=1.2, label="chance")
        _draw_models(
            axes,
            rates[rates["calibration"] == calibration],
            rate,
            published[published["calibration"] == calibration],
            list(scenarios),
            labels or {},
            others,
        )
        if best is not None and len(best):
            places = best["scenario"].map(list(scenarios).index).to_numpy(float)
            edge = SPREAD / 2 + 0.1
            axes.hlines(best[rate], places - edge, places + edge, color="black", linewidth=2, label=BEST_BLIND)
        axes.set_title(name, fontsize=10)
        axes.set_xticks(range(len(scenarios)), _ticks(scenarios, rates), fontsize=7)
        axes.set_xlim(-0.5, len(scenarios) - 0.5)
        axes.set_ylim(-0.04, 1.04)
        axes.yaxis.set_major_formatter(PercentFormatter(xmax=1))
        axes.grid(axis="y", color="0.9", linewidth=0.6)
        axes.spines[["top", "right"]].set_visible(False)
        axes.set_ylabel(rate if place % ROW == 0 else "")
    legend = legend_of(panels[: len(calibrations)])
    figure.legend(legend.values(), legend.keys(), loc="outside lower center", ncols=COLUMNS, frameon=False, fontsize=8)
    return figure


def _others(published: pd.DataFrame, ran: "pd.Series[str]") -> list[str]:
    """Return the published models that did not run, in the order of their table."""
    return [model for model in dict.fromkeys(published["model"]) if str(model).lower() not in set(ran)]


def _ticks(scenarios: Mapping[str, str], rates: pd.DataFrame) -> list[str]:
    """Return what stands below each scenario: its name, what it changes, and the number of its items."""
    ticks = []
    for name, what in scenarios.items():
        own = rates.loc[rates["scenario"] == name, "n"]
        items = " to ".join(f"{size:,}" for size in sorted({int(own.min()), int(own.max())}))
        ticks.append(f"{name}: {what}\nn = {items}")
    return ticks


def scenario_figure(
    rates: pd.DataFrame,
    rate: str,
    published: pd.DataFrame,
    of: Sequence[Scenarios],
    members: Sequence[Member],
    title: str,
    best: pd.DataFrame | None = None,
) -> Figure:
    """Draw a rate by scenario as `rates_by_scenario` does, named as in scenarios.yaml.

    Blind models are drawn only where there are no others: the best of them is enough beside other models.

    Args:
        rates: See `rates_by_scenario`; of all models.
        rate: accuracy or flips.
        published: See `rates_by_scenario`.
        of: The scenarios of each construction in the rates; the first that has a test or calibration names it.
        members: The models of the rates.
        title: Of the figure.
        best: See `rates_by_scenario`.
    """
    seeing = [member.slug for member in members if not member.is_blind]
    rates = rates[rates["model"].isin(seeing)] if seeing else rates
    tests: dict[str, str] = {}
    panels: dict[str, str] = {}
    for scenarios in of:
        biases = {name: CHANGES.get(test.bias, test.bias) for name, test in scenarios.tests.items()}
        biases |= {scenarios.base: "base text"}
        purposes = {
            name: f"{name}: {PURPOSES.get(calibration.purpose, calibration.purpose)}"
            for name, calibration in scenarios.calibrations.items()
        }
        tests, panels = biases | tests, purposes | panels
    shown = [dict.fromkeys(rates[column]) for column in ("scenario", "calibration")]
    return rates_by_scenario(
        rates,
        rate,
        published,
        scenarios={name: tests[name] for name in shown[0]},
        calibrations={name: _calibrated(panels.get(name)) for name in shown[1]},
        title=title,
        labels={member.slug: member.label for member in members},
        best=best,
    )


def _calibrated(by: str | None) -> str:
    return "not calibrated" if by is None else f"calibrated by {by}"


def scenario_words(texts: pd.DataFrame, scenarios: Scenarios, construction: str) -> dict[str, pd.DataFrame]:
    """Return what the tests of a construction consist of: a data set is a construction and a scenario.

    Args:
        texts: Every text: scenario, text (with the mask), and the two candidates, first and second.
        scenarios: The right answers.
        construction: Its name.

    Returns:
        "card_composition": `composition_table` by label, which says where the right word is named before the mask:
        "right word last" of the two, "right word first", or "not told apart". "card_words": `word_table` of the
        candidates themselves, how often each is right and wrong.
    """
    tests = texts[texts["scenario"].isin(scenarios.tests)]
    is_first = tests["scenario"].map(
        {name: test.answer == scenarios.candidates[0] for name, test in scenarios.tests.items()}
    )
    right, wrong = tests["first"].where(is_first, tests["second"]), tests["second"].where(is_first, tests["first"])
    rows = zip(tests["text"], right, wrong, strict=True)
    named = pd.DataFrame({"dataset": construction + ", " + tests["scenario"], "text": tests["text"]})
    words = [named.assign(text=own, label=label) for own, label in ((right, "right"), (wrong, "wrong"))]
    return {
        "card_composition": composition_table(named.assign(label=[_named_last(*row) for row in rows])),
        "card_words": word_table(pd.concat(words, ignore_index=True), most=None),
    }


def scenario_cards(
    accuracy: pd.DataFrame, limit: float, members: Sequence[Member]
) -> tuple[pd.DataFrame, dict[str, Figure]]:
    """Return what every blind model gets on every data set, a construction and a scenario, as a table and a figure.

    Args:
        accuracy: Columns construction, scenario, model, accuracy, low, high, n: without calibration.
        limit: `cards.limit` of params.yaml.
        members: The models.

    Returns:
        What `card_table` returns, and "cards" -> the figure; none where no blind model has run.
    """
    named = accuracy.assign(dataset=accuracy["construction"] + ", " + accuracy["scenario"])
    cards = card_table(named, chance=CHANCE, limit=limit, members=members)
    return cards, {"cards": card_figure(cards)} if len(cards) else {}


def _named_last(text: str, right: str, wrong: str) -> str:
    before = text.split(_MASK)[0].lower()
    places = [max((match.start() for match in _whole(word).finditer(before)), default=-1) for word in (right, wrong)]
    return "not told apart" if places[0] == places[1] else f"right word {'last' if places[0] > places[1] else 'first'}"


def _whole(word: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w){re.escape(word.lower())}(?!\w)")


def _draw_models(
    axes: Axes,
    rates: pd.DataFrame,
    rate: str,
    published: pd.DataFrame,
    scenarios: Sequence[str],
    labels: Mapping[str, str],
    others: Sequence[str],
) -> None:
    models = list(dict.fromkeys(rates["model"]))
    slots = len(models) + len(others)
    place = pd.Series(range(len(scenarios)), index=list(scenarios), dtype=float)
    hollow: dict[str, Any] = {"fillstyle": "none", "markersize": 7, "linestyle": ""}
    for number, model in enumerate(models):
        style: dict[str, Any] = {
            "color": OKABE_ITO[number % len(OKABE_ITO)],
            "marker": MARKERS[number % len(MARKERS)],
        }
        shift = (number - (slots - 1) / 2) * SPREAD / slots
        own = rates[rates["model"] == model]
        spread = np.stack([own[rate] - own["low"], own["high"] - own[rate]])  # (2, scenarios)
        size, width, alpha = WEIGHTS[max(fewest for fewest in WEIGHTS if own["n"].min() >= fewest)]
        look: dict[str, Any] = style | {"linestyle": "", "markersize": size, "elinewidth": width, "alpha": alpha}
        axes.errorbar(place[own["scenario"]] + shift, own[rate], yerr=spread, label=labels.get(model, model), **look)
        theirs = published[published["model"].str.lower() == model]
        axes.plot(place[theirs["scenario"]] + shift, theirs["published"], **style | hollow)
    ran = published["model"].str.lower().isin(models)
    if ran.any():
        axes.plot([], [], color="0.35", marker="o", **hollow, label="hollow: published")
    for number, model in enumerate(others, start=len(models)):
        shift = (number - (slots - 1) / 2) * SPREAD / slots
        theirs = published[published["model"] == model]
        grey: dict[str, Any] = {
            "color": "0.45",
            "marker": _GREYS[(number - len(models)) % len(_GREYS)],
            "markersize": 5,
        }
        axes.plot(
            place[theirs["scenario"]] + shift, theirs["published"], linestyle="", label=f"{model} (published)", **grey
        )


def _cell(rate: Estimate, published: float, items: float) -> str:
    """Return a rate and its interval in percent, with an asterisk if a published rate, of so many items, differs."""
    # A rate printed to a hundredth of a percent is exact to half of that. NaN, not reported, never differs.
    n = None if np.isnan(items) else int(items)
    differs = differs_from_published(rate, published, n, 5e-5)
    return cell(rate.value, rate.low, rate.high) + (" *" if differs else "")
