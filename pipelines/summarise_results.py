"""summarise_results: the results of every model and source of the grid, side by side."""

from collections import defaultdict
from itertools import product
from typing import Any

import pandas as pd

from cxprobe.reporting import accuracy_side_by_side, highlights
from cxprobe.stage import Outcome, Stage, run_stage
from cxprobe.storage import RESULTS, read_table

KEYS = ["construction", "source", "model"]


def summarise_results(stage: Stage) -> Outcome:
    by_layer, by_control = _read(stage, "accuracy_by_layer"), _read(stage, "controls")
    metrics: dict[str, Any] = defaultdict(lambda: defaultdict(dict))
    for (construction, source, model), rows in by_layer.groupby(KEYS, sort=False):
        own = by_control[(by_control[KEYS] == [construction, source, model]).all(axis=1)]
        metrics[str(construction)][str(source)][str(model)] = highlights(rows, own)
    # The controls know no model: those beside the first are those beside all.
    controls = by_control[by_control["model"] == stage.params.grid.probes.models[0]]
    return Outcome(
        metrics=metrics,
        tables={"recognition": by_layer, "recognition_controls": by_control},
        figures={
            f"figures/recognition_{name}": accuracy_side_by_side(
                by_layer[by_layer["construction"] == name], controls[controls["construction"] == name], name
            )
            for name in stage.params.grid.probes.constructions
        },
    )


def _read(stage: Stage, stem: str) -> pd.DataFrame:
    """Return a table of every item of the grid; the folder may still hold some that were taken out of it."""
    grid = stage.params.grid.probes
    tables = [
        read_table(stage.use(RESULTS / "fit_probes" / model / source / name / f"{stem}.csv")).assign(
            construction=name, source=source, model=model
        )
        for name, source, model in product(grid.constructions, grid.sources, grid.models)
    ]
    return pd.concat(tables, ignore_index=True)


if __name__ == "__main__":
    run_stage(summarise_results)
