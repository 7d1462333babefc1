"""judge_prompts: raw replies and scores of all models -> right or wrong, and accuracies by construction."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import pandas as pd

from cxprobe.errors import CxprobeError
from cxprobe.files.tables import read_table, write_table
from cxprobe.files.writing import DATA
from cxprobe.lm.language_models import read_model_facts
from cxprobe.lm.params import Member, ModelFacts, members_of
from cxprobe.lm.replies import REPLY
from cxprobe.prompts.figures import prompt_accuracy_figure
from cxprobe.prompts.judge import (
    ALL_CONSTRUCTIONS,
    RULE,
    RUN_KEY,
    accuracy_by_shots,
    answers_of_runs,
    judge_blind_answers,
    judge_likelihoods,
    judge_reply_table,
    judged_table,
    prompt_headline,
    prompt_metrics,
    prompt_tables,
    score_answers,
)
from cxprobe.prompts.make import questions_for
from cxprobe.run.running import run_stage
from cxprobe.run.stage import JudgedRun, Outcome, Stage

MADE = DATA / "make_prompts"


def judge_prompts(stage: Stage) -> Outcome:
    params, section = stage.params, stage.params.prompts
    members = members_of(params.models, section.models, params.llms, section.llms)
    made = {}
    for stem in ("questions", "choices", "answers", "items"):
        paths = [stage.use(MADE / name / f"{stem}.parquet") for name in section.constructions]
        made[stem] = pd.concat([read_table(path) for path in paths], ignore_index=True)
    answers: dict[str, pd.DataFrame] = {}
    scores, facts, faults = [], {}, {}
    for member in members:
        try:
            facts[member.slug] = read_model_facts(_folder(member))
            answers[member.slug], values = _judge(stage, member, made)
            scores.append(values.assign(model=member.slug))
        except CxprobeError as fault:
            faults[member.slug] = str(fault)
    if not answers:
        return Outcome(faults=faults)
    judged = judged_table(answers)
    write_table(judged, stage.data / "items.parquet")
    write_table(pd.concat(scores, ignore_index=True), stage.data / "scores.parquet")
    runs = _runs(stage, [member for member in members if member.slug in answers], judged, facts)
    headline = {run.model: prompt_headline(run.metrics) for run in runs if run.construction == ALL_CONSTRUCTIONS}
    return Outcome(headline=headline, runs=runs, faults=faults)


def _folder(member: Member) -> Path:
    """Return where the raw answers of a model are."""
    return DATA / ("ask_prompts" if member.is_asked else "score_prompts") / member.entry / member.inside


def _judge(stage: Stage, member: Member, made: Mapping[str, pd.DataFrame]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the judged answers of a model, and the scores of all answers to a question; no rows where it has none."""
    none = pd.DataFrame({"id": [], "answer": [], "score": [], "value": []})
    if member.is_asked:
        replies = read_table(stage.use(_folder(member) / "replies.parquet"))
        return judge_reply_table(questions_for(made["questions"], member.slug, stage.params.prompts), replies), none
    if member.is_blind:
        return judge_blind_answers(made["items"], read_table(stage.use(_folder(member) / "answers.parquet"))), none
    tokens = read_table(stage.use(_folder(member) / "tokens.parquet"))
    choices, names = made["choices"], stage.params.prompts.judge.scores
    scores = score_answers(choices, made["answers"], tokens, names)
    return judge_likelihoods(choices.drop(columns=["question", "anywhere"]), scores), scores


def _runs(
    stage: Stage, members: Sequence[Member], judged: pd.DataFrame, facts: Mapping[str, ModelFacts]
) -> list[JudgedRun]:
    """Return the runs of all models: on each construction, and on all."""
    section, made = stage.params.prompts, stage.settings("prompts.make")
    how = {}  # model -> how it was asked
    for member in members:
        how[member.slug] = {"asked": REPLY if member.is_asked else RULE, "scheme": "none", "bos": "none"}
        if not (member.is_asked or member.is_blind):
            how[member.slug] = {
                "asked": section.judge.score,
                "scheme": section.score.scheme,
                "bos": section.score.bos,
            }
    deciding = {slug: asked["asked"] for slug, asked in how.items()}
    every = answers_of_runs(judged[judged["drawn"]])
    tables = prompt_tables(every, [*RUN_KEY, "asked"])
    metrics, series = prompt_metrics(every, deciding), accuracy_by_shots(every, deciding)
    items = every.groupby(RUN_KEY)["id"].nunique()
    runs = []
    for member in members:
        slug = member.slug
        for name in (*section.constructions, ALL_CONSTRUCTIONS):
            if (slug, name) not in metrics:  # a blind model is for one kind of item, and not every construction has it
                continue
            of_run = {
                stem: table[(table["model"] == slug) & (table["run"] == name)]
                .drop(columns=RUN_KEY)
                .reset_index(drop=True)
                for stem, table in tables.items()
            }
            by_prompt = of_run["accuracy_by_prompt"]
            figure = prompt_accuracy_figure(
                by_prompt[by_prompt["asked"] == deciding[slug]], f"{slug if member.is_asked else member.label}: {name}"
            )
            stem = "questions" if member.is_asked else "choices"
            runs.append(
                JudgedRun(
                    model=slug,
                    facts=facts[slug],
                    construction=name,
                    source="own",
                    dataset=stage.use(MADE if name == ALL_CONSTRUCTIONS else MADE / name / f"{stem}.parquet"),
                    items=int(items[slug, name]),
                    metrics=metrics[slug, name],
                    settings=made | how[slug],
                    series=series.get((slug, name), {}),
                    tables=of_run,
                    figures={"accuracy": figure},
                )
            )
    return runs


if __name__ == "__main__":
    run_stage(judge_prompts)
