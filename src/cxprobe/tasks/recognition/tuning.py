"""The search over regularisation, with Optuna, on the first draw of the training part alone."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import numpy as np
import optuna
import pandas as pd
import sklearn

from cxprobe.constructions.sentences import LABELS
from cxprobe.errors import ProbeError
from cxprobe.files.arrays import Features
from cxprobe.files.code import computing_code
from cxprobe.files.tables import keep_table, kept_table
from cxprobe.probing import Fitting, Progress, Regularisation, cut_folds, fit_and_predict, for_each_layer, kept_folder
from cxprobe.run.progress import progress
from cxprobe.seeding import seed_for
from cxprobe.stats import credit
from cxprobe.tasks.recognition.make import TEMPLATE
from cxprobe.tasks.recognition.measure import first_draw, is_positive, rows_of
from cxprobe.tasks.recognition.params import Place, RecognitionStage, Tune


def tune_subsets(
    params: RecognitionStage, place: Place, subsets: Mapping[str, pd.DataFrame], features: Features, kept: Path
) -> list[pd.DataFrame]:
    """Return the trials of each subset (`tune_subset`, with the column feature) that can be divided into folds.

    Args:
        params: The parameters; a search is asked for.
        place: The model, the construction, and the source of its sentences.
        subsets: Feature -> its rows, of those that `cxprobe.tasks.recognition.make.read_subsets` returns.
        features: The vectors of at least their texts.
        kept: The folder in which searches are kept for later runs.
    """
    settings, name = cast(Tune, params.recognition.tune), ", ".join(place)
    searched = {feature: subset for feature, subset in subsets.items() if can_be_searched(subset)}
    seed, tables = seed_for(params.seed, "tune_probes", place[1]), []
    total = settings.trials * len(features.vectors) * len(searched)
    with progress(total, "trials", name, kept=f"the searches of finished layers are kept in {kept}") as shown:
        for feature, subset in searched.items():
            of_subset = seed_for(seed, place[2], feature)
            fitting = Fitting(params.recognition.probe.max_iter, of_subset, f"{name}, {feature}")
            trials = tune_subset(subset, features, settings, fitting, params.compute.jobs, kept, shown.update)
            tables.append(trials.assign(feature=feature))
    return tables


def can_be_searched(subset: pd.DataFrame) -> bool:
    """Return whether each label has two templates in the first training draw, as folds need.

    Args:
        subset: Columns split, draw, label, cluster_template.
    """
    templates = first_draw(subset).groupby("label")[TEMPLATE].nunique()
    return all(templates.get(label, 0) > 1 for label in LABELS)


def tune_subset(
    rows: pd.DataFrame, features: Features, settings: Tune, fitting: Fitting, jobs: int, kept: Path, progress: Progress
) -> pd.DataFrame:
    """Search for the best regularisation of the probe of each layer on one subset.

    Layers are searched in parallel, and each has a seed of its own: the result does not depend on the number of jobs. A
    finished search is kept for later runs.

    Args:
        rows: Those of one feature, of what `cxprobe.tasks.recognition.make.read_subsets` returns, see
            `can_be_searched`.
        features: The vectors of at least its texts; the ids are the texts.
        settings: The space, the trials and the folds; sentences of one template stay in one fold, and there are fewer
            folds where a label has fewer templates.
        fitting: How the probes are fitted; its seed is that of this subset's search.
        jobs: Layers at the same time.
        kept: The folder in which searches are kept for later runs.
        progress: Called with the number of finished trials.

    Returns:
        One row a trial: layer, number (from 0, within a layer), C, standardise; accuracy, the mean over the
        held-out folds, or -1 where the solver did not converge; state, "COMPLETE" or "FAIL"; folds, their number.

    Raises:
        ProbeError: No setting converged for some layer.
    """
    train = first_draw(rows)
    of_vectors, labels, templates = rows_of(train, features), is_positive(train), train[TEMPLATE].to_numpy(dtype=object)
    decisive = (settings.model_dump(), fitting.max_iter, fitting.seed, optuna.__version__, sklearn.__version__)
    folder = kept_folder(kept, train, features.vectors, of_vectors, computing_code(__name__), *decisive)

    def search(layer: int, matrix: Any) -> pd.DataFrame:
        path = folder / f"layer-{layer:02d}.table"
        if (known := kept_table(path)) is not None:
            return known
        of_layer = replace(fitting.of(f"layer {layer}"), seed=seed_for(fitting.seed, layer))
        vectors = matrix[of_vectors]
        cuts = cut_folds(labels, templates, settings.folds, of_layer.seed)

        def accuracy(trial: optuna.Trial) -> float:
            how = Regularisation(
                trial.suggest_float("C", settings.C.low, settings.C.high, log=True),
                trial.suggest_categorical("standardise", settings.standardise),
            )
            credits = []
            for train, held_out in cuts:
                predicted = fit_and_predict(vectors[train], labels[train], vectors[held_out], how, of_layer)
                credits.append(credit(predicted, labels[held_out]))
            return float(np.concatenate(credits).mean())

        optuna.logging.set_verbosity(optuna.logging.ERROR)  # a setting that does not converge is counted, not logged
        study = optuna.create_study(direction="maximize", sampler=optuna.samplers.TPESampler(seed=of_layer.seed))
        study.optimize(accuracy, n_trials=settings.trials, catch=(ProbeError,))
        tried = [
            {"number": trial.number, **trial.params, "accuracy": trial.value, "state": trial.state.name}
            for trial in study.trials
        ]
        table = pd.DataFrame(tried).fillna({"accuracy": -1.0}).assign(folds=len(cuts), layer=layer)
        if (table["state"] == "FAIL").all():
            raise ProbeError(
                f"{of_layer.place}: none of {len(table)} settings converged; raise recognition.probe.max_iter or lower "
                "recognition.tune.C.high"
            )
        keep_table(table, path)
        return table

    tables = for_each_layer(
        features.vectors, search, jobs=jobs, progress=lambda layers: progress(layers * settings.trials)
    )
    return pd.concat(tables, ignore_index=True)


def best_settings(trials: pd.DataFrame) -> pd.DataFrame:
    """Return the best setting of each search; of equally accurate ones the first.

    Args:
        trials: Of `tune_subset`, with the column feature.

    Returns:
        Columns feature, layer, C, standardise; accuracy and folds, of `tune_subset`; trials, the number of
        settings that were evaluated; not_converged, the number of those that could not be.
    """
    searches = trials.groupby(["feature", "layer"], sort=False)
    best = trials.loc[searches["accuracy"].idxmax(), ["feature", "layer", "C", "standardise", "accuracy", "folds"]]
    failed = searches["state"].agg(lambda states: int((states == "FAIL").sum())).to_numpy()
    return best.assign(trials=searches.size().to_numpy() - failed, not_converged=failed).reset_index(drop=True)
