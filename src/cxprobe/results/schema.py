"""The two tables of results, the same for all tasks: their columns, the units and ranges of their numbers.

One row is one number. A *response* is what one model's raw answer to one item is worth. A *rate* is the mean of a
measure over a group of responses, with its interval, beside chance, the best baseline and the control.
"""

from collections.abc import Collection, Mapping, Sequence
from math import inf
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from cxprobe.errors import DataError
from cxprobe.files.tables import write_table
from cxprobe.files.writing import DATA
from cxprobe.stats import CLUSTER, UNIT, cluster_columns


class Measure(NamedTuple):
    """A measure of responses.

    Attributes:
        unit: Such as "share" or "nats".
        least: The smallest value that there can be.
        greatest: The largest one.
    """

    unit: str
    least: float = -inf
    greatest: float = inf

    @property
    def is_share(self) -> bool:
        """Whether it is a share of items."""
        return (self.least, self.greatest) == (0, 1)


MEASURES: Mapping[str, Measure] = {
    "accuracy": Measure("share of items answered right; a tie is half", 0, 1),
    "accuracy_on_folds": Measure("share of training items answered right by what was trained on other folds", 0, 1),
    "probe_selectivity": Measure("accuracy on folds less that of random labels of words", -1, 1),
    "known": Measure("share of training items whose word is in other folds too", 0, 1),
    "accuracy_parsed": Measure("share of the replies with an answer that are right", 0, 1),
    "unparsed": Measure("share of replies without an answer", 0, 1),
    "failed": Measure("share of requests that failed", 0, 1),
    "margin": Measure("what the right answer is ahead of the best wrong one, in nats"),
    "contrast": Measure("sum of the margins of a frame over both people and questions, a cell, in nats"),
    "above_zero": Measure("share of frames whose contrast is above 0; one of exactly 0 is half", 0, 1),
    "flips": Measure("share of items whose decision differs from that in the base test; next to a tie half", 0, 1),
    "changed": Measure("share of items whose answer an exchange changes", 0, 1),
    "readable": Measure("share of vectors of other frames whose label a probe finds", 0, 1),
    "effect": Measure("nats by which an exchange moves the log odds toward the source's answer"),
    "selectivity": Measure("nats of the effect on answers less that on control words"),
    "broken": Measure("nats that the right word of a neutral sentence loses"),
    "both_orders": Measure("share of items that are right in both orders of two people; of two ties a quarter", 0, 1),
    "every_variant": Measure("share of items of form that are right in all of their variants", 0, 1),
    "bias": Measure("difference of the accuracies of two ways of asking about the same items, without its sign", 0, 1),
    "position_bias": Measure("share of answers that name the text that is shown first; 0.5 without a bias", 0, 1),
}
"""Name -> what it measures."""

HALF = 0.5  # chance of two answers
CHANCE_IN_BOTH = 0.25  # of two independent guesses; a preference for one of two people is hardly ever right in both
KEYS = ("task", "model", "construction", "source")
RESPONSES: Mapping[str, str] = {
    "task": "recognition, scenarios, contrasts, pairs, prompts or interventions",
    "model": "the model's name in params.yaml",
    "construction": "the construction's folder",
    "source": "where the item comes from; own for tasks whose items have one source",
    "item": "the id of the item, with the number of the text in a test of several",
    "measure": "what value measures, see MEASURES",
    "value": "in the unit of the measure; 0.5 for a tie of two",
    "chance": "the value of a guess; empty for a measure that has none",
    "gold": "the right answer; empty where there is none",
    "chosen": "the answer that was given, written as in gold; empty for a tie or where there is none",
    "decides": "whether the row is one of those that sum up the model on the construction and source",
    "question": "form, meaning, words (what a model says) or used (in vectors); empty for what answers none of these",
}
"""Column of the responses -> what it holds. Facets follow, then columns that begin with ``cluster_``."""

RATES: Mapping[str, str] = {
    "task": RESPONSES["task"],
    "model": RESPONSES["model"],
    "construction": "the construction's folder; all for all constructions together",
    "source": RESPONSES["source"],
    "measure": RESPONSES["measure"],
    "value": "the mean, in the unit of the measure",
    "low": "of the 95 % interval",
    "high": "of the 95 % interval",
    "n": "the number of items, or of frames for a measure in nats",
    "ties": "the number of items with half a credit",
    "chance": "the value of a guess; empty for a measure that has none",
    "baseline": "the best baseline on the same items; empty for none",
    "difference": "the value less that of the best baseline, on the same items",
    "diff_low": "of the 95 % interval of the difference",
    "diff_high": "of the 95 % interval of the difference",
    "p_adjusted": "of the difference, after Holm's correction in its family; empty where it is not tested",
    "control": "the value of the construction's control; empty for none",
    "control_low": "of the 95 % interval of the control",
    "control_high": "of the 95 % interval of the control",
    "control_n": "the number of items of the control",
    "verdict": "a key of VERDICTS; empty for a measure without chance",
    "decides": "whether the row sums up the model on the construction and source",
    "question": RESPONSES["question"],
}
"""Column of the rates -> what it holds.

Beside them stand the columns of the task's facets, such as scenario or layer, after the measure: texts, empty for all
values together.
"""

HAS_VERDICT = "has_verdict"
HINTS = (HAS_VERDICT, "prefers", "passes_control", "freedom")
"""Columns of rates on their way to verdicts, see `cxprobe.results.verdict.with_verdicts`."""
_TEXTS = ("task", "model", "construction", "source", "item", "measure", "gold", "chosen", "baseline", "question")
OF_DIFFERENCE = ["difference", "diff_low", "diff_high", "p_adjusted"]
OF_CONTROL = {"control": "value", "control_low": "low", "control_high": "high", "control_n": "n"}
"""Column of the rates -> the column of the control's own row that it repeats."""
_MAY_LACK = ("chance", "low", "high", *OF_DIFFERENCE, *OF_CONTROL)


def evaluated(task: str) -> Path:
    """Return the folder of the responses, rates and comparisons of a task."""
    return DATA / f"evaluate_{task}"


def write_responses(table: pd.DataFrame, facets: Collection[str], path: Path) -> None:
    """Check responses and write them.

    Args:
        table: The columns of `RESPONSES`, of ``facets``, and at least one that begins with ``cluster_``.
        facets: The columns that divide responses, texts or whole numbers, and others that are kept.
        path: A .parquet file.

    Raises:
        DataError: A column is missing or is too much, or a value is not in the range of its measure.
    """
    others = [str(name) for name in table if name not in RESPONSES and name not in facets]
    _check(table, RESPONSES, [name for name in others if not name.startswith(CLUSTER) and name != UNIT], path)
    if not cluster_columns(table):
        raise DataError(f"{path}: no column begins with {CLUSTER}; items that share a word are not independent")
    numbers = [name for name in facets if table[name].dtype == np.float64]
    write_table(table[[*RESPONSES, *facets, *others]], path, optional=["chance", *numbers, *others])


def facet_columns(table: pd.DataFrame) -> list[str]:
    """Return the columns of a table of rates that divide responses."""
    return [str(name) for name in table if name not in RATES and name not in HINTS]


def as_written(table: pd.DataFrame) -> pd.DataFrame:
    """Return rates with the texts that a .csv file has of them, in the columns of facets and of names.

    Args:
        table: Rates as pandas reads them, of one or more tasks: absent texts may be NaN, and whole numbers floats.
    """

    def text_of(value: object) -> str:
        if pd.isna(value):  # type: ignore[call-overload]
            return ""
        return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)

    texts = [*facet_columns(table), *table.columns.intersection(["baseline", "verdict"])]
    return table.assign(**{name: table[name].map(text_of) for name in texts})


def in_columns(rates: pd.DataFrame) -> pd.DataFrame:
    """Return rates with the columns of `RATES` and those of facets, which stand after the measure, and no others."""
    names = list(RATES)
    after = names.index("measure") + 1
    return rates.reindex(columns=[*names[:after], *facet_columns(rates), *names[after:]])


def write_rates(table: pd.DataFrame, path: Path) -> None:
    """Check rates and write them.

    Args:
        table: The columns of `RATES`, and those of facets, which are texts.
        path: A .parquet file.

    Raises:
        DataError: A column is missing or is too much, a value or a limit is not in the range of its measure, or two
            rows are about the same number.
    """
    facets = facet_columns(table)
    not_texts = [name for name in facets if not table[name].map(lambda value: isinstance(value, str)).all()]
    _check(table, RATES, not_texts, path)
    number = [*KEYS, "measure", *facets]
    twice = table.duplicated(number)
    if twice.any():
        raise DataError(f"{path}: two rows are about {', '.join(table.loc[twice, number].iloc[0])}; write one")
    write_table(table, path, optional=_MAY_LACK)


def _check(table: pd.DataFrame, columns: Mapping[str, str], unknown: Sequence[object], path: Path) -> None:
    lacking = [name for name in columns if name not in table]
    if lacking or unknown:
        raise DataError(f"{path}: columns are missing: {lacking}, or unknown: {unknown}; nothing was written")
    if no_texts := [name for name in _TEXTS if name in table and table[name].isna().any()]:
        raise DataError(f"{path}: empty cells in {no_texts}; an absent text is ''")
    if strange := sorted({*table["measure"]} - {*MEASURES}):
        raise DataError(f"{path}: unknown measures {strange}; results/schema.py has {', '.join(MEASURES)}")
    limits = [name for name in ("value", "low", "high", "chance") if name in table]
    for name, rows in table.groupby("measure"):
        measure = MEASURES[str(name)]
        numbers = rows[limits].to_numpy(np.float64)
        outside = (numbers < measure.least) | (numbers > measure.greatest)  # NaN is in any range
        if outside.any():
            row = rows.iloc[int(outside.any(axis=1).argmax())]
            where = ", ".join(str(row[key]) for key in KEYS)
            raise DataError(
                f"{path}: {name} of {where} is {row['value']}, and the {measure.unit} is from {measure.least} to "
                f"{measure.greatest}"
            )


def cluster_lists(table: pd.DataFrame) -> "pd.Series[Any]":
    """Return the clusters of each row, a list of "name=value", of the columns that begin with ``cluster_``.

    Where several tables were joined, a row without a cluster of some kind has its own id there, or nothing: it is left
    out.
    """
    clusters = table[cluster_columns(table)]
    names = clusters.columns.str.removeprefix(CLUSTER)
    ids = table["id"] if "id" in table else table["item"]
    lists = []
    for id_, values in zip(ids, clusters.to_numpy().tolist(), strict=True):
        named = zip(names, values, strict=True)
        lists.append([f"{name}={value}" for name, value in named if isinstance(value, str) and value != id_])
    return pd.Series(lists, index=table.index, dtype=object)


def are_shares(table: pd.DataFrame) -> "pd.Series[bool]":
    """Return whether the measure of each row is a share."""
    return table["measure"].map(lambda name: MEASURES[name].is_share).astype(bool)


def other_where_wrong(correct: "pd.Series[Any]", right: "pd.Series[Any]", wrong: "pd.Series[Any]") -> "pd.Series[Any]":
    """Return the right answer where the decision is right, the wrong one where it is wrong, and nothing for a tie."""
    return right.where(correct == 1, wrong.where(correct == 0, ""))
