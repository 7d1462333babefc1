"""Minimal pairs judged by what any model answered: probabilities of tokens, or the preferences of a rule.

A rule prefers one continuation without giving it a probability. Its pairs have the scheme "rule" and the score
"preference", whatever decides for models; a pair that it leaves undecided is a tie.
"""

from collections.abc import Mapping

import pandas as pd

from cxprobe.errors import DataError
from cxprobe.judge.balance import CELL
from cxprobe.judge.benchmarks import judge_benchmark, paired_focus_shifts
from cxprobe.judge.pairs import JudgedPairs, accuracy_metrics, credit_pairs, judge_pairs
from cxprobe.judge.scores import texts_by_scheme
from cxprobe.params import Benchmark, ContinuationAlone, JudgePairs, Member
from cxprobe.storage import token_scores_of

SCHEME, SCORE = "rule", "preference"
HEADLINE = ("accuracy", "low", "high", "n")
_TEXTS = ["context", "good", "bad"]


def judge_pair_answers(
    member: Member, pairs: Mapping[str, pd.DataFrame], answers: pd.DataFrame, settings: JudgePairs
) -> dict[str, JudgedPairs]:
    """Decide the pairs of several constructions by what one model answered.

    Args:
        member: The model.
        pairs: Construction -> its pairs, see `cxprobe.judge.pairs.judge_pairs`.
        answers: The table of token scores, or of preferences, that the measuring stage wrote.
        settings: What decides, see `cxprobe.judge.pairs.judge_pairs`; nothing of it concerns preferences.

    Returns:
        Construction -> its judged pairs; without constructions of which the model is asked nothing, since their pairs
        have no context and it is shown the continuation alone.

    Raises:
        DataError: See `judge_preferences` and `cxprobe.judge.pairs.judge_pairs`.
    """
    asked = {name: own for name, every in pairs.items() if len(own := _asked(member, every))}
    if "margin" in answers:
        return {name: judge_preferences(own, answers) for name, own in asked.items()}
    schemes = texts_by_scheme(token_scores_of(answers))
    return {name: judge_pairs(own, schemes, settings) for name, own in asked.items()}


def judge_benchmark_answers(
    name: str, member: Member, pairs: pd.DataFrame, answers: pd.DataFrame, benchmark: Benchmark, scheme: str
) -> JudgedPairs:
    """Decide the pairs of a benchmark by what one model answered.

    Args:
        name: The benchmark, for messages.
        member: The model.
        pairs: The benchmark's pairs.
        answers: See `judge_pair_answers`.
        benchmark: See `cxprobe.judge.benchmarks.judge_benchmark`.
        scheme: The scheme that decides for a masked model.

    Raises:
        DataError: See `judge_preferences` and `cxprobe.judge.benchmarks.judge_benchmark`.
    """
    asked = _asked(member, pairs)
    if "margin" in answers:
        return judge_preferences(asked, answers, benchmark)
    return judge_benchmark(name, asked, texts_by_scheme(token_scores_of(answers)), benchmark, scheme)


def judge_preferences(
    pairs: pd.DataFrame, preferences: pd.DataFrame, benchmark: Benchmark | None = None
) -> JudgedPairs:
    """Decide every pair by a rule's preference.

    Args:
        pairs: Columns id, item, context, good, bad, what the pairs are reported under, and ``cluster_<name>``.
        preferences: Columns id and margin: above 0 where the rule prefers the right continuation, below 0 where it
            prefers the wrong one, 0 where it is undecided.
        benchmark: Whose pairs they are; None for the project's own. In a paired-focus table a rule that prefers the
            same in both rows of an item is undecided, as a model is (`cxprobe.judge.benchmarks.paired_focus_shifts`).

    Raises:
        DataError: A pair has no preference, or more than one.
    """
    lacking = sorted(set(pairs["id"]) - set(preferences["id"]))
    if lacking or not preferences["id"].is_unique:
        raise DataError(
            f"{len(lacking)} of {len(pairs)} pairs have no preference ({', '.join(lacking[:3])}), or a pair has "
            "several; run the measuring stage again"
        )
    margins = preferences.assign(scheme=SCHEME, score=SCORE)[["id", "scheme", "score", "margin"]]
    scored = pairs.drop(columns=_TEXTS).merge(margins, on="id", validate="one_to_one")
    if benchmark is not None and benchmark.format == "paired_focus":
        scored = paired_focus_shifts(scored)
    return credit_pairs(pairs, scored, SCHEME, SCORE, CELL if benchmark is None else benchmark.by)


def pair_headline(judged: JudgedPairs) -> dict[str, dict[str, float]]:
    """Return the headline of one model: accuracy, low, high and n of its pairs with real words.

    Args:
        judged: The pairs of all constructions.

    Returns:
        "meaning" and "form", as far as there are such pairs in balanced cells -> the numbers.
    """
    real = judged.where("words", "real").items
    metrics = {kind: accuracy_metrics(real[real["tests"] == kind]) for kind in ("meaning", "form")}
    return {kind: {name: own[name] for name in HEADLINE} for kind, own in metrics.items() if own}


def _asked(member: Member, pairs: pd.DataFrame) -> pd.DataFrame:
    """Return the pairs that a model is asked about.

    One that is shown the continuation alone is asked about pairs with a context; on others it would be no blind model.
    """
    return pairs[pairs["context"] != ""] if isinstance(member.spec, ContinuationAlone) else pairs
