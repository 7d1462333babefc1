"""From the scores of the minimal pairs of others to accuracies, by the groups that they come with."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from cxprobe.errors import DataError
from cxprobe.judge.balance import pooled
from cxprobe.judge.pairs import JudgedPairs, credit_pairs, scored_pairs
from cxprobe.judge.scores import CONTEXT_SCORES, SCORES, ScoresOfTexts
from cxprobe.params import Benchmark
from cxprobe.records import CLUSTER
from cxprobe.stats import rate_by, with_tie_rate


def judge_benchmark(
    name: str, pairs: pd.DataFrame, schemes: Mapping[str, ScoresOfTexts], benchmark: Benchmark, scheme: str
) -> JudgedPairs:
    """Decide every pair of a benchmark by its own score and by every score of a whole text.

    Args:
        name: The benchmark, for messages.
        pairs: See `cxprobe.judge.pairs.judge_pairs`.
        schemes: Scheme -> the scored texts.
        benchmark: The score that decides, the columns to report by, and the format: a pair of a paired-focus table is
            right if it shifts from its control (`paired_focus_shifts`).
        scheme: The scheme that decides for a masked model.

    Raises:
        DataError: The pairs lack a column to report by, the score needs a context that some pairs lack, or see
            `cxprobe.judge.scores.score_pairs`.
    """
    _require_decidable(name, pairs, benchmark)
    scored = scored_pairs(pairs, schemes, [*dict.fromkeys([benchmark.score, *SCORES])])
    if benchmark.format == "paired_focus":
        by_score = scored.groupby(["scheme", "score"], sort=False)
        scored = pd.concat([paired_focus_shifts(own) for _, own in by_score], ignore_index=True)
    return credit_pairs(pairs, scored, scheme, benchmark.score, benchmark.by)


def benchmark_rates(items: pd.DataFrame, by: Sequence[str]) -> pd.DataFrame:
    """Return the accuracy over all judged pairs in balanced cells, as group "all", and in each group.

    Args:
        items: Judged pairs.
        by: The columns that make the groups; none for no groups.

    Returns:
        group, accuracy, low, high, n, ties and tie_rate.
    """
    return with_tie_rate(rate_by(with_groups(items, by), "accuracy", ["group"]))


def benchmark_scores(scores: pd.DataFrame, by: Sequence[str]) -> pd.DataFrame:
    """Return the accuracy by every scheme and score, over all judged pairs and in each group.

    Args:
        scores: `cxprobe.judge.JudgedPairs.scores` of a benchmark.
        by: The columns that make the groups, see `benchmark_rates`.

    Returns:
        group, scheme, score, accuracy, low, high, n, ties and tie_rate.
    """
    return with_tie_rate(rate_by(with_groups(scores, by), "accuracy", ["group", "scheme", "score"]))


def with_groups(items: pd.DataFrame, by: Sequence[str]) -> pd.DataFrame:
    """Return judged pairs with a column group, twice: as "all", then each with the name of its group.

    Groups in which one answer is always right (`cxprobe.judge.balance`) stand by themselves and are not in "all".

    Args:
        items: Judged pairs.
        by: The columns that make the groups; their values are joined by ", ". None for no groups.
    """
    parts = [pooled(items).assign(group="all")]
    if by:
        parts.append(items.assign(group=[", ".join(map(str, values)) for values in items[list(by)].to_numpy()]))
    return pd.concat(parts, ignore_index=True)


def construction_of(group: str) -> str:
    """Return the name of a group as the construction of a run, which is a part of paths; "none" for an empty text."""
    return group.replace("/", "_") or "none"


def paired_focus_shifts(scored: pd.DataFrame) -> pd.DataFrame:
    """Return the comparisons of the paired-focus test, one an item, with the shift as their margin.

    A pair's margin is the log odds of the word that the construction makes right. The comparison is right where they
    are higher after the construction than after the control, which joins the same foci with "or".

    Args:
        scored: Scored pairs of a paired-focus table, by one score: item, margin, and row, "construction" or "control".

    Returns:
        The rows of the construction, whose ``margin`` is now the shift against the control; chance is 0.5.

    Raises:
        DataError: An item does not have exactly one row of the construction and one of the control.

    Source:
        The repository WesScivetti/Meaning_Alone: the share of comparisons whose log odds shift the expected way.
    """
    construction, control = (
        scored[scored["row"] == row].set_index("item").sort_index() for row in ("construction", "control")
    )
    if not construction.index.is_unique or not construction.index.equals(control.index):
        raise DataError("every item needs one row of the construction and one of the control; read the table whole")
    shift = construction["margin"].to_numpy(np.float64) - control["margin"].to_numpy(np.float64)
    return construction.assign(margin=shift).reset_index()


def _require_decidable(name: str, pairs: pd.DataFrame, benchmark: Benchmark) -> None:
    """Refuse settings under which pairs would silently be missing from the accuracies."""
    lacking = [column for column in benchmark.by if column not in pairs.columns]
    if lacking:
        known = ", ".join(column for column in pairs.columns if not column.startswith(CLUSTER))
        raise DataError(f"benchmarks.{name}.by names {', '.join(lacking)}; the pairs only have the columns {known}")
    bare = pairs.loc[pairs["context"] == "", "id"].tolist()
    if bare and benchmark.score in CONTEXT_SCORES:
        raise DataError(
            f"benchmarks.{name}.score is {benchmark.score}, which needs a context; {len(bare)} of {len(pairs)} pairs "
            f"have none, such as {bare[0]}; take another score"
        )
