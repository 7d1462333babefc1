"""Scenarios: rates of several models beside published ones, as tables and figures, and what the tests consist of."""

import textwrap
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from cxprobe.models.ngrams import places_of
from cxprobe.models.params import Member
from cxprobe.results.baseline_report import composition_table, word_table
from cxprobe.results.comparisons import best_baseline
from cxprobe.results.dots import BEST_BASELINE, dots
from cxprobe.results.words import cell
from cxprobe.stats import Estimate, differs_from_published
from cxprobe.tasks.scenarios.evaluate import UNCALIBRATED
from cxprobe.tasks.scenarios.rules import CHANGES, PURPOSES, Scenarios, wrong_words
from cxprobe.text.templates import WORD_MASK

_CHANGE = 22  # letters of a line of what a scenario changes, in a figure


def published_rates(table: pd.DataFrame) -> pd.DataFrame:
    """Return a published table in the long form: model, scenario, calibration, published, a rate in [0, 1], and items.

    Args:
        table: Columns model and scenario; items, the number of items of each rate, NaN or no column where it is not
            known; then percentages: "none" and one for each calibration, whose name the column begins with, as
            S5_short. Empty cells were not reported.
    """
    keys = ["model", "scenario", "items"]
    known = table if "items" in table else table.assign(items=np.nan)
    named = known.rename(columns=lambda column: column if column in keys else column.split("_")[0])
    long = named.melt(keys, var_name="calibration", value_name="published").dropna(subset="published")
    return long.assign(published=long["published"] / 100).reset_index(drop=True)


def rates_by_calibration(rates: pd.DataFrame, construction: str, measure: str) -> pd.DataFrame:
    """Return the rates of the scenarios of a construction, without calibration ("none") and with each.

    Args:
        rates: Columns of `cxprobe.results.schema.RATES`, of scenarios.
        construction: The construction.
        measure: accuracy or flips.

    Returns:
        model, scenario, calibration, value, low, high and n.
    """
    of_it = rates[(rates["construction"] == construction) & (rates["measure"] == measure)]
    levels = of_it["level"].where(of_it["facet"] == "calibration", UNCALIBRATED + "." + of_it["level"])
    parts = levels.str.partition(".")
    named = of_it.assign(calibration=parts[0], scenario=parts[2])
    return named[["model", "scenario", "calibration", "value", "low", "high", "n"]].reset_index(drop=True)


def read_published_rates(scenarios: Scenarios, measure: str, use: Callable[[Path], Path]) -> tuple[pd.DataFrame, str]:
    """Return the published rates and their source; none for a construction without published results.

    Args:
        scenarios: Which names the files.
        measure: accuracy or flips.
        use: Notes a file before it is read, and returns it.
    """
    if scenarios.published is None:
        return pd.DataFrame(columns=["model", "scenario", "items", "calibration", "published"]), ""
    table = getattr(scenarios.published, measure)
    content = pd.read_csv(use(Path(table.file)), sep="\t")
    return published_rates(content), f"{scenarios.published.source}, {table.title}"


def tables_beside_published(
    rates: pd.DataFrame, scenarios: Mapping[str, Scenarios], use: Callable[[Path], Path]
) -> dict[str, pd.DataFrame]:
    """Return tables/<construction>/<measure>_beside_published -> see `scenarios_beside_published`.

    Args:
        rates: Columns of `cxprobe.results.schema.RATES`, of scenarios.
        scenarios: Construction -> its scenarios.
        use: Notes a file before it is read, and returns it.
    """
    tables = {}
    for name, of_it in scenarios.items():
        for measure in ("accuracy", "flips"):
            published, source = read_published_rates(of_it, measure, use)
            ran = rates_by_calibration(rates, name, measure)
            beside = scenarios_beside_published(ran, published, source)
            tables[f"tables/{name}/{measure}_beside_published"] = beside
    return tables


def scenarios_beside_published(rates: pd.DataFrame, published: pd.DataFrame, source: str) -> pd.DataFrame:
    """Return a table for reading, in percent: each model that ran, its published row below it, then all others.

    Args:
        rates: What `rates_by_calibration` returns.
        published: What `published_rates` returns; a model is the one that ran if its name in lower case is the slug.
        source: The source of the published rates.

    Returns:
        model, scenario, source ("this run" or the published one), n (items; those with a candidate that is not one
        token of the model's tokenizer are left out), and a column for each calibration. An asterisk marks a rate that
        differs from the published one: the 95 % interval of the difference, to which both have added their own error,
        does not contain 0 (`cxprobe.stats.differs_from_published`). Absent values are empty texts.
    """
    keys, names = ["key", "scenario", "calibration"], ["model", "scenario", "source", "n"]
    ran = rates.assign(key=rates["model"].str.lower(), source="this run")
    theirs = published.assign(key=published["model"].str.lower(), source=source, n=published["items"].astype(float))
    theirs["cell"] = theirs["published"].map(lambda value: f"{100 * value:.2f}")
    ran = ran.merge(theirs[[*keys, "published", "items"]], on=keys, how="left", validate="many_to_one")
    cells = []
    for *estimate, value, items in (
        ran[["value", "low", "high", "n", "published", "items"]].to_numpy(np.float64).tolist()
    ):
        # A rate printed to a hundredth of a percent is exact to half of that. NaN, not reported, never differs.
        differs = differs_from_published(Estimate(*estimate), value, None if np.isnan(items) else int(items), 5e-5)
        cells.append(cell(*estimate[:3]) + (" *" if differs else ""))
    both = pd.concat([ran.assign(cell=cells), theirs])
    order = {key: number for number, key in enumerate(dict.fromkeys(both["key"]))}
    both = both.sort_values("key", key=lambda keys: keys.map(order), kind="stable")
    both["n"] = both["n"].map(lambda n: "" if np.isnan(n) else str(int(n)))
    rows: dict[tuple[str, ...], dict[str, str]] = {}
    for *row, calibration, text in both[[*names, "calibration", "cell"]].to_numpy().tolist():
        rows.setdefault(tuple(row), {})[calibration] = text
    table = pd.DataFrame.from_dict(rows, orient="index", columns=list(dict.fromkeys(ran["calibration"])))
    return table.fillna("").rename_axis(names).reset_index()


def figures_of_scenarios(
    rates: pd.DataFrame, scenarios: Mapping[str, Scenarios], members: Sequence[Member], use: Callable[[Path], Path]
) -> dict[str, Figure]:
    """Return <construction>_<measure> -> its rates as dots: a row for each scenario, a panel for each calibration.

    The models are those that are no baselines, and published ones; the best baseline is in every panel.

    Args:
        rates: Columns of `cxprobe.results.schema.RATES`, of scenarios.
        scenarios: Construction -> its scenarios.
        members: The models.
        use: Notes a file before it is read, and returns it.
    """
    shown_members = [member for member in members if not member.is_baseline] or members
    labels = {member.slug: member.label for member in shown_members}
    accuracy = rates[(rates["facet"] == "scenario") & (rates["measure"] == "accuracy")]
    best = best_baseline(accuracy.rename(columns={"value": "accuracy"}), ["construction", "level"], members)
    best = best[["construction", "level", "model"]].rename(columns={"level": "scenario"})
    figures = {}
    for name, of_it in scenarios.items():
        rows = {
            test: f"{test}\n{textwrap.fill(CHANGES.get(content.bias, content.bias), _CHANGE)}"
            for test, content in of_it.tests.items()
        }
        panels = {UNCALIBRATED: "not calibrated"} | {
            calibration: f"calibrated by {calibration}: {PURPOSES.get(content.purpose, content.purpose)}"
            for calibration, content in of_it.calibrations.items()
        }
        for measure in ("accuracy", "flips"):
            every = rates_by_calibration(rates, name, measure)
            ticks = best[best["construction"] == name].merge(every[every["calibration"] == UNCALIBRATED])
            ran = every[every["model"].isin(labels)]
            published, _ = read_published_rates(of_it, measure, use)
            theirs = published.merge(ran[["scenario", "calibration"]].drop_duplicates())
            rate = dict.fromkeys(("value", "low", "high"), theirs["published"])
            theirs = theirs.assign(label=theirs["model"] + " (published)", n=np.nan, **rate)
            both = pd.concat([ran.assign(label=ran["model"].map(labels)), theirs], ignore_index=True)
            drawn = both.assign(row=both["scenario"].map(rows), panel=both["calibration"].map(panels))
            marks = ticks.drop(columns="calibration").assign(row=ticks["scenario"].map(rows))
            figures[f"{name}_{measure}"] = dots(
                drawn.rename(columns={"value": measure}),
                f"{name}: {measure} by scenario",
                rows="row",
                colours="label",
                panels="panel",
                value=measure,
                marks={BEST_BASELINE: marks.rename(columns={"value": measure})},
            )
    return figures


def scenario_words(texts: pd.DataFrame, construction: str) -> dict[str, pd.DataFrame]:
    """Return the composition of the tests of a construction: a data set is a construction and a scenario.

    Args:
        texts: Every text: scenario, text (with the mask), right ("" for a calibration), and the two candidates, first
            and second.
        construction: Its name.

    Returns:
        "composition": `composition_table` by label, which says where the right word is named before the mask:
        "right word last" of the two, "right word first", or "not told apart". "words": `word_table` of the
        candidates themselves, how often each is right and wrong.
    """
    tests = texts[texts["right"] != ""]
    right, wrong = tests["right"], wrong_words(tests)
    labels = []
    for text, *words in zip(tests["text"], right, wrong, strict=True):
        last = [max(places_of(text.split(WORD_MASK)[0], word), default=-1) for word in words]
        is_last = "last" if last[0] > last[1] else "first"
        labels.append("not told apart" if last[0] == last[1] else f"right word {is_last}")
    named = pd.DataFrame({"dataset": construction + ", " + tests["scenario"], "text": tests["text"]})
    candidates = [named.assign(text=words, label=label) for words, label in ((right, "right"), (wrong, "wrong"))]
    return {
        "composition": composition_table(named.assign(label=labels)),
        "words": word_table(pd.concat(candidates, ignore_index=True), most=None),
    }
