"""summarise_results: the results of every model of the grid, side by side."""

import pandas as pd

from cxprobe.reporting import accuracy_per_layer, highlights
from cxprobe.stage import Outcome, Stage, run_stage
from cxprobe.storage import RESULTS, read_table


def summarise_results(stage: Stage) -> Outcome:
    # The grid says what belongs here; the folder may still hold models that were taken out of it.
    grid = stage.params.grid.probes
    layers, controls = (
        [_read(stage, stem, name) for name in grid.constructions] for stem in ("accuracy_by_layer", "controls")
    )
    by_layer, by_control = pd.concat(layers, ignore_index=True), pd.concat(controls, ignore_index=True)
    keys = ["construction", "model"]
    metrics: dict[str, dict[str, object]] = {name: {} for name in grid.constructions}
    for (construction, model), rows in by_layer.groupby(keys, sort=False):
        own = by_control[(by_control[keys] == [construction, model]).all(axis=1)]
        metrics[str(construction)][str(model)] = highlights(rows, own)
    return Outcome(
        metrics=metrics,
        tables={"recognition": by_layer, "recognition_controls": by_control},
        figures={
            f"figures/recognition_{name}": accuracy_per_layer(
                by_layer[by_layer["construction"] == name],
                # The controls know no model: those beside the first are those beside all.
                by_control[(by_control[keys] == [name, grid.models[0]]).all(axis=1)],
                f"{name}, generated sentences",
            )
            for name in grid.constructions
        },
    )


def _read(stage: Stage, stem: str, construction: str) -> pd.DataFrame:
    tables = {
        model: read_table(stage.use(RESULTS / "fit_probes" / model / construction / f"{stem}.csv"))
        for model in stage.params.grid.probes.models
    }
    return pd.concat([table.assign(construction=construction, model=model) for model, table in tables.items()])


if __name__ == "__main__":
    run_stage(summarise_results)
