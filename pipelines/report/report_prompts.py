"""report_prompts: judged answers of all models -> accuracies side by side, beside published ones and blind models."""

from pathlib import Path

import pandas as pd

from cxprobe.files.tables import read_table
from cxprobe.files.writing import DATA
from cxprobe.lm.params import Member, members_of
from cxprobe.lm.replies import REPLY
from cxprobe.prompts.judge import prompt_tables, reasoning_accuracy
from cxprobe.prompts.judge_answers import best_blind_answers, compare_answers, rates_of_blind
from cxprobe.prompts.report import (
    load_published_prompts,
    prompt_cards,
    prompt_figures,
    prompts_beside_published,
    read_published_prompts,
)
from cxprobe.report.tables import with_blanks
from cxprobe.run.running import run_stage
from cxprobe.run.stage import Outcome, Stage

PUBLISHED = Path("published/prompts.yaml")
WHO, MOCK = ["model", "asked"], "mockllm/"


def report_prompts(stage: Stage) -> Outcome:
    params, grid = stage.params, stage.params.grid.prompts
    published = read_published_prompts(load_published_prompts(stage.use(PUBLISHED)), stage.use)
    members = members_of(params.models, grid.models)
    mocks = [slug for slug in grid.llms if params.llms[slug].name.startswith(MOCK)]
    every, score = _judged(stage, members), params.judge_answers.score if members else REPLY
    judged = every[every["drawn"]]
    tables = prompt_tables(judged, WHO)
    figures = prompt_figures(tables, published, score, members, best_blind_answers(tables, members), mocks)
    reasoning, by_prompt = (reasoning_accuracy(judged, [*WHO, "set", *by]) for by in ([], ["prompt"]))
    tables |= prompts_beside_published(tables, reasoning, by_prompt, published)
    tables["comparisons"] = with_blanks(compare_answers(judged, members, [REPLY, score], mocks))
    folders = [stage.use(DATA / "build_prompts" / name) for name in grid.constructions]
    items = pd.concat([read_table(folder / "items.parquet") for folder in folders], ignore_index=True)
    cards, drawn = prompt_cards(items, rates_of_blind(every), params.cards.limit, members)
    in_git = {"accuracy": tables.pop("accuracy_by_construction")}
    return Outcome(
        counts={"models": judged["model"].nunique(), "constructions": judged["construction"].nunique()},
        tables=in_git | {f"tables/{name}": table for name, table in (tables | cards).items()},
        figures={f"figures/{name}": figure for name, figure in (figures | drawn).items()},
    )


def _judged(stage: Stage, members: list[Member]) -> pd.DataFrame:
    """Return every question with the judged answer of every model; of a blind model every item, drawn or not."""
    grid, tables = stage.params.grid.prompts, []
    folders = [(slug, DATA / "judge_replies" / slug) for slug in grid.llms]
    folders += [(member.slug, DATA / "judge_answers" / member.entry / member.inside) for member in members]
    for name in grid.constructions:
        for slug, folder in folders:
            own = read_table(stage.use(folder / name / "judged.parquet"))
            tables.append(own.assign(model=slug, drawn=own.get("drawn", True)))
    return pd.concat(tables, ignore_index=True)


if __name__ == "__main__":
    run_stage(report_prompts)
