"""Probes of a model's vectors on balanced subsets, and the controls of their rates.

Controls are the share of the labels, and random labels of words (Hewitt & Liang 2019). The predictions of a subset are
kept, and read again as long as its sentences, their vectors and the settings are the same: a run that was killed goes
on, and a changed sentence costs the probes of its subsets alone.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import astuple
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from cxprobe.constructions import LABELS
from cxprobe.files.arrays import Features
from cxprobe.files.code import computing_code
from cxprobe.files.tables import keep_table, kept_table, write_table
from cxprobe.files.writing import SCRATCH, project_folder
from cxprobe.probing import (
    Fitting,
    Progress,
    Regularisation,
    cut_folds,
    fit_and_predict,
    for_each_layer,
    kept_folder,
)
from cxprobe.run.progress import progress
from cxprobe.seeding import generator_for, seed_for
from cxprobe.tasks.recognition.params import TEMPLATE, Place, Probe, RecognitionStage

_WORD = re.compile(r"[^\W\d_]+")


class Predictions(NamedTuple):
    """The predictions of a subset; ``probability`` is always that of "positive".

    Attributes:
        probes: One row a test sentence and layer: the test part's columns, layer, probability.
        controls: One row a test sentence and control: the test part's columns, control, probability.
        folds: One row a sentence of the training part, task and layer: the part's columns; task ("real" or "control",
            whose labels stand in label); cluster_word, the type that a control label belongs to; known, whether the
            other folds have this word; fold; layer, probability. No rows if no folds are asked for or can be made.
    """

    probes: pd.DataFrame
    controls: pd.DataFrame
    folds: pd.DataFrame


def recognise(
    subset: pd.DataFrame,
    features: Features,
    regularisation: Sequence[Regularisation],
    settings: Probe,
    fitting: Fitting,
    jobs: int,
    kept: Path,
    progress: Progress,
) -> Predictions:
    """Train the probes and the controls on a subset's training part and predict the labels of its test part.

    Args:
        subset: The rows of one feature, of those that `cxprobe.tasks.recognition.make.read_subsets` returns.
        features: The vectors of at least its texts; the ids are the texts.
        regularisation: One for each layer; the controls have that of their layer.
        settings: What is computed beside the probes.
        fitting: How the probes are fitted; the seeds of the controls follow from its seed and the feature.
        jobs: Layers at the same time.
        kept: The folder in which predictions are kept for later runs.
        progress: Called with the number of finished layers, those of an earlier run included.

    Raises:
        ProbeError: A probe did not converge.
    """
    decisive = (list(map(astuple, regularisation)), settings.model_dump(), fitting.seed)
    rows = features.rows_of(subset["text"])
    folder = kept_folder(kept, subset, features.vectors, rows, computing_code(__name__), *decisive)
    paths = [folder / f"{name}.table" for name in Predictions._fields]
    known = [table for path in paths if (table := kept_table(path)) is not None]
    if len(known) == len(paths):
        progress(len(features.vectors))
        return Predictions(*known)
    train, test = (subset[subset["split"] == split] for split in ("train", "test"))
    trained, tested = (features.rows_of(part["text"]) for part in (train, test))
    labels = (train["label"] == "positive").to_numpy(bool)
    # Folds and control labels are the same on all layers.
    seed = seed_for(fitting.seed, *train["feature"].unique())
    controls, templates, words = settings.controls, train[TEMPLATE].to_numpy(object), last_words(train["text"])
    cuts = [] if controls.folds is None else cut_folds(labels, templates, controls.folds, seed)
    tasks = {"real": labels}
    if controls.control_task:
        tasks["control"] = control_labels(words, seed)
    order = np.concatenate([np.empty(0, np.int64), *(held for _, held in cuts)])

    def predict(layer: int, matrix: Any) -> tuple[NDArray[np.float64], dict[str, NDArray[np.float64]]]:
        """Return what is predicted of the test part, and of held-out sentences by task."""
        how, of_layer = regularisation[layer], fitting.of(f"layer {layer}")
        vectors = matrix[trained]  # (n_train, dimensions)
        of_test = fit_and_predict(vectors, labels, matrix[tested], how, of_layer)
        by_task = {}
        for task, targets in tasks.items():
            of_task, probabilities = of_layer.of(f"{task} labels"), np.empty(len(targets))
            for rest, held in cuts:
                if len(set(targets[rest])) == 1:  # as random labels of words may have it: all there is to learn
                    probabilities[held] = targets[rest][0]
                else:
                    probabilities[held] = fit_and_predict(vectors[rest], targets[rest], vectors[held], how, of_task)
            by_task[task] = probabilities[order]
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
    predictions = Predictions(
        pd.concat(probes, ignore_index=True),
        test.assign(control="majority", probability=labels.mean()),
        pd.concat(folds, ignore_index=True),
    )
    for table, path in zip(predictions, paths, strict=True):
        keep_table(table, path)
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
