"""Judging likelihoods: which answer a model finds the likeliest, and whether that is right."""

import pandas as pd

from cxprobe.errors import DataError


def judge_likelihoods(questions: pd.DataFrame, scores: pd.DataFrame) -> pd.DataFrame:
    """Choose the likeliest answer to each question by each score, strictly: no order of the answers breaks a tie.

    Args:
        questions: One row a question: id, gold and whatever else is to be kept.
        scores: One row a question, answer and score: id, answer, score, value.

    Returns:
        The questions, once for each score, with the columns score; answer, the one with the highest value, or "" if
        several have it; outcome, "right", "wrong" or "tied"; and credit: 1 for right, and where the right answer is
        one of k that are tied, 1/k.

    Raises:
        DataError: A question has no scores, or its gold answer has none.
    """
    by = ["id", "score"]
    ties = scores[scores["value"] == scores.groupby(by)["value"].transform("max")]
    chosen = ties.groupby(by, sort=False)["answer"].agg(answers=tuple, tied="size").reset_index()
    judged = questions.merge(chosen, on="id", validate="one_to_many")
    known = scores.groupby("id")["answer"].agg(set)
    strange = [id_ for id_, gold in questions[["id", "gold"]].to_numpy() if gold not in known.get(id_, ())]
    if strange:
        raise DataError(f"{len(strange)} questions have no score for their right answer, such as {strange[0]}")
    among = [gold in answers for gold, answers in zip(judged["gold"], judged["answers"], strict=True)]
    one = judged["tied"] == 1
    return judged.assign(
        answer=judged["answers"].str[0].where(one, ""),
        outcome=pd.Series(among, index=judged.index).map({True: "right", False: "wrong"}).where(one, "tied"),
        credit=pd.Series(among, index=judged.index).astype(float) / judged["tied"],
    ).drop(columns=["answers", "tied"])
