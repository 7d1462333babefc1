"""Answers to questions, in words or by likelihood: which are right, and accuracies with intervals and their spread."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from cxprobe.errors import DataError
from cxprobe.lm.replies import REPLY, judge_reply
from cxprobe.lm.scores import ScoredTexts, no_score
from cxprobe.prompts.items import RELATIONS
from cxprobe.prompts.params import Reader
from cxprobe.prompts.wording import PAPER
from cxprobe.report.tables import with_blanks
from cxprobe.run.stage import METRICS_OF_LINE
from cxprobe.stats import CLUSTER, clusters_by, rate_by

RunKey = tuple[str, str]  # a model, and a construction or "all"
Point = tuple[int, float]
RULE = "rule"  # how blind models are asked: about an item, not by a prompt
NO_PROMPT = "none"
OUTCOMES = ("right", "wrong", "tied", "unparsed", "failed")  # tied: of likelihoods; unparsed and failed: of replies
MOST_HEADLINES = 12  # numbers of a model in metrics.json
SETTING = ["set", "shots", "examples", "chain_of_thought"]
RUN_KEY = ["model", "run"]
ALL_CONSTRUCTIONS = "all"  # the run over all constructions
JUDGED = [
    "model", "construction", "control", "id", "item", "kind", "set", "test", "template", "reading", "answerable",
    "prompt", "shots", "examples", "chain_of_thought", "order", "gold", "asked", "answer", "outcome", "credit", "reply",
    "drawn", f"{CLUSTER}premise", f"{CLUSTER}wording",
]  # fmt: skip

_METRICS = [
    "accuracy", "low", "high", "n", "accuracy_parsed", "n_parsed", "chance", "tie_rate", "macro_f1", "unparsed",
    "failed",
]  # fmt: skip
_LAST = ("n_parsed", "tie_rate", "macro_f1", "n_consistency")  # of a headline
_CONSISTENCY = {
    "consistent": "consistency",
    "low": "consistency_low",
    "high": "consistency_high",
    "n": "n_consistency",
}
# The columns whose values say which answers belong to one item that was asked about in one way.
_SAME_BUT_ORDER = ["item", "asked", "prompt", "shots", "examples", "chain_of_thought"]


def judge_reply_table(questions: pd.DataFrame, replies: pd.DataFrame, reader: Reader = "stated") -> pd.DataFrame:
    """Judge the reply to every question.

    Args:
        questions: One row per question: id, kind ("inference" or "reasoning"), gold, chain_of_thought and any other
            columns, which are kept; and, if known, option_a, option_b and option_c, the texts shown with the letters.
            With them "Ida" is read as "A", and "A. Marek" has no answer if Marek is not option A.
        replies: One row per question: id, reply, and failed, whether the request failed.
        reader: How replies are read, see `cxprobe.prompts.params.JudgePrompts`.

    Returns:
        The questions with the columns asked ("reply"), reply, answer ("" if there is none), outcome, and credit (1 for
        right, else 0).

    Raises:
        DataError: The replies are not those to the questions.

    Source:
        Scivetti et al. 2025 (one digit, or one letter); inspect_ai issue 721 (the first digit being in the reasoning).
    """
    if sorted(questions["id"]) != sorted(replies["id"]):
        raise DataError(
            f"the replies are not those to the questions ({len(replies)} replies, {len(questions)} questions); run "
            "ask_prompts again"
        )
    replied = questions.merge(replies[["id", "reply", "failed"]], on="id", validate="one_to_one")
    relations: dict[str, str] = {str(number): relation for number, relation in enumerate(RELATIONS)}
    judged = []
    for row in replied.to_dict("records"):
        answers = relations
        if row["kind"] == "reasoning":
            answers = {letter: str(row.get(f"option_{letter.lower()}", "")) for letter in PAPER}
        text = None if row["failed"] else str(row["reply"])
        if reader == "exact" and text is not None and text not in answers:
            text = ""
        judged.append(judge_reply(text, row["gold"], answers, chain_of_thought=bool(row["chain_of_thought"])))
    replied[["answer", "outcome"]] = judged
    credit = (replied["outcome"] == "right").astype(float)
    return replied.drop(columns="failed").assign(asked=REPLY, credit=credit)


def score_answers(
    choices: pd.DataFrame, answers: pd.DataFrame, tokens: pd.DataFrame, names: Sequence[str]
) -> pd.DataFrame:
    """Score every answer to each question, given the text before it.

    Args:
        choices: One row per question: id, question (the text before the answer) and anywhere (one that says nothing
            about the item).
        answers: One row per question and answer: id (of the question), answer (its symbol) and text, how the question
            continues.
        tokens: The scored texts, see `cxprobe.lm.texts.token_table`: each answer after its question and, for "pmi",
            after ``anywhere``.
        names: The scores by name.

    Returns:
        One row per answer and score: id, answer, score and value, in nats. "sum" is the log-probability of the answer,
        "per_token" and "per_character" that divided by the number of its tokens or of its characters that are not
        spaces; "pmi" is the sum less what it is after ``anywhere``.

    Raises:
        DataError: A text or token that is needed was not scored, or a score is not finite.

    Source:
        "sum" and "per_character" as in lm-evaluation-harness; "pmi": Holtzman, West, Shwartz, Choi & Zettlemoyer 2021,
        where it is called domain conditional PMI.
    """
    texts = ScoredTexts(tokens)
    asked = choices[["id", "question", "anywhere"]]
    both = answers[["id", "answer", "text"]].merge(asked, on="id", how="left", validate="many_to_one")
    scores = texts.parts(both["question"], both["text"])
    if "pmi" in names:
        scores["pmi"] = scores["sum"] - texts.parts(both["anywhere"], both["text"])["sum"]
    by_answer = both[["id", "answer"]].join(scores[[*names]])
    table = by_answer.melt(["id", "answer"], var_name="score", value_name="value", ignore_index=False)
    table = table.sort_index(kind="stable", ignore_index=True)  # all scores of an answer together
    for id_, answer, name, value in table[~np.isfinite(table["value"])].itertuples(index=False, name=None):
        raise no_score(f"{id_}, answer {answer}, {name}", [value], f"leave {name} out of prompts.judge.scores")
    return table


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
    scores = scores.rename(columns={"score": "asked"})
    by = ["id", "asked"]
    highest = scores[scores["value"] == scores.groupby(by)["value"].transform("max")]
    chosen = highest.groupby(by, sort=False)["answer"].agg(answers=tuple, tied="size").reset_index()
    judged = questions.merge(chosen, on="id", validate="one_to_many")
    scored = set(zip(scores["id"], scores["answer"], strict=True))
    unscored = [id_ for id_, gold in zip(questions["id"], questions["gold"], strict=True) if (id_, gold) not in scored]
    if unscored:
        raise DataError(
            f"{len(unscored)} questions have no score for their right answer, such as {unscored[0]}; run score_prompts "
            "again"
        )
    is_best = np.array([gold in best for gold, best in zip(judged["gold"], judged["answers"], strict=True)], dtype=bool)
    is_tied = judged["tied"] > 1
    judged["credit"] = is_best / judged["tied"]
    judged["answer"] = judged["answers"].str[0].mask(is_tied, "")
    judged["outcome"] = np.where(is_best, "right", "wrong")
    judged["outcome"] = judged["outcome"].mask(is_tied, "tied")
    return judged.drop(columns=["answers", "tied"])


def judge_blind_answers(items: pd.DataFrame, answers: pd.DataFrame) -> pd.DataFrame:
    """Judge the answers of a blind model, which answers each item once and not every kind of item.

    Args:
        items: One row per item: id, gold and any other columns, which are kept.
        answers: One row per item and answer: id, symbol, log_p. Answers to items that are not in ``items`` are ignored.

    Returns:
        The items that have answers, in the form of `judge_likelihoods`: asked is "rule", prompt and examples "none",
        shots 0, chain_of_thought False; and item, which is the id.

    Raises:
        DataError: The gold answer of an item has no probability.
    """
    asked = items[items["id"].isin(answers["id"])]
    asked = asked.assign(item=asked["id"], prompt=NO_PROMPT, shots=0, examples=NO_PROMPT, chain_of_thought=False)
    scores = answers[answers["id"].isin(asked["id"])].rename(columns={"symbol": "answer", "log_p": "value"})
    return judge_likelihoods(asked, scores.assign(score=RULE))


def judged_table(models: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Return the judged answers of all models as one table.

    Args:
        models: Slug -> what `judge_reply_table`, `judge_likelihoods` or `judge_blind_answers` returns.

    Returns:
        One row per model, question and way of asking, with the columns `JUDGED`: order and reply are "" where there is
        none; drawn is false for items that only blind models have answered, since no question is about them.
    """
    tables = [judged.assign(model=slug).reindex(columns=JUDGED) for slug, judged in models.items()]
    table = pd.concat(tables, ignore_index=True)
    texts = ["order", "reply"]
    table[texts] = table[texts].astype(object).where(table[texts].notna(), "")
    return table.assign(drawn=table["drawn"].ne(False))


def answers_of_runs(judged: pd.DataFrame) -> pd.DataFrame:
    """Return judged answers twice, with the column run: under their construction and, without controls, under "all"."""
    together = judged[~judged["control"].astype(bool)].assign(run=ALL_CONSTRUCTIONS)
    return pd.concat([judged.assign(run=judged["construction"]), together], ignore_index=True)


def count_outcomes(judged: pd.DataFrame, by: list[str]) -> pd.DataFrame:
    """Count the outcomes of the questions.

    Args:
        judged: One row per question: outcome, and the columns of ``by``.
        by: The columns whose values make the groups, such as construction and prompt.

    Returns:
        One row per group, sorted: the columns of ``by``, questions, right, wrong, tied, unparsed and failed; the last
        five add up to questions.
    """
    counted = judged[by].assign(questions=1)
    for name in OUTCOMES:
        counted[name] = (judged["outcome"] == name).astype(int)
    return counted.groupby(by, as_index=False).sum()


def prompt_accuracy(judged: pd.DataFrame, by: list[str]) -> pd.DataFrame:
    """Estimate how often answers are right.

    A reply without an answer is not right; it is part of n, and its rate is given too. A request that failed is no
    reply and counts in neither; a group whose requests all failed has no row.

    Args:
        judged: One row per question: kind, gold, answer ("" if there is none), order (of the options, or ""), outcome,
            credit (1 for right, 0 for wrong or no answer, 1/k for a tie of k), template, the columns of ``by``, and the
            clusters of the items: cluster_premise (the premise or frame) and cluster_wording (the template of the
            hypothesis).
        by: The columns whose values make the groups.

    Returns:
        One row per group, sorted: the columns of ``by``; accuracy, low, high, n (replies); accuracy_parsed,
        parsed_low, parsed_high and n_parsed, of the replies that have an answer (empty texts and 0 where none has);
        chance, what the best constant answer gets (the majority baseline); macro_f1, the F1 score averaged over the
        gold answers that occur; a reply without an answer counts as wrong; unparsed, unparsed_low, unparsed_high; and
        clusters and left_out, what the interval rests on (`cxprobe.stats.clusters_by`). Intervals are those of
        `cxprobe.stats.estimate_rate`, at 95 %.
    """

    def rates(rows: pd.DataFrame, rate: str, names: Mapping[str, str]) -> pd.DataFrame:
        return rate_by(rows, rate, by).set_index(by).rename(columns=names)

    replied = _without_own_wordings(judged[judged["outcome"] != "failed"].reset_index(drop=True))
    replied = replied.assign(accuracy=replied["credit"], unparsed=(replied["outcome"] == "unparsed").astype(float))
    parsed = replied[replied["outcome"] != "unparsed"].reset_index(drop=True)
    names = {"accuracy": "accuracy_parsed", "low": "parsed_low", "high": "parsed_high", "n": "n_parsed"}
    bounds = {"low": "unparsed_low", "high": "unparsed_high"}
    joined = rates(replied, "accuracy", {}).drop(columns="ties")
    joined = joined.join(rates(parsed, "accuracy", names).drop(columns="ties"))
    joined["n_parsed"] = joined["n_parsed"].fillna(0).astype(int)
    joined["chance"] = _best_constant(replied, by)
    joined["macro_f1"] = _macro_f1(_by_option(replied), by)
    joined = joined.join(rates(replied, "unparsed", bounds).drop(columns=["n", "ties"]))
    joined = joined.join(clusters_by(replied, by).set_index(by))
    return with_blanks(joined.reset_index().sort_values(by, ignore_index=True))


def _best_constant(judged: pd.DataFrame, by: list[str]) -> "pd.Series[float]":
    """Return the accuracy of the best constant answer in each group, in (0, 1].

    That is the share of the most frequent gold answer among the questions of the group. Where options are shown in
    several orders, a model can always give the same letter, or always choose that there is not enough information,
    whichever letter that has; the better of the two counts. In a group with both kinds of item, the best constant is
    taken for each kind, and the two are weighted by their number of questions.
    """
    groups = [*by, "kind"]
    same_letter = judged.groupby([*groups, "gold"]).size().groupby(level=groups).max()
    by_option = _by_option(judged)
    no_information = (by_option["gold"] == "C").groupby([judged[name] for name in groups]).sum()
    best = pd.concat([same_letter, no_information], axis=1).max(axis=1)
    return best.groupby(level=by).sum() / judged.groupby(by).size()


def consistency_over_orders(judged: pd.DataFrame, by: list[str]) -> pd.DataFrame:
    """Return how often a model chooses the same option of an item in all orders in which the options were shown.

    An item without an answer in one of its orders is not consistent. One with a request that failed does not count, nor
    does one that was shown in one order. A model that always gives the same letter has 0, one that guesses has 1/9 with
    three orders, and one that always chooses "not enough information" has 1. So consistency says nothing about
    accuracy.

    Args:
        judged: See `prompt_accuracy`; besides, item, asked, prompt, shots, examples and chain_of_thought, which say
            together what differs in the order alone.
        by: Of these columns, or of those that are the same for all questions about an item, those that make the groups.
            It must name model where the table has several models; else their answers to an item are merged.

    Returns:
        One row per group, sorted: the columns of ``by``; consistent, low, high, n (items, each with a prompt); right,
        how often the option is also the right one, in all orders; orders, their number; clusters and left_out. Empty
        where no item was shown in several orders.
    """
    columns = [*by, "consistent", "low", "high", "n", "right", "orders", "clusters", "left_out"]
    shown = _by_option(_without_own_wordings(judged[judged["order"] != ""]))
    shown["failed"] = shown["outcome"] == "failed"
    shown["right"] = shown["outcome"] == "right"
    first = {column: (column, "first") for column in shown.columns if column.startswith(CLUSTER)}
    items = shown.groupby([*dict.fromkeys([*by, *_SAME_BUT_ORDER])], as_index=False).agg(
        orders=("order", "nunique"),
        options=("answer", "nunique"),
        option=("answer", "first"),
        failed=("failed", "max"),
        right=("right", "min"),
        **first,
    )
    items = items[(items["orders"] > 1) & ~items["failed"].astype(bool)].reset_index(drop=True)
    if items.empty:
        return pd.DataFrame(columns=columns)
    items["consistent"] = ((items["options"] == 1) & (items["option"] != "")).astype(float)
    together = items.groupby(by, as_index=False).agg(right=("right", "mean"), orders=("orders", "max"))
    table = rate_by(items, "consistent", by).merge(together, on=by, validate="one_to_one")
    return table.merge(clusters_by(items, by), on=by)[columns].sort_values(by, ignore_index=True)


def _without_own_wordings(judged: pd.DataFrame) -> pd.DataFrame:
    """Return judged answers with an empty wording cluster for items without a template.

    The name of their cluster is only their id.
    """
    column = f"{CLUSTER}wording"
    return judged.assign(**{column: judged[column].where(judged["template"] != "", None)})


def _by_option(judged: pd.DataFrame) -> pd.DataFrame:
    """Return judged answers with the letters of the paper's order as gold and answer, whatever order was shown."""

    def in_paper(letter: str, order: str) -> str:
        return order[PAPER.index(letter)] if order and letter else letter

    golds, answers = (map(in_paper, judged[column], judged["order"]) for column in ("gold", "answer"))
    return judged.assign(gold=[*golds], answer=[*answers])


def _macro_f1(judged: pd.DataFrame, by: list[str]) -> "pd.Series[float]":
    """Return, for each group of replies, the mean F1 score over the gold answers that occur in it."""
    golds = judged.groupby([*by, "gold"]).size()
    answers = judged.groupby([*by, "answer"]).size().reindex(golds.index, fill_value=0)
    right = judged[judged["gold"] == judged["answer"]]
    hits = right.groupby([*by, "gold"]).size().reindex(golds.index, fill_value=0)
    f1 = 2 * hits / (golds + answers)  # the harmonic mean of hits / golds and hits / answers
    return f1.groupby(level=by).mean()


def spread_over_prompts(accuracies: pd.DataFrame, by: list[str]) -> pd.DataFrame:
    """Return how much the accuracy depends on the prompt.

    Args:
        accuracies: One row per prompt and group: the columns of ``by``, prompt and accuracy.
        by: The columns whose values make the groups, without the prompt.

    Returns:
        One row per group: the columns of ``by``, prompts (their number), lowest, mean, highest and range.
    """
    rates = accuracies.groupby(by, sort=False)["accuracy"]
    spread = rates.agg(prompts="size", lowest="min", mean="mean", highest="max").reset_index()
    return spread.assign(range=spread["highest"] - spread["lowest"])


# Name of a table of rates -> which rows ("" for all), and what the rates are by.
_TABLES = {
    "accuracy_by_construction": ("", ["construction", "control", *SETTING]),
    "accuracy_by_setting": ("", SETTING),
    "accuracy_by_prompt": ("", [*SETTING, "prompt"]),
    "accuracy_by_template": ("template != ''", ["construction", "set", "chain_of_thought", "template"]),
    "accuracy_by_reading": ("reading != ''", ["construction", "set", "chain_of_thought", "reading"]),
    "accuracy_by_test": ("kind == 'reasoning'", ["construction", "set", "chain_of_thought", "answerable", "test"]),
    "accuracy_answerable": ("kind == 'reasoning'", ["set", "answerable", "prompt", "chain_of_thought"]),
}


def prompt_tables(judged: pd.DataFrame, of: Sequence[str]) -> dict[str, pd.DataFrame]:
    """Return the tables of judged answers by name.

    Those by template, over all prompts and numbers of shots, have the column relations, the gold answers that the
    template has, such as "0" or, in a challenge set, "0, 1"; their intervals are clustered by premise alone.

    Args:
        judged: See `prompt_accuracy`; besides, the columns of questions (kind, item, construction, set, test,
            template, reading, answerable, prompt, shots, examples, chain_of_thought and, where options are shown in
            orders, order) and of ``of``.
        of: The first columns of every table, such as model and asked.
    """
    tables = {"outcomes": count_outcomes(judged, [*of, "construction", *SETTING, "prompt"])}
    for name, (which, by) in _TABLES.items():
        keys = [*of, *by]
        rows = judged.query(which) if which else judged
        tables[name] = prompt_accuracy(rows, keys)
        if name == "accuracy_by_template":
            golds = rows.groupby(keys)["gold"].agg(lambda golds: ", ".join(sorted(set(golds))))
            tables[name] = golds.reset_index(name="relations").merge(tables[name], on=keys, validate="one_to_one")
    orders = [*of, "construction", "set", "prompt", "chain_of_thought"]
    return tables | {
        "consistency_over_orders": consistency_over_orders(judged, orders),
        "spread_over_prompts": spread_over_prompts(tables["accuracy_by_prompt"], [*of, *SETTING]),
    }


def prompt_metrics(judged: pd.DataFrame, deciding: Mapping[str, str]) -> dict[RunKey, dict[str, float]]:
    """Return the numbers of every run by name, the most important first.

    Args:
        judged: See `prompt_tables`; besides, the columns model, run (see `answers_of_runs`) and asked.
        deciding: Model -> the way of asking that decides: a score, "reply", or "rule". The others have only their
            accuracy.

    Returns:
        (model, run) -> accuracy (of all sets together) with low, high and n, unless every request failed;
        accuracy_parsed (where any reply has an answer) and n_parsed; chance, what the best constant answer gets;
        tie_rate, macro_f1 and unparsed; failed, the share of all questions; consistency over orders of the options with
        _low, _high and n_consistency, where there are several; set.<set> with _low and _high; and, where there are
        several ways of asking, score.<asked>; as many of these as a run may have.
    """
    decides = judged[judged["asked"] == judged["model"].map(deciding)]
    counts = count_outcomes(decides, RUN_KEY).drop(columns="unparsed")
    table = counts.merge(prompt_accuracy(decides, RUN_KEY), on=RUN_KEY, how="left")
    table["tie_rate"] = table["tied"] / table["n"]
    table["failed"] /= table["questions"]
    same_option = consistency_over_orders(decides, RUN_KEY).rename(columns=_CONSISTENCY)
    table = table.merge(same_option[[*RUN_KEY, *_CONSISTENCY.values()]], on=RUN_KEY, how="left").set_index(RUN_KEY)
    numbers = table[[*_METRICS, *_CONSISTENCY.values()]].apply(pd.to_numeric, errors="coerce")
    metrics = {run: row.dropna().to_dict() for run, row in numbers.iterrows()}
    for run, row in prompt_accuracy(decides, [*RUN_KEY, "set"]).set_index(RUN_KEY).iterrows():
        name = f"set.{row['set']}"
        metrics[run] |= {name: row["accuracy"], f"{name}_low": row["low"], f"{name}_high": row["high"]}
    several = judged[judged.groupby("model")["asked"].transform("nunique") > 1]
    for run, row in prompt_accuracy(several, [*RUN_KEY, "asked"]).set_index(RUN_KEY).iterrows():
        metrics[run][f"score.{row['asked']}"] = row["accuracy"]
    sets = judged.groupby(RUN_KEY)["set"].nunique()  # each has a series too
    return {run: dict([*of_run.items()][: METRICS_OF_LINE - sets[run]]) for run, of_run in metrics.items()}


def prompt_headline(metrics: Mapping[str, float]) -> dict[str, float]:
    """Return the most important numbers of `prompt_metrics`: no intervals of parts, sets before the other rates."""
    names = [name for name in metrics if not name.endswith(("_low", "_high"))]
    ranked = sorted(names, key=lambda name: ("." in name or name in _LAST, not name.startswith("set.")))
    return {name: metrics[name] for name in ranked[:MOST_HEADLINES]}


def accuracy_by_shots(judged: pd.DataFrame, deciding: Mapping[str, str]) -> dict[RunKey, dict[str, list[Point]]]:
    """Return, for each run and set, the accuracy by the number of shots, over all prompts and sources of examples.

    Args:
        judged: See `prompt_metrics`.
        deciding: See `prompt_metrics`.

    Returns:
        (model, run) -> "by_shots.<set>" -> (shots, accuracy) pairs.
    """
    decides = judged[judged["asked"] == judged["model"].map(deciding)]
    series: dict[RunKey, dict[str, list[Point]]] = {}
    by = [*RUN_KEY, "set", "shots"]
    rates = prompt_accuracy(decides, by)[[*by, "accuracy"]]
    for model, run, name, shots, rate in rates.itertuples(index=False, name=None):
        points = series.setdefault((model, run), {}).setdefault(f"by_shots.{name}", [])
        points.append((shots, rate))
    return series


def compared_answers(judged: pd.DataFrame, asked: Sequence[str], without: Sequence[str] = ()) -> pd.DataFrame:
    """Return the accuracies by which models are compared (`cxprobe.report.comparisons.compare_models`).

    That is a model's mean accuracy on an item, over all prompts, shots and orders in which it was asked. A request that
    failed is left out, and so are controls.

    Args:
        judged: One row per question, model and way of asking: model, asked, item, construction, set, outcome, credit,
            and the clusters of the items.
        asked: The ways of asking that count, beside "rule": "reply", and the score that decides.
        without: Models that are left out, such as a mock model, which says the same to everything.

    Returns:
        Columns model, construction, set, id (the item), accuracy, and the clusters of the items.
    """
    counted = judged[judged["asked"].isin([*asked, RULE]) & ~judged["model"].isin(without)]
    counted = counted[(counted["outcome"] != "failed") & ~counted["control"].astype(bool)]
    first = {column: (column, "first") for column in counted.columns if column.startswith(CLUSTER)}
    items = counted.groupby(["model", "construction", "set", "item"], sort=False, as_index=False)
    return items.agg(accuracy=("credit", "mean"), **first).rename(columns={"item": "id"})
