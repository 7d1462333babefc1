"""fit_probes: features and subsets -> what a probe per layer and feature predicts, and what the controls predict.

The regularisation of every probe is searched on its training part first, if tune_probes in params.yaml is enabled.
"""

import shutil
from collections import Counter

import pandas as pd

from cxprobe.files.schema import Source
from cxprobe.files.tables import write_table
from cxprobe.files.writing import DATA, SCRATCH
from cxprobe.lm.language_models import read_model_facts, write_model_facts
from cxprobe.lm.params import Member, members_of
from cxprobe.probing import Fitting
from cxprobe.recognition.measure import Predictions, ProbedSource, read_sources, recognise
from cxprobe.recognition.tuning import Study, study_probes
from cxprobe.run.progress import Progress, progress
from cxprobe.run.running import run_stage
from cxprobe.run.stage import Outcome, Stage


def fit_probes(stage: Stage) -> Outcome:
    entry, name = stage.item.values()
    features, sentences = (
        stage.use(DATA / "extract_features" / entry / name),
        stage.use(DATA / "build_recognition" / name),
    )
    names, members = stage.params.grid.recognition.constructions[name], members_of(stage.params.models, [entry])
    found = [(member, read_sources(names, sentences, features / member.inside)) for member in members]
    tuning = SCRATCH / "tune_probes"
    studies = [study_probes(member, name, sources, stage.params, scratch=tuning) for member, sources in found]
    total = sum(source.probes for _, sources in found for source in sources.values())
    scratch = SCRATCH / stage.name / entry / name
    kept = f"the predictions of finished features are in {scratch}"
    with progress(total, "probes", f"fit_probes {entry} {name}", kept=kept) as shown:
        for (member, sources), study in zip(found, studies, strict=True):
            for source, data in sources.items():
                _fit(stage, member, source, data, study, shown)
            study.write(stage.data / member.inside)
            write_model_facts(read_model_facts(features / member.inside), stage.data / member.inside)
    shutil.rmtree(scratch)
    counts = sum((Counter(study.counts) for study in studies), Counter(probes=total))
    tables = {stem: table for study in studies for stem, table in study.tables().items()}
    figures = {stem: figure for study in studies for stem, figure in study.figures().items()}
    return Outcome(counts, tables=tables, figures=figures, trials=[one for study in studies for one in study.trials()])


def _fit(stage: Stage, member: Member, source: Source, data: ProbedSource, study: Study, shown: Progress) -> None:
    """Train the probes of one model on one source and write what they predict."""
    entry, name = stage.item.values()
    settings, scratch = stage.params.fit_probes, SCRATCH / stage.name / entry / name
    fitting = Fitting(settings.max_iter, stage.params.seed, f"{member.slug}, {name}, {source}")
    found = [
        recognise(subset, data, regularisation, settings, fitting.of(feature), scratch=scratch, progress=shown.update)
        for feature, subset in data.subsets()
        for regularisation in [study.regularisation(source, feature, data.layers, settings)]
    ]
    for stem in Predictions._fields:
        tables = [getattr(one, stem) for one in found]
        write_table(pd.concat(tables, ignore_index=True), stage.data / member.inside / source / f"{stem}.parquet")


if __name__ == "__main__":
    run_stage(fit_probes, "model", "construction")
