"""fit_probes: features and subsets -> what a probe per layer and feature predicts, and what the controls predict."""

import shutil

import pandas as pd

from cxprobe.measure.probing import Fitting, Predictions, ProbedSource, read_sources, recognise, regularisation_by_layer
from cxprobe.params import Member, members_of
from cxprobe.progress import Progress, progress
from cxprobe.stages import Outcome, Stage, run_stage
from cxprobe.storage import DATA, SCRATCH, read_model_facts, read_table, write_model_facts, write_table


def fit_probes(stage: Stage) -> Outcome:
    entry, name = stage.item.values()
    features = stage.use(DATA / "extract_features" / entry / name)
    tuned, sentences = stage.use(DATA / "tune_probes" / entry / name), stage.use(DATA / "build_recognition" / name)
    names, members = stage.params.grid.recognition.constructions[name], members_of(stage.params.models, [entry])
    found = [(member, read_sources(names, sentences, features / member.inside)) for member in members]
    total = sum(source.probes for _, sources in found for source in sources.values())
    scratch = SCRATCH / stage.name / entry / name
    kept = f"the predictions of finished features are in {scratch}"
    with progress(total, "probes", f"fit_probes {entry} {name}", kept=kept) as shown:
        for member, sources in found:
            settings = read_table(tuned / member.inside / "settings.parquet")
            for source, data in sources.items():
                _fit(stage, member, source, data, settings[settings["source"] == source], shown)
            write_model_facts(read_model_facts(features / member.inside), stage.data / member.inside)
    shutil.rmtree(scratch)
    return Outcome(counts={"probes": total})


def _fit(stage: Stage, member: Member, source: str, data: ProbedSource, tuned: pd.DataFrame, shown: Progress) -> None:
    """Train the probes of one model on one source and write what they predict."""
    entry, name = stage.item.values()
    settings = stage.params.fit_probes
    found = [
        recognise(
            subset,
            data,
            regularisation_by_layer(settings, tuned[tuned["feature"] == feature], data.layers),
            settings,
            Fitting(settings.max_iter, stage.params.seed, f"{member.slug}, {name}, {source}, {feature}"),
            scratch=SCRATCH / stage.name / entry / name,
            progress=shown.update,
        )
        for feature, subset in data.subsets()
    ]
    for stem in Predictions._fields:
        tables = [getattr(one, stem) for one in found]
        write_table(pd.concat(tables, ignore_index=True), stage.data / member.inside / source / f"{stem}.parquet")


if __name__ == "__main__":
    run_stage(fit_probes, "model", "construction")
