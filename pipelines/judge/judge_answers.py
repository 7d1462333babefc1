"""judge_answers: token scores of one model -> the likeliest answer to every question, accuracies by construction."""

from pathlib import Path

import pandas as pd

from cxprobe.judge import (
    accuracy_by_shots,
    judge_likelihoods,
    prompt_headline,
    prompt_metrics,
    prompt_tables,
    score_answers,
)
from cxprobe.report import prompt_accuracy_figure
from cxprobe.stages import JudgedRun, Outcome, Stage, run_stage
from cxprobe.storage import DATA, read_model_facts, read_table, token_scores_of, write_table


def judge_answers(stage: Stage) -> Outcome:
    measured = stage.use(DATA / "score_answers" / stage.item["model"])
    tokens = token_scores_of(read_table(measured / "tokens.parquet"))
    runs, every = [], []
    for name in stage.params.grid.prompts.constructions:
        folder = stage.use(DATA / "build_prompts" / name)
        choices, answers = (read_table(folder / f"{stem}.parquet") for stem in ("choices", "answers"))
        scores = score_answers(choices, answers, tokens, stage.params.judge_answers.scores)
        judged = judge_likelihoods(choices.drop(columns=["question", "anywhere"]), scores)
        write_table(scores, stage.data / name / "scores.parquet")
        write_table(judged, stage.data / name / "judged.parquet")
        runs.append(_run(stage, name, judged, stage.use(folder / "choices.parquet")))
        every.append(judged)
    runs.append(_run(stage, "all", pd.concat(every, ignore_index=True), stage.use(DATA / "build_prompts")))
    return Outcome(headline=prompt_headline(runs[-1].metrics), runs=runs)


def _run(stage: Stage, name: str, judged: pd.DataFrame, choices: Path) -> JudgedRun:
    model, asked, how = stage.item["model"], stage.params.judge_answers.score, stage.params.score_answers
    tables = prompt_tables(judged, ["asked"])
    by_prompt = tables["accuracy_by_prompt"].query("asked == @asked")
    return JudgedRun(
        model=model,
        facts=read_model_facts(DATA / "score_answers" / model),
        construction=name,
        source="own",
        dataset=choices,
        items=judged["id"].nunique(),
        metrics=prompt_metrics(judged, asked),
        series=accuracy_by_shots(judged, asked),
        settings=stage.settings("build_prompts") | {"asked": asked, "scheme": how.scheme, "bos": how.bos},
        tables=tables,
        figures={"accuracy": prompt_accuracy_figure(by_prompt, f"{model}, {asked}: {name}")},
    )


if __name__ == "__main__":
    run_stage(judge_answers, "model")
