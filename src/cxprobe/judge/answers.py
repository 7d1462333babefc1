"""Answers by likelihood: how likely a model finds each answer, and whether the likeliest one is right."""

from collections.abc import Iterable, Sequence

import pandas as pd

from cxprobe.errors import DataError
from cxprobe.judge.scores import part_after, score_part
from cxprobe.records import TokenScores


def score_answers(
    choices: pd.DataFrame, answers: pd.DataFrame, tokens: Iterable[TokenScores], names: Sequence[str]
) -> pd.DataFrame:
    """Score every answer to each question, given the text before it.

    Args:
        choices: One row per question: id, question (the text before the answer) and anywhere (one that says nothing
            about the item).
        answers: One row per question and answer: id (of the question), answer (its symbol) and text, how the question
            continues.
        tokens: The scored texts: each answer after its question and, for "pmi", after ``anywhere``.
        names: The scores by name.

    Returns:
        One row per answer and score: id, answer, score and value, in nats. "sum" is the log-probability of the answer,
        "per_token" and "per_character" that divided by the number of its tokens or of its characters that are not
        spaces; "pmi" is the sum less what it is after ``anywhere``.

    Raises:
        DataError: A text or token that is needed was not scored, or a score is unknown.

    Source:
        "sum" and "per_character" as in lm-evaluation-harness; "pmi": Holtzman, West, Shwartz, Choi & Zettlemoyer 2021,
        where it is called domain conditional PMI.
    """
    texts = {scores.text: scores for scores in tokens}
    both = answers[["id", "answer", "text"]].merge(
        choices[["id", "question", "anywhere"]], on="id", how="left", validate="many_to_one"
    )
    rows = []
    for id_, symbol, answer, question, anywhere in both.to_numpy().tolist():
        part = part_after(question, answer, texts)
        elsewhere = part_after(anywhere, answer, texts) if "pmi" in names else None
        rows += [(id_, symbol, name, score_part(name, part, elsewhere)) for name in names]
    return pd.DataFrame(rows, columns=["id", "answer", "score", "value"])


def judge_likelihoods(questions: pd.DataFrame, scores: pd.DataFrame) -> pd.DataFrame:
    """Choose the likeliest answer to each question by each score, strictly: no order of the answers breaks a tie.

    Args:
        questions: One row per question: id, gold and any other columns, which are kept.
        scores: One row per question, answer and score: id, answer, score, value.

    Returns:
        The questions, once for each score, with the columns asked, the score; answer, the one with the highest value,
        or "" if several have it; outcome, "right", "wrong" or "tied"; and credit: 1 for right, and where the right
        answer is one of k that are tied, 1/k.

    Raises:
        DataError: A question has no scores, or its gold answer has none.
    """
    by = ["id", "score"]
    ties = scores[scores["value"] == scores.groupby(by)["value"].transform("max")]
    chosen = ties.groupby(by, sort=False)["answer"].agg(answers=tuple, tied="size").reset_index()
    judged = questions.merge(chosen.rename(columns={"score": "asked"}), on="id", validate="one_to_many")
    known = scores.groupby("id")["answer"].agg(set)
    unscored = [id_ for id_, gold in questions[["id", "gold"]].to_numpy() if gold not in known.get(id_, ())]
    if unscored:
        raise DataError(
            f"{len(unscored)} questions have no score for their right answer, such as {unscored[0]}; run score_answers "
            "again"
        )
    among = pd.Series(
        [gold in answers for gold, answers in zip(judged["gold"], judged["answers"], strict=True)], index=judged.index
    )
    one = judged["tied"] == 1
    return judged.assign(
        answer=judged["answers"].str[0].where(one, ""),
        outcome=among.map({True: "right", False: "wrong"}).where(one, "tied"),
        credit=among.astype(float) / judged["tied"],
    ).drop(columns=["answers", "tied"])
