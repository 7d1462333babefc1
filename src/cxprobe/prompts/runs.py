"""What the run of a model on questions has: its numbers, tables and figure."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import pandas as pd
from matplotlib.figure import Figure

from cxprobe.lm.params import Member
from cxprobe.lm.replies import REPLY
from cxprobe.prompts.figures import prompt_accuracy_figure
from cxprobe.prompts.judge import (
    ALL_CONSTRUCTIONS,
    RULE,
    RUN_KEY,
    accuracy_by_shots,
    answers_of_runs,
    prompt_metrics,
    prompt_tables,
)
from cxprobe.prompts.params import PromptsParams


class PromptRun(NamedTuple):
    """One model on one construction, or on all of them.

    Attributes:
        model: The slug of the model.
        construction: The construction, or `cxprobe.prompts.judge.ALL_CONSTRUCTIONS`.
        items: How many items it was asked about.
        metrics: Its numbers by name.
        series: Its accuracies by the number of shots.
        tables: Its tables by name.
        figure: Its accuracies by prompt.
    """

    model: str
    construction: str
    items: int
    metrics: Mapping[str, float]
    series: Mapping[str, Sequence[tuple[int, float]]]
    tables: Mapping[str, pd.DataFrame]
    figure: Figure


def how_asked(member: Member, section: PromptsParams) -> dict[str, str]:
    """Return how a model is asked: by replies, by a rule, or by a score under a scheme."""
    if member.is_asked or member.is_blind:
        return {"asked": REPLY if member.is_asked else RULE, "scheme": "none", "bos": "none"}
    return {"asked": section.judge.score, "scheme": section.score.scheme, "bos": section.score.bos}


def prompt_runs(judged: pd.DataFrame, members: Iterable[Member], section: PromptsParams) -> Iterator[PromptRun]:
    """Yield the runs of all models, on each construction and on all.

    A blind model is for one kind of item, and not every construction has it.

    Args:
        judged: What `cxprobe.prompts.judge.judged_table` returns.
        members: The models.
        section: The section prompts of params.yaml.
    """
    members = list(members)
    deciding = {member.slug: how_asked(member, section)["asked"] for member in members}
    every = answers_of_runs(judged[judged["drawn"]])
    tables = prompt_tables(every, [*RUN_KEY, "asked"])
    metrics, series = prompt_metrics(every, deciding), accuracy_by_shots(every, deciding)
    items = every.groupby(RUN_KEY)["id"].nunique()
    for member in members:
        slug = member.slug
        for name in (*section.constructions, ALL_CONSTRUCTIONS):
            if (slug, name) not in metrics:
                continue
            of_run = {}
            for stem, table in tables.items():
                rows = table[(table["model"] == slug) & (table["run"] == name)]
                of_run[stem] = rows.drop(columns=RUN_KEY).reset_index(drop=True)
            by_prompt = of_run["accuracy_by_prompt"]
            title = f"{slug if member.is_asked else member.label}: {name}"
            figure = prompt_accuracy_figure(by_prompt[by_prompt["asked"] == deciding[slug]], title)
            numbers = metrics[slug, name]
            yield PromptRun(slug, name, int(items[slug, name]), numbers, series.get((slug, name), {}), of_run, figure)
