"""What the run of a model on questions has: its numbers, tables and figure; and the names of settings in figures."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pandas as pd

from cxprobe.lm.params import Member, ModelSpec
from cxprobe.lm.replies import REPLY
from cxprobe.prompts.judge import (
    ALL_CONSTRUCTIONS,
    RULE,
    RUN_KEY,
    accuracy_by_shots,
    answers_of_runs,
    compared_answers,
    prompt_metrics,
    prompt_tables,
)
from cxprobe.prompts.params import PromptsParams
from cxprobe.report.dots import dots_of_run


def prompt_runs(
    judged: pd.DataFrame, members: Iterable[Member], section: PromptsParams
) -> Iterator[tuple[Member, dict[str, Any]]]:
    """Yield the runs of all models, on each construction and on all: the model and fields of `JudgedRun`.

    A blind model is for one kind of item, and not every construction has it. Of the settings, those are given that say
    how a model is asked: by replies, by a rule, or by a score under a scheme.

    Args:
        judged: What `cxprobe.prompts.judge.judged_table` returns.
        members: The models.
        section: The section prompts of params.yaml.
    """
    members, judge = list(members), section.judge
    settings = {}
    for member in members:
        how = {"asked": RULE, "scheme": "none", "bos": "none", "reader": "none"}
        if member.is_asked:
            how |= {"asked": REPLY, "reader": judge.reader}
        elif isinstance(member.spec, ModelSpec):
            how |= {"asked": judge.score, "scheme": section.score.scheme, "bos": member.spec.bos}
        settings[member.slug] = how
    deciding = {slug: how["asked"] for slug, how in settings.items()}
    judged = judged[judged["drawn"]]
    every = answers_of_runs(judged)
    tables = prompt_tables(every, [*RUN_KEY, "asked"])
    metrics, series = prompt_metrics(every, deciding), accuracy_by_shots(every, deciding)
    items = every.groupby(RUN_KEY)["id"].nunique()
    answers = compared_answers(judged, [REPLY, judge.score])
    answers["id"] = answers["construction"] + ", " + answers["set"] + ", " + answers["id"]
    credits = dict(iter(answers_of_runs(answers.assign(control=False)).drop(columns="control").groupby(RUN_KEY)))
    for member in members:
        slug = member.slug
        for name in (*section.constructions, ALL_CONSTRUCTIONS):
            if (slug, name) not in metrics:
                continue
            of_run = {}
            for stem, table in tables.items():
                rows = table[(table["model"] == slug) & (table["run"] == name)]
                of_run[stem] = rows.drop(columns=RUN_KEY).reset_index(drop=True)
            # A row for each set, setting and prompt, with what the best constant answer gets.
            by_prompt = of_run["accuracy_by_prompt"].query("asked == @deciding[@slug]")
            groups = by_prompt["set"] + ", " + setting_names(by_prompt) + ", " + by_prompt["prompt"]
            title = f"{slug if member.is_asked else member.label}: {name}"
            yield (
                member,
                {
                    "construction": name,
                    "items": int(items[slug, name]),
                    "metrics": metrics[slug, name],
                    "settings": settings[slug],
                    "series": series.get((slug, name), {}),
                    "tables": of_run,
                    "figures": {"accuracy": dots_of_run(by_prompt.assign(group=groups), title, chance=None)},
                    "credits": credits.get((slug, name)),
                },
            )


def setting_names(table: pd.DataFrame) -> "pd.Series[str]":
    """Return the names of a table's settings for figures: "0 shots", "3 shots of CxNLI, reasoned".

    Args:
        table: Columns shots, examples, chain_of_thought.
    """
    names = []
    for shots, examples, thought in table[["shots", "examples", "chain_of_thought"]].itertuples(index=False):
        shown = f"{shots} shot{'' if shots == 1 else 's'}" + (f" of {stems(examples)}" if shots else "")
        names.append(shown + (", reasoned" if thought else ""))
    return pd.Series(names, table.index, dtype=object)


def stems(examples: str) -> str:
    """Return sources of examples, which "+" joins, without their folders and endings."""
    return "+".join(Path(source).stem for source in examples.split("+"))
