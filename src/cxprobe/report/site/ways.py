"""The same minimal pairs asked in three ways: how often each way is right, and how far the ways agree."""

from collections.abc import Mapping

import pandas as pd

from cxprobe.report.site.findings import Blind, Cast, Finding, Question
from cxprobe.report.site.words import number
from cxprobe.run.params import Params
from cxprobe.stats import Estimate

SOURCE = "own"  # of the runs
_BLIND = "words"  # the way of a probe that is given counts of words and no vectors
WAYS: Mapping[str, tuple[Question, str]] = {
    "recognised": ("form", "the same pairs: probe trained on other frames"),
    "expected": ("meaning", "the same pairs: likelihood"),
    "said": ("words", "the same pairs: asked in words"),
}
"""Way -> the question that it answers, and how the report calls it."""


def tables_of_ways(params: Params) -> list[str]:
    """Return the paths, relative to results/ and without suffix, of the tables about pairs asked in three ways."""
    grid = params.grid.ways
    return [f"{_folder(model, name)}/{stem}" for model in grid.models for name in grid.constructions for stem in _STEMS]


def findings_of_ways(construction: str, tables: Mapping[str, pd.DataFrame], cast: Cast) -> list[Finding]:
    """Return what each model gets on the same pairs in each way; the blind model is a probe on counts of words.

    Args:
        construction: Its folder.
        tables: Path relative to results/, without suffix -> the table.
        cast: The models.
    """
    found = []
    for model in [*cast.shown, *cast.twins]:
        path = f"{_folder(model, construction)}/ways"
        if path not in tables:
            continue
        rates = {str(row["way"]): _rate(row) for _, row in tables[path].iterrows()}
        blind = Blind("counts of words", rates[_BLIND]) if _BLIND in rates else None
        found += [
            Finding(
                construction=construction,
                model=model,
                question=question,
                way=called,
                rate=rates[way],
                chance=0.5,
                blind=blind,
                table=f"{path}.csv",
                stage="judge_ways",
                source=SOURCE,
                headline=False,
            )
            for way, (question, called) in WAYS.items()
            if way in rates
        ]
    return found


def agreement_of(
    construction: str, tables: Mapping[str, pd.DataFrame], cast: Cast
) -> tuple[list[str], list[list[str]], str]:
    """Return how far the verdicts of every two ways agree on the same pairs: a head, rows, and the first table's path.

    Args:
        construction: Its folder.
        tables: See `findings_of_ways`.
        cast: The models.

    Returns:
        Without rows if the construction was not asked about in several ways.
    """
    head = ["model", "first", "second", "kappa", "pairs", "both right", "first alone", "second alone", "both wrong"]
    rows, source = [], ""
    for model in [*cast.shown, *cast.twins]:
        path = f"{_folder(model, construction)}/agreement"
        if path not in tables:
            continue
        source = source or f"{path}.csv"
        rows += [[cast.label(model), *_agreement(row)] for _, row in tables[path].iterrows()]
    return head, rows, source


_STEMS = ("ways", "agreement")
_COUNTS = ("both_right", "first_alone", "second_alone", "both_wrong")


def _agreement(row: "pd.Series[float]") -> list[str]:
    known = pd.notna(row["kappa"]) and pd.notna(row["low"])
    kappa = f"{row['kappa']:.2f} [{row['low']:.2f}, {row['high']:.2f}]" if known else "not defined"
    counts = [str(int(row[name])) for name in _COUNTS]
    return [str(row["first"]), str(row["second"]), kappa, number(row["n"]), *counts]


def _folder(model: str, construction: str) -> str:
    return f"judge_ways/{model}/runs/{construction}/{SOURCE}"


def _rate(row: "pd.Series[float]") -> Estimate:
    return Estimate(float(row["accuracy"]), float(row["low"]), float(row["high"]), int(row["n"]))
