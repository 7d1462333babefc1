"""All probes and controls of one balanced subset: what they predict for its test part and within its training part."""

from collections.abc import Callable, Sequence
from dataclasses import astuple, dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from cxprobe.measure.probing.controls import code_online, control_labels, last_words, majority, portion_numbers
from cxprobe.measure.probing.folds import TEMPLATE, Cut, cut_folds, first_draw
from cxprobe.measure.probing.probes import Fitting, ProbeRows, Regularisation, align, fit_and_predict, for_each_layer
from cxprobe.measure.probing.sources import ProbedSource
from cxprobe.params import Controls, FitProbes
from cxprobe.records import CLUSTER, LABELS
from cxprobe.seeding import seed_for
from cxprobe.storage import digest, read_table, scratch_folder, write_table

_CODE = ("controls.py", "folds.py", "probes.py", "recognition.py")  # what the predictions depend on


class Predictions(NamedTuple):
    """What was predicted for a subset; `probability` is always that of "positive".

    Attributes:
        probes: One row a test sentence, training draw and layer: the test part's columns, layer, draw, probability.
        controls: One row a test sentence and control: the test part's columns, control, probability.
        folds: One row a sentence of the first training draw, task and layer: the part's columns; task ("real" or
            "control", whose labels stand in label); cluster_word, the type that a control label belongs to; known,
            whether the other folds have this word; fold; layer, probability. No rows if no folds are asked for or can
            be made.
        code: One row a sentence of the first training draw and layer: feature, id, label, portion (of the online code,
            from 0), layer, probability. No rows if no code is asked for.
    """

    probes: pd.DataFrame
    controls: pd.DataFrame
    folds: pd.DataFrame
    code: pd.DataFrame


@dataclass(frozen=True)
class _Work:
    """What is done on each layer.

    Attributes:
        draws: The rows that train and test, for each training draw.
        cuts: The folds of the first draw.
        labels: Task -> its labels, shape (n_train,), for the folds.
        portions: Shape (n_train,): the portions of the online code; None for no code.
    """

    draws: Sequence[ProbeRows]
    cuts: Sequence[Cut]
    labels: dict[str, NDArray[np.bool_]]
    portions: NDArray[np.int64] | None


class _OfLayer(NamedTuple):
    """What the probes of one layer predict.

    Attributes:
        tested: Shape (draws, n_test).
        held_out: Task -> the held-out sentences of all folds, in the order of the folds.
        coded: Shape (n_train,), or empty.
    """

    tested: NDArray[np.float64]
    held_out: dict[str, NDArray[np.float64]]
    coded: NDArray[np.float64]


def recognise(
    subset: pd.DataFrame,
    source: ProbedSource,
    regularisation: Sequence[Regularisation],
    settings: FitProbes,
    fitting: Fitting,
    *,
    scratch: Path,
    progress: Callable[[int], object] | None = None,
) -> Predictions:
    """Train the probes and the controls on a subset's training part and predict the labels of its test part.

    The predictions are kept at once, for the case that the process is killed before the stage ends: the next run
    reads them and trains nothing.

    Args:
        subset: One of the subsets of ``source``.
        source: The sentences with their vectors.
        regularisation: One for each layer; the controls have that of their layer.
        settings: The parameters of the stage.
        fitting: How the probes are fitted; the seeds of the controls follow from its seed and the feature.
        scratch: The folder that keeps the predictions, under a name that follows from everything they depend on, the
            code of the probes included.
        progress: Called with the number of finished layers, those of an earlier run included.

    Raises:
        DataError: A sentence has no vector.
        ProbeError: A probe did not converge.
    """
    code = [digest(Path(__file__).with_name(name)) for name in _CODE]
    decisive = (list(map(astuple, regularisation)), settings.model_dump(exclude={"jobs"}), fitting.seed, code)
    folder = scratch_folder(scratch, subset.to_csv(), source.content, *decisive)
    paths = [folder / f"{name}.parquet" for name in Predictions._fields]
    if all(path.is_file() for path in paths):
        if progress is not None:
            progress(source.layers)
        return Predictions(*map(read_table, paths))
    work = _plan(subset, source.features.ids, settings.controls, fitting.seed)
    on_layer = partial(_predict, work, regularisation, fitting)
    by_layer = for_each_layer(source.features.vectors, on_layer, jobs=settings.jobs, progress=progress)
    found = _tables(subset, work, by_layer)
    for table, path in zip(found, paths, strict=True):
        write_table(table, path)
    return found


def _plan(subset: pd.DataFrame, ids: Sequence[str], controls: Controls, seed: int) -> _Work:
    """Return what is done on each layer; folds, control labels and portions are the same on all layers."""
    train, test = first_draw(subset), subset[subset["split"] == "test"]
    drawn = [rows for _, rows in subset[subset["split"] == "train"].groupby("draw")]
    draws = [align(pd.concat([rows, test]), ids) for rows in drawn]
    real, own = draws[0].train_labels, seed_for(seed, *train["feature"].unique())
    templates = train[TEMPLATE].to_numpy(dtype=object)
    labels = {"real": real}
    if controls.control_task:
        labels["control"] = control_labels(last_words(train["text"].tolist()), own)
    return _Work(
        draws,
        [] if controls.folds is None else cut_folds(real, templates, controls.folds, own),
        labels,
        portion_numbers(len(real), own) if controls.code_length else None,
    )


def _predict(
    work: _Work, regularisation: Sequence[Regularisation], fitting: Fitting, layer: int, vectors: Any
) -> _OfLayer:
    """Train all probes of one layer; vectors (sentences, dimensions)."""
    setting, place = regularisation[layer], fitting.of(f"layer {layer}")
    first, labels = vectors[work.draws[0].train], work.draws[0].train_labels
    tested = [
        fit_and_predict(vectors[rows.train], rows.train_labels, vectors[rows.test], setting, place)
        for rows in work.draws
    ]
    held_out = {
        task: np.concatenate([_held_out(first, own, cut, setting, place.of(f"{task} labels")) for cut in work.cuts])
        for task, own in (work.labels.items() if work.cuts else ())
    }
    coded = np.empty(0) if work.portions is None else code_online(first, labels, work.portions, setting, place)
    return _OfLayer(np.stack(tested), held_out, coded)


def _held_out(
    vectors: Any, labels: NDArray[np.bool_], cut: Cut, regularisation: Regularisation, fitting: Fitting
) -> NDArray[np.float64]:
    """Return what a probe predicts for the held-out sentences of a fold; its share where it is trained on one label."""
    train, held_out = cut
    if len(set(labels[train])) < len(LABELS):
        return majority(labels[train], len(held_out))
    return fit_and_predict(vectors[train], labels[train], vectors[held_out], regularisation, fitting)


def _tables(subset: pd.DataFrame, work: _Work, by_layer: Sequence[_OfLayer]) -> Predictions:
    train, test = (
        part.drop(columns=["split", "draw"]) for part in (first_draw(subset), subset[subset["split"] == "test"])
    )
    tested = test.drop(columns="text")
    probes = [
        tested.assign(layer=layer, draw=draw, probability=probabilities)
        for layer, found in enumerate(by_layer)
        for draw, probabilities in enumerate(found.tested)
    ]
    share = majority(work.draws[0].train_labels, len(test))
    return Predictions(
        pd.concat(probes, ignore_index=True),
        tested.assign(control="majority", probability=share),
        _fold_table(train, work, by_layer),
        _code_table(train, work.portions, by_layer),
    )


def _fold_table(train: pd.DataFrame, work: _Work, by_layer: Sequence[_OfLayer]) -> pd.DataFrame:
    words = last_words(train["text"].tolist())
    own = train.drop(columns="text").assign(**{f"{CLUSTER}word": words})
    cuts = [
        own.iloc[held_out].assign(fold=fold, known=np.isin(words[held_out], words[known]))
        for fold, (known, held_out) in enumerate(work.cuts)
    ]
    order = np.concatenate([held_out for _, held_out in work.cuts]) if cuts else np.empty(0, dtype=np.int64)
    rows = pd.concat(cuts) if cuts else own.iloc[:0].assign(fold=0, known=False)
    tables = [
        rows.assign(task=task, label=_names(work.labels[task][order]), layer=layer, probability=probabilities)
        for layer, found in enumerate(by_layer)
        for task, probabilities in found.held_out.items()
    ]
    empty = rows.assign(task="", layer=0, probability=0.0).iloc[:0]
    return pd.concat(tables or [empty], ignore_index=True)


def _code_table(train: pd.DataFrame, portions: NDArray[np.int64] | None, by_layer: Sequence[_OfLayer]) -> pd.DataFrame:
    rows = train[["feature", "id", "label"]]
    if portions is None:
        return rows.assign(portion=0, layer=0, probability=0.0).iloc[:0].reset_index(drop=True)
    coded = [
        rows.assign(portion=portions, layer=layer, probability=found.coded) for layer, found in enumerate(by_layer)
    ]
    return pd.concat(coded, ignore_index=True)


def _names(labels: NDArray[np.bool_]) -> NDArray[np.object_]:
    """Return the names of labels, shape (n,), for True and False."""
    names: NDArray[np.object_] = np.array(LABELS[::-1], dtype=object)[labels.astype(int)]
    return names
