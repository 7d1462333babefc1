"""fit_probes: features and subsets -> what a probe per layer and feature predicts, and what the controls predict."""

import shutil

import pandas as pd

from cxprobe.measure.probing import Fitting, ProbedSource, read_sources, recognise, regularisation_by_layer
from cxprobe.progress import Progress, progress
from cxprobe.stages import Outcome, Stage, run_stage
from cxprobe.storage import DATA, SCRATCH, read_model_facts, read_table, write_model_facts, write_table


def fit_probes(stage: Stage) -> Outcome:
    model, name = stage.item.values()
    names = stage.params.grid.recognition.constructions[name]
    features = stage.use(DATA / "extract_features" / model / name)
    sources = read_sources(names, stage.use(DATA / "build_recognition" / name), features)
    tuned = read_table(stage.use(DATA / "tune_probes" / model / name / "settings.parquet"))
    scratch, total = SCRATCH / stage.name / model / name, sum(source.probes for source in sources.values())
    kept = f"the predictions of finished features are in {scratch}"
    with progress(total, "probes", f"fit_probes {model} {name}", kept=kept) as shown:
        for source, data in sources.items():
            _fit(stage, source, data, tuned[tuned["source"] == source], shown)
    write_model_facts(read_model_facts(features), stage.data)
    shutil.rmtree(scratch)
    return Outcome(counts={"probes": total})


def _fit(stage: Stage, source: str, data: ProbedSource, tuned: pd.DataFrame, shown: Progress) -> None:
    """Train the probes of one source and write what they predict."""
    model, name = stage.item.values()
    settings = stage.params.fit_probes
    found = [
        recognise(
            subset,
            data,
            regularisation_by_layer(settings, tuned[tuned["feature"] == feature], data.layers),
            settings,
            Fitting(settings.max_iter, stage.params.seed, f"{model}, {name}, {source}, {feature}"),
            scratch=SCRATCH / stage.name / model / name,
            progress=shown.update,
        )
        for feature, subset in data.subsets()
    ]
    write_table(pd.concat([one.probes for one in found], ignore_index=True), stage.data / source / "probes.parquet")
    write_table(pd.concat([one.controls for one in found], ignore_index=True), stage.data / source / "controls.parquet")


if __name__ == "__main__":
    run_stage(fit_probes, "model", "construction")
