"""Minimal pairs evaluated by replies in words: the text that a model calls the likelier, asked in both orders.

A pair's credit is the mean over the replies that could be read: 1 where the right text is chosen in either order, 0
where the wrong one is, 0.5 where the choice changes with the order. A pair of which no reply could be read is left out,
and is not wrong. Such pairs have the scheme "reply" and the score "asked", whatever decides for other models.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated

import pandas as pd
from pydantic import Field, StringConstraints

from cxprobe.errors import DataError
from cxprobe.files.schema import Closed
from cxprobe.models.prompts import PROMPTS_FOLDER, PromptName, named, read_prompt_file, with_fields
from cxprobe.models.replies import evaluate_reply
from cxprobe.seeding import generator_for
from cxprobe.stats import CLUSTER
from cxprobe.tasks.pairs.evaluate import ASKED, REPLY, EvaluationConfig, as_responses, credit_pairs, pair_responses
from cxprobe.tasks.pairs.params import PairsParams
from cxprobe.text import Template, fill

_GROUPS = ("construction", "tests", "words", "variant", "group")  # those that pairs have
_ANSWERED = {"right": 1.0, "wrong": -1.0}  # outcome of a reply that has an answer -> its margin


def responses_of_replies(pairs: pd.DataFrame, replies: pd.DataFrame, how: EvaluationConfig) -> pd.DataFrame:
    """Return the responses of one model that got prompts, see `read_replies`."""
    read = read_replies(pairs, replies)
    decided = pair_responses(evaluate_replies(pairs, read, how), how)
    return pd.concat([decided, reply_responses(read, how)], ignore_index=True)


def read_replies(pairs: pd.DataFrame, replies: pd.DataFrame) -> pd.DataFrame:
    """Read the replies of one model about pairs.

    Args:
        pairs: The pairs, see `cxprobe.tasks.pairs.evaluate.decide_pairs`; also those that were not asked about.
        replies: One row a question: pair, gold, option_a and option_b (see `cxprobe.tasks.pairs.replies`), reply, and
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


_COLUMNS = ["id", "pair", "gold", "option_a", "option_b", "question"]


class PreferencePrompts(Closed):
    """How models are asked about the two texts of a pair."""

    prompts: Annotated[dict[PromptName, Annotated[str, StringConstraints(min_length=1)]], Field(min_length=1)]
    """Name -> the text before the two."""
    item: Annotated[Template, with_fields("a", "b")]
    """What is asked about: the text that is shown as A, and the one that is shown as B."""
    direct: Annotated[str, StringConstraints(min_length=1)]
    """How to answer."""


def load_preference_prompts(folder: Path = PROMPTS_FOLDER) -> PreferencePrompts:
    """Read and check ``prompts/preferences.yaml``.

    Raises:
        PromptError: One line for every fault of the file.
    """
    return read_prompt_file(PreferencePrompts, folder / "preferences.yaml")


def preference_questions(pairs: pd.DataFrame, name: str, prompts: PreferencePrompts) -> pd.DataFrame:
    """Return two questions about every pair: the right text is shown as A in one, as B in the other.

    A pair of two equal texts has none, since there is nothing to choose.

    Args:
        pairs: Columns id, context, good and bad.
        name: Which prompt.
        prompts: All prompts.

    Returns:
        One row a question: id; pair, the id of the pair; gold, the letter of the right text; option_a and option_b, the
        texts as they are shown; and question.

    Raises:
        PromptError: There is no such prompt.

    Source:
        Oba & Sugawara 2026, appendix D, where the order of the two is drawn; all words are this project's own.
    """
    before = named(prompts.prompts, name, "pairs.ask.prompt: prompt")
    rows = []
    for id_, context, good, bad in pairs[["id", "context", "good", "bad"]].itertuples(index=False, name=None):
        texts = {"A": (context + good, context + bad), "B": (context + bad, context + good)}
        for gold, (a, b) in texts.items() if good != bad else ():
            question = "\n\n".join([before, fill(prompts.item, {"a": a, "b": b}), prompts.direct])
            rows.append((f"{id_}/{gold}", id_, gold, a, b, question))
    return pd.DataFrame(rows, columns=_COLUMNS)


def draw_from_sources(section: PairsParams, made: Mapping[str, pd.DataFrame], seed: int) -> dict[str, pd.DataFrame]:
    """Return the pairs of each source that instructed models are asked about, see `draw_pairs`.

    Args:
        section: The section, whose ``ask`` is not null.
        made: Source -> its pairs.
        seed: The project's seed.
    """
    number = section.ask.pairs_per_construction if section.ask else None
    return {
        source: draw_pairs(pairs, [name for name in ("construction", "words", "group") if name in pairs], number, seed)
        for source, pairs in made.items()
    }


def draw_pairs(pairs: pd.DataFrame, by: Sequence[str], number: int | None, seed: int) -> pd.DataFrame:
    """Return so many pairs of each group, in the order of the table; those of an item are drawn together.

    So the ways of asking about an item can be compared, and what is drawn for a smaller number is part of what is drawn
    for a larger one: no reply is asked for again.

    Args:
        pairs: The column item, and those of ``by``.
        by: The columns that make the groups, such as construction.
        number: How many; None for all.
        seed: The project's seed.
    """
    if number is None:
        return pairs
    kept: list[int] = []
    for group, rows in pairs.reset_index(drop=True).groupby(list(by), sort=False):
        items = sorted(set(rows["item"]))
        drawn = generator_for(seed, "asked pairs", *group).permutation(len(items))
        turns = {items[number_of_item]: turn for turn, number_of_item in enumerate(drawn)}
        kept += rows["item"].map(turns).sort_values(kind="stable").index[:number].tolist()
    return pairs.iloc[sorted(kept)].reset_index(drop=True)
