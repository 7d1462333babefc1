"""The search over regularisation, with Optuna, on the training part alone."""

import shutil
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

import numpy as np
import optuna
import pandas as pd
import sklearn
from joblib import Parallel, delayed
from numpy.typing import NDArray
from optuna.trial import FrozenTrial, TrialState, create_trial

from cxprobe.errors import ProbeError
from cxprobe.measure.probing.folds import TEMPLATE, Cut, cut_folds, first_draw
from cxprobe.measure.probing.probes import Fitting, ProbeRows, Regularisation, align, fit_and_predict
from cxprobe.measure.probing.sources import ProbedSource
from cxprobe.params import TuneProbes
from cxprobe.seeding import seed_for
from cxprobe.stats import credit
from cxprobe.storage import Vectors, digest, scratch_folder

# The time of every trial, so that the same search gives the same trials.
_NO_TIME = datetime(2000, 1, 1)


@dataclass(frozen=True)
class Tuned:
    """What a search found.

    Attributes:
        regularisation: The best setting.
        accuracy: Its mean accuracy over the held-out folds of the training part.
        folds: How many there were; fewer than the settings ask for where a label has fewer templates.
        trials: All settings that were tried, in order; one whose solver did not converge has the state FAIL.
    """

    regularisation: Regularisation
    accuracy: float
    folds: int
    trials: tuple[FrozenTrial, ...]

    @property
    def complete(self) -> int:
        """How many settings were evaluated; the solver did not converge with the others."""
        return sum(trial.state == TrialState.COMPLETE for trial in self.trials)


def tune_subset(
    subset: pd.DataFrame,
    source: ProbedSource,
    settings: TuneProbes,
    fitting: Fitting,
    *,
    scratch: Path,
    progress: Callable[[int], object] | None = None,
) -> list[Tuned]:
    """Search for the best regularisation of the probe of each layer on one subset (see `tune_layers`).

    The trials stay in ``scratch``: a search that was killed continues from them, and one that is repeated, because
    more trials are wanted or because other figures are, evaluates nothing twice.

    Args:
        subset: One of the subsets of ``source``; only its first training draw is used.
        source: The sentences with their vectors.
        settings: The space, the trials and the folds.
        fitting: How the probes are fitted; its seed is that of this subset's search.
        scratch: A folder for this source and feature. The trials have a subfolder, whose name follows from everything
            they depend on, the code included; trials under another name are removed.
        progress: Called with the number of finished trials.

    Raises:
        DataError: A sentence has no vector.
        ProbeError: No setting converged for some layer.
    """
    train = first_draw(subset)
    code = [digest(Path(__file__).with_name(name)) for name in ("folds.py", "probes.py", "tuning.py")]
    versions = (optuna.__version__, sklearn.__version__)
    space = settings.model_dump(exclude={"enabled", "jobs", "trials"})
    decisive = (space, fitting.max_iter, fitting.seed, source.content, code, versions)
    storage = scratch_folder(scratch, train.to_csv(), *decisive)
    for other in scratch.iterdir() if scratch.is_dir() else ():
        if other != storage:
            shutil.rmtree(other)
    rows, templates = align(train, source.features.ids), train[TEMPLATE].to_numpy(dtype=object)
    vectors = source.features.vectors
    return tune_layers(vectors, rows, templates, settings, fitting, storage=storage, progress=progress)


def tune_layers(
    vectors: Vectors,
    rows: ProbeRows,
    templates: NDArray[np.object_],
    settings: TuneProbes,
    fitting: Fitting,
    *,
    storage: Path,
    progress: Callable[[int], object] | None = None,
) -> list[Tuned]:
    """Search for the best regularisation of each layer's probe.

    Layers run in parallel, each in one job with a database of its own, and the sampler gets a new seed for every
    trial. So the result depends neither on the number of jobs nor on whether a search was killed and continued, nor on
    whether an earlier run has tried more settings.

    Args:
        vectors: Shape (layers, sentences, dimensions), or one sparse matrix a layer, of shape (sentences, columns).
        rows: The training rows with their labels; test sentences are never used here.
        templates: Shape (n_train,); sentences of one template stay in one fold, and there are fewer folds where a
            label has fewer templates.
        settings: The space, the trials and the folds.
        fitting: How the probes are fitted; its seed is that of this search.
        storage: Folder for one sqlite database a layer, which an interrupted search continues from. The folder's name
            must follow from the vectors, the labels and the settings other than the number of trials.
        progress: Called with the number of finished trials.

    Raises:
        ProbeError: No setting converged for some layer, or a label has fewer than two templates.
    """
    storage.mkdir(parents=True, exist_ok=True)
    tasks = (
        delayed(_tune)(
            vectors[layer][rows.train],
            rows.train_labels,
            templates,
            settings,
            replace(fitting.of(f"layer {layer}"), seed=seed_for(fitting.seed, layer)),
            storage / f"layer-{layer:02d}.db",
        )
        for layer in range(len(vectors))
    )
    found = []
    for tuned in Parallel(n_jobs=settings.jobs, return_as="generator")(tasks):
        found.append(tuned)
        if progress is not None:
            progress(len(tuned.trials))
    return found


def _tune(
    vectors: NDArray[np.float32],
    labels: NDArray[np.bool_],
    templates: NDArray[np.object_],
    settings: TuneProbes,
    fitting: Fitting,
    database: Path,
) -> Tuned:
    optuna.logging.set_verbosity(optuna.logging.ERROR)  # a setting that does not converge is counted, not logged
    cuts = cut_folds(labels, templates, settings.folds, fitting.seed)
    if not cuts:
        raise ProbeError(f"{fitting.place}: no folds can be made, since a label has fewer than two templates")

    def objective(trial: optuna.Trial) -> float:
        regularisation = Regularisation(
            C=trial.suggest_float("C", settings.C.low, settings.C.high, log=True),
            l1_ratio=trial.suggest_categorical("l1_ratio", settings.l1_ratio),
            standardise=trial.suggest_categorical("standardise", settings.standardise),
        )
        credits = [_credits(vectors, labels, cut, regularisation, fitting) for cut in cuts]
        return float(np.concatenate(credits).mean())

    study = optuna.create_study(
        storage=f"sqlite:///{database}", study_name="tune_probes", direction="maximize", load_if_exists=True
    )
    while len(ended := _ended(study)) < settings.trials:
        study.sampler = optuna.samplers.TPESampler(seed=seed_for(fitting.seed, len(ended)))
        study.optimize(objective, n_trials=1, n_jobs=1, catch=(ProbeError,))
    trials = tuple(_without_times(trial) for trial in ended[: settings.trials])
    complete = [(trial.value, trial.params) for trial in trials if trial.value is not None]
    if not complete:
        raise ProbeError(
            f"{fitting.place}: none of {len(trials)} settings converged; raise fit_probes.max_iter or lower C.high"
        )
    accuracy, params = max(complete, key=lambda one: one[0])  # the first of those that are equally accurate
    return Tuned(Regularisation(**params), accuracy, len(cuts), trials)


def _ended(study: optuna.Study) -> list[FrozenTrial]:
    """Return the trials that came to an end; one that a kill interrupted stays RUNNING and does not count."""
    return study.get_trials(deepcopy=False, states=(TrialState.COMPLETE, TrialState.FAIL))


def _without_times(trial: FrozenTrial) -> FrozenTrial:
    """Return a trial without its times, and without its number in the database, which an interruption changes."""
    timeless = create_trial(
        state=trial.state, value=trial.value, params=trial.params, distributions=trial.distributions
    )
    timeless.datetime_start = timeless.datetime_complete = _NO_TIME
    return timeless


def _credits(
    vectors: NDArray[np.float32],
    labels: NDArray[np.bool_],
    cut: Cut,
    regularisation: Regularisation,
    fitting: Fitting,
) -> NDArray[np.float64]:
    """Return the credits of the held-out rows of a cut, shape (held-out,)."""
    train, held_out = cut
    probabilities = fit_and_predict(vectors[train], labels[train], vectors[held_out], regularisation, fitting)
    return credit(probabilities, labels[held_out])
