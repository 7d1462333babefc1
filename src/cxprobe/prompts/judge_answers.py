"""Answers by likelihood: how likely a model finds each answer, and whether the likeliest one is right."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import pandas as pd

from cxprobe.errors import DataError
from cxprobe.lm.params import Member
from cxprobe.lm.scores import part_after, score_part
from cxprobe.lm.texts import TokenScores
from cxprobe.prompts.judge import accuracy_by_shots, prompt_accuracy, prompt_headline, prompt_metrics, prompt_tables
from cxprobe.report.comparisons import best_blind, compare_models
from cxprobe.stats import CLUSTER

RULE = "rule"  # how blind models are asked: about an item, not by a prompt
NO_PROMPT = "none"


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


def judge_choices(
    choices: pd.DataFrame, answers: pd.DataFrame, tokens: Iterable[TokenScores], names: Sequence[str]
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Score every answer to each question and choose the likeliest; see `score_answers` and `judge_likelihoods`.

    Returns:
        What the first returns, and what the second does, without the texts of the questions.
    """
    scores = score_answers(choices, answers, tokens, names)
    return scores, judge_likelihoods(choices.drop(columns=["question", "anywhere"]), scores)


def judge_blind_answers(items: pd.DataFrame, answers: pd.DataFrame) -> pd.DataFrame:
    """Judge the answers of a blind model, which answers each item once and not every kind of item.

    Args:
        items: One row per item: id, gold and any other columns, which are kept.
        answers: One row per item and answer: id, symbol, log_p; of the items that the model answers, perhaps of others.

    Returns:
        The items that have answers, in the form of `judge_likelihoods`: asked is "rule", prompt and examples "none",
        shots 0, chain_of_thought False; and item, which is the id.

    Raises:
        DataError: The gold answer of an item has no probability.
    """
    own = items[items["id"].isin(answers["id"])]
    own = own.assign(item=own["id"], prompt=NO_PROMPT, shots=0, examples=NO_PROMPT, chain_of_thought=False)
    scores = answers[answers["id"].isin(own["id"])].rename(columns={"symbol": "answer", "log_p": "value"})
    return judge_likelihoods(own, scores.assign(score=RULE))


class JudgedAnswers(NamedTuple):
    """The numbers of one model's judged answers.

    Attributes:
        metrics: See `prompt_metrics`.
        series: See `accuracy_by_shots`.
        tables: See `prompt_tables`.
        by_prompt: Of the tables, accuracy_by_prompt for the way of asking that decides.
    """

    metrics: Mapping[str, float]
    series: Mapping[str, Sequence[tuple[int, float]]]
    tables: Mapping[str, pd.DataFrame]
    by_prompt: pd.DataFrame


def sum_up_answers(judged: pd.DataFrame, asked: str) -> JudgedAnswers:
    """Return the numbers of one model's judged answers.

    Args:
        judged: One row per question and way of asking; see `prompt_tables`.
        asked: The way of asking that decides: a score, "reply", or "rule".
    """
    tables = prompt_tables(judged, ["asked"])
    by_prompt = tables["accuracy_by_prompt"]
    return JudgedAnswers(
        prompt_metrics(judged, asked), accuracy_by_shots(judged, asked), tables, by_prompt[by_prompt["asked"] == asked]
    )


def answers_headline(metrics: Mapping[str, Mapping[str, float]], entry: str) -> dict[str, Any]:
    """Return the numbers of metrics.json.

    Args:
        metrics: Model -> its metrics on all constructions.
        entry: The key of the section models: of the one model, or of a panel of blind ones.

    Returns:
        The headline of the model (`prompt_headline`); for a panel, accuracy and n of each member that has answers.
    """
    if entry in metrics:
        return prompt_headline(metrics[entry])
    return {slug: {name: own[name] for name in ("accuracy", "n")} for slug, own in metrics.items()}


def best_blind_answers(tables: Mapping[str, pd.DataFrame], members: Sequence[Member]) -> dict[str, pd.DataFrame]:
    """Return the best blind model of each cell of the tables that are drawn; a blind model has no prompt and no shots.

    Args:
        tables: What `prompt_tables` returns, of model and asked.
        members: The models.

    Returns:
        Name of a table -> what `best_blind` returns by its cells: construction and set, set, construction, set and test
        (and whether it is answerable), or set and whether it is answerable.
    """
    cells = {
        "accuracy_by_construction": ["construction", "set"],
        "accuracy_by_setting": ["set"],
        "accuracy_by_test": ["construction", "set", "test", "answerable"],
        "accuracy_answerable": ["set", "answerable"],
    }
    return {name: best_blind(tables[name], by, members) for name, by in cells.items()}


def rates_of_blind(judged: pd.DataFrame) -> pd.DataFrame:
    """Return the accuracy of each blind model on all items of each construction and set; see `prompt_accuracy`.

    Args:
        judged: One row per item and blind model, and perhaps rows of other models, which are left out.
    """
    return prompt_accuracy(judged[judged["asked"] == RULE], ["model", "construction", "set"])


def compare_answers(
    judged: pd.DataFrame, members: Sequence[Member], asked: Sequence[str], without: Sequence[str] = ()
) -> pd.DataFrame:
    """Return the paired differences of models in each construction and set (`compare_models`).

    What is compared is a model's mean accuracy on an item, over all prompts, shots and orders in which it was asked. A
    request that failed is left out.

    Args:
        judged: One row per question, model and way of asking: model, asked, item, construction, set, outcome, credit,
            and the clusters of the items.
        members: The models.
        asked: The ways of asking that count, beside "rule": "reply", and the score that decides.
        without: Models that are left out, such as a mock model, which says the same to everything.
    """
    counts = judged["asked"].isin([*asked, RULE]) & (judged["outcome"] != "failed") & ~judged["model"].isin(without)
    own = judged[counts]
    clusters = [column for column in own.columns if column.startswith(CLUSTER)]
    means = own.groupby(["model", "construction", "set", "item"], sort=False, as_index=False).agg(
        accuracy=("credit", "mean"), **{column: (column, "first") for column in clusters}
    )
    return compare_models(means.rename(columns={"item": "id"}), ["construction", "set"], members)
