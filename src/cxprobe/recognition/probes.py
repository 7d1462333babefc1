"""All probes of one model on one source of sentences: searched if asked for, trained, and what they predict written."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from cxprobe.files.arrays import Features
from cxprobe.files.tables import write_table
from cxprobe.probing import Fitting, Regularisation
from cxprobe.recognition.measure import Predictions, recognise
from cxprobe.recognition.params import RecognitionParams, Tune
from cxprobe.run.progress import progress
from cxprobe.seeding import seed_for


@dataclass(frozen=True)
class SourceProbes:
    """How the probes of a model on a source of sentences are trained.

    Attributes:
        section: The section recognition of params.yaml.
        seed: The project's seed.
        jobs: Layers at the same time.
        kept: The folder in which trials and predictions are kept for later runs.
        what: Names the work in the progress bar, such as "measure_recognition mini-mlm".
        model: The slug of the model.
        construction: The construction.
        source: Where its sentences come from.
    """

    section: RecognitionParams
    seed: int
    jobs: int
    kept: Path
    what: str
    model: str
    construction: str
    source: str

    def write(self, rows: pd.DataFrame, features: Features, folder: Path) -> dict[str, int]:
        """Train the probes and the controls of every subset, and write what they predict.

        Args:
            rows: The subsets, as `cxprobe.recognition.make.read_subsets` returns them.
            features: The vectors of at least their texts.
            folder: Where the tables are written, by the names of `Predictions`.

        Returns:
            The number of probes, and what the search over regularisation counted.
        """
        place = f"{self.model}, {self.construction}, {self.source}"
        subsets = {str(feature): subset for feature, subset in rows.groupby("feature", sort=False)}
        layers, settings = len(features.vectors), self.section.probe
        usual = [Regularisation(settings.C, settings.l1_ratio, settings.standardise)] * layers
        tuned, counts = dict[str, list[Regularisation]](), dict[str, int]()
        if self.section.tune is not None:
            tuned, counts = self._tune(self.section.tune, subsets, features, place, folder)
        fitting = Fitting(settings.max_iter, self.seed, place)
        parts: list[Predictions] = []
        kept = f"predictions are kept in {self.kept}"
        with progress(len(subsets) * layers, "probes", f"{self.what}, {self.source}", kept=kept) as shown:
            for feature, subset in subsets.items():
                how = tuned.get(feature, usual)
                parts.append(
                    recognise(
                        subset,
                        features,
                        how,
                        settings,
                        fitting.of(feature),
                        jobs=self.jobs,
                        kept=self.kept,
                        progress=shown.update,
                    )
                )
        for name in Predictions._fields:
            table = pd.concat([getattr(part, name) for part in parts], ignore_index=True)
            write_table(table, folder / f"{name}.parquet")
        return {"probes": len(subsets) * layers, **counts}

    def _tune(
        self, settings: Tune, subsets: Mapping[str, pd.DataFrame], features: Features, place: str, folder: Path
    ) -> tuple[dict[str, list[Regularisation]], dict[str, int]]:
        """Search for the regularisation of each probe, and write all trials.

        Subsets that cannot be divided into folds are left out.

        Returns:
            Feature -> the best of each layer; and what was counted.
        """
        from cxprobe.recognition.tuning import best_settings, parameter_importances, templates_by_label, tune_subset

        seed, layers = seed_for(self.seed, "tune_probes", self.construction), len(features.vectors)
        searched = {name: subset for name, subset in subsets.items() if min(templates_by_label(subset).values()) > 1}
        tables = []
        total, kept = settings.trials * layers * len(searched), f"trials are kept in {self.kept}"
        with progress(total, "trials", f"{self.what}, {self.source}", kept=kept) as shown:
            for feature, subset in searched.items():
                seed_of_subset = seed_for(seed, self.source, feature)
                fitting = Fitting(self.section.probe.max_iter, seed_of_subset, f"{place}, {feature}")
                tried = tune_subset(
                    subset, features, settings, fitting, jobs=self.jobs, kept=self.kept, progress=shown.update
                )
                tables.append(tried.assign(feature=feature))
        counts = {"not_tuned_for_lack_of_data": layers * (len(subsets) - len(searched))}
        if not tables:
            return {}, counts
        trials = pd.concat(tables, ignore_index=True)
        best = best_settings(trials)
        write_table(trials, folder / "trials.parquet")
        write_table(best, folder / "tuned.parquet")
        write_table(parameter_importances(trials, settings, self.seed), folder / "importance.parquet")
        counts |= {"tuned_probes": len(best), "not_converged": int(best["not_converged"].sum())}
        tuned = {}
        for key, rows in best.groupby("feature", sort=False):
            columns = zip(rows["C"], rows["l1_ratio"], rows["standardise"], strict=True)
            tuned[str(key)] = [Regularisation(*row) for row in columns]
        return tuned, counts
