"""Probes of a model's vectors on balanced subsets, the controls of their rates, and the search over regularisation.

The control is random labels of words (Hewitt & Liang 2019). The predictions of a subset are kept, and read again as
long as its sentences, their vectors and the settings are the same: a run that was killed goes on, and a changed
sentence costs the probes of its subsets alone.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from cxprobe.constructions import LABELS, SPLITS
from cxprobe.errors import ProbeError
from cxprobe.files.arrays import Features
from cxprobe.files.code import computing_code
from cxprobe.files.tables import kept_table, write_table
from cxprobe.probing import (
    Fitting,
    Progress,
    cut_folds,
    for_each_layer,
    kept_folder,
    predict_held_out,
)
from cxprobe.seeding import generator_for, seed_for
from cxprobe.stats import credit
from cxprobe.tasks.recognition.params import TEMPLATE, Probe, Tune

_WORD = re.compile(r"[^\W\d_]+")


class Predictions(NamedTuple):
    """The predictions of a subset; ``probability`` is always that of "positive".

    Attributes:
        probes: One row a test sentence and layer: the test part's columns, layer, probability.
        folds: One row a sentence of the training part, task and layer: the part's columns; task ("real" or "control",
            whose labels stand in label); cluster_word, the type that a control label belongs to; known, whether the
            other folds have this word; fold; layer, probability. No rows if no folds are asked for or can be made.
    """

    probes: pd.DataFrame
    folds: pd.DataFrame


def recognise(
    subset: pd.DataFrame,
    features: Features,
    fittings: Sequence[Fitting],
    settings: Probe,
    jobs: int,
    kept: Path,
    progress: Progress,
) -> Predictions:
    """Train the probes on a subset's training part, and predict its test part and, in folds, the training part itself.

    Args:
        subset: The rows of one feature, of those that `cxprobe.tasks.recognition.measure.read_subsets` returns.
        features: The vectors of at least its texts; the ids are the texts.
        fittings: How the probe of each layer is fitted; the seeds of the folds and of the random labels follow from
            their seed and the feature.
        settings: What is computed beside the probes.
        jobs: Layers at the same time.
        kept: The folder in which predictions are kept for later runs.
        progress: Called with the number of finished layers, those of an earlier run included.

    Raises:
        ProbeError: A probe did not converge.
    """
    decisive = [replace(fitting, place="") for fitting in fittings], settings.model_dump()
    rows = features.rows_of(subset["text"])
    folder = kept_folder(kept, subset, features.vectors, rows, computing_code(__name__), *decisive)
    paths = [folder / f"{name}.table" for name in Predictions._fields]
    known = [table for path in paths if (table := kept_table(path)) is not None]
    if len(known) == len(paths):
        progress(len(features.vectors))
        return Predictions(*known)
    is_positive = (subset["label"] == "positive").to_numpy(bool)
    trained, tested = (np.flatnonzero(subset["split"] == split) for split in SPLITS)
    train, test, labels = subset.iloc[trained], subset.iloc[tested], is_positive[trained]
    # Folds and control labels are the same on all layers.
    seed, words = seed_for(fittings[0].seed, *train["feature"].unique()), last_words(train["text"])
    controls, templates = settings.controls, train[TEMPLATE].to_numpy(object)
    cuts = cut_folds(labels, templates, controls.folds, seed) if controls.folds else []
    tasks = {"real": labels} | ({"control": control_labels(words, seed)} if controls.control_task else {})
    order = np.concatenate([np.empty(0, np.int64), *(held for _, held in cuts)])

    def predict(layer: int, matrix: Any) -> tuple[NDArray[np.float64], dict[str, NDArray[np.float64]]]:
        """Return what is predicted of the test part, and of held-out sentences by task."""
        vectors, of_layer = matrix[rows], fittings[layer].of(f"layer {layer}")  # (n, dimensions)
        of_test = predict_held_out(vectors, is_positive, [(trained, tested)], of_layer)[tested]
        by_task = {}
        for task, targets in tasks.items():
            predicted = predict_held_out(vectors[trained], targets, cuts, of_layer.of(f"{task} labels"))
            by_task[task] = predicted[order]
        return of_test, by_task

    by_layer = for_each_layer(features.vectors, predict, jobs=jobs, progress=progress)
    train, test = (part.drop(columns=["split", "text"]) for part in (train, test))
    is_known, fold = np.zeros(len(words), dtype=bool), np.zeros(len(words), dtype=np.int64)
    for number, (rest, held) in enumerate(cuts):
        is_known[held] = np.isin(words[held], words[rest])
        fold[held] = number
    held_out = train.assign(cluster_word=words, known=is_known, fold=fold).iloc[order]
    probes, folds = list[pd.DataFrame](), list[pd.DataFrame]()
    for layer, (of_test, by_task) in enumerate(by_layer):
        probes.append(test.assign(layer=layer, probability=of_test))
        for task, probabilities in by_task.items():
            named = np.where(tasks[task], *LABELS)[order]
            folds.append(held_out.assign(task=task, label=named, layer=layer, probability=probabilities))
    predictions = Predictions(pd.concat(probes, ignore_index=True), pd.concat(folds, ignore_index=True))
    for table, path in zip(predictions, paths, strict=True):
        write_table(table, path, optional=table.columns)
    return predictions


def last_words(texts: Iterable[str]) -> NDArray[np.object_]:
    """Return each sentence's last word in lower case, shape (n,): the type that its control label belongs to.

    A word consists of letters; a sentence without one has the empty word. Where sentences are drawn from grammars, last
    words recur in both labels; where they are from a corpus, few do.
    """
    return np.array([(_WORD.findall(text.lower()) or [""])[-1] for text in texts], dtype=object)


def control_labels(words: NDArray[np.object_], seed: int) -> NDArray[np.bool_]:
    """Return a random label for each sentence, the same for all that have the same word.

    The labels of words are balanced over the sentences: words go to the label that has fewer sentences so far, the
    frequent ones first, and equally frequent ones in random order. So a classifier can only learn them by heart.

    Args:
        words: Shape (n,).
        seed: Of the labels; the same words get the same labels whatever the order of the sentences is.

    Returns:
        Shape (n,), True for positive.

    Source:
        Hewitt & Liang 2019, §2 (control tasks).
    """
    generator, counts = generator_for(seed, "control labels"), Counter(words.tolist())
    shuffled = generator.permutation(np.array(sorted(counts), dtype=object)).tolist()
    sizes, label_of = [0, 0], {}
    for word in sorted(shuffled, key=counts.__getitem__, reverse=True):
        label = int(generator.integers(2)) if sizes[0] == sizes[1] else int(sizes[1] < sizes[0])
        label_of[word] = bool(label)
        sizes[label] += counts[word]
    return np.array([label_of[word] for word in words], dtype=bool)


def tune_subset(
    train: pd.DataFrame, features: Features, settings: Tune, fitting: Fitting, jobs: int, progress: Progress
) -> pd.DataFrame:
    """Search the regularisation of the probe of each layer on one training part.

    Layers are searched in parallel, and each has a seed of its own: the result does not depend on the number of jobs.

    Args:
        train: The training part of a feature, of what `cxprobe.tasks.recognition.measure.read_subsets` returns, with at
            least two templates of each label.
        features: The vectors of at least its texts; the ids are the texts.
        settings: The space, the trials and the folds; sentences of one template stay in one fold, and there are fewer
            folds where a label has fewer templates.
        fitting: How the probes are fitted but for their regularisation; its seed is that of this subset's search.
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
        import optuna  # which takes a second

        of_layer = replace(fitting.of(f"layer {layer}"), seed=seed_for(fitting.seed, layer))
        vectors, cuts = matrix[rows], cut_folds(labels, templates, settings.folds, of_layer.seed)
        held_out = np.concatenate([held for _, held in cuts])

        def accuracy(trial: Any) -> float:
            strength = trial.suggest_float("C", settings.C.low, settings.C.high, log=True)
            standardise = trial.suggest_categorical("standardise", settings.standardise)
            how = replace(of_layer, C=strength, standardise=standardise)
            predicted = predict_held_out(vectors, labels, cuts, how)
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
