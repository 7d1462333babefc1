"""report_recognition: the accuracies of every model on every source of every construction, side by side, and cards."""

import pandas as pd

from cxprobe.files.tables import read_table
from cxprobe.files.writing import DATA
from cxprobe.lm.params import members_of, series_of
from cxprobe.recognition.judge import judged_items
from cxprobe.recognition.make import read_subsets, seen_texts
from cxprobe.recognition.params import RecognitionStage
from cxprobe.recognition.report import figures_of_grid, recognition_cards
from cxprobe.report.comparisons import compare_models
from cxprobe.report.tables import with_blanks
from cxprobe.run.running import run_stage
from cxprobe.run.stage import Outcome, Stage

BESIDE = ("controls", "best_layer", "selectivity", "code_length")


def report_recognition(stage: Stage[RecognitionStage]) -> Outcome:
    section, folder = stage.params.recognition, stage.use(DATA / "judge_recognition")
    members = members_of(stage.params.models, section.models)
    by_layer, summary = (read_table(folder / f"{stem}.parquet") for stem in ("accuracy_by_layer", "recognition"))
    beside = {stem: read_table(folder / f"{stem}.parquet") for stem in BESIDE}
    items, sentences = [], []
    for name, source in section.sources:
        judged = read_table(folder / name / source / "items.parquet")
        items.append(judged.assign(construction=name, source=source))
        drawn = read_subsets(stage.use(DATA / "make_recognition" / name / source))
        once = drawn.drop_duplicates(["feature", "split", "id"])  # of several training draws
        sentences.append(once.assign(construction=name, source=source, text=seen_texts(once)))
    series = series_of(stage.params.models, section.models)
    of_summary = judged_items(pd.concat(items), summary)
    compared = compare_models(of_summary, ["construction", "source"], members, series, stage.params.report.tested)
    tables = {"recognition": summary, **{f"recognition_{stem}": table for stem, table in beside.items()}}
    tables["comparisons"] = with_blanks(compared)
    tables |= recognition_cards(by_layer, pd.concat(sentences, ignore_index=True), members, stage.params.report.limit)
    figures = figures_of_grid(by_layer, members, tables["card"])
    return Outcome(
        tables={"accuracy": by_layer, **{f"tables/{stem}": table for stem, table in tables.items()}},
        figures={f"figures/{stem}": figure for stem, figure in figures.items()},
    )


if __name__ == "__main__":
    run_stage(report_recognition, RecognitionStage)
