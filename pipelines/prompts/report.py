"""report_prompts: judged answers of all models -> accuracies side by side, beside published ones and blind models."""

from pathlib import Path

import pandas as pd

from cxprobe.files.tables import read_table
from cxprobe.files.writing import DATA
from cxprobe.lm.params import members_of, series_of
from cxprobe.lm.replies import REPLY
from cxprobe.prompts.judge import RULE, compared_answers, prompt_accuracy, prompt_tables
from cxprobe.prompts.params import PromptsStage
from cxprobe.prompts.report import (
    prompt_cards,
    prompt_figures,
    prompts_beside_published,
    read_published_results,
    tables_of_figures,
)
from cxprobe.report.comparisons import compare_models
from cxprobe.report.tables import with_blanks
from cxprobe.run.running import run_stage
from cxprobe.run.stage import Outcome, Stage

PUBLISHED = Path("published/prompts.yaml")
WHO, MOCK = ["model", "asked"], "mockllm/"


def report_prompts(stage: Stage[PromptsStage]) -> Outcome:
    params, section = stage.params, stage.params.prompts
    published = read_published_results(PUBLISHED, stage.use)
    members = members_of(params.models, section.models)
    mocks = [slug for slug in section.llms if params.llms[slug].name.startswith(MOCK)]
    score = section.judge.score
    # blind models answer all items, also those that were not drawn
    every = read_table(stage.use(DATA / "judge_prompts" / "items.parquet"))
    judged = every[every["drawn"]]
    tables = prompt_tables(judged, WHO)
    tables |= tables_of_figures(judged, tables["accuracy_by_prompt"])
    figures = prompt_figures(tables, published, score, members, mocks)
    tables |= prompts_beside_published(judged, tables, published)
    answers, series = compared_answers(judged, [REPLY, score], mocks), series_of(params.models, section.models)
    compared = compare_models(answers, ["construction", "set"], members, series, params.report.tested)
    tables["comparisons"] = with_blanks(compared)
    paths = [stage.use(DATA / "make_prompts" / name / "items.parquet") for name in section.constructions]
    items = pd.concat([read_table(path) for path in paths], ignore_index=True)
    blind = prompt_accuracy(every[every["asked"] == RULE], ["model", "construction", "set"])
    cards, card_figures = prompt_cards(items, blind, params.report.limit, members)
    in_git = {"accuracy": tables.pop("accuracy_by_construction")}
    return Outcome(
        counts={"models": judged["model"].nunique(), "constructions": judged["construction"].nunique()},
        tables=in_git | {f"tables/{name}": table for name, table in (tables | cards).items()},
        figures={f"figures/{name}": figure for name, figure in (figures | card_figures).items()},
    )


if __name__ == "__main__":
    run_stage(report_prompts, PromptsStage)
