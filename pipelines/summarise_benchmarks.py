"""summarise_benchmarks: every model's accuracies on a benchmark of others, side by side and along series of models."""

from collections.abc import Iterator

import pandas as pd
from matplotlib.figure import Figure

from cxprobe.reporting import curves, dots
from cxprobe.stage import Outcome, Stage, run_stage
from cxprobe.storage import RESULTS, read_json, read_table

ALL = "all"
ESTIMATE = ["accuracy", "low", "high", "n", "ties", "tie_rate"]


def summarise_benchmarks(stage: Stage) -> Outcome:
    name = stage.item["benchmark"]
    table = pd.concat(list(_accuracies(stage, name)), ignore_index=True)
    metrics = {str(row["model"]): row[ESTIMATE].to_dict() for _, row in table[table["group"] == ALL].iterrows()}
    return Outcome(metrics=metrics, tables={"accuracies": table}, figures=dict(_figures(stage, name, table)))


def _accuracies(stage: Stage, name: str) -> Iterator[pd.DataFrame]:
    """Yield each model's table: model, group (the benchmark's own, and all of it), and the estimate."""
    by = stage.params.benchmarks[name].by
    for model in stage.params.grid.benchmarks.models:
        folder = RESULTS / "score_benchmarks" / model / name
        overall = pd.DataFrame([read_json(stage.use(folder / "metrics.json"))])[ESTIMATE].assign(group=ALL)
        groups = read_table(stage.use(folder / "accuracy_by_group.csv"))
        labels = [", ".join(map(str, values)) for values in groups[by].itertuples(index=False)]
        both = pd.concat([overall, groups.assign(group=labels)], ignore_index=True)
        yield both.assign(model=model)[["model", "group", *ESTIMATE]]


def _figures(stage: Stage, name: str, table: pd.DataFrame) -> Iterator[tuple[str, Figure]]:
    score = stage.params.benchmarks[name].score.replace("_", " ")
    panel = table.assign(benchmark=name)
    yield "figures/accuracies", dots(panel, f"{name}, {score}", rows="group", colours="model", panels="benchmark")
    for series_name, series in stage.params.series.items():
        own = table[table["model"].isin(series.models)]
        if own["model"].nunique() > 1:
            quantity = own["model"].map(series.models).astype(float)
            title = f"{name} along {series_name}, {score}"
            yield (
                f"figures/series_{series_name}",
                curves(own.assign(**{series.axis: quantity}), title, x=series.axis, panels="group"),
            )


if __name__ == "__main__":
    run_stage(summarise_benchmarks, "benchmark")
