"""evaluate_prompts: raw replies and scores of all models -> responses, rates, comparisons, and the runs."""

from functools import partial
from pathlib import Path

import pandas as pd

from cxprobe.files.tables import read_table
from cxprobe.files.writing import DATA
from cxprobe.models.params import Member
from cxprobe.results.evaluate import Evaluation, evaluate
from cxprobe.results.members import task_members
from cxprobe.results.rates import ALL
from cxprobe.run.running import run_stage
from cxprobe.run.stage import Outcome, Stage
from cxprobe.tasks.prompts.evaluate import (
    beside_controls,
    evaluate_baseline,
    evaluate_likelihoods,
    evaluate_reply_table,
    facets_of,
    macro_f1_rates,
    prompt_responses,
    rates_beside_constant,
    score_answers,
)
from cxprobe.tasks.prompts.make import questions_for
from cxprobe.tasks.prompts.params import PromptsStage
from cxprobe.tasks.prompts.report import PUBLISHED, baselines_on_items, prompts_beside_published, read_published_results

MADE = DATA / "make_prompts"


def evaluate_prompts(stage: Stage[PromptsStage]) -> Outcome:
    section, members = stage.params.prompts, task_members(stage.params)
    score, facets = section.evaluate.score, facets_of(section.evaluate.score)
    published = read_published_results(PUBLISHED, stage.use)
    made = {}
    for stem in ("questions", "choices", "answers", "items"):
        paths = [stage.use(MADE / name / f"{stem}.parquet") for name in section.constructions]
        made[stem] = pd.concat([read_table(path) for path in paths], ignore_index=True)

    def judge(member: Member, folder: Path) -> pd.DataFrame:
        if member.is_asked:
            questions = questions_for(made["questions"], member.slug, section)
            return evaluate_reply_table(questions, read_table(folder / "replies.parquet"), section.evaluate.reader)
        if member.is_baseline:
            return evaluate_baseline(made["items"], read_table(folder / "answers.parquet"))
        tokens = read_table(folder / "tokens.parquet")
        scores = score_answers(made["choices"], made["answers"], tokens, section.evaluate.scores)
        return evaluate_likelihoods(made["choices"], scores)

    def tables(rates: pd.DataFrame, _responses: pd.DataFrame) -> dict[str, pd.DataFrame]:
        baselines = baselines_on_items(rates, stage.params.report.limit, members)
        return {"tables/baselines": baselines, **prompts_beside_published(rates, members, score, published)}

    task = Evaluation(
        lambda member, folder: prompt_responses(judge(member, folder), score),
        facets,
        settings=lambda _source: ("prompts.make", "prompts.score", "prompts.evaluate"),
        dataset=lambda name, _source: stage.use(MADE if name == ALL else MADE / name / "items.parquet"),
        estimate=rates_beside_constant,
        further=partial(macro_f1_rates, facets=facets),
        override=beside_controls,
        tables=tables,
    )
    return evaluate(stage, task)


if __name__ == "__main__":
    run_stage(evaluate_prompts, PromptsStage)
