"""tune_probes: search each probe's regularisation on its training part, if params switch it on."""

import shutil
from pathlib import Path

import pandas as pd

from cxprobe.probing import Tuned, align, tune_layers
from cxprobe.reporting import layer_series
from cxprobe.seeding import seed_for
from cxprobe.stage import Outcome, Stage, run_stage
from cxprobe.storage import DATA, SCRATCH, digest, read_features, read_table, scratch_folder

COLUMNS = ["feature", "layer", "C", "l1_ratio", "standardise", "accuracy", "trials", "not_converged"]


def tune_probes(stage: Stage) -> Outcome:
    if not stage.params.tune_probes.enabled:
        return Outcome(metrics={"tuned_probes": 0}, tables={"settings": pd.DataFrame(columns=COLUMNS)})
    slug, source, name = stage.item.values()
    splits = read_table(stage.use(DATA / "build_splits" / source / f"{name}.parquet"))
    sentences = read_table(stage.use(DATA / source / name) / "sentences.parquet")
    folder = stage.use(DATA / "extract_features" / slug / source / name)
    features = read_features(folder)
    train = splits[splits["split"] == "train"].merge(
        sentences[["id", "cluster_template"]], on="id", validate="many_to_one"
    )
    storage = _searches(stage, folder, train)
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
            seed=seed_for(stage.params.seed, "tune_probes", source, name, feature),
            storage=storage / str(feature),
            place=f"{slug}, {source}, {name}, {feature}",
        )
        settings += [_row(str(feature), layer, one) for layer, one in enumerate(tuned)]
    shutil.rmtree(storage)
    table = pd.DataFrame(settings, columns=COLUMNS)
    series = layer_series(table, ["accuracy"])
    return Outcome(metrics={"tuned_probes": len(table)}, series=series, tables={"settings": table})


def _row(feature: str, layer: int, tuned: Tuned) -> tuple[object, ...]:
    setting = tuned.regularisation
    best = (setting.C, setting.l1_ratio, setting.standardise)
    return (feature, layer, *best, tuned.accuracy, tuned.trials, tuned.not_converged)


def _searches(stage: Stage, features: Path, train: pd.DataFrame) -> Path:
    """Return the folder of the searches, named by all that they follow from; more trials go on from fewer."""
    tune = stage.params.tune_probes
    space = (tune.C, tune.l1_ratio, tune.standardise, tune.folds, stage.params.fit_probes.max_iter, stage.params.seed)
    contents = (digest(features / "features.npy"), digest(features / "ids.parquet"), train.to_csv())
    return scratch_folder(SCRATCH / stage.name, space, *contents)


if __name__ == "__main__":
    run_stage(tune_probes, "model", "source", "construction")
