"""judge_answers: token scores of one model, or answers of blind ones -> right or wrong, accuracies by construction."""

from collections.abc import Iterator
from pathlib import Path

import pandas as pd

from cxprobe.files.tables import read_table, write_table
from cxprobe.files.writing import DATA
from cxprobe.lm.facts import read_model_facts
from cxprobe.lm.params import Member, members_of
from cxprobe.lm.token_table import token_scores_of
from cxprobe.prompts.judge_answers import RULE, answers_headline, judge_blind_answers, judge_choices, sum_up_answers
from cxprobe.prompts.report import prompt_accuracy_figure
from cxprobe.run.running import run_stage
from cxprobe.run.stage import JudgedRun, Outcome, Stage


def judge_answers(stage: Stage) -> Outcome:
    runs = []
    for member in members_of(stage.params.models, [stage.item["model"]]):
        judged = dict(_judge(stage, member, stage.use(DATA / "score_answers" / member.entry / member.inside)))
        for name, own in judged.items():
            write_table(own, stage.data / member.inside / name / "judged.parquet")
        for name, own in {**judged, "all": pd.concat(judged.values(), ignore_index=True)}.items():
            asked = own[own["drawn"]] if member.is_blind else own
            if len(asked):  # a blind model is for one kind of item, and not every construction has it
                runs.append(_run(stage, member, name, asked))
    of_all = {run.model: run.metrics for run in runs if run.construction == "all"}
    return Outcome(headline=answers_headline(of_all, stage.item["model"]), runs=runs)


def _judge(stage: Stage, member: Member, measured: Path) -> Iterator[tuple[str, pd.DataFrame]]:
    """Give each construction with its judged questions; of a blind model, with its items, drawn or not."""
    raw = read_table(measured / ("answers.parquet" if member.is_blind else "tokens.parquet"))
    tokens = [] if member.is_blind else token_scores_of(raw)
    for name in stage.params.grid.prompts.constructions:
        folder = stage.use(DATA / "build_prompts" / name)
        if member.is_blind:
            yield name, judge_blind_answers(read_table(folder / "items.parquet"), raw)
            continue
        choices, answers = (read_table(folder / f"{stem}.parquet") for stem in ("choices", "answers"))
        scores, judged = judge_choices(choices, answers, tokens, stage.params.judge_answers.scores)
        write_table(scores, stage.data / name / "scores.parquet")
        yield name, judged


def _run(stage: Stage, member: Member, name: str, judged: pd.DataFrame) -> JudgedRun:
    params, title = stage.params, f"{member.label}: {name}"
    how = {"asked": RULE, "scheme": "none", "bos": "none"}
    if not member.is_blind:
        scored = params.score_answers
        how = {"asked": params.judge_answers.score, "scheme": scored.scheme, "bos": scored.bos}
    metrics, series, tables, by_prompt = sum_up_answers(judged, how["asked"])
    figures = {"accuracy": prompt_accuracy_figure(by_prompt, title)}
    facts = read_model_facts(DATA / "score_answers" / member.entry / member.inside)
    data = stage.use(DATA / "build_prompts" / ("" if name == "all" else f"{name}/choices.parquet"))
    settings, items = stage.settings("build_prompts") | how, judged["id"].nunique()
    return JudgedRun(member.slug, facts, name, "own", data, items, metrics, settings, series, tables, figures)


if __name__ == "__main__":
    run_stage(judge_answers, "model")
