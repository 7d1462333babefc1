"""All probes and controls of one balanced subset: what they predict for its test part."""

from collections.abc import Callable, Sequence
from dataclasses import astuple
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from cxprobe.measure.probing.controls import bag_of_words, majority
from cxprobe.measure.probing.probes import Fitting, Regularisation, align, probe_layers
from cxprobe.measure.probing.sources import ProbedSource
from cxprobe.params import FitProbes
from cxprobe.records import SPLITS
from cxprobe.storage import digest, read_table, scratch_folder, write_table


class Predictions(NamedTuple):
    """What was predicted for the test part of a subset.

    Attributes:
        probes: One row a test sentence and layer: the test part's columns, layer, probability (of "positive").
        controls: One row a test sentence and control: the test part's columns, control, probability.
    """

    probes: pd.DataFrame
    controls: pd.DataFrame


def regularisation_by_layer(settings: FitProbes, tuned: pd.DataFrame, layers: int) -> list[Regularisation]:
    """Return the regularisation of each layer's probe: the tuned one, or that of the settings if none was tuned.

    Args:
        settings: The section fit_probes.
        tuned: Columns layer, C, l1_ratio, standardise: what was tuned for one feature, or no rows.
        layers: The number of layers, the embeddings included.
    """
    if tuned.empty:
        return [Regularisation(settings.C, settings.l1_ratio, settings.standardise)] * layers
    rows = tuned.sort_values("layer")[["C", "l1_ratio", "standardise"]].itertuples(index=False)
    return [Regularisation(float(C), float(l1_ratio), bool(standardise)) for C, l1_ratio, standardise in rows]


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
        regularisation: One for each layer.
        settings: The parameters of the stage; they also regularise the bag of words.
        fitting: How the probes and the bag of words are fitted.
        scratch: The folder that keeps the predictions, under a name that follows from everything they depend on, the
            code of the probes included.
        progress: Called with the number of finished probes, those of an earlier run included.

    Raises:
        DataError: A sentence has no vector.
        ProbeError: A probe did not converge.
    """
    code = [digest(Path(__file__).with_name(name)) for name in ("controls.py", "probes.py")]
    decisive = (list(map(astuple, regularisation)), settings.model_dump(exclude={"jobs"}), fitting.seed, code)
    folder = scratch_folder(scratch, subset.to_csv(), source.content, *decisive)
    paths = [folder / f"{name}.parquet" for name in Predictions._fields]
    if all(path.is_file() for path in paths):
        if progress is not None:
            progress(source.layers)
        return Predictions(*map(read_table, paths))
    found = _predict(subset, source, regularisation, settings, fitting, progress)
    for table, path in zip(found, paths, strict=True):
        write_table(table, path)
    return found


def _predict(
    subset: pd.DataFrame,
    source: ProbedSource,
    regularisation: Sequence[Regularisation],
    settings: FitProbes,
    fitting: Fitting,
    progress: Callable[[int], object] | None,
) -> Predictions:
    rows = align(subset, source.features.ids)
    by_layer = probe_layers(
        source.features.vectors, rows, regularisation, fitting, jobs=settings.jobs, progress=progress
    )
    train, test = (subset[subset["split"] == split] for split in SPLITS)
    ridge = Regularisation(settings.C, settings.l1_ratio, standardise=False)
    texts = (train["text"].tolist(), rows.train_labels, test["text"].tolist())
    by_control = {
        "majority": majority(rows.train_labels, len(test)),
        "bag_of_words": bag_of_words(*texts, ridge, fitting),
    }
    tested = test.drop(columns=["split", "text"])
    return Predictions(
        pd.concat([tested.assign(layer=layer, probability=p) for layer, p in enumerate(by_layer)]),
        pd.concat([tested.assign(control=control, probability=p) for control, p in by_control.items()]),
    )
