"""report_recognition: the accuracies of every model on every source of every construction, side by side, and cards."""

from itertools import product

import pandas as pd

from cxprobe.files.tables import read_table
from cxprobe.files.writing import DATA
from cxprobe.lm.params import members_of
from cxprobe.recognition.report import figures_of_grid, judged_items, recognition_cards
from cxprobe.report.comparisons import compare_models
from cxprobe.report.tables import with_blanks
from cxprobe.run.running import run_stage
from cxprobe.run.stage import Outcome, Stage

KEYS = ["construction", "source", "model"]
BESIDE = ("controls", "best_layer", "selectivity", "code_length")


def report_recognition(stage: Stage) -> Outcome:
    members = members_of(stage.params.models, stage.params.grid.recognition.models)
    by_layer, summary, items = (_read(stage, stem) for stem in ("accuracy_by_layer", "recognition", "items"))
    tables = {"recognition": summary.dropna(axis="columns")}  # a column that some sources lack is in a table of its own
    tables |= {f"recognition_{stem}": _read(stage, stem) for stem in BESIDE}
    compared = compare_models(judged_items(items, summary), ["construction", "source"], members)
    tables["comparisons"] = with_blanks(compared)
    tables |= recognition_cards(by_layer, _sentences(stage), members, stage.params.cards.limit)
    figures = figures_of_grid(by_layer, tables["recognition_controls"], members, tables["card"])
    return Outcome(
        tables={"accuracy": by_layer, **{f"tables/{stem}": table for stem, table in tables.items()}},
        figures={f"figures/{stem}": figure for stem, figure in figures.items()},
    )


def _read(stage: Stage, stem: str) -> pd.DataFrame:
    """Return a table of all items of the grid; the folder may still have those of models that have left it."""
    grid = stage.params.grid.recognition
    sources = [(name, source) for name, own in grid.constructions.items() for source in own]
    items, tables = [], []
    for (name, source), member in product(sources, members_of(stage.params.models, grid.models)):
        folder = stage.use(DATA / "judge_probes" / member.entry) / member.inside / name / source
        items.append((name, source, member.slug))
        tables.append(read_table(folder / f"{stem}.parquet"))
    return pd.concat(tables, keys=items, names=KEYS).droplevel(-1).reset_index()


def _sentences(stage: Stage) -> pd.DataFrame:
    """Return the sentences of all subsets, each once in a part of a subset."""
    found = []
    for name, sources in stage.params.grid.recognition.constructions.items():
        for source in sources:
            folder = stage.use(DATA / "build_recognition" / name / source)
            drawn, texts = (read_table(folder / f"{stem}.parquet") for stem in ("splits", "sentences"))
            known = texts[["id", "text", "cluster_template"]]
            rows = drawn.drop_duplicates(["feature", "split", "id"]).merge(known, on="id", validate="many_to_one")
            found.append(rows.assign(construction=name, source=source))
    return pd.concat(found, ignore_index=True)


if __name__ == "__main__":
    run_stage(report_recognition)
