"""Minimal pairs evaluated by replies in words: the text that a model calls the likelier, asked in both orders.

A pair's credit is the mean over the replies that could be read: 1 where the right text is chosen in either order, 0
where the wrong one is, 0.5 where the choice changes with the order. A pair of which no reply could be read is left out,
and is not wrong. Such pairs have the scheme "reply" and the score "asked", whatever decides for other models.
"""

import pandas as pd

from cxprobe.errors import DataError
from cxprobe.models.replies import evaluate_reply
from cxprobe.stats import CLUSTER
from cxprobe.tasks.pairs.evaluate import ASKED, REPLY, EvaluationConfig, as_responses, credit_pairs, pair_responses

_GROUPS = ("construction", "tests", "words", "variant", "group")  # those that pairs have
_ANSWERED = {"right": 1.0, "wrong": -1.0}  # outcome of a reply that has an answer -> its margin


def responses_of_replies(pairs: pd.DataFrame, replies: pd.DataFrame, how: EvaluationConfig) -> pd.DataFrame:
    """Return the responses of one model that was asked in words, see `read_replies`."""
    read = read_replies(pairs, replies)
    decided = pair_responses(evaluate_replies(pairs, read, how), how)
    return pd.concat([decided, reply_responses(read, how)], ignore_index=True)


def read_replies(pairs: pd.DataFrame, replies: pd.DataFrame) -> pd.DataFrame:
    """Read the replies of one model about pairs.

    Args:
        pairs: The pairs, see `cxprobe.tasks.pairs.evaluate.decide_pairs`; also those that were not asked about.
        replies: One row a question: pair, gold, option_a and option_b (see `cxprobe.tasks.pairs.asking`), reply, and
            failed, whether the request failed.

    Returns:
        One row a question: pair, the id of the pair; gold, the letter of the right text; answer, "A", "B" or ""
        if there is none; outcome, "right", "wrong", "unparsed" or "failed"; and the groups and clusters of the pair.

    Raises:
        DataError: A reply is about a pair that there is not.
    """
    unknown = sorted(set(replies["pair"]) - set(pairs["id"]))
    if unknown:
        raise DataError(f"{len(unknown)} pairs were asked about that are not there, such as {unknown[0]}; ask again")
    outcomes = []
    for row in replies.to_dict("records"):
        reply, options = None if row["failed"] else row["reply"], {"A": row["option_a"], "B": row["option_b"]}
        outcomes.append(evaluate_reply(reply, row["gold"], options, chain_of_thought=False))
    answers = pd.DataFrame(outcomes, columns=["answer", "outcome"], index=replies.index)
    about = ["id", *(name for name in pairs.columns if name in _GROUPS or name.startswith(CLUSTER))]
    read = replies[["pair", "gold"]].join(answers)
    return read.merge(pairs[about].rename(columns={"id": "pair"}), on="pair", validate="many_to_one")


def evaluate_replies(pairs: pd.DataFrame, read: pd.DataFrame, how: EvaluationConfig) -> pd.DataFrame:
    """Decide the pairs of which at least one reply could be read, by the mean of 1 for a right and -1 for a wrong one.

    Args:
        pairs: See `read_replies`.
        read: What `read_replies` returns.
        how: Whose pairs they are.

    Returns:
        See `cxprobe.tasks.pairs.evaluate.credit_pairs`.
    """
    margins = read.rename(columns={"pair": "id"}).assign(margin=read["outcome"].map(_ANSWERED))
    table = margins.dropna(subset="margin").groupby("id")["margin"].mean().reset_index()
    return credit_pairs(pairs, table.assign(scheme=REPLY, score=ASKED), how)


def reply_responses(read: pd.DataFrame, how: EvaluationConfig) -> pd.DataFrame:
    """Return responses about the choices of a model that is asked, beside their accuracy.

    Args:
        read: What `read_replies` returns, of one model.
        how: Whose pairs they are.

    Returns:
        Columns as `cxprobe.tasks.pairs.evaluate.pair_responses` returns them; the measures are position_bias,
        of each answer: whether it is "A" (0.5 for a model that does not mind the order); unparsed, of each reply:
        whether it has no answer; and failed, of each request: whether there is no reply.
    """
    asked = read.assign(id=read["pair"], item=read["pair"] + ", " + read["gold"])
    answered = asked[asked["outcome"].isin(_ANSWERED)]
    replied = asked[asked["outcome"] != "failed"]
    values = {
        "position_bias": answered.assign(value=answered["answer"] == "A"),
        "unparsed": replied.assign(value=replied["outcome"] == "unparsed"),
        "failed": asked.assign(value=asked["outcome"] == "failed"),
    }
    rows = pd.concat([table.assign(measure=measure) for measure, table in values.items()], ignore_index=True)
    rows = rows.assign(value=rows["value"].astype(float), gold="", scheme=REPLY, score=ASKED)
    return as_responses(rows, how).assign(item=rows["item"].to_numpy())
