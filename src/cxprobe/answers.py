"""Answers from elsewhere, as tables: replies, choices, scores of pairs and numbers; evaluated as answers of models are.

What is asked of a table are its columns, and what they are called is said by whoever calls. Nothing is filled in: an
answer to no item, a second one and a missing one are faults with their rows.
"""

import warnings
from collections.abc import Iterator, Mapping, Sequence
from math import nan, sqrt

import numpy as np
import pandas as pd
from scipy.special import stdtrit

from cxprobe.errors import DataError
from cxprobe.files.schema import suggest
from cxprobe.files.texts import require_columns, require_texts
from cxprobe.models.files import ANNOTATOR, FILE, MOST_NAMED, joined, numbers
from cxprobe.models.replies import evaluate_reply, read_answer
from cxprobe.seeding import SEED
from cxprobe.stats import CLUSTER, cluster_columns, clusters_by, correlation, credits_of_margins, mean_by, rate_by
from cxprobe.tasks.prompts.params import RELATION_OF

AGAINST = "against"
"""The column that says which wrong text a row is about."""
KINDS = {"reply": "a reply", "chosen": "a choice", "good_score": "the score of a right text", "number": "a number"}
"""Column that a table of answers of a kind has, where no other is named -> what it holds."""
_SHARED = ("premise", "frame", "item")  # what rows share, the first that is there, where nobody says it


def evaluate(
    answers: pd.DataFrame,
    items: pd.DataFrame | None = None,
    *,
    by: Sequence[str] = (),
    reply: str | None = None,
    chosen: str | None = None,
    good: str | None = None,
    number: str | None = None,
    bad: Sequence[str] = ("bad_score",),
    gold: str = "gold",
    condition: str | None = None,
    less: Sequence[str] = (),
    rating: str | None = None,
    cluster: Sequence[str] = (),
    id: str = "id",
    chain_of_thought: bool = False,
) -> pd.DataFrame:
    """Return rates of answers that somebody else got: replies, choices, scores of pairs, or numbers.

    Which of the four is said by ``reply``, ``chosen``, ``good`` or ``number``, the column that holds them; None for the
    one of "reply", "chosen", "good_score" and "number" that is there.

    Args:
        answers: One row an answer. A column ``annotator``, or ``file``, says whose it is.
        items: What the answers are to: the column of ``id``, and columns that the answers lack, such as the right
            answers. Then every item has one answer of everybody. None if the answers have all columns.
        by: Columns by whose values the rates are given too.
        reply: Replies in words, of which the right answer is a relation: 0 entailment, 1 neutral, 2 contradiction; or a
            letter, where columns option_a, option_b ... have the options. An empty one is a request that failed.
        chosen: What somebody chose: 1 of the column option_1 ..., else a value of ``gold``; empty for no choice.
        good: Scores of the right texts, of which higher is more probable.
        number: Any numbers, such as surprisals of a marked word.
        bad: With ``good``: the scores of wrong texts; a pair with each.
        gold: With ``reply`` and ``chosen``: the right answers.
        condition: With ``number``: what the numbers are given by.
        less: With ``condition``: conditions, each of which is subtracted from all others.
        rating: With ``number``: other numbers, with which Spearman's correlation is computed.
        cluster: What rows share, for intervals; with ``number`` the first one is the unit, such as the item or the
            verb. Empty for columns that begin with ``cluster_``, else the first of premise, frame, item and id.
        id: What names an item.
        chain_of_thought: With ``reply``: whether the model was asked to reason first.

    Returns:
        One row a rate: measure, the columns of ``by`` ("" for all together), value, low and high (95 % interval), n,
        clusters (how many the interval is over), and chance (NaN where it is not known). Measures of replies: accuracy,
        accuracy_parsed, unparsed, failed. Of choices: accuracy, failed and, where an item has several, majority (of
        items: whether more than half chose the right answer) and agreement (Krippendorff's alpha, no interval). Of
        scores: accuracy and, where an item has several pairs, right_in_all, the share of items that are right in all.
        Of numbers: mean, less, spearman, and spearman_of_means, that of the means of units.

    Raises:
        DataError: A column is missing, a cell is not allowed, or an answer is to no item, given twice or missing; with
            the rows, from 1 below the header.

    Source:
        Krippendorff 2011 (alpha); Misra & Mahowald 2024 (right in all corruptions).

    Example:
        >>> import cxprobe, pandas as pd
        >>> rows = {"id": ["1", "2"], "premise": ["a", "b"], "gold": ["0", "2"], "reply": ["Answer: 0", "1"]}
        >>> cxprobe.evaluate(pd.DataFrame(rows))["value"].tolist()
        [0.5, 0.5, 0.0, 0.0]
    """
    given = {"reply": reply, "chosen": chosen, "good_score": good, "number": number}
    table = answers.reset_index(drop=True)
    named = {kind: column for kind, column in given.items() if column}
    named = named or {kind: kind for kind in given if kind in table}
    if len(named) != 1:
        kinds = ", ".join(f"{kind} ({what})" for kind, what in KINDS.items())
        raise DataError(
            f"answers: say which one column has them, of {kinds}; the columns are {', '.join(map(str, table))}"
        )
    [(kind, column)] = named.items()
    whose = [name for name in (FILE, ANNOTATOR) if name in table]
    table = joined(table, items, id, [*whose, *([condition] if condition else [])])
    texts = {"reply": [gold], "chosen": [gold], "good_score": [], "number": [condition] if condition else []}[kind]
    others = [*(bad if kind == "good_score" else []), *([rating] if rating else [])]
    require_columns(table, [column, *by, *cluster, *others], "answers")
    require_texts(table, texts, "answers")
    if cluster or not cluster_columns(table):
        shared = cluster or [name for name in (*_SHARED, id) if name in table][:1]  # without any, each row is alone
        columns = {f"{CLUSTER}{name}": table[name] for name in shared} or {f"{CLUSTER}row": table.index.to_series()}
        if ANNOTATOR in whose and not cluster:
            columns[f"{CLUSTER}{ANNOTATOR}"] = table[ANNOTATOR]
        table = table.assign(**columns)
    if kind == "number":
        return _of_numbers(table, column, condition, less, rating, by)
    if kind == "reply":
        parts = [*_of_replies(table, column, gold, chain_of_thought)]
    elif kind == "chosen":
        parts = [*_of_choices(table, column, gold, id)]
    else:
        parts = [*_of_scores(table, column, bad, id, [*whose, *by])]
    levels = [*by, *([AGAINST] if kind == "good_score" and len(bad) > 1 else [])]
    divided = [(part, [name for name in levels if name in part]) for part in parts]
    rates = [_rates(part, []) for part in parts] + [_rates(part, within) for part, within in divided if within]
    if kind == "chosen":
        rates += _agreements(table, column, id, by)
    return _in_order(rates, levels)


def _of_replies(table: pd.DataFrame, column: str, gold: str, thought: bool) -> Iterator[pd.DataFrame]:
    """Yield the credits of each measure of replies."""
    outcomes = []
    for row, cells in enumerate(table.to_dict("records"), start=1):
        letters = {str(name)[-1].upper(): str(cells[name]) for name in cells if str(name).startswith("option_")}
        answers: Mapping[str, str] = letters or RELATION_OF
        right = read_answer(str(cells[gold]), answers, chain_of_thought=False)
        if not right:
            allowed = ", ".join(f"{symbol} ({words})" for symbol, words in answers.items())
            raise DataError(f"answers, row {row}: {gold} is {cells[gold]!r} (allowed: {allowed})")
        text = cells[column] if isinstance(cells[column], str) and cells[column].strip() else None
        outcomes.append(evaluate_reply(text, right, answers, chain_of_thought=thought)[1])
    outcome = pd.Series(outcomes)
    if unread := [str(row) for row, one in enumerate(outcomes, start=1) if one == "unparsed"]:
        rows = ", ".join(unread[:MOST_NAMED]) + (", ..." if len(unread) > MOST_NAMED else "")
        warnings.warn(f"answers: no answer could be read in {len(unread)} replies, rows {rows}", stacklevel=4)
    replied, chance = outcome != "failed", 1 / len(answers)
    measured = table.assign(value=(outcome == "right").astype(float))
    yield measured[replied].assign(measure="accuracy", chance=chance)
    yield measured[replied & (outcome != "unparsed")].assign(measure="accuracy_parsed", chance=chance)
    yield table[replied].assign(measure="unparsed", value=(outcome == "unparsed").astype(float), chance=nan)
    yield table.assign(measure="failed", value=(~replied).astype(float), chance=nan)


def _of_choices(table: pd.DataFrame, column: str, gold: str, key: str) -> Iterator[pd.DataFrame]:
    """Yield the credits of each measure of choices."""
    numbered = [name.removeprefix("option_") for name in map(str, table) if name.startswith("option_")]
    chosen, options = table[column].fillna(""), numbered or sorted({*table[gold]})
    for row, cell in enumerate(chosen, start=1):
        if cell and cell not in options:
            raise DataError(f"answers, row {row}: {column} is {cell!r}{suggest(cell, options)}")
    table = table.assign(chance=pd.to_numeric(table["chance"]) if "chance" in table else nan)
    made = table[chosen != ""]
    right = made.assign(value=(made[column] == made[gold]).astype(float))
    yield right.assign(measure="accuracy")
    if key in made and made[key].duplicated().any():
        of_one = [f"{CLUSTER}{ANNOTATOR}", FILE, ANNOTATOR]  # a majority is nobody's
        first = right.drop_duplicates(key).drop(columns=of_one, errors="ignore")
        share = first[key].map(right.groupby(key)["value"].mean())
        yield first.assign(measure="majority", value=(share > 1 / 2).astype(float))
    yield table.assign(measure="failed", value=(chosen == "").astype(float), chance=nan)


def _agreements(table: pd.DataFrame, column: str, key: str, by: Sequence[str]) -> Iterator[pd.DataFrame]:
    """Yield Krippendorff's alpha of nominal choices, where items have several; it has no interval."""
    made = table[table[column].fillna("") != ""]
    groups = [((), made), *(made.groupby([*by], sort=False) if by else ())]
    for names, of_group in groups if key in made else ():
        counts = pd.crosstab(of_group[key], of_group[column]).to_numpy(np.float64)  # (items, options)
        counts = counts[counts.sum(1) > 1]
        n, total = counts.sum(1), counts.sum()
        if len(counts):
            observed = ((n**2 - (counts**2).sum(1)) / (n - 1)).sum() / total
            expected = (total**2 - (counts.sum(0) ** 2).sum()) / (total * (total - 1))
            cells = {"value": 1 - observed / expected if expected else nan, "n": len(n), "clusters": len(n)}
            where = dict(zip(by, names, strict=False))
            yield pd.DataFrame([{"measure": "agreement", **where, **cells, "low": nan, "high": nan, "chance": 0.0}])


def _of_scores(
    table: pd.DataFrame, good: str, bad: Sequence[str], key: str, within: Sequence[str]
) -> Iterator[pd.DataFrame]:
    """Yield the credits of pairs, and of items that have several."""
    right = numbers(table, good)
    parts = [table.assign(margin=right - numbers(table, name), **{AGAINST: name}) for name in bad]
    pairs = pd.concat(parts, ignore_index=True)
    pairs = pairs.assign(value=credits_of_margins(pairs["margin"]))
    yield pairs.assign(measure="accuracy", chance=1 / 2)
    item = "item" if "item" in pairs and len(bad) == 1 else key
    if item in pairs and (len(bad) > 1 or pairs[item].duplicated().any()):
        of_item = pairs.assign(tie=pairs["margin"] == 0).groupby([item, *dict.fromkeys(within)], sort=False)
        least, ties = of_item["margin"].min(), of_item["tie"].sum()
        share = np.where(least > 0, 1.0, np.where(least == 0, 1 / (1 + ties), 0.0))
        first = of_item.head(1).assign(**{AGAINST: "all"})
        yield first.assign(measure="right_in_all", value=share, chance=1 / (1 + of_item.size().to_numpy()))


def _of_numbers(
    table: pd.DataFrame,
    column: str,
    condition: str | None,
    less: Sequence[str],
    rating: str | None,
    by: Sequence[str],
) -> pd.DataFrame:
    """Return means, differences of conditions, and correlations of numbers."""
    unit = cluster_columns(table)[0]
    table = table.assign(value=numbers(table, column), measure="mean", chance=nan)
    levels = [*by, *([condition] if condition else [])]
    if rating:
        table = table.assign(rating=numbers(table, rating))
        parts: list[pd.DataFrame] = []
        for names, of_group in [((), table), *(table.groupby(levels, sort=False) if levels else ())]:
            means = of_group.groupby(unit)[["value", "rating"]].mean()
            for measure, rows in {"spearman": of_group, "spearman_of_means": means.reset_index()}.items():
                found = correlation(rows["value"], rows["rating"], rows[unit], SEED)
                where = {"measure": measure, **dict(zip(levels, names, strict=False))}
                parts.append(pd.DataFrame([where | found | {"clusters": len(means), "chance": 0.0}]))
        return _in_order(parts, levels)
    rates = [_means(table, unit, []), *([_means(table, unit, levels)] if levels else [])]
    for base in less:
        for names, of_group in table.groupby([*by], sort=False) if by else [((), table)]:
            where = dict(zip(by, names, strict=False))
            rates += [row.assign(**where) for row in _less(of_group, unit, str(condition), base)]
    return _in_order(rates, levels)


def _means(table: pd.DataFrame, unit: str, by: Sequence[str]) -> pd.DataFrame:
    """Return the means of a column value over units, by groups."""
    means = mean_by(table, "value", unit, ["measure", *by])
    return means.assign(clusters=means["n"], chance=nan)


def _less(table: pd.DataFrame, unit: str, condition: str, base: str) -> Iterator[pd.DataFrame]:
    """Yield the mean of each condition less that of another: of the same units, or of units that none share."""
    means = table.groupby([unit, condition], sort=False)["value"].mean().unstack()  # (units, conditions)
    if base not in means:
        raise DataError(f"less: there is no condition {base!r}{suggest(base, means)}")
    for other in (name for name in table[condition].unique() if name != base):
        both = means[[other, base]].notna()
        rows = means[both.any(axis=1)]
        if both[both.any(axis=1)].all(axis=None):
            differences = (rows[other] - rows[base]).rename("value").reset_index().assign(measure="")
            row = _means(differences, unit, [])
        elif both.all(axis=1).any():
            lacking = both[both.any(axis=1) & ~both.all(axis=1)].index[0]
            raise DataError(f"{unit.removeprefix(CLUSTER)} {lacking!r} has only one of {other!r} and {base!r}; add it")
        else:
            sizes, errors = both.sum(), rows.var() / both.sum()  # Welch: other units in each
            freedom = errors.sum() ** 2 / (errors**2 / (sizes - 1)).sum()
            value, half = rows[other].mean() - rows[base].mean(), stdtrit(freedom, 0.975) * sqrt(errors.sum())
            cells = {"value": value, "low": value - half, "high": value + half, "n": sizes.sum()}
            row = pd.DataFrame([cells | {"clusters": sizes.sum(), "chance": nan}])
        yield row.assign(measure=f"less {base}", **{condition: other})


def _rates(part: pd.DataFrame, levels: Sequence[str]) -> pd.DataFrame:
    """Return the rate of credits of a measure, by groups."""
    by = ["measure", *levels]
    rates = rate_by(part, "value", by).merge(clusters_by(part, by)[[*by, "clusters"]], on=by)
    return rates.merge(part.groupby(by)["chance"].mean().reset_index(), on=by)


def _in_order(rates: Sequence[pd.DataFrame], levels: Sequence[str]) -> pd.DataFrame:
    columns = ["measure", *levels, "value", "low", "high", "n", "clusters", "chance"]
    table = pd.concat([one for one in rates if len(one)], ignore_index=True).reindex(columns=columns)
    return table.fillna(dict.fromkeys(levels, ""))
