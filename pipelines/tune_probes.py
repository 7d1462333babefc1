"""tune_probes: search each probe's regularisation on its training part, if params switch it on."""

import hashlib
import shutil
from pathlib import Path

import pandas as pd

from cxprobe.probing import Tuned, align, tune_layers
from cxprobe.seeding import seed_for
from cxprobe.stage import Outcome, Stage, run_stage
from cxprobe.storage import DATA, SCRATCH, digest, read_features, read_table

COLUMNS = ["feature", "layer", "C", "l1_ratio", "standardise", "accuracy", "trials", "not_converged"]


def tune_probes(stage: Stage) -> Outcome:
    if not stage.params.tune_probes.enabled:
        return Outcome(metrics={"tuned_probes": 0}, tables={"settings": pd.DataFrame(columns=COLUMNS)})
    name, slug = stage.item["construction"], stage.item["model"]
    splits = read_table(stage.use(DATA / "build_splits" / f"{name}.parquet"))
    sentences = read_table(stage.use(DATA / "generate_sentences" / name) / "sentences.parquet")
    folder = stage.use(DATA / "extract_features" / slug / name)
    features = read_features(folder)
    train = splits[splits["split"] == "train"].merge(
        sentences[["id", "cluster_template"]], on="id", validate="many_to_one"
    )
    storage = SCRATCH / f"tune-{_key(stage, folder, train)}"
    settings = []
    for feature, subset in train.groupby("feature", sort=False):
        rows = align(subset, features.ids)
        tuned = tune_layers(
            features.vectors,
            rows.train,
            rows.train_labels,
            subset["cluster_template"].to_numpy(dtype=object),
            stage.params.tune_probes,
            max_iter=stage.params.fit_probes.max_iter,
            seed=seed_for(stage.params.seed, "tune_probes", name, feature),
            storage=storage / str(feature),
            place=f"{slug}, {name}, {feature}",
        )
        settings += [_row(str(feature), layer, one) for layer, one in enumerate(tuned)]
    shutil.rmtree(storage)
    return _outcome(pd.DataFrame(settings, columns=COLUMNS))


def _outcome(table: pd.DataFrame) -> Outcome:
    series = {
        f"{feature}/accuracy": list(zip(rows["layer"].tolist(), rows["accuracy"].tolist(), strict=True))
        for feature, rows in table.groupby("feature", sort=False)
    }
    return Outcome(metrics={"tuned_probes": len(table)}, series=series, tables={"settings": table})


def _row(feature: str, layer: int, tuned: Tuned) -> tuple[object, ...]:
    setting = tuned.regularisation
    best = (setting.C, setting.l1_ratio, setting.standardise)
    return (feature, layer, *best, tuned.accuracy, tuned.trials, tuned.not_converged)


def _key(stage: Stage, features: Path, train: pd.DataFrame) -> str:
    """Name the folder of the searches by all that they follow from; more trials go on from fewer."""
    tune = stage.params.tune_probes
    space = (tune.C, tune.l1_ratio, tune.standardise, tune.folds, stage.params.fit_probes.max_iter, stage.params.seed)
    parts = (space, digest(features / "features.npy"), digest(features / "ids.parquet"), train.to_csv())
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:16]


if __name__ == "__main__":
    run_stage(tune_probes, "model", "construction")
