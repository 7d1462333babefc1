"""All probes of one model on one source of sentences: their search, their training, and the tables of predictions."""

from pathlib import Path

import pandas as pd

from cxprobe.files.arrays import Features
from cxprobe.files.tables import write_table
from cxprobe.files.writing import SCRATCH, project_folder
from cxprobe.probing import Fitting, Regularisation
from cxprobe.run.progress import progress
from cxprobe.tasks.recognition.measure import Predictions, recognise
from cxprobe.tasks.recognition.params import Place, RecognitionStage


def probe_source(
    params: RecognitionStage, place: Place, rows: pd.DataFrame, features: Features, folder: Path
) -> dict[str, int]:
    """Train the probes and the controls of every subset, and write their predictions.

    Args:
        params: The parameters.
        place: The model, the construction, and the source of its sentences.
        rows: The subsets, as `cxprobe.tasks.recognition.make.read_subsets` returns them.
        features: The vectors of at least their texts.
        folder: The folder of the tables: those of `Predictions` by their names and, of a search over regularisation,
            trials (``tune_subset``) and tuned (``best_settings``).

    Returns:
        The number of probes, and the counts of the search over regularisation.
    """
    section, layers, kept = params.recognition, len(features.vectors), project_folder() / SCRATCH / "probes"
    subsets = {str(feature): subset for feature, subset in rows.groupby("feature", sort=False)}
    usual = Regularisation(section.probe.C, section.probe.standardise)
    regularisation, counts = dict.fromkeys(subsets, [usual] * layers), {"probes": len(subsets) * layers}
    if section.tune is not None:
        from cxprobe.tasks.recognition.tuning import best_settings, tune_subsets

        tables = tune_subsets(params, place, subsets, features, kept)
        counts["not_tuned_for_lack_of_data"] = layers * (len(subsets) - len(tables))
        if tables:
            trials = pd.concat(tables, ignore_index=True)
            best = best_settings(trials)
            write_table(trials, folder / "trials.parquet")
            write_table(best, folder / "tuned.parquet")
            counts |= {"tuned_probes": len(best), "not_converged": int(best["not_converged"].sum())}
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
