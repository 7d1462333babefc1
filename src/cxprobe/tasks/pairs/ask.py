"""Minimal pairs put to an instructed model in words: which of the two texts it calls the likelier."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, cast

import numpy as np
import pandas as pd
from pydantic import Field, StringConstraints

from cxprobe.files.schema import Closed
from cxprobe.files.tables import write_table
from cxprobe.files.writing import SCRATCH, project_folder
from cxprobe.models.asking import demand, replies_to
from cxprobe.models.replies import PROMPTS_FOLDER, PromptName, named, read_prompt_file, with_fields
from cxprobe.run.record import ModelFacts, write_model_facts
from cxprobe.run.stage import Outcome, Stage
from cxprobe.seeding import generator_for
from cxprobe.tasks.pairs.params import AskPairs, PairsParams, PairsStage
from cxprobe.tasks.pairs.sources import folder_of, read_sources
from cxprobe.text import Template, fill


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
    return pd.DataFrame(rows, columns=["id", "pair", "gold", "option_a", "option_b", "question"])


def drawn_pairs(section: PairsParams, made: Mapping[str, pd.DataFrame], seed: int) -> dict[str, pd.DataFrame]:
    """Return the pairs of each source that instructed models are asked about, see `draw_pairs`.

    Those of two equal texts are left out, since there is nothing to choose.
    """
    number = section.ask.pairs_per_construction if section.ask else None
    by = ["construction", "words", "group"]
    differ = {source: table[table["good"] != table["bad"]] for source, table in made.items()}
    return {source: draw_pairs(table, by, number, seed) for source, table in differ.items()}


def draw_pairs(pairs: pd.DataFrame, by: Sequence[str], number: int | None, seed: int) -> pd.DataFrame:
    """Return so many pairs of each group, in the order of the table; those of an item are drawn together.

    So the ways of asking about an item can be compared, and what is drawn for a smaller number is part of what is drawn
    for a larger one: no reply is asked for again.

    Args:
        pairs: The column item, and one at least of ``by``.
        by: The columns that make the groups, as far as they are there, such as construction.
        number: How many; None for all.
        seed: The project's seed.
    """
    if number is None:
        return pairs
    kept: list[int] = []
    keys = [name for name in by if name in pairs]
    for group, rows in pairs.reset_index(drop=True).groupby(keys, sort=False):
        items = np.unique(rows["item"])
        drawn = generator_for(seed, "asked pairs", *group).permutation(len(items))
        turns = pd.Series(np.argsort(drawn), items)
        kept += rows["item"].map(turns).sort_values(kind="stable").index[:number].tolist()
    return pairs.iloc[sorted(kept)].reset_index(drop=True)


def ask(stage: Stage[PairsStage]) -> Outcome:
    """Show a model both texts of each drawn pair, in either order: the replies of each source, and ``model.json``."""
    section, llm = stage.params.pairs, stage.params.llms[stage.item]
    stage.use(PROMPTS_FOLDER / "preferences.yaml")
    prompts, scratch = load_preference_prompts(), project_folder() / SCRATCH / stage.name / stage.item
    prompt = cast(AskPairs, section.ask).prompt  # not null where models are asked
    drawn = drawn_pairs(section, read_sources(section, stage.use), stage.params.seed)
    counts: dict[str, float] = {"pairs": sum(map(len, drawn.values())), "requests": 0, "failed": 0}
    tables = {source: preference_questions(pairs, prompt, prompts) for source, pairs in drawn.items()}
    print(f"{stage.item}: {demand(pd.concat(tables.values())['question'].tolist(), llm)}", flush=True)
    for source, table in tables.items():
        replies = replies_to(table, llm, scratch, f"{stage.name} {stage.item} {source}")
        asked = table.merge(replies, on="id", validate="one_to_one")
        write_table(asked, stage.data / folder_of(source) / "replies.parquet")
        counts["requests"] += len(replies)
        counts["failed"] += int(replies["failed"].sum())
    write_model_facts(ModelFacts(llm.name, "instructed", None, ""), stage.data)
    return Outcome(counts=counts)
