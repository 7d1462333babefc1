"""The figures of the reports, each with the numbers that a text beside it says."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from cxprobe.report.site.findings import Cast, groups_of
from cxprobe.report.site.inputs import Run
from cxprobe.report.site.words import percent

# Column -> what it is the share of.
_MEASURES = {
    "accuracy": "right",
    "both": "right in both orders",
    "flips": "flipped",
    "bias": "apart",
    "changed": "changed",
}


@dataclass(frozen=True)
class Picture:
    """A figure of a report.

    Attributes:
        path: Relative to results/.
        title: What it is.
        table: The table that has all of its numbers, relative to results/, without suffix.
        words: Where each model, or curve, has its least and greatest, or first and last, rate.
        construction: Which it is about; "" for several.
    """

    path: str
    title: str
    table: str
    words: str
    construction: str = ""


@dataclass(frozen=True)
class _Shown:
    """What a figure shows: its title, the table, the columns that make its rows, the rate, and which rows it has."""

    title: str
    table: str
    rows: Sequence[str]
    value: str = "accuracy"
    only: Mapping[str, str] = field(default_factory=dict)
    blind: bool = False
    construction: str = ""


_TYPES = ["construction", "noun_type"]
_OF_PAIRS = {
    "both_orders": _Shown("Pairs right in both orders of two people", "tables/both", ["construction", "words"], "both"),
    "margins": _Shown(
        "Margin of the right text, mean over both orders", "tables/margins", ["construction", "words"], "margin"
    ),
    "meaning_by_variant": _Shown("Pairs of meaning by variant", "tables/variants", ["construction", "variant"]),
    "meaning_by_sentence": _Shown(
        "Sentences with the construction and their rivals", "tables/sentences", ["construction", "variant", "sentence"]
    ),
    "meaning_by_noun_type": _Shown("Pairs of meaning by noun type", "tables/noun_types", _TYPES),
    "form": _Shown("Pairs of form", "accuracy", ["construction"], only={"tests": "form"}),
    "pseudowords": _Shown("Real words and pseudowords", "accuracy", ["construction", "words"]),
    "blind_by_construction": _Shown("Blind models", "accuracy", ["construction"], blind=True),
    "bias_order": _Shown(
        "Bias between original and switched pairs", "tables/biases", _TYPES, "bias", {"compares": "order"}
    ),
    "bias_variant": _Shown("Bias between the variants", "tables/biases", _TYPES, "bias", {"compares": "variant"}),
    "changed_with_order": _Shown(
        "Decisions that change when the two people are exchanged",
        "tables/biases",
        _TYPES,
        "changed",
        {"compares": "order"},
    ),
    "cards": _Shown("What blind models get", "tables/card", ["dataset"], blind=True),
}
_OF_PROMPTS = {
    "best_by_construction": _Shown(
        "Questions by construction, best prompt", "tables/best_by_construction", ["construction", "set"]
    ),
    "reasoning_tests": _Shown("Multiple choice by test", "tables/accuracy_by_test", ["construction", "test"]),
    "tests_by_prompt": _Shown("Multiple choice by test and prompt", "tables/tests_by_prompt", ["test", "prompt"]),
    "reasoning_prompts": _Shown("Multiple choice by prompt", "tables/accuracy_answerable", ["prompt", "answerable"]),
    "cards": _Shown("What blind models get", "tables/cards", ["dataset"], blind=True),
}


def pictures_of(run: Run, cast: Cast) -> list[Picture]:
    """Return the figures of all reports, those with a place in a list here in its order."""
    order = {name: number for number, name in enumerate([*_OF_PAIRS, *_OF_PROMPTS])}
    paths = sorted(run.figures(), key=lambda path: (path.split("/")[0], order.get(Path(path).stem, len(order))))
    return [picture for path in paths if (picture := _picture(path, run, cast)) is not None]


def _picture(path: str, run: Run, cast: Cast) -> Picture | None:
    report, _, name = path.removesuffix(".png").partition("/figures/")
    if name.startswith("series_"):
        return _along(path, name.removeprefix("series_"), run)
    shown = {"report_pairs": _OF_PAIRS, "report_prompts": _OF_PROMPTS}.get(report, {}).get(name)
    first, _, rest = name.partition("_")
    construction, _, value = name.rpartition("_")
    if report == "report_prompts" and first == "constructions":
        shown = _Shown(
            f"Questions by construction, {rest.replace('_', ' ')}", "accuracy", ["construction", "set", "shots"]
        )
    elif report == "report_recognition" and first == "recognition":
        title, by = "Recognition by layer and source of sentences", ["source", "feature", "layer"]
        shown = _Shown(title, "accuracy", by, only={"construction": rest}, construction=rest)
    elif report == "report_scenarios" and value in ("accuracy", "flips"):
        title = "Scenarios: accuracy" if value == "accuracy" else "Scenarios: decisions that flip"
        by, table = ["scenario", "calibration"], f"tables/{construction}/{value}"
        shown = _Shown(title, table, by, value, construction=construction)
    if shown is None:
        return None
    rates = run.table(f"{report}/{shown.table}")
    for column, only in shown.only.items():
        rates = rates[rates[column] == only]
    said = []
    for model in cast.blind if shown.blind else cast.with_pages:
        own = rates[rates["model"] == model] if len(rates) else rates
        if own.empty:
            continue
        ends = []
        for _, row in own.sort_values(shown.value, kind="stable").iloc[[0, -1]].iterrows():
            parts = " ".join(f"layer {row[name]}" if name == "layer" else str(row[name]) for name in shown.rows)
            share = f"{row[shown.value]:+.3f} nats" if shown.value == "margin" else percent(row[shown.value])
            ends.append(f"{share} ({parts.replace('_', ' ').replace('-', ' ')})")
        sizes = " to ".join(f"{size:,}" for size in sorted({int(own["n"].min()), int(own["n"].max())}))
        said.append(f"{cast.label(model)}: from {' to '.join(ends)}, n = {sizes} each")
    rows = ", ".join(shown.rows).replace("_", " ")
    what = f"Share that is {_MEASURES[shown.value]}" if shown.value in _MEASURES else "By how much"
    words = f"{what}, by {rows}. {'. '.join(said)}." if said else "No model is drawn."
    return Picture(path, shown.title, f"{report}/{shown.table}", words, shown.construction)


def _along(path: str, name: str, run: Run) -> Picture:
    """Return a figure of curves: where each begins and ends."""
    of_biases = name.endswith("_biases")
    table = f"report_pairs/tables/{'series_biases' if of_biases else 'series'}"
    rows, value = (["bias", "noun_type"], "value") if of_biases else (["construction"], "accuracy")
    ends = []
    for key, own in groups_of(run.table(table), *rows):
        first, last = (own.sort_values("quantity", kind="stable").iloc[place] for place in (0, -1))
        ends.append(f"{' '.join(key)} from {percent(first[value])} to {percent(last[value])} (n = {int(last['n']):,})")
    title = f"Along {name}"
    return Picture(path, title, table, f"{title}, the first and the last model: {'; '.join(ends)}.")
