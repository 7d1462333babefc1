"""judge_prompts: raw replies and scores of all models -> right or wrong, and accuracies by construction."""

from pathlib import Path
from typing import NamedTuple

import pandas as pd

from cxprobe.files.tables import read_table, write_table
from cxprobe.files.writing import DATA
from cxprobe.lm.params import Member
from cxprobe.prompts.judge import (
    ALL_CONSTRUCTIONS,
    judge_blind_answers,
    judge_likelihoods,
    judge_reply_table,
    judged_table,
    prompt_headline,
    score_answers,
)
from cxprobe.prompts.make import questions_for
from cxprobe.prompts.params import PromptsStage
from cxprobe.prompts.runs import prompt_runs
from cxprobe.report.judging import compared_with_controls, judge_members, rates_of_runs
from cxprobe.run.running import run_stage
from cxprobe.run.stage import Outcome, Stage

MADE = DATA / "make_prompts"
NO_SCORES = pd.DataFrame({"id": [], "answer": [], "score": [], "value": []})


class Answered(NamedTuple):
    """The judged answers of a model, and the scores of all possible answers; no rows for models without likelihoods."""

    judged: pd.DataFrame
    scores: pd.DataFrame


def judge_prompts(stage: Stage[PromptsStage]) -> Outcome:
    section = stage.params.prompts
    made = {}
    for stem in ("questions", "choices", "answers", "items"):
        paths = [stage.use(MADE / name / f"{stem}.parquet") for name in section.constructions]
        made[stem] = pd.concat([read_table(path) for path in paths], ignore_index=True)

    def judge(member: Member, folder: Path) -> Answered:
        if member.is_asked:
            replies = read_table(stage.use(folder / "replies.parquet"))
            questions = questions_for(made["questions"], member.slug, section)
            return Answered(judge_reply_table(questions, replies, section.judge.reader), NO_SCORES)
        if member.is_blind:
            answers = read_table(stage.use(folder / "answers.parquet"))
            return Answered(judge_blind_answers(made["items"], answers), NO_SCORES)
        tokens = read_table(stage.use(folder / "tokens.parquet"))
        scores = score_answers(made["choices"], made["answers"], tokens, section.judge.scores)
        choices = made["choices"].drop(columns=["question", "anywhere"])
        return Answered(judge_likelihoods(choices, scores), scores)

    judging = judge_members(stage, judge)
    if not judging.judged:
        return Outcome(faults=judging.faults)
    judged = judged_table({slug: answered.judged for slug, answered in judging.judged.items()})
    scores = [answered.scores.assign(model=slug) for slug, answered in judging.judged.items()]
    write_table(judged, stage.data / "items.parquet")
    write_table(pd.concat(scores, ignore_index=True), stage.data / "scores.parquet")
    settings = stage.settings("prompts.make")
    runs, headline = [], {}
    for member, fields in prompt_runs(judged, judging.members.values(), section):
        name, slug = fields["construction"], member.slug
        stem = "questions" if member.is_asked else "items" if member.is_blind else "choices"
        dataset = stage.use(MADE if name == ALL_CONSTRUCTIONS else MADE / name / f"{stem}.parquet")
        run_fields = fields | {"source": "own", "dataset": dataset, "settings": settings | fields["settings"]}
        runs.append(judging.run(slug, **run_fields))
        if name == ALL_CONSTRUCTIONS:
            headline[slug] = prompt_headline(fields["metrics"])
    judging.show(rates_of_runs(runs))
    return Outcome(headline=headline, asks="words", runs=compared_with_controls(runs), faults=judging.faults)


if __name__ == "__main__":
    run_stage(judge_prompts, PromptsStage)
