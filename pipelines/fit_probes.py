"""fit_probes: features and subsets -> a probe per layer and feature, its controls, accuracies and figures."""

import pandas as pd

from cxprobe.params import FitProbes
from cxprobe.probing import Regularisation, recognise
from cxprobe.records import CLUSTER
from cxprobe.reporting import (
    SOURCE_NAMES,
    accuracy_by,
    accuracy_per_layer,
    accuracy_per_value,
    highlights,
    layer_series,
)
from cxprobe.stage import Outcome, Stage, run_stage
from cxprobe.storage import DATA, RESULTS, read_features, read_table, write_table


def fit_probes(stage: Stage) -> Outcome:
    slug, source, name = stage.item.values()
    splits = read_table(stage.use(DATA / "build_splits" / source / f"{name}.parquet"))
    sentences = read_table(stage.use(DATA / source / name) / "sentences.parquet")
    features = read_features(stage.use(DATA / "extract_features" / slug / source / name))
    tuned = read_table(stage.use(RESULTS / "tune_probes" / slug / source / name / "settings.csv"))
    known = sentences.filter(regex=f"^(id|text|{CLUSTER}.*)$")
    subsets = splits.merge(known, on="id", validate="many_to_one")
    predictions = [
        recognise(
            subset,
            features.ids,
            features.vectors,
            _regularisation(stage.params.fit_probes, tuned[tuned["feature"] == feature], len(features.vectors)),
            stage.params.fit_probes,
            seed=stage.params.seed,
            place=f"{slug}, {source}, {name}, {feature}",
        )
        for feature, subset in subsets.groupby("feature", sort=False)
    ]
    probes = pd.concat([one.probes for one in predictions], ignore_index=True)
    controls = pd.concat([one.controls for one in predictions], ignore_index=True)
    write_table(probes, stage.data / "probes.parquet")
    write_table(controls, stage.data / "controls.parquet")
    return _outcome(f"{slug}: {name}, {SOURCE_NAMES[source]} sentences", slug, splits, probes, controls)


def _regularisation(settings: FitProbes, tuned: pd.DataFrame, layers: int) -> list[Regularisation]:
    """Return each layer's setting: the one that was tuned for it, or the stage's own if none was tuned."""
    if tuned.empty:
        return [Regularisation(settings.C, settings.l1_ratio, settings.standardise)] * layers
    rows = tuned.sort_values("layer")[["C", "l1_ratio", "standardise"]].itertuples(index=False)
    return [Regularisation(float(C), float(l1_ratio), bool(standardise)) for C, l1_ratio, standardise in rows]


def _outcome(title: str, model: str, splits: pd.DataFrame, probes: pd.DataFrame, controls: pd.DataFrame) -> Outcome:
    by_layer = accuracy_by(probes, ["feature", "layer"])
    by_value = accuracy_by(probes, ["feature", "value", "layer"])
    by_control = accuracy_by(controls, ["feature", "control"])
    train = splits[splits["split"] == "train"]
    trained = train.groupby("feature", as_index=False).agg(least=("value", "min"), greatest=("value", "max"))
    return Outcome(
        metrics=highlights(by_layer, by_control),
        series=layer_series(by_layer),
        tables={
            "accuracy_by_layer": by_layer,
            "accuracy_by_value": by_value,
            "controls": by_control,
        },
        figures={
            "accuracy_per_layer": accuracy_per_layer(by_layer.assign(model=model), by_control, title),
            "accuracy_per_value": accuracy_per_value(
                by_value, accuracy_by(controls, ["feature", "value", "control"]), trained, title
            ),
        },
    )


if __name__ == "__main__":
    run_stage(fit_probes, "model", "source", "construction")
