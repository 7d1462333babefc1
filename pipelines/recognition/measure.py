"""measure_recognition: subsets, a model or blind ones -> every layer's vectors, and what probes and controls predict.

With `recognition.tune`, the regularisation of every probe is searched on its training part first.
"""

from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import pandas as pd

from cxprobe.files.arrays import Features, read_features
from cxprobe.files.tables import read_table, write_table
from cxprobe.files.writing import DATA, SCRATCH, project_folder
from cxprobe.lm.embedding import embed_texts
from cxprobe.lm.language_models import write_model_facts
from cxprobe.lm.loading import load_encoder
from cxprobe.lm.ngrams import blind_facts
from cxprobe.lm.params import Member, ModelSpec, members_of
from cxprobe.lm.scoring import MeasuredModel
from cxprobe.probing import Fitting, Regularisation
from cxprobe.recognition.blind import count_features, kind_of
from cxprobe.recognition.make import read_subsets, spans_of
from cxprobe.recognition.measure import Predictions, recognise
from cxprobe.recognition.params import Tune
from cxprobe.run.progress import progress
from cxprobe.run.running import run_stage
from cxprobe.run.stage import Outcome, Stage
from cxprobe.seeding import seed_for

KEPT = project_folder() / SCRATCH / "probes"
Source = tuple[str, str]  # a construction, and where its sentences come from


def measure_recognition(stage: Stage) -> Outcome | None:
    made: dict[Source, Path] = {
        (name, source): stage.use(DATA / "make_recognition" / name / source)
        for name, sources in stage.params.recognition.constructions.items()
        for source in sources
    }
    read = {source: read_table(folder / "sentences.parquet") for source, folder in made.items()}
    texts = {source: table.drop_duplicates("text") for source, table in read.items()}
    counts = Counter[str]()
    for member in members_of(stage.params.models, [stage.item]):
        features = _represent(stage, member, texts, counts)
        for (name, source), vectors in (features or {}).items():
            _probe(stage, member, (name, source), read_subsets(made[name, source]), vectors, counts)
    return Outcome(counts=counts) if counts["probes"] else None  # else this process only helps to fill the store


def _represent(
    stage: Stage, member: Member, sentences: Mapping[Source, pd.DataFrame], counts: Counter[str]
) -> dict[Source, Features] | None:
    """Return what stands for the texts: a model's vectors, which are written, or what a blind model counts."""
    texts = {source: own["text"].tolist() for source, own in sentences.items()}
    spans = {source: places for source, own in sentences.items() if (places := spans_of(own)) is not None}
    folder, settings = stage.data / member.inside, stage.params.recognition.embed
    if isinstance(member.spec, ModelSpec):
        model = MeasuredModel.of(stage, member.slug, member.spec, load_encoder)
        portions = {"/".join(source): own for source, own in texts.items()}
        found = embed_texts(
            model,
            portions,
            spans={"/".join(source): places for source, places in spans.items()},
            special_tokens=settings.special_tokens,
            token_budget=settings.token_budget,
            folder=folder,
        )
        if found is None:
            return None
        counts.update(found)
        return {source: read_features(folder.joinpath(*source)) for source in texts}
    write_model_facts(blind_facts(kind_of(member.spec)), folder)
    return {
        (name, source): Features(
            own,
            (count_features(own, member.spec, f"{member.slug}, {name} {source} sentences", spans.get((name, source))),),
        )
        for (name, source), own in texts.items()
    }


def _probe(
    stage: Stage, member: Member, source: Source, rows: pd.DataFrame, features: Features, counts: Counter[str]
) -> None:
    """Train a model's probes on the subsets of a source, and write what they and the controls predict."""
    settings, folder = stage.params.recognition.probe, (stage.data / member.inside).joinpath(*source)
    subsets = {str(feature): subset for feature, subset in rows.groupby("feature", sort=False)}
    layers, place = len(features.vectors), ", ".join((member.slug, *source))
    usual = Regularisation(settings.C, settings.l1_ratio, settings.standardise)
    tune = stage.params.recognition.tune
    found = _tune(stage, tune, source, subsets, features, place, folder, counts) if tune else {}
    fitting = Fitting(settings.max_iter, stage.params.seed, place)
    counts["probes"] += len(subsets) * layers
    what = f"{stage.name} {place}"
    with progress(len(subsets) * layers, "probes", what, kept=f"predictions are kept in {KEPT}") as shown:
        predictions = [
            recognise(
                subset,
                features,
                found.get(feature, [usual] * layers),
                settings,
                fitting.of(feature),
                jobs=stage.params.compute.jobs,
                kept=KEPT,
                progress=shown.update,
            )
            for feature, subset in subsets.items()
        ]
    for stem, parts in zip(Predictions._fields, zip(*predictions, strict=True), strict=True):
        write_table(pd.concat(parts, ignore_index=True), folder / f"{stem}.parquet")


def _tune(
    stage: Stage,
    settings: Tune,
    source: Source,
    subsets: Mapping[str, pd.DataFrame],
    features: Features,
    place: str,
    folder: Path,
    counts: Counter[str],
) -> dict[str, list[Regularisation]]:
    """Search for the regularisation of each probe, write all trials, and return feature -> the best of each layer.

    Subsets that cannot be divided into folds are left out.
    """
    from cxprobe.recognition.tuning import best_settings, parameter_importances, templates_by_label, tune_subset

    seed, layers = seed_for(stage.params.seed, "tune_probes", source[0]), len(features.vectors)
    searched = {name: subset for name, subset in subsets.items() if min(templates_by_label(subset).values()) > 1}
    tables = []
    total, what = settings.trials * layers * len(searched), f"{stage.name} {place}"
    with progress(total, "trials", what, kept=f"trials are kept in {KEPT}") as shown:
        for feature, subset in searched.items():
            fitting = Fitting(
                stage.params.recognition.probe.max_iter, seed_for(seed, source[1], feature), f"{place}, {feature}"
            )
            jobs = stage.params.compute.jobs
            tried = tune_subset(subset, features, settings, fitting, jobs=jobs, kept=KEPT, progress=shown.update)
            tables.append(tried.assign(feature=feature))
    counts["not_tuned_for_lack_of_data"] += layers * (len(subsets) - len(searched))
    if not tables:
        return {}
    trials = pd.concat(tables, ignore_index=True)
    best = best_settings(trials)
    write_table(trials, folder / "trials.parquet")
    write_table(best, folder / "tuned.parquet")
    write_table(parameter_importances(trials, settings, stage.params.seed), folder / "importance.parquet")
    counts.update(tuned_probes=len(best), not_converged=int(best["not_converged"].sum()))
    return {
        str(feature): [Regularisation(row["C"], row["l1_ratio"], row["standardise"]) for row in rows.to_dict("records")]
        for feature, rows in best.groupby("feature", sort=False)
    }


if __name__ == "__main__":
    run_stage(measure_recognition, "models")
