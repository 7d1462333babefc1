"""From judged answers to numbers: counts, accuracies with intervals, and their spread over prompts."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from sklearn.metrics import f1_score

from cxprobe.errors import DataError
from cxprobe.judging.replies import OUTCOMES
from cxprobe.stats import clusters_of, estimate_rate


def count_outcomes(judged: pd.DataFrame, by: Sequence[str]) -> pd.DataFrame:
    """Count what became of the questions.

    Args:
        judged: One row a question: outcome, and the columns of ``by``.
        by: What is counted apart, such as construction and prompt.

    Returns:
        One row a group, in the order of the values: the columns of ``by``, asked, right, wrong, tied, unparsed and
        failed; the last five add up to asked.

    Raises:
        DataError: An outcome is unknown.
    """
    unknown = sorted(set(judged["outcome"]) - set(OUTCOMES))
    if unknown:
        raise DataError(f"outcome '{unknown[0]}' is unknown (allowed: {', '.join(OUTCOMES)})")
    counted = judged.assign(asked=1, **{outcome: (judged["outcome"] == outcome).astype(int) for outcome in OUTCOMES})
    return counted.groupby(list(by), as_index=False)[["asked", *OUTCOMES]].sum()


def accuracy(judged: pd.DataFrame, by: Sequence[str]) -> pd.DataFrame:
    """Estimate how often answers are right.

    A reply without an answer is not right; it stays in the denominator, and its rate stands beside. A request that
    failed is no reply and counts in neither; a group all of whose requests failed has no row.

    Args:
        judged: One row a question: gold, answer ("" if there is none), outcome, credit (1 for right, 0 for wrong or no
            answer, 1/k for a tie of k), the columns of ``by`` and one or more named ``cluster_...`` by which the items
            are clustered (an item's premise or frame).
        by: What is measured apart.

    Returns:
        One row a group: the columns of ``by``; accuracy, low, high, n (replies); macro_f1, the mean over the gold
        answers that occur of the F1 score, where no answer is one more wrong one; unparsed, unparsed_low,
        unparsed_high. Intervals are those of `cxprobe.stats.estimate_rate`, at 95 %.

    Raises:
        DataError: There is no column to cluster by.
    """
    replied = judged[judged["outcome"] != "failed"].reset_index(drop=True)
    clusters = clusters_of(replied)  # (n, ways)
    rows = []
    for names, group in replied.groupby(list(by)):
        ways = clusters[group.index]
        right = estimate_rate(group["credit"].to_numpy(dtype=np.float64), ways)
        unparsed = estimate_rate(np.asarray(group["outcome"] == "unparsed", dtype=np.float64), ways)
        rows.append(
            dict(zip(by, names, strict=True))
            | {"accuracy": right.value, "low": right.low, "high": right.high, "n": right.n}
            | {"macro_f1": macro_f1(group)}
            | {"unparsed": unparsed.value, "unparsed_low": unparsed.low, "unparsed_high": unparsed.high}
        )
    numbers = ["accuracy", "low", "high", "n", "macro_f1", "unparsed", "unparsed_low", "unparsed_high"]
    return pd.DataFrame(rows, columns=[*by, *numbers])


def macro_f1(judged: pd.DataFrame) -> float:
    """Return the mean F1 score, in [0, 1], over the gold answers that occur.

    Args:
        judged: One row a reply: gold, and answer ("" if there is none).
    """
    labels = sorted(judged["gold"].unique())
    return float(f1_score(judged["gold"], judged["answer"], labels=labels, average="macro", zero_division=0))


def spread_over_prompts(accuracies: pd.DataFrame, by: Sequence[str]) -> pd.DataFrame:
    """Return how much the accuracy depends on the prompt.

    Args:
        accuracies: What `accuracy` returns with a column prompt, one row a prompt and group.
        by: The groups, without the prompt.

    Returns:
        One row a group: the columns of ``by``, prompts (how many), lowest, mean, highest and range.

    Raises:
        DataError: A group has a prompt twice.
    """
    keys = [*by, "prompt"]
    if accuracies.duplicated(keys).any():
        raise DataError(f"a prompt stands twice in one group of {', '.join(by)}; name all that differs in by")
    spread = accuracies.groupby(list(by), as_index=False).agg(
        prompts=("prompt", "size"), lowest=("accuracy", "min"), mean=("accuracy", "mean"), highest=("accuracy", "max")
    )
    return spread.assign(range=spread["highest"] - spread["lowest"])
