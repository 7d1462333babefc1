"""Minimal pairs judged by replies in words: which of two texts a model calls the likelier, asked in both orders.

A pair's credit is the mean over the replies that could be read: 1 where the right text is chosen in either order, 0
where the wrong one is, 0.5 where the choice changes with the order. A pair of which no reply could be read is left out,
and is not wrong. Judged pairs have the scheme "reply" and the score "asked", whatever decides for other models.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pandas as pd

from cxprobe.errors import DataError
from cxprobe.lm.replies import judge_reply
from cxprobe.pairs.judge import ASKED, REPLY, HowToJudge, JudgedPairs, credit_pairs
from cxprobe.pairs.sources import OWN_PAIRS
from cxprobe.report.tables import with_blanks
from cxprobe.stats import CLUSTER, rate_by

_GROUPS = ["construction", "tests", "words", "variant"]  # of this project's pairs
_ANSWERED = {"right": 1.0, "wrong": -1.0}  # outcome of a reply that has an answer -> its margin
_RATES = {"consistency": "n_consistency", "position_bias": "n_parsed"}


def read_replies(pairs: pd.DataFrame, replies: pd.DataFrame, how: HowToJudge) -> pd.DataFrame:
    """Read what one model replied about pairs.

    Args:
        pairs: The pairs, see `cxprobe.pairs.judge.decide_pairs`; also those that were not asked about.
        replies: One row a question: pair, gold, option_a and option_b (see `cxprobe.pairs.asking`), reply, and failed,
            whether the request failed.
        how: Whose pairs they are.

    Returns:
        One row a question: pair, the id of the pair; gold, the letter of the right text; reply; answer, "A", "B" or ""
        if there is none; outcome, "right", "wrong", "unparsed" or "failed"; and the groups and clusters of the pair.

    Raises:
        DataError: A reply is about a pair that there is not.
    """
    unknown = sorted(set(replies["pair"]) - set(pairs["id"]))
    if unknown:
        raise DataError(f"{len(unknown)} pairs were asked about that are not there, such as {unknown[0]}; ask again")
    read = replies[["pair", "gold", "reply"]].copy()
    judged = []
    for row in replies.to_dict("records"):
        reply, options = None if row["failed"] else row["reply"], {"A": row["option_a"], "B": row["option_b"]}
        judged.append(judge_reply(reply, row["gold"], options, chain_of_thought=False))
    read["answer"] = [preference.answer for preference in judged]
    read["outcome"] = [preference.outcome for preference in judged]
    groups = _GROUPS if how.source == OWN_PAIRS else how.cell
    about = ["id", *groups, *(name for name in pairs.columns if name.startswith(CLUSTER))]
    return read.merge(pairs[about].rename(columns={"id": "pair"}), on="pair", validate="many_to_one")


def judge_replies(pairs: pd.DataFrame, read: pd.DataFrame, how: HowToJudge) -> JudgedPairs:
    """Decide the pairs of which at least one reply could be read, by the mean of 1 for a right and -1 for a wrong one.

    Args:
        pairs: See `read_replies`.
        read: What `read_replies` returns.
        how: Whose pairs they are; in a paired-focus table a model that chooses the same in both rows is undecided.
    """
    margins = read.rename(columns={"pair": "id"}).assign(margin=read["outcome"].map(_ANSWERED))
    table = margins.dropna(subset="margin").groupby("id")["margin"].mean().reset_index()
    return replace(credit_pairs(pairs, table.assign(scheme=REPLY, score=ASKED), how), replies=read)


def asked_rates(replies: pd.DataFrame, by: Sequence[str]) -> pd.DataFrame:
    """Return how a model that is asked chooses, apart from whether that is right.

    Args:
        replies: What `read_replies` returns, of one model or of several.
        by: The columns whose values make the groups.

    Returns:
        One row a group, in the order in which they first appear: the columns of ``by``; pairs and requests, how many
        were asked about and sent; left_out, the pairs of which no reply could be read; unparsed and failed, replies
        without an answer and requests without a reply; consistency, the share of the pairs with two answers in which
        both choose the same text, with its interval consistency_low to consistency_high and n_consistency, the number
        of these pairs; position_bias, the share of "A" among the answers (0.5 for a model that does not mind the
        order), with position_bias_low, position_bias_high and n_parsed, the number of answers. A rate of nothing is an
        empty text.
    """
    keys = [*by]
    answered = replies["outcome"].isin(_ANSWERED)
    counted = replies.assign(
        read=replies["pair"].where(answered),
        unparsed=replies["outcome"] == "unparsed",
        failed=replies["outcome"] == "failed",
    )
    table = counted.groupby(keys, sort=False, as_index=False).agg(
        pairs=("pair", "nunique"),
        requests=("pair", "size"),
        left_out=("read", "nunique"),
        unparsed=("unparsed", "sum"),
        failed=("failed", "sum"),
    )
    table["left_out"] = table["pairs"] - table["left_out"]
    read = replies[answered].assign(position_bias=(replies["answer"] == "A").astype(float))
    outcomes = read.groupby([*keys, "pair"])["outcome"]
    twice = read.assign(consistency=(outcomes.transform("nunique") == 1).astype(float))[outcomes.transform("size") == 2]
    for rate, rows in (("consistency", twice.drop_duplicates([*keys, "pair"])), ("position_bias", read)):
        names = {"low": f"{rate}_low", "high": f"{rate}_high", "n": _RATES[rate]}
        rates = rate_by(rows, rate, keys).drop(columns="ties").rename(columns=names)
        table = table.merge(rates, on=keys, how="left", validate="one_to_one")
        table[_RATES[rate]] = table[_RATES[rate]].fillna(0).astype(int)
    return with_blanks(table)


def asked_metrics(rates: Mapping[Any, Any]) -> dict[str, float]:
    """Return the numbers of one run that tell how a model chooses.

    Args:
        rates: A row of `asked_rates`.

    Returns:
        consistency, position_bias and their intervals with n_consistency and n_parsed, as far as there are answers;
        unparsed, the share of replies that have none, and failed, the share of requests without a reply.
    """
    metrics: dict[str, float] = {}
    for rate, n in _RATES.items():
        if rates[n]:
            metrics |= {name: float(rates[name]) for name in (rate, f"{rate}_low", f"{rate}_high", n)}
    replied = rates["requests"] - rates["failed"]
    return metrics | {"unparsed": rates["unparsed"] / max(1, replied), "failed": rates["failed"] / rates["requests"]}


def asked_settings(settings: Mapping[str, str], prompt: str) -> dict[str, str]:
    """Return the settings of a run under the same names as for models whose likelihoods decide.

    Args:
        settings: Those of such a run, from `cxprobe.run.stage.Stage.settings`.
        prompt: The prompt by which the model was asked.
    """
    changed = dict.fromkeys(("pairs.benchmarks.score", "pairs.judge.score", "pairs.judge.scores"), ASKED)
    changed["pairs.judge.scheme"] = f"{REPLY}, prompt {prompt}"
    return {
        name: "none" if name.startswith("pairs.score.") else changed.get(name, value)
        for name, value in settings.items()
    }
