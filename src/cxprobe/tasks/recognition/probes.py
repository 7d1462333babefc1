"""All probes of one model on one source of sentences: searched if asked for, trained, and what they predict written."""

from pathlib import Path

import pandas as pd

from cxprobe.files.arrays import Features
from cxprobe.files.tables import write_table
from cxprobe.probing import Fitting, Regularisation
from cxprobe.run.progress import progress
from cxprobe.seeding import seed_for
from cxprobe.tasks.recognition.measure import Predictions, recognise
from cxprobe.tasks.recognition.params import RecognitionStage


def probe_source(
    params: RecognitionStage,
    asked: tuple[str, str, str],
    rows: pd.DataFrame,
    features: Features,
    folder: Path,
    kept: Path,
) -> dict[str, int]:
    """Train the probes and the controls of every subset, and write what they predict.

    Args:
        params: The parameters.
        asked: The model, the construction, and the source of its sentences.
        rows: The subsets, as `cxprobe.tasks.recognition.make.read_subsets` returns them.
        features: The vectors of at least their texts.
        folder: Where the tables are written: those of `Predictions` by their names and, of a search over
            regularisation, trials (`tune_subset`) and tuned (`best_settings`).
        kept: The folder in which trials and predictions are kept for later runs.

    Returns:
        The number of probes, and what the search over regularisation counted.
    """
    section, jobs = params.recognition, params.compute.jobs
    place, settings = ", ".join(asked), section.probe
    subsets = {str(feature): subset for feature, subset in rows.groupby("feature", sort=False)}
    layers = len(features.vectors)
    usual = Regularisation(settings.C, settings.standardise)
    regularisation = {feature: [usual] * layers for feature in subsets}
    counts = {"probes": len(subsets) * layers}
    if section.tune is not None:
        from cxprobe.tasks.recognition.tuning import best_settings, can_be_searched, tune_subset

        # Subsets that cannot be divided into folds have the usual settings.
        searched = {feature: subset for feature, subset in subsets.items() if can_be_searched(subset)}
        seed, tables = seed_for(params.seed, "tune_probes", asked[1]), []
        total = section.tune.trials * layers * len(searched)
        with progress(total, "trials", place, kept=f"the searches of finished layers are kept in {kept}") as shown:
            for feature, subset in searched.items():
                of_subset = seed_for(seed, asked[2], feature)
                fitting = Fitting(settings.max_iter, of_subset, f"{place}, {feature}")
                tried = tune_subset(
                    subset, features, section.tune, fitting, jobs=jobs, kept=kept, progress=shown.update
                )
                tables.append(tried.assign(feature=feature))
        counts["not_tuned_for_lack_of_data"] = layers * (len(subsets) - len(searched))
        if tables:
            trials = pd.concat(tables, ignore_index=True)
            best = best_settings(trials)
            write_table(trials, folder / "trials.parquet")
            write_table(best, folder / "tuned.parquet")
            counts |= {"tuned_probes": len(best), "not_converged": int(best["not_converged"].sum())}
            for key, chosen in best.groupby("feature", sort=False):
                columns = zip(chosen["C"], chosen["standardise"], strict=True)
                regularisation[str(key)] = [Regularisation(*row) for row in columns]
    fitting, parts = Fitting(settings.max_iter, params.seed, place), list[Predictions]()
    with progress(len(subsets) * layers, "probes", place, kept=f"predictions are kept in {kept}") as shown:
        for feature, subset in subsets.items():
            how, of_feature = regularisation[feature], fitting.of(feature)
            parts.append(
                recognise(subset, features, how, settings, of_feature, jobs=jobs, kept=kept, progress=shown.update)
            )
    for name in Predictions._fields:
        table = pd.concat([getattr(part, name) for part in parts], ignore_index=True)
        write_table(table, folder / f"{name}.parquet")
    return counts
