"""judge_replies: raw replies of one model -> right, wrong, unparsed or failed, and accuracies by construction."""

from pathlib import Path

import pandas as pd

from cxprobe.files.tables import read_table, write_table
from cxprobe.files.writing import DATA
from cxprobe.lm.facts import read_model_facts
from cxprobe.lm.replies import REPLY, judge_reply_table
from cxprobe.prompts.judge import accuracy_by_shots, prompt_headline, prompt_metrics, prompt_tables
from cxprobe.prompts.report import prompt_accuracy_figure
from cxprobe.run.running import run_stage
from cxprobe.run.stage import JudgedRun, Outcome, Stage


def judge_replies(stage: Stage) -> Outcome:
    runs, every = [], []
    for name in stage.params.grid.prompts.constructions:
        questions = stage.use(DATA / "build_prompts" / name / "questions.parquet")
        folder = stage.use(DATA / "ask_llms" / stage.item["llm"] / name)
        judged = judge_reply_table(read_table(questions), read_table(folder / "replies.parquet"))
        write_table(judged.drop(columns="question"), stage.data / name / "judged.parquet")
        runs.append(_run(stage, name, judged, folder, questions))
        every.append(judged)
    runs.append(_run(stage, "all", pd.concat(every, ignore_index=True), folder, stage.use(DATA / "build_prompts")))
    return Outcome(headline=prompt_headline(runs[-1].metrics), runs=runs)


def _run(stage: Stage, name: str, judged: pd.DataFrame, folder: Path, questions: Path) -> JudgedRun:
    tables = prompt_tables(judged, ["asked"])
    return JudgedRun(
        model=stage.item["llm"],
        facts=read_model_facts(folder),
        construction=name,
        source="own",
        dataset=questions,
        items=len(judged),
        metrics=prompt_metrics(judged, REPLY),
        series=accuracy_by_shots(judged, REPLY),
        settings=stage.settings("build_prompts") | {"asked": REPLY, "scheme": "none", "bos": "none"},
        tables=tables,
        figures={"accuracy": prompt_accuracy_figure(tables["accuracy_by_prompt"], f"{stage.item['llm']}: {name}")},
    )


if __name__ == "__main__":
    run_stage(judge_replies, "llm")
