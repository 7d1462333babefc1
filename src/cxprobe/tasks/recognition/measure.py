"""A model measured for recognition: its vectors of all layers, and what probes and their controls predict."""

from collections import Counter
from pathlib import Path

import pandas as pd

from cxprobe.files.arrays import Features, read_features
from cxprobe.files.tables import read_table, write_table
from cxprobe.files.writing import DATA, SCRATCH, project_folder
from cxprobe.models.embedding import embed_texts, load_encoder
from cxprobe.models.language_models import write_model_facts
from cxprobe.models.measuring import MeasuredModel
from cxprobe.models.ngrams import baseline_facts
from cxprobe.models.params import Member
from cxprobe.probing import Fitting, Regularisation
from cxprobe.run.progress import progress
from cxprobe.run.stage import Stage
from cxprobe.tasks.recognition.baselines import count_features, kind_of
from cxprobe.tasks.recognition.make import read_subsets
from cxprobe.tasks.recognition.params import Place, RecognitionStage
from cxprobe.tasks.recognition.probes import Predictions, recognise


def measure(stage: Stage[RecognitionStage], member: Member) -> Counter[str] | None:
    """Measure every layer's vector of every sentence, and what its probes and their controls predict.

    With ``recognition.tune``, the regularisation of every probe is searched on its training part first.
    """
    params = stage.params
    places = params.recognition.sources_of(stage.item)
    made = {f"{name}/{source}": stage.use(DATA / "make_recognition" / name / source) for name, source in places}
    tables = {place: read_table(folder / "sentences.parquet") for place, folder in made.items()}
    texts = {place: table["text"].drop_duplicates().tolist() for place, table in tables.items()}
    folder, counts = stage.data / member.inside, Counter[str]()
    if member.is_baseline:
        write_model_facts(baseline_facts(kind_of(member.spec)), folder)
    else:
        model = MeasuredModel.of(stage, member.slug, member.spec, load_encoder)
        budget = params.recognition.embed.token_budget
        counted = embed_texts(model, texts, token_budget=budget, folder=folder)
        if counted is None:
            return None
        counts.update(counted)
    for place, of_source in texts.items():
        if member.is_baseline:
            counted_words = count_features(of_source, member.spec, f"{member.slug}, {place}")
            features = Features(of_source, (counted_words,))
        else:
            features = read_features(folder / place)
        name, source = place.split("/")
        asked = (member.slug, name, source)
        counts.update(probe_source(params, asked, read_subsets(made[place]), features, folder / place))
    return counts


def probe_source(
    params: RecognitionStage, place: Place, rows: pd.DataFrame, features: Features, folder: Path
) -> dict[str, int]:
    """Train the probes and the controls of every subset of one model and source, and write their predictions.

    Args:
        params: The parameters.
        place: The model, the construction, and the source of its sentences.
        rows: The subsets, as `cxprobe.tasks.recognition.make.read_subsets` returns them.
        features: The vectors of at least their texts.
        folder: The folder of the tables: those of `Predictions` by their names and, of a search over regularisation,
            trials (`cxprobe.tasks.recognition.tuning.tune_subsets`) and tuned, the best trial of each probe.

    Returns:
        The number of probes, and the counts of the search over regularisation.
    """
    section, layers, kept = params.recognition, len(features.vectors), project_folder() / SCRATCH / "probes"
    subsets = {str(feature): subset for feature, subset in rows.groupby("feature", sort=False)}
    usual = Regularisation(section.probe.C, section.probe.standardise)
    regularisation, counts = dict.fromkeys(subsets, [usual] * layers), {"probes": len(subsets) * layers}
    if section.tune is not None:
        from cxprobe.tasks.recognition.tuning import tune_subsets  # Optuna, which takes a second to import

        tables = tune_subsets(params, place, subsets, features)
        if tables:
            trials = pd.concat(tables, ignore_index=True)
            best = trials.loc[trials.groupby(["feature", "layer"], sort=False)["accuracy"].idxmax()]
            write_table(trials, folder / "trials.parquet")
            write_table(best, folder / "tuned.parquet")
            counts |= {"tuned_probes": len(best), "not_converged": int(trials["accuracy"].isna().sum())}
            for feature, chosen in best.groupby("feature", sort=False):
                columns = zip(chosen["C"], chosen["standardise"], strict=True)
                regularisation[str(feature)] = [Regularisation(*row) for row in columns]
    name = ", ".join(place)
    fitting, parts = Fitting(section.probe.max_iter, params.seed, name), list[Predictions]()
    with progress(counts["probes"], "probes", name, kept=f"predictions are kept in {kept}") as shown:
        for feature, subset in subsets.items():
            how, of_feature, jobs = regularisation[feature], fitting.of(feature), params.compute.jobs
            parts.append(recognise(subset, features, how, section.probe, of_feature, jobs, kept, shown.update))
    for stem, of_subsets in zip(Predictions._fields, zip(*parts, strict=True), strict=True):
        write_table(pd.concat(of_subsets, ignore_index=True), folder / f"{stem}.parquet")
    return counts
