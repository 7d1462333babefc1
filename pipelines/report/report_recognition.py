"""report_recognition: the accuracies of every model on every source of every construction, side by side."""

from itertools import product

import pandas as pd

from cxprobe.report import figures_of_grid
from cxprobe.stages import Outcome, Stage, run_stage
from cxprobe.storage import DATA, read_table

KEYS = ["construction", "source", "model"]


def report_recognition(stage: Stage) -> Outcome:
    by_layer, controls = _read(stage, "accuracy_by_layer"), _read(stage, "controls")
    figures = figures_of_grid(by_layer, controls)
    return Outcome(
        tables={
            "accuracy": by_layer,
            "tables/recognition": _read(stage, "recognition"),
            "tables/recognition_controls": controls,
        },
        figures={f"figures/{stem}": figure for stem, figure in figures.items()},
    )


def _read(stage: Stage, stem: str) -> pd.DataFrame:
    """Return a table of all items of the grid; the folder may still have those of models that have left it."""
    grid = stage.params.grid.recognition
    items = [
        (name, source, model) for name, own in grid.constructions.items() for source, model in product(own, grid.models)
    ]
    tables = [
        read_table(stage.use(DATA / "judge_probes" / model) / name / source / f"{stem}.parquet")
        for name, source, model in items
    ]
    if not tables:  # an empty grid
        return pd.DataFrame(columns=KEYS)
    return pd.concat(tables, keys=items, names=KEYS).droplevel(-1).reset_index()


if __name__ == "__main__":
    run_stage(report_recognition)
