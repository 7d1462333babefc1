"""The search over regularisation: an Optuna study for each probe, on the training part alone."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, cast

import numpy as np
import optuna
import pandas as pd

from cxprobe.errors import ProbeError
from cxprobe.files.arrays import Features
from cxprobe.probing import Fitting, Progress, Regularisation, cut_folds, for_each_layer, predict_held_out
from cxprobe.run.progress import progress
from cxprobe.seeding import seed_for
from cxprobe.stats import credit
from cxprobe.tasks.recognition.params import TEMPLATE, Place, RecognitionStage, Tune


def tune_subsets(
    params: RecognitionStage, place: Place, subsets: Mapping[str, pd.DataFrame], features: Features
) -> list[pd.DataFrame]:
    """Return the trials of each subset (`tune_subset`, with the column feature) whose labels have two templates each.

    Args:
        params: The parameters; a search is asked for.
        place: The model, the construction, and the source of its sentences.
        subsets: Feature -> its rows, of those that `cxprobe.tasks.recognition.make.read_subsets` returns.
        features: The vectors of at least their texts.
    """
    settings, name = cast(Tune, params.recognition.tune), ", ".join(place)
    parts = {feature: subset[subset["split"] == "train"] for feature, subset in subsets.items()}
    parts = {feature: train for feature, train in parts.items() if train.groupby("label")[TEMPLATE].nunique().min() > 1}
    seed, tables = seed_for(params.seed, "tune_probes", place[1]), []
    with progress(settings.trials * len(features.vectors) * len(parts), "trials", name) as shown:
        for feature, train in parts.items():
            of_part = seed_for(seed, place[2], feature)
            fitting = Fitting(params.recognition.probe.max_iter, of_part, f"{name}, {feature}")
            trials = tune_subset(train, features, settings, fitting, params.compute.jobs, shown.update)
            tables.append(trials.assign(feature=feature))
    return tables


def tune_subset(
    train: pd.DataFrame, features: Features, settings: Tune, fitting: Fitting, jobs: int, progress: Progress
) -> pd.DataFrame:
    """Search the regularisation of the probe of each layer on one training part.

    Layers are searched in parallel, and each has a seed of its own: the result does not depend on the number of jobs.

    Args:
        train: The training part of one feature, of the rows that `cxprobe.tasks.recognition.make.read_subsets` returns.
        features: The vectors of at least its texts; the ids are the texts.
        settings: The space, the trials and the folds; sentences of one template stay in one fold, and there are fewer
            folds where a label has fewer templates.
        fitting: How the probes are fitted; its seed is that of this subset's search.
        jobs: Layers at the same time.
        progress: Called with the number of finished trials.

    Returns:
        One row a trial: layer; number, from 0 within a layer; C; standardise; accuracy, the mean over the held-out
        sentences, NaN where the solver did not converge.

    Raises:
        ProbeError: No setting converged for some layer.
    """
    rows, templates = features.rows_of(train["text"]), train[TEMPLATE].to_numpy(dtype=object)
    labels = (train["label"] == "positive").to_numpy(bool)

    def search(layer: int, matrix: Any) -> pd.DataFrame:
        of_layer = replace(fitting.of(f"layer {layer}"), seed=seed_for(fitting.seed, layer))
        vectors, cuts = matrix[rows], cut_folds(labels, templates, settings.folds, of_layer.seed)
        held_out = np.concatenate([held for _, held in cuts])

        def accuracy(trial: optuna.Trial) -> float:
            how = Regularisation(
                trial.suggest_float("C", settings.C.low, settings.C.high, log=True),
                trial.suggest_categorical("standardise", settings.standardise),
            )
            predicted = predict_held_out(vectors, labels, cuts, how, of_layer)
            return float(credit(predicted[held_out], labels[held_out]).mean())

        optuna.logging.set_verbosity(optuna.logging.ERROR)  # a setting that does not converge is counted, not logged
        study = optuna.create_study(direction="maximize", sampler=optuna.samplers.TPESampler(seed=of_layer.seed))
        study.optimize(accuracy, n_trials=settings.trials, catch=(ProbeError,))
        tried = [{"number": trial.number, **trial.params, "accuracy": trial.value} for trial in study.trials]
        table = pd.DataFrame(tried).astype({"accuracy": float}).assign(layer=layer)
        if table["accuracy"].isna().all():
            raise ProbeError(
                f"{of_layer.place}: none of {len(table)} settings converged; raise recognition.probe.max_iter or lower "
                "recognition.tune.C.high"
            )
        return table

    def in_trials(layers: int) -> object:
        return progress(layers * settings.trials)

    return pd.concat(for_each_layer(features.vectors, search, jobs=jobs, progress=in_trials), ignore_index=True)
