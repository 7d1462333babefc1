"""Judged answers, by reply or by likelihood: counts, accuracies with intervals, and their spread over prompts."""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from cxprobe.errors import DataError
from cxprobe.stats import rate_by

OUTCOMES = ("right", "wrong", "tied", "unparsed", "failed")  # tied: of likelihoods; unparsed and failed: of replies
MOST_HEADLINES = 12  # numbers of a model in metrics.json
SETTING = ["set", "shots", "examples", "chain_of_thought"]


def count_outcomes(judged: pd.DataFrame, by: Sequence[str]) -> pd.DataFrame:
    """Count the outcomes of the questions.

    Args:
        judged: One row per question: outcome, and the columns of ``by``.
        by: The columns whose values make the groups, such as construction and prompt.

    Returns:
        One row per group, sorted: the columns of ``by``, questions, right, wrong, tied, unparsed and failed; the last
        five add up to questions.

    Raises:
        DataError: An outcome is unknown.
    """
    unknown = sorted(set(judged["outcome"]) - set(OUTCOMES))
    if unknown:
        raise DataError(f"outcome '{unknown[0]}' is unknown (allowed: {', '.join(OUTCOMES)})")
    each = {outcome: (judged["outcome"] == outcome).astype(int) for outcome in OUTCOMES}
    counted = judged.assign(questions=1, **each)
    return counted.groupby(list(by), as_index=False)[["questions", *OUTCOMES]].sum()


def prompt_accuracy(judged: pd.DataFrame, by: Sequence[str]) -> pd.DataFrame:
    """Estimate how often answers are right.

    A reply without an answer is not right; it is part of n, and its rate is given too. A request that failed is no
    reply and counts in neither; a group whose requests all failed has no row.

    Args:
        judged: One row per question: gold, answer ("" if there is none), outcome, credit (1 for right, 0 for wrong or
            no answer, 1/k for a tie of k), the columns of ``by`` and one or more named ``cluster_...`` by which the
            items are clustered (an item's premise or frame).
        by: The columns whose values make the groups.

    Returns:
        One row per group, sorted: the columns of ``by``; accuracy, low, high, n (replies); macro_f1, the mean over the
        gold answers that occur of the F1 score, where no answer is one more wrong one; unparsed, unparsed_low,
        unparsed_high. Intervals are those of `cxprobe.stats.estimate_rate`, at 95 %.

    Raises:
        DataError: There is no column to cluster by.
    """
    keys = list(by)
    replied = judged[judged["outcome"] != "failed"]
    replied = replied.assign(accuracy=replied["credit"], unparsed=(replied["outcome"] == "unparsed").astype(float))
    right = rate_by(replied, "accuracy", keys).drop(columns="ties")
    bounds = {"low": "unparsed_low", "high": "unparsed_high"}
    unparsed = rate_by(replied, "unparsed", keys).drop(columns=["n", "ties"]).rename(columns=bounds)
    joined = right.merge(macro_f1(replied, keys), on=keys, validate="one_to_one")
    joined = joined.merge(unparsed, on=keys, validate="one_to_one")
    return joined.sort_values(keys, ignore_index=True)


def macro_f1(judged: pd.DataFrame, by: Sequence[str]) -> pd.DataFrame:
    """Return, for each group of replies, the mean F1 score over the gold answers that occur in it.

    Args:
        judged: One row per reply: gold, answer ("" if there is none) and the columns of ``by``.
        by: The columns whose values make the groups.

    Returns:
        One row per group, sorted: the columns of ``by`` and macro_f1, in [0, 1].
    """
    keys = list(by)
    golds = judged.groupby([*keys, "gold"]).size()
    answers = judged.groupby([*keys, "answer"]).size().reindex(golds.index, fill_value=0)
    right = judged[judged["gold"] == judged["answer"]]
    hits = right.groupby([*keys, "gold"]).size().reindex(golds.index, fill_value=0)
    f1 = 2 * hits / (golds + answers)  # the harmonic mean of hits / golds and hits / answers
    return f1.groupby(level=keys).mean().rename("macro_f1").reset_index()


def spread_over_prompts(accuracies: pd.DataFrame, by: Sequence[str]) -> pd.DataFrame:
    """Return how much the accuracy depends on the prompt.

    Args:
        accuracies: What `prompt_accuracy` returns with a column prompt, one row per prompt and group.
        by: The columns whose values make the groups, without the prompt.

    Returns:
        One row per group: the columns of ``by``, prompts (their number), lowest, mean, highest and range.

    Raises:
        DataError: A group has a prompt twice.
    """
    keys = [*by, "prompt"]
    if accuracies.duplicated(keys).any():
        raise DataError(f"a prompt occurs twice in one group of {', '.join(by)}; name every column that differs in by")
    spread = accuracies.groupby(list(by), as_index=False).agg(
        prompts=("prompt", "size"), lowest=("accuracy", "min"), mean=("accuracy", "mean"), highest=("accuracy", "max")
    )
    return spread.assign(range=spread["highest"] - spread["lowest"])


def prompt_tables(judged: pd.DataFrame, of: Sequence[str]) -> dict[str, pd.DataFrame]:
    """Return the tables of judged answers by name.

    Args:
        judged: See `prompt_accuracy`; besides, the columns of questions (kind, construction, set, test, answerable,
            prompt, shots, examples, chain_of_thought) and of ``of``.
        of: The first columns of every table, such as model and asked.
    """
    reasoning = judged[judged["kind"] == "reasoning"]
    by_prompt = prompt_accuracy(judged, [*of, *SETTING, "prompt"])
    thought = "chain_of_thought"
    return {
        "outcomes": count_outcomes(judged, [*of, "construction", *SETTING, "prompt"]),
        "accuracy_by_construction": prompt_accuracy(judged, [*of, "construction", *SETTING]),
        "accuracy_by_setting": prompt_accuracy(judged, [*of, *SETTING]),
        "accuracy_by_prompt": by_prompt,
        "accuracy_by_test": prompt_accuracy(reasoning, [*of, "construction", thought, "answerable", "test"]),
        "accuracy_answerable": prompt_accuracy(reasoning, [*of, "answerable", "prompt", thought]),
        "spread_over_prompts": spread_over_prompts(by_prompt, [*of, *SETTING]),
    }


def reasoning_accuracy(judged: pd.DataFrame, of: Sequence[str]) -> pd.DataFrame:
    """Return the accuracy of multiple-choice items by construction, and then of all constructions ("all").

    Args:
        judged: See `prompt_tables`.
        of: The first columns, such as model and asked.
    """
    reasoning = judged[judged["kind"] == "reasoning"]
    each = prompt_accuracy(reasoning, [*of, "construction", "chain_of_thought"])
    together = prompt_accuracy(reasoning, [*of, "chain_of_thought"]).assign(construction="all")
    return pd.concat([each, together], ignore_index=True)


def prompt_metrics(judged: pd.DataFrame, asked: str) -> dict[str, float]:
    """Return the numbers of one model by name, the most important first.

    Args:
        judged: See `prompt_accuracy`; besides, the columns asked and set.
        asked: The way of asking that decides, a value of the column asked; the others have only their accuracy.

    Returns:
        accuracy (of all sets together) with low, high and n, unless every request failed; tie_rate, macro_f1 and
        unparsed; failed, the share of all questions; set.<set> with _low and _high; and, where there are several ways
        of asking, score.<asked>.
    """
    own = judged[judged["asked"] == asked]
    outcomes = count_outcomes(own, ["asked"]).iloc[0]
    metrics: dict[str, Any] = {}
    for row in prompt_accuracy(own, ["asked"]).itertuples():
        metrics = {"accuracy": row.accuracy, "low": row.low, "high": row.high, "n": row.n}
        metrics |= {"tie_rate": outcomes["tied"] / row.n, "macro_f1": row.macro_f1, "unparsed": row.unparsed}
    metrics["failed"] = outcomes["failed"] / outcomes["questions"]
    for row in prompt_accuracy(own, ["set"]).itertuples():
        metrics |= {f"set.{row.set}": row.accuracy, f"set.{row.set}_low": row.low, f"set.{row.set}_high": row.high}
    if judged["asked"].nunique() > 1:
        by_score = prompt_accuracy(judged, ["asked"])
        metrics |= {f"score.{row.asked}": row.accuracy for row in by_score.itertuples()}
    return {name: float(value) for name, value in metrics.items()}


def prompt_headline(metrics: Mapping[str, float], most: int = MOST_HEADLINES) -> dict[str, float]:
    """Return the first of the numbers of `prompt_metrics`, without the intervals of the sets."""
    names = [name for name in metrics if not name.endswith(("_low", "_high"))]
    return {name: metrics[name] for name in names[:most]}


def accuracy_by_shots(judged: pd.DataFrame, asked: str) -> dict[str, list[tuple[int, float]]]:
    """Return, for each set, the accuracy by the number of shots, over all prompts and sources of examples.

    Args:
        judged: See `prompt_metrics`.
        asked: See `prompt_metrics`.

    Returns:
        "by_shots.<set>" -> (shots, accuracy) pairs.
    """
    table = prompt_accuracy(judged[judged["asked"] == asked], ["set", "shots"])
    return {
        f"by_shots.{name}": list(zip(rows["shots"].tolist(), rows["accuracy"].tolist(), strict=True))
        for name, rows in table.groupby("set", sort=False)
    }
