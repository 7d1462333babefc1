"""Minimal pairs judged by replies in words: which of two texts a model calls the likelier, asked in both orders.

A pair's credit is the mean over the replies that could be read: 1 where the right text is chosen in either order, 0
where the wrong one is, 0.5 where the choice changes with the order. A pair of which no reply could be read is left out,
and is not wrong. Judged pairs have the scheme "reply" and the score "asked", whatever decides for other models.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pandas as pd

from cxprobe.errors import DataError
from cxprobe.lm.replies import judge_preference
from cxprobe.pairs.judge import JudgedPairs, credit_pairs, paired_focus_shifts
from cxprobe.pairs.params import Benchmark
from cxprobe.stats import CLUSTER, rate_by

SCHEME, SCORE = "reply", "asked"
_TEXTS = ["context", "good", "bad"]
_GROUPS = ["construction", "tests", "words", "variant"]  # of a construction's pairs
_READ = ("right", "wrong")  # the outcomes of replies that have an answer
_ORDERS = 2


@dataclass(frozen=True)
class AskedPairs:
    """What one model, or several, chose of the two texts of minimal pairs.

    Attributes:
        judged: The pairs of which at least one reply could be read.
        replies: One row a question: pair, the id of the pair; gold, the letter of the right text; reply; answer, "A",
            "B" or "" if there is none; outcome, "right", "wrong", "unparsed" or "failed"; and the groups and clusters
            of the pair.
    """

    judged: JudgedPairs
    replies: pd.DataFrame

    def where(self, column: str, value: str) -> "AskedPairs":
        """Return those pairs, and the replies about them, that have a value in a column."""
        return AskedPairs(self.judged.where(column, value), self.replies[self.replies[column] == value])

    @classmethod
    def joined(cls, parts: Sequence["AskedPairs"]) -> "AskedPairs":
        """Return the pairs of several parts, of which there must be at least one, in their order."""
        replies = pd.concat([part.replies for part in parts], ignore_index=True)
        return cls(JudgedPairs.joined([part.judged for part in parts]), replies)


def judge_asked_pairs(pairs: Mapping[str, pd.DataFrame], replies: pd.DataFrame) -> dict[str, AskedPairs]:
    """Judge what one model replied about the pairs of several constructions.

    Args:
        pairs: Construction -> all its pairs, see `cxprobe.pairs.judge.judge_pairs`; also those that were not asked
            about, since which cells are balanced follows from all.
        replies: One row a question: pair, gold, option_a and option_b (see `cxprobe.make.prompting`), reply, and
            failed, whether the request failed.

    Returns:
        Construction -> what was chosen.

    Raises:
        DataError: A reply is about a pair that there is not.
    """
    read = _read_replies(replies, pd.concat(pairs.values(), ignore_index=True)["id"])
    judged = {}
    for name, own in pairs.items():
        about = _about(own, read, _GROUPS)
        judged[name] = AskedPairs(credit_pairs(own, _scored(own, about), SCHEME, SCORE), about)
    return judged


def judge_asked_benchmark(pairs: pd.DataFrame, replies: pd.DataFrame, benchmark: Benchmark) -> AskedPairs:
    """Judge what one model replied about the pairs of a benchmark.

    Args:
        pairs: All pairs of the benchmark.
        replies: See `judge_asked_pairs`.
        benchmark: The columns to report by, and the format: in a paired-focus table a model that chooses the same in
            both rows of an item is undecided (`cxprobe.pairs.judge.paired_focus_shifts`).

    Raises:
        DataError: A reply is about a pair that there is not.
    """
    about = _about(pairs, _read_replies(replies, pairs["id"]), benchmark.by)
    scored = _scored(pairs, about)
    if benchmark.format == "paired_focus":
        scored = paired_focus_shifts(scored[scored.groupby("item")["row"].transform("nunique") == 2])
    return AskedPairs(credit_pairs(pairs, scored, SCHEME, SCORE, benchmark.by), about)


def asked_rates(replies: pd.DataFrame, by: Sequence[str]) -> pd.DataFrame:
    """Return how a model that is asked chooses, apart from whether that is right.

    Args:
        replies: What `AskedPairs` has, of one model or of several.
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
    read = replies[replies["outcome"].isin(_READ)]
    answered = read.assign(position_bias=(read["answer"] == "A").astype(float))
    twice = read[read.groupby([*keys, "pair"])["outcome"].transform("size") == _ORDERS]
    same = twice.groupby([*keys, "pair"])["outcome"].transform("nunique") == 1
    both = twice.assign(consistency=same.astype(float)).drop_duplicates([*keys, "pair"])
    table = _counts(replies, keys)
    for rate, own, n in (("consistency", both, "n_consistency"), ("position_bias", answered, "n_parsed")):
        names = {"low": f"{rate}_low", "high": f"{rate}_high", "n": n}
        rates = rate_by(own, rate, keys).drop(columns="ties").rename(columns=names)
        table = table.merge(rates, on=keys, how="left", validate="one_to_one")
        table[n] = table[n].fillna(0).astype(int)
        for column in (rate, f"{rate}_low", f"{rate}_high"):
            if table[column].isna().any():
                table[column] = table[column].astype(object).where(table[column].notna(), "")
    return table


def asked_metrics(replies: pd.DataFrame) -> dict[str, float]:
    """Return the numbers of one run that tell how a model chooses, see `asked_rates`.

    Args:
        replies: Of one model; at least one.

    Returns:
        consistency, position_bias and their intervals with n_consistency and n_parsed, as far as there are answers;
        unparsed, the share of replies that have none, and failed, the share of requests without a reply.
    """
    (rates,) = asked_rates(replies.assign(every=""), ["every"]).to_dict("records")
    found: dict[str, float] = {}
    for rate, n in (("consistency", "n_consistency"), ("position_bias", "n_parsed")):
        if rates[n]:
            found |= {name: float(rates[name]) for name in (rate, f"{rate}_low", f"{rate}_high", n)}
    replied = rates["requests"] - rates["failed"]
    return found | {"unparsed": rates["unparsed"] / max(1, replied), "failed": rates["failed"] / rates["requests"]}


def asked_headline(metrics: Mapping[str, float]) -> dict[str, float]:
    """Return those of `asked_metrics` that stand in metrics.json, as far as there are any."""
    return {name: metrics[name] for name in ("consistency", "position_bias", "unparsed", "failed") if name in metrics}


def asked_settings(settings: Mapping[str, str], prompt: str) -> dict[str, str]:
    """Return the settings of a run under the same names as for models whose likelihoods decide.

    Args:
        settings: Those of such a run, from `cxprobe.stages.Stage.settings`.
        prompt: The prompt by which the model was asked.
    """
    own = {"judge_pairs.scheme": f"{SCHEME}, prompt {prompt}", "benchmarks.score": SCORE}
    own |= dict.fromkeys(("judge_pairs.score", "judge_pairs.scores"), SCORE)
    return {
        name: "none" if name.startswith("score_pairs.") else own.get(name, value) for name, value in settings.items()
    }


def _read_replies(replies: pd.DataFrame, known: "pd.Series[str]") -> pd.DataFrame:
    """Return the replies with their answers and outcomes."""
    unknown = sorted(set(replies["pair"]) - set(known))
    if unknown:
        raise DataError(f"{len(unknown)} pairs were asked about that are not there, such as {unknown[0]}; ask again")
    columns = ["reply", "failed", "gold", "option_a", "option_b"]
    judged = [
        judge_preference(None if failed else str(reply), gold, {"A": a, "B": b})
        for reply, failed, gold, a, b in replies[columns].itertuples(index=False, name=None)
    ]
    return replies[["pair", "gold", "reply"]].assign(
        answer=[one.answer for one in judged], outcome=[one.outcome for one in judged]
    )


def _about(pairs: pd.DataFrame, read: pd.DataFrame, groups: Sequence[str]) -> pd.DataFrame:
    """Return the replies about some pairs, with the groups and clusters of these."""
    clusters = [name for name in pairs.columns if name.startswith(CLUSTER)]
    return read.merge(
        pairs[["id", *groups, *clusters]].rename(columns={"id": "pair"}), on="pair", validate="many_to_one"
    )


def _scored(pairs: pd.DataFrame, replies: pd.DataFrame) -> pd.DataFrame:
    """Return the pairs of which a reply could be read, with the mean of 1 for a right and -1 for a wrong choice."""
    parsed = replies[replies["outcome"].isin(_READ)]
    margins = parsed.assign(margin=2.0 * (parsed["outcome"] == "right") - 1.0).groupby("pair")["margin"].mean()
    means = margins.rename_axis("id").reset_index().assign(scheme=SCHEME, score=SCORE)
    return pairs.drop(columns=_TEXTS).merge(means, on="id", validate="one_to_one")


def _counts(replies: pd.DataFrame, keys: Sequence[str]) -> pd.DataFrame:
    """Return how many pairs and replies there are in each group, and what could not be read."""
    read = replies["outcome"].isin(_READ)
    named = replies.assign(
        read=replies["pair"].where(read),
        unparsed=replies["outcome"] == "unparsed",
        failed=replies["outcome"] == "failed",
    )
    table = named.groupby([*keys], sort=False, as_index=False).agg(
        pairs=("pair", "nunique"),
        requests=("pair", "size"),
        read=("read", "nunique"),
        unparsed=("unparsed", "sum"),
        failed=("failed", "sum"),
    )
    left_out = table["pairs"] - table["read"]
    return table.assign(left_out=left_out)[[*keys, "pairs", "requests", "left_out", "unparsed", "failed"]]
