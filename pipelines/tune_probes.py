"""tune_probes: search each probe's regularisation on its training part, if params switch it on."""

import hashlib

import pandas as pd

from cxprobe.probing import Tuned, align, tune_layers
from cxprobe.stage import Outcome, Stage, run_stage
from cxprobe.storage import DATA, SCRATCH, read_features, read_table

COLUMNS = ["feature", "layer", "C", "l1_ratio", "standardise", "accuracy", "trials", "not_converged"]


def tune_probes(stage: Stage) -> Outcome:
    if not stage.params.tune_probes.enabled:
        return Outcome(metrics={"tuned_probes": 0}, tables={"settings": pd.DataFrame(columns=COLUMNS)})
    name, slug = stage.item["construction"], stage.item["model"]
    splits = read_table(stage.use(DATA / "build_splits" / f"{name}.parquet"))
    sentences = read_table(stage.use(DATA / "generate_sentences" / f"{name}.parquet"))
    features = read_features(stage.use(DATA / "extract_features" / slug / name))
    train = splits[splits["split"] == "train"].merge(sentences[["id", "template"]], on="id", validate="many_to_one")
    settings = []
    for feature, subset in train.groupby("feature", sort=False):
        rows = align(subset, features.ids)
        tuned = tune_layers(
            features.vectors,
            rows.train,
            rows.train_labels,
            subset["template"].to_numpy(dtype=object),
            stage.params.tune_probes,
            max_iter=stage.params.fit_probes.max_iter,
            seed=stage.params.seed,
            storage=SCRATCH / f"tune-{_key(stage, train)}" / str(feature),
            place=f"{slug}, {name}, {feature}",
        )
        settings += [_row(str(feature), layer, one) for layer, one in enumerate(tuned)]
    table = pd.DataFrame(settings, columns=COLUMNS)
    by_feature = table.groupby("feature", sort=False)
    return Outcome(
        metrics={"tuned_probes": len(table)},
        series={
            f"{feature}/accuracy": list(zip(one["layer"].tolist(), one["accuracy"].tolist(), strict=True))
            for feature, one in by_feature
        },
        tables={"settings": table},
    )


def _row(feature: str, layer: int, tuned: Tuned) -> tuple[object, ...]:
    setting = tuned.regularisation
    best = (setting.C, setting.l1_ratio, setting.standardise)
    return (feature, layer, *best, tuned.accuracy, tuned.trials, tuned.not_converged)


def _key(stage: Stage, train: pd.DataFrame) -> str:
    """Name the folder of the searches by all that they follow from."""
    params = stage.params
    spec = params.models[stage.item["model"]]
    parts = (spec, params.extract_features, params.tune_probes, params.fit_probes.max_iter, params.seed)
    return hashlib.sha256(repr((parts, train.to_csv())).encode()).hexdigest()[:16]


if __name__ == "__main__":
    run_stage(tune_probes, "model", "construction")
