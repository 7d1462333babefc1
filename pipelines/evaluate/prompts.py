"""evaluate_prompts: raw replies and scores of all models -> responses, rates, comparisons, and the runs."""

import pandas as pd

from cxprobe.files.tables import read_table
from cxprobe.files.writing import DATA
from cxprobe.results.evaluate import Evaluation, evaluate
from cxprobe.results.params import task_members
from cxprobe.results.rates import ALL
from cxprobe.run.running import Outcome, Stage, run_stage
from cxprobe.tasks.prompts.evaluate import (
    FACETS,
    beside_controls,
    evaluate_answers,
    prompt_responses,
    rates_beside_constant,
)
from cxprobe.tasks.prompts.params import PromptsStage
from cxprobe.tasks.prompts.report import prompts_beside_published

MADE = DATA / "make_prompts"


def evaluate_prompts(stage: Stage[PromptsStage]) -> Outcome:
    section, members = stage.params.prompts, task_members(stage.params)
    score = section.evaluate.score
    asked, made = [one.slug for one in members if one.is_asked], {}
    for stem in ("questions", "choices", "answers", "items"):
        paths = [stage.use(MADE / name / f"{stem}.parquet") for name in section.constructions]
        made[stem] = pd.concat([read_table(path) for path in paths], ignore_index=True)

    task = Evaluation(
        lambda member, folder: prompt_responses(evaluate_answers(member, folder, made, section), score),
        FACETS,
        settings=lambda _source: ("prompts.make", "prompts.score", "prompts.evaluate"),
        dataset=lambda name, _source: stage.use(MADE if name == ALL else MADE / name / "items.parquet"),
        estimate=rates_beside_constant,
        override=lambda rates: beside_controls(rates, asked),
        kept=("deciding",),
        tables=lambda rates, _responses: {
            "tables/beside_published": prompts_beside_published(rates, members, stage.use)
        },
    )
    return evaluate(stage, task)


if __name__ == "__main__":
    run_stage(evaluate_prompts, PromptsStage)
