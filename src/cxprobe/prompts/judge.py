"""Judged answers, by reply or by likelihood: counts, accuracies with intervals, and their spread over prompts."""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from cxprobe.errors import DataError
from cxprobe.stats import CLUSTER, clusters_by, rate_by

OUTCOMES = ("right", "wrong", "tied", "unparsed", "failed")  # tied: of likelihoods; unparsed and failed: of replies
MOST_HEADLINES = 12  # numbers of a model in metrics.json
_FIRST = ("accuracy", "low", "high", "n", "accuracy_parsed", "chance", "unparsed", "failed", "consistency")
_PAPER = "ABC"  # the letters of an item's options in the order by which others are named
_NOTHING = "C"  # in that order: there is not enough information
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
        judged: One row per question: kind (absent where all are of one), gold, answer ("" if there is none), order (of
            the options; absent where there is one), outcome, credit (1 for right, 0 for wrong or no answer, 1/k for a
            tie of k), the columns of ``by`` and one or more named ``cluster_...`` by which the items are clustered (an
            item's premise or frame, and the template of its hypothesis).
        by: The columns whose values make the groups.

    Returns:
        One row per group, sorted: the columns of ``by``; accuracy, low, high, n (replies); accuracy_parsed,
        parsed_low, parsed_high and n_parsed, of the replies that have an answer (empty texts and 0 where none has);
        chance, what the best constant answer gets (`best_constant`); macro_f1, the mean over the golds that occur
        of the F1 score, where no answer is one more wrong one; unparsed, unparsed_low, unparsed_high; and clusters and
        left_out, what the interval rests on (`cxprobe.stats.clusters_by`). Intervals are those of
        `cxprobe.stats.estimate_rate`, at 95 %.

    Raises:
        DataError: There is no column to cluster by.
    """
    keys = list(by)
    replied = _with_known_templates(judged[judged["outcome"] != "failed"].reset_index(drop=True))
    replied = replied.assign(accuracy=replied["credit"], unparsed=(replied["outcome"] == "unparsed").astype(float))
    parsed = replied[replied["outcome"] != "unparsed"].reset_index(drop=True)
    names = {"accuracy": "accuracy_parsed", "low": "parsed_low", "high": "parsed_high", "n": "n_parsed"}
    bounds = {"low": "unparsed_low", "high": "unparsed_high"}
    joined = rate_by(replied, "accuracy", keys).drop(columns="ties")
    for other in (
        rate_by(parsed, "accuracy", keys).drop(columns="ties").rename(columns=names),
        best_constant(replied, keys),
        macro_f1(_by_content(replied), keys),
        rate_by(replied, "unparsed", keys).drop(columns=["n", "ties"]).rename(columns=bounds),
        clusters_by(replied, keys),
    ):
        joined = joined.merge(other, on=keys, how="left", validate="one_to_one")
    joined["n_parsed"] = joined["n_parsed"].fillna(0).astype(int)
    for column in ("accuracy_parsed", "parsed_low", "parsed_high"):
        if joined[column].isna().any():
            joined[column] = joined[column].astype(object).where(joined[column].notna(), "")
    return joined.sort_values(keys, ignore_index=True)


def best_constant(judged: pd.DataFrame, by: Sequence[str]) -> pd.DataFrame:
    """Return what the best constant answer gets in each group: chance, for a model that looks at no item.

    That is the share of the most frequent gold answer among the questions of the group. Where options are shown in
    several orders, a model can always give the same letter, or always choose that there is not enough information,
    whichever letter that has; the better of the two counts. A group with inferences and multiple choice has a constant
    for each.

    Args:
        judged: See `prompt_accuracy`.
        by: The columns whose values make the groups.

    Returns:
        One row per group, sorted: the columns of ``by`` and chance, in (0, 1].
    """
    keys = list(by)
    kinds = judged.assign(_kind=judged.get("kind", ""))
    groups = [*keys, "_kind"]
    same_letter = kinds.groupby([*groups, "gold"]).size().groupby(level=groups).max()
    nothing = (
        _by_content(kinds).assign(_nothing=lambda table: table["gold"] == _NOTHING).groupby(groups)["_nothing"].sum()
    )
    best = pd.concat([same_letter, nothing], axis=1).max(axis=1)
    return (best.groupby(level=keys).sum() / judged.groupby(keys).size()).rename("chance").reset_index()


def consistency_over_orders(judged: pd.DataFrame, by: Sequence[str]) -> pd.DataFrame:
    """Return how often a model chooses the same option of an item in all orders in which the options were shown.

    An item without an answer in one of its orders is not consistent. One with a request that failed does not count, nor
    does one that was shown in one order. A model that always gives the same letter has 0, one that guesses 1/9 of three
    orders, one that always finds that there is not enough information 1: consistency is no accuracy.

    Args:
        judged: See `prompt_accuracy`; besides, item, asked, prompt, shots, examples and chain_of_thought, which say
            together what differs in the order alone.
        by: Of these columns, or of those that are the same for all questions about an item, those that make the groups.

    Returns:
        One row per group, sorted: the columns of ``by``; consistent, low, high, n (items, each with a prompt); right,
        how often the option is also the right one, in all orders; orders, their number; clusters and left_out. Empty
        where no item was shown in several orders.
    """
    keys = list(by)
    columns = [*keys, "consistent", "low", "high", "n", "right", "orders", "clusters", "left_out"]
    items = _items_in_orders(judged, keys)
    if items.empty:
        return pd.DataFrame(columns=columns)
    together = items.groupby(keys, as_index=False).agg(right=("right", "mean"), orders=("orders", "max"))
    table = rate_by(items, "consistent", keys).merge(together, on=keys, validate="one_to_one")
    table = table.merge(clusters_by(items, keys), on=keys, validate="one_to_one")
    return table[columns].sort_values(keys, ignore_index=True)


def _with_known_templates(judged: pd.DataFrame) -> pd.DataFrame:
    """Return judged answers without the clusters of items that have no template: such an item is one of its own."""
    column = f"{CLUSTER}wording"
    if column not in judged:
        return judged
    return judged.assign(**{column: judged[column].where(judged["template"] != "", None)})


def _items_in_orders(judged: pd.DataFrame, keys: Sequence[str]) -> pd.DataFrame:
    """Return one row per item that was shown in several orders, with a prompt: whether its answers agree."""
    if "order" not in judged:
        return judged.iloc[:0]
    shown = judged[judged["order"].fillna("") != ""]
    # What makes the groups can be anything that does not differ between an item's orders, such as the model.
    one = [*dict.fromkeys([*keys, "item", "asked", "prompt", "shots", "examples", "chain_of_thought"])]
    clusters = [column for column in shown.columns if column.startswith(CLUSTER)]
    failed = shown["outcome"] == "failed"
    items = (
        _by_content(_with_known_templates(shown))
        .assign(failed=failed, unparsed=shown["answer"] == "", right=shown["outcome"] == "right")
        .groupby(one, as_index=False)
        .agg(
            orders=("order", "nunique"),
            contents=("answer", "nunique"),
            failed=("failed", "any"),
            unparsed=("unparsed", "any"),
            right=("right", "all"),
            **{column: (column, "first") for column in clusters},
        )
    )
    several = items[(items["orders"] > 1) & ~items["failed"]].reset_index(drop=True)
    return several.assign(consistent=((several["contents"] == 1) & ~several["unparsed"]).astype(float))


def _by_content(judged: pd.DataFrame) -> pd.DataFrame:
    """Return judged answers with the letters of the paper's order as gold and answer, whatever order was shown."""
    if "order" not in judged:
        return judged
    orders = judged["order"].fillna("").tolist()
    return judged.assign(
        **{
            column: [
                order[_PAPER.index(letter)] if order and letter else letter
                for letter, order in zip(own, orders, strict=True)
            ]
            for column, own in (("gold", judged["gold"].tolist()), ("answer", judged["answer"].tolist()))
        }
    )


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
        judged: See `prompt_accuracy`; besides, the columns of questions (kind, item, construction, set, test,
            template, reading, answerable, prompt, shots, examples, chain_of_thought and, where options are shown in
            orders, order) and of ``of``.
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
        "accuracy_by_template": accuracy_by_template(judged, of),
        "accuracy_by_reading": prompt_accuracy(
            judged[judged["reading"] != ""], [*of, "construction", "set", thought, "reading"]
        ),
        "accuracy_by_test": prompt_accuracy(reasoning, [*of, "construction", "set", thought, "answerable", "test"]),
        "accuracy_answerable": prompt_accuracy(reasoning, [*of, "set", "answerable", "prompt", thought]),
        "consistency_over_orders": consistency_over_orders(reasoning, [*of, "construction", "set", "prompt", thought]),
        "spread_over_prompts": spread_over_prompts(by_prompt, [*of, *SETTING]),
    }


def accuracy_by_template(judged: pd.DataFrame, of: Sequence[str]) -> pd.DataFrame:
    """Return the accuracy of inferences by the template of the hypothesis, over all prompts and numbers of shots.

    The interval is about each template as it is: it is clustered by premise alone.

    Args:
        judged: See `prompt_tables`. Items without a template are left out.
        of: The first columns, such as model and asked.

    Returns:
        The rows of `prompt_accuracy` by ``of``, construction, set, chain_of_thought, template and relations, the gold
        answers that the template has, such as "0" or, in a challenge set, "0, 1".
    """
    keys = [*of, "construction", "set", "chain_of_thought", "template"]
    named = judged[judged["template"] != ""]
    golds = named.groupby(keys)["gold"].agg(lambda own: ", ".join(sorted(set(own)))).rename("relations").reset_index()
    rates = prompt_accuracy(named, keys).merge(golds, on=keys, validate="one_to_one")
    return rates[[*keys, "relations", *(name for name in rates if name not in {*keys, "relations"})]]


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
        accuracy (of all sets together) with low, high and n, unless every request failed; accuracy_parsed (where any
        reply has an answer) and n_parsed; chance, what the best constant answer gets; tie_rate, macro_f1 and unparsed;
        failed, the share of all questions; consistency over orders of the options with _low, _high and n_consistency,
        where there are several; set.<set> with _low and _high; and, where there are several ways of asking,
        score.<asked>.
    """
    own = judged[judged["asked"] == asked]
    outcomes = count_outcomes(own, ["asked"]).iloc[0]
    metrics: dict[str, Any] = {}
    for row in prompt_accuracy(own, ["asked"]).itertuples():
        metrics = {"accuracy": row.accuracy, "low": row.low, "high": row.high, "n": row.n}
        if row.n_parsed:
            metrics |= {"accuracy_parsed": row.accuracy_parsed}
        metrics |= {"n_parsed": row.n_parsed, "chance": row.chance}
        metrics |= {"tie_rate": outcomes["tied"] / row.n, "macro_f1": row.macro_f1, "unparsed": row.unparsed}
    metrics["failed"] = outcomes["failed"] / outcomes["questions"]
    for row in consistency_over_orders(own, ["asked"]).itertuples():
        metrics |= {"consistency": row.consistent, "consistency_low": row.low, "consistency_high": row.high}
        metrics |= {"n_consistency": row.n}
    for row in prompt_accuracy(own, ["set"]).itertuples():
        metrics |= {f"set.{row.set}": row.accuracy, f"set.{row.set}_low": row.low, f"set.{row.set}_high": row.high}
    if judged["asked"].nunique() > 1:
        by_score = prompt_accuracy(judged, ["asked"])
        metrics |= {f"score.{row.asked}": row.accuracy for row in by_score.itertuples()}
    return {name: float(value) for name, value in metrics.items()}


def prompt_headline(metrics: Mapping[str, float], most: int = MOST_HEADLINES) -> dict[str, float]:
    """Return the most important numbers of `prompt_metrics`: no intervals of parts, sets before the other rates."""
    names = [name for name in metrics if not name.endswith(("_low", "_high"))]
    ranked = sorted(names, key=lambda name: (name not in _FIRST, not name.startswith("set."), names.index(name)))
    return {name: metrics[name] for name in ranked[:most]}


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
