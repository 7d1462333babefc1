"""What searches over regularisation have found: tables, one Optuna database, and the importance of each parameter."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import NamedTuple

import optuna
import pandas as pd
from optuna.importance import FanovaImportanceEvaluator, get_param_importances
from optuna.storages import BaseStorage, InMemoryStorage, RDBStorage
from optuna.trial import FrozenTrial
from sqlalchemy.pool import StaticPool

from cxprobe.measure.probing.folds import has_folds, templates_by_label
from cxprobe.measure.probing.probes import Fitting
from cxprobe.measure.probing.sources import ProbedSource
from cxprobe.measure.probing.tuning import Tuned, tune_subset
from cxprobe.params import Source, TuneProbes
from cxprobe.records import LABELS, Trial
from cxprobe.seeding import seed_for
from cxprobe.storage import replacing

NO_ACCURACY = -1.0  # of a trial whose solver did not converge; tables have no empty cells
_TUNED = ["source", "feature", "layer", "C", "l1_ratio", "standardise"]
_SETTING_COLUMNS = [*_TUNED, "accuracy", "folds", "trials", "not_converged"]
_TRIAL_COLUMNS = ["source", "feature", "layer", "number", "C", "l1_ratio", "standardise", "accuracy", "state"]
_IMPORTANCE_COLUMNS = ["source", "feature", "layer", "parameter", "importance"]


class Search(NamedTuple):
    """Which probe a search is about."""

    source: str
    feature: str
    layer: int


Searches = Mapping[Search, Tuned]


def search_all(
    sources: Mapping[Source, ProbedSource],
    settings: TuneProbes,
    fitting: Fitting,
    *,
    scratch: Path,
    progress: Callable[[int], object] | None = None,
) -> Searches:
    """Search for the best regularisation of every probe: of each source, feature and layer (`tune_subset`).

    A subset that cannot be divided into folds (`has_folds`) is left out; `not_searched` names it.

    Args:
        sources: Source -> its subsets and vectors.
        settings: See `tune_subset`.
        fitting: How the probes are fitted; the seeds of the searches follow from its seed.
        scratch: The folder in which the trials of all searches stay.
        progress: Called with the number of finished trials.

    Raises:
        DataError: A sentence has no vector.
        ProbeError: No setting converged for some probe.
    """
    searches: dict[Search, Tuned] = {}
    for source, data in sources.items():
        for feature, subset in data.subsets():
            if not has_folds(subset):
                continue
            own = replace(fitting.of(f"{source}, {feature}"), seed=seed_for(fitting.seed, source, feature))
            folder = scratch / source / feature
            tuned = tune_subset(subset, data, settings, own, scratch=folder, progress=progress)
            searches |= {Search(source, feature, layer): found for layer, found in enumerate(tuned)}
    return searches


def count_searches(sources: Mapping[Source, ProbedSource]) -> int:
    """Return how many searches `search_all` makes: one for each probe whose subset can be divided into folds."""
    return sum(data.layers for data in sources.values() for _, subset in data.subsets() if has_folds(subset))


def not_searched(sources: Mapping[Source, ProbedSource]) -> pd.DataFrame:
    """Return the subsets without a search: their probes have the settings of fit_probes.

    Returns:
        Columns source, feature, positive and negative (the number of templates in the training part with the label),
        reason.
    """
    rows = [
        {"source": source, "feature": feature, **templates_by_label(subset)}
        for source, data in sources.items()
        for feature, subset in data.subsets()
        if not has_folds(subset)
    ]
    reason = "folds need two templates of each label, so the settings of fit_probes are used"
    return pd.DataFrame(rows, columns=["source", "feature", *LABELS]).assign(reason=reason)


def settings_table(searches: Searches) -> pd.DataFrame:
    """Return the best setting of each search.

    Returns:
        Columns source, feature, layer, C, l1_ratio, standardise; accuracy, on the held-out folds; folds, their number,
        which is lower than asked for where a label has fewer templates; trials, the number of settings that were
        evaluated; not_converged, the number of those that could not be. Without searches there are the columns and no
        rows.
    """
    rows = [
        (
            *search,
            *asdict(found.regularisation).values(),
            found.accuracy,
            found.folds,
            found.complete,
            len(found.trials) - found.complete,
        )
        for search, found in searches.items()
    ]
    return pd.DataFrame(rows, columns=_SETTING_COLUMNS)


def trials_table(searches: Searches) -> pd.DataFrame:
    """Return every trial of every search.

    Returns:
        Columns source, feature, layer, number (from 0, within a search), C, l1_ratio, standardise, accuracy (-1 for a
        trial that failed), state ("COMPLETE", or "FAIL" if the solver did not converge).
    """
    rows = [
        (*search, number, *(trial.params[name] for name in _TRIAL_COLUMNS[4:7]), _accuracy(trial), trial.state.name)
        for search, found in searches.items()
        for number, trial in enumerate(found.trials)
    ]
    return pd.DataFrame(rows, columns=_TRIAL_COLUMNS)


def trial_records(trials: pd.DataFrame) -> list[Trial]:
    """Return the trials of a table (`trials_table`) as child runs of the search."""
    return [
        Trial(
            name=" ".join(str(row[name]) for name in ("source", "feature", "layer", "number")),
            metrics={"accuracy": float(row["accuracy"])} if row["state"] == "COMPLETE" else {},
            params={name: str(row[name]) for name in _TUNED},
            status="FINISHED" if row["state"] == "COMPLETE" else "FAILED",
        )
        for row in trials.to_dict("records")
    ]


def write_study(searches: Searches, path: Path) -> None:
    """Write all searches as the studies of one sqlite database, which `optuna.load_study` and its dashboard read.

    A study is named "source feature layer". All trials have the same date, so that the same search gives the same file.
    """
    # In memory first: with a file, every trial would wait for the disk.
    storage = RDBStorage("sqlite://", engine_kwargs={"poolclass": StaticPool})
    for search, found in searches.items():
        _add_study(found.trials, storage, " ".join(map(str, search)))
    with (
        replacing(path) as partial,
        storage.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as database,
    ):
        partial.unlink(missing_ok=True)
        database.exec_driver_sql("VACUUM INTO ?", (str(partial),))
    storage.remove_session()


def parameter_importances(searches: Searches, seed: int) -> pd.DataFrame:
    """Return how much of the variance of the accuracy each parameter explains.

    A search in which all settings are equally accurate has no variance to explain and is left out.

    Args:
        searches: The searches.
        seed: Of the random forests with which the variance is estimated.

    Returns:
        Columns source, feature, layer, parameter, importance; the importances of a search sum to 1.

    Source:
        Hutter, Hoos & Leyton-Brown 2014 (fANOVA), as Optuna computes it.
    """
    rows = [
        (*search, parameter, float(importance))
        for search, found in searches.items()
        if len({trial.value for trial in found.trials if trial.value is not None}) > 1
        for parameter, importance in sorted(_importances(found.trials, seed).items())
    ]
    return pd.DataFrame(rows, columns=_IMPORTANCE_COLUMNS)


def _importances(trials: Sequence[FrozenTrial], seed: int) -> dict[str, float]:
    study = _add_study(trials, InMemoryStorage(), "importances")
    return get_param_importances(study, evaluator=FanovaImportanceEvaluator(seed=seed))


def _add_study(trials: Sequence[FrozenTrial], storage: BaseStorage, name: str) -> optuna.Study:
    optuna.logging.set_verbosity(optuna.logging.WARNING)  # no line for each study
    study = optuna.create_study(storage=storage, study_name=name, direction="maximize")
    study.add_trials(trials)
    return study


def _accuracy(trial: FrozenTrial) -> float:
    return NO_ACCURACY if trial.value is None else trial.value
