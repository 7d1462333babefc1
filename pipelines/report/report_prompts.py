"""report_prompts: judged answers of all models -> accuracies side by side and beside published ones, figures."""

from pathlib import Path

import pandas as pd

from cxprobe.judge import REPLY, prompt_tables, reasoning_accuracy
from cxprobe.report import PublishedResults, load_published_prompts, prompt_figures, prompts_beside_published
from cxprobe.stages import Outcome, Stage, run_stage
from cxprobe.storage import DATA, read_table

PUBLISHED = Path("published/prompts.yaml")
WHO = ["model", "asked"]


def report_prompts(stage: Stage) -> Outcome:
    judged, published = _judged(stage), _published(stage)
    score = stage.params.judge_answers.score if stage.params.grid.prompts.models else REPLY
    tables = prompt_tables(judged, WHO)
    figures = prompt_figures(tables, published, score)
    in_git = {"accuracy": tables.pop("accuracy_by_construction")}
    beside = prompts_beside_published(tables, reasoning_accuracy(judged, WHO), published)
    return Outcome(
        counts={"models": judged["model"].nunique(), "constructions": judged["construction"].nunique()},
        tables=in_git | {f"tables/{name}": table for name, table in (tables | beside).items()},
        figures={f"figures/{name}": figure for name, figure in figures.items()},
    )


def _judged(stage: Stage) -> pd.DataFrame:
    """Return every question with the judged answer of every model."""
    grid = stage.params.grid.prompts
    judged = [("judge_replies", slug) for slug in grid.llms] + [("judge_answers", slug) for slug in grid.models]
    tables = [
        read_table(stage.use(DATA / name / slug / construction / "judged.parquet")).assign(model=slug)
        for construction in grid.constructions
        for name, slug in judged
    ]
    return pd.concat(tables, ignore_index=True)


def _published(stage: Stage) -> PublishedResults:
    names = load_published_prompts(stage.use(PUBLISHED))
    tables = (
        pd.read_csv(stage.use(Path(path)), sep="\t") for path in (names.inference, names.reasoning, names.prompts)
    )
    return PublishedResults(names, *tables)


if __name__ == "__main__":
    run_stage(report_prompts)
