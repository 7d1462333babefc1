"""The figures of the reports, each with a text that says in words and numbers what it shows."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import pandas as pd

from cxprobe.report.site.findings import Cast
from cxprobe.report.site.inputs import Run
from cxprobe.report.site.words import number, percent


@dataclass(frozen=True)
class Picture:
    """A figure of a report.

    Attributes:
        path: Relative to results/.
        title: What it is.
        words: What it shows, in words and numbers.
        table: The table that has all of its numbers, relative to results/.
    """

    path: str
    title: str
    words: str
    table: str


@dataclass(frozen=True)
class _Shown:
    """What a figure shows: its title, the table, the columns that make its rows, the rate, and which rows it has."""

    title: str
    table: str
    rows: Sequence[str]
    value: str = "accuracy"
    only: Sequence[tuple[str, str]] = ()
    blind: bool = False


_OF_PAIRS = {
    "meaning_by_variant": _Shown("Pairs of meaning by variant", "variants", ["construction", "variant"]),
    "meaning_by_sentence": _Shown(
        "Sentences with the construction and their rivals", "sentences", ["construction", "variant", "sentence"]
    ),
    "meaning_by_noun_type": _Shown("Pairs of meaning by noun type", "noun_types", ["construction", "noun_type"]),
    "form": _Shown("Pairs of form", "../accuracy", ["construction"], only=[("tests", "form")]),
    "pseudowords": _Shown("Real words and pseudowords", "../accuracy", ["construction", "words"]),
    "blind_by_construction": _Shown("Blind models", "../accuracy", ["construction"], blind=True),
    "bias_order": _Shown(
        "Bias between original and switched pairs",
        "biases",
        ["construction", "noun_type"],
        "bias",
        [("compares", "order")],
    ),
    "bias_variant": _Shown(
        "Bias between the variants", "biases", ["construction", "noun_type"], "bias", [("compares", "variant")]
    ),
    "changed_with_order": _Shown(
        "Decisions that change when the two people are exchanged",
        "biases",
        ["construction", "noun_type"],
        "changed",
        [("compares", "order")],
    ),
    "cards": _Shown("What blind models get", "card", ["dataset"], blind=True),
}
_OF_PROMPTS = {
    "reasoning_tests": _Shown("Multiple choice by test", "accuracy_by_test", ["construction", "test"]),
    "reasoning_prompts": _Shown("Multiple choice by prompt", "accuracy_answerable", ["prompt", "answerable"]),
    "cards": _Shown("What blind models get", "cards", ["dataset"], blind=True),
}
MEASURES = {"accuracy": "right", "flips": "flipped", "bias": "apart", "changed": "changed"}
"""Column of a rate -> what its share is."""


def pictures_of(run: Run, cast: Cast) -> list[Picture]:
    """Return the figures that are about several constructions."""
    return [picture for path in run.figures if (picture := _of_all(path, run, cast)) is not None]


def pictures_of_construction(construction: str, run: Run, cast: Cast) -> list[Picture]:
    """Return the figures that are about one construction alone."""
    found = []
    for path in run.figures:
        report, _, name = path.removesuffix(".png").partition("/figures/")
        if report == "report_recognition" and name == f"recognition_{construction}":
            table = f"{report}/accuracy"
            rates = run.table(table)
            words = _words(
                rates[rates["construction"] == construction], ["source", "feature", "layer"], "accuracy", cast
            )
            found.append(Picture(path, "Recognition by layer and source of sentences", words, f"{table}.csv"))
        if report == "report_scenarios" and name in (f"{construction}_accuracy", f"{construction}_flips"):
            value = name.rpartition("_")[2]
            table = f"{report}/tables/{construction}/{value}"
            words = _words(run.table(table), ["scenario", "calibration"], value, cast)
            title = "Scenarios: accuracy" if value == "accuracy" else "Scenarios: decisions that flip"
            found.append(Picture(path, title, words, f"{table}.csv"))
    return found


def _of_all(path: str, run: Run, cast: Cast) -> Picture | None:
    report, _, name = path.removesuffix(".png").partition("/figures/")
    shown = {"report_pairs": _OF_PAIRS, "report_prompts": _OF_PROMPTS}.get(report, {}).get(name)
    if report == "report_pairs" and name.startswith("series_"):
        of_biases = name.endswith("_biases")
        table = "series_biases" if of_biases else "series"
        rows, value = (["bias", "noun_type"], "value") if of_biases else (["construction"], "accuracy")
        return _along(path, f"Along {name.removeprefix('series_')}", run, f"{report}/tables/{table}", rows, value)
    if report == "report_prompts" and name.startswith("constructions_"):
        setting = name.removeprefix("constructions_").replace("_", " ")
        shown = _Shown(f"Questions by construction, {setting}", "../accuracy", ["construction", "set", "shots"])
    if shown is None:
        return None
    place = f"{report}/accuracy" if shown.table.startswith("../") else f"{report}/tables/{shown.table}"
    rates = run.table(place)
    for column, only in shown.only:
        rates = rates[rates[column] == only]
    words = _words(rates, shown.rows, shown.value, cast, blind=shown.blind)
    return Picture(path, shown.title, words, f"{place}.csv")


def _along(path: str, title: str, run: Run, table: str, rows: Sequence[str], value: str) -> Picture:
    """Return a figure of curves: where each begins and ends."""
    rates = run.table(table)
    said = []
    for key, own in rates.groupby(list(rows), sort=False) if len(rates) else ():
        first, last = (own.sort_values("quantity", kind="stable").iloc[place] for place in (0, -1))
        named = " ".join(str(part) for part in key)
        said.append(f"{named} from {percent(first[value])} to {percent(last[value])} ({number(last['n'])})")
    return Picture(path, title, f"{title}, the first and the last model: {'; '.join(said)}.", f"{table}.csv")


def _words(rates: pd.DataFrame, rows: Sequence[str], value: str, cast: Cast, *, blind: bool = False) -> str:
    """Say of each model where it gets least and most, with the numbers of items."""
    models = cast.blind if blind else [*cast.shown, *cast.twins]
    said = list(_ranges(rates, rows, value, [model for model in models if model in set(rates["model"])], cast))
    by = ", ".join(row.replace("_", " ") for row in rows)
    return f"Share that is {MEASURES[value]}, by {by}. {'. '.join(said)}." if said else "No model is drawn."


def _ranges(rates: pd.DataFrame, rows: Sequence[str], value: str, models: Sequence[str], cast: Cast) -> Iterator[str]:
    for model in models:
        own = rates[rates["model"] == model].sort_values(value, kind="stable")
        least, most = own.iloc[0], own.iloc[-1]
        places = [" ".join(_part(name, row[name]) for name in rows) for row in (least, most)]
        sizes = sorted({int(own["n"].min()), int(own["n"].max())})
        items = " to ".join(f"{size:,}" for size in sizes)
        yield (
            f"{cast.label(model)}: from {percent(least[value])} ({places[0]}) to {percent(most[value])} ({places[1]}), "
            f"n = {items} each"
        )


def _part(name: str, value: object) -> str:
    return f"layer {value}" if name == "layer" else str(value).replace("_", " ").replace("-", " ")
