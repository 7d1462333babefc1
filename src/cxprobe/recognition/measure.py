"""What probes are trained on: the subsets of one source of sentences, with the model's vectors of these sentences."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import astuple, dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.dummy import DummyClassifier

from cxprobe.constructions.sentences import LABELS
from cxprobe.files.arrays import Features, feature_files, read_features
from cxprobe.files.schema import Source
from cxprobe.files.tables import read_table, write_table
from cxprobe.files.writing import digest, scratch_folder
from cxprobe.probing import (
    TEMPLATE,
    Cut,
    Fitting,
    ProbeRows,
    Regularisation,
    align,
    cut_folds,
    first_draw,
    fit_and_predict,
    for_each_layer,
)
from cxprobe.recognition.params import Controls, FitProbes
from cxprobe.seeding import generator_for, seed_for
from cxprobe.stats import CLUSTER


@dataclass(frozen=True, eq=False)
class ProbedSource:
    """One source of sentences as one model represents it.

    Attributes:
        rows: One row a drawn sentence: feature, split, value, label, id, text, and columns that begin with
            ``cluster_``.
        features: The vectors of the sentences.
        content: Digests of the files that hold the vectors.
    """

    rows: pd.DataFrame
    features: Features
    content: tuple[str, ...]

    @property
    def layers(self) -> int:
        """The number of layers, the embeddings included; 1 where counts take the place of vectors."""
        return len(self.features.vectors)

    @property
    def probes(self) -> int:
        """The number of probes: one for each feature and layer."""
        return int(self.rows["feature"].nunique()) * self.layers

    def subsets(self) -> Iterator[tuple[str, pd.DataFrame]]:
        """Yield each feature with the rows of its subset."""
        for feature, subset in self.rows.groupby("feature", sort=False):
            yield str(feature), subset


def read_sources(names: Iterable[Source], sentences: Path, features: Path) -> dict[Source, ProbedSource]:
    """Read the subsets of a construction's sources and map their vectors into memory.

    Args:
        names: The sources, such as "mined".
        sentences: A folder with splits.parquet and sentences.parquet in a subfolder for each source.
        features: A folder with features.npy, or features.npz, and ids.parquet in a subfolder for each source.

    Raises:
        DataError: The ids and the rows of some vectors do not match.
    """
    return {name: _read_source(sentences / name, features / name) for name in names}


def _read_source(sentences: Path, features: Path) -> ProbedSource:
    known = read_table(sentences / "sentences.parquet").filter(regex=f"^(id|text|{CLUSTER}.*)$")
    rows = read_table(sentences / "splits.parquet").merge(known, on="id", validate="many_to_one")
    content = tuple(map(digest, feature_files(features)))
    return ProbedSource(rows, read_features(features), content)


SMALLEST_PORTION = 8  # sentences; fewer train nothing
_WORD = re.compile(r"[^\W\d_]+")


def majority(labels: NDArray[np.bool_], n_test: int) -> NDArray[np.float64]:
    """Return the share of positives in training as the probability of every test sentence; 0.5 if it is balanced.

    Args:
        labels: Shape (n_train,), True for positive.
        n_test: How many sentences are tested.

    Returns:
        Shape (n_test,).
    """
    dummy = DummyClassifier(strategy="prior").fit(np.zeros((len(labels), 1)), labels)
    probabilities: NDArray[np.float64] = dummy.predict_proba(np.zeros((n_test, 1)))[:, -1]
    return probabilities


def last_words(texts: Sequence[str]) -> NDArray[np.object_]:
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


def portion_numbers(n: int, seed: int) -> NDArray[np.int64]:
    """Deal training sentences into portions of an online code in random order, each as large as all before it.

    Args:
        n: The number of sentences.
        seed: Of the order.

    Returns:
        Shape (n,): the number of each sentence's portion, from 0. The first has at least `SMALLEST_PORTION` sentences,
        or all.
    """
    ends = [n]
    while ends[0] // 2 >= SMALLEST_PORTION:
        ends.insert(0, ends[0] // 2)
    numbers = np.repeat(np.arange(len(ends)), np.diff([0, *ends]))
    return numbers[generator_for(seed, "online code").permutation(n)].astype(np.int64)


def code_online(
    vectors: Any,
    labels: NDArray[np.bool_],
    portions: NDArray[np.int64],
    regularisation: Regularisation,
    fitting: Fitting,
) -> NDArray[np.float64]:
    """Predict every training sentence by a probe that is trained on all portions before that of the sentence.

    Args:
        vectors: Shape (n, dimensions), an array or a sparse matrix.
        labels: Shape (n,), True for positive.
        portions: Shape (n,), see `portion_numbers`.
        regularisation: How the probes are regularised.
        fitting: How the probes are fitted.

    Returns:
        Shape (n,): the probability of "positive"; 0.5 where the portions before have nothing, or one label alone.

    Raises:
        ProbeError: A probe did not converge.

    Source:
        Voita & Titov 2020, §2.3 (online code).
    """
    probabilities = np.full(len(labels), 0.5)
    for portion in range(1, int(portions.max(initial=0)) + 1):
        known, own = portions < portion, portions == portion
        if len(set(labels[known])) > 1:
            place = fitting.of(f"portion {portion} of the code")
            probabilities[own] = fit_and_predict(vectors[known], labels[known], vectors[own], regularisation, place)
    return probabilities


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
