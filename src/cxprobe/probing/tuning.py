"""The search over regularisation, with Optuna, on the training part alone."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import optuna
from joblib import Parallel, delayed
from numpy.typing import NDArray
from optuna.trial import TrialState
from sklearn.model_selection import StratifiedGroupKFold

from cxprobe.errors import ProbeError
from cxprobe.params import TuneProbes
from cxprobe.probing.probes import Regularisation, fit_and_predict
from cxprobe.seeding import seed_for
from cxprobe.stats import credit


@dataclass(frozen=True)
class Tuned:
    """The best setting that a search found.

    Attributes:
        regularisation: The setting.
        accuracy: Its mean accuracy over the held-out folds of the training part.
        trials: How many settings were tried to the end.
        not_converged: How many were given up because a solver did not converge.
    """

    regularisation: Regularisation
    accuracy: float
    trials: int
    not_converged: int


def tune_layers(
    vectors: NDArray[np.float32],
    rows: NDArray[np.int64],
    labels: NDArray[np.bool_],
    templates: NDArray[np.object_],
    settings: TuneProbes,
    *,
    max_iter: int,
    seed: int,
    storage: Path,
    place: str,
) -> list[Tuned]:
    """Search for the best regularisation of each layer's probe.

    Layers run in parallel, each in one job with a database of its own, and the sampler is seeded anew for every
    trial: neither the number of jobs nor a kill and a restart changes the result.

    Args:
        vectors: Shape (layers, sentences, dimensions).
        rows: Shape (n_train,), the training rows; test sentences are never seen here.
        labels: Shape (n_train,), True for positive.
        templates: Shape (n_train,); sentences of one template stay in one fold.
        settings: The space, the trials and the folds.
        max_iter: See `fit_and_predict`.
        seed: Of this subset's search.
        storage: Folder for one sqlite database a layer; a search that was killed goes on from it. What it holds must
            follow from its name: it belongs to one set of vectors, labels and settings.
        place: What is tuned, for messages.

    Raises:
        ProbeError: No setting converged for some layer.
    """
    storage.mkdir(parents=True, exist_ok=True)
    return list(
        Parallel(n_jobs=settings.jobs)(
            delayed(_tune)(
                vectors[layer, rows],
                labels,
                templates,
                settings,
                max_iter=max_iter,
                seed=seed_for(seed, layer),
                database=storage / f"layer-{layer:02d}.db",
                place=f"{place}, layer {layer}",
            )
            for layer in range(len(vectors))
        )
    )


def _tune(
    vectors: NDArray[np.float32],
    labels: NDArray[np.bool_],
    templates: NDArray[np.object_],
    settings: TuneProbes,
    *,
    max_iter: int,
    seed: int,
    database: Path,
    place: str,
) -> Tuned:
    optuna.logging.set_verbosity(optuna.logging.ERROR)  # a setting that does not converge is counted, not told
    folds = StratifiedGroupKFold(settings.folds, shuffle=True, random_state=seed)
    cuts = list(folds.split(vectors, labels, templates))

    def objective(trial: optuna.Trial) -> float:
        regularisation = Regularisation(
            C=trial.suggest_float("C", settings.C.low, settings.C.high, log=True),
            l1_ratio=trial.suggest_categorical("l1_ratio", settings.l1_ratio),
            standardise=trial.suggest_categorical("standardise", settings.standardise),
        )
        credits = [
            _credits(vectors, labels, train, held_out, regularisation, max_iter=max_iter, seed=seed, place=place)
            for train, held_out in cuts
        ]
        return float(np.concatenate(credits).mean())

    study = optuna.create_study(
        storage=f"sqlite:///{database}", study_name="tune_probes", direction="maximize", load_if_exists=True
    )
    while len(ended := _ended(study)) < settings.trials:
        study.sampler = optuna.samplers.TPESampler(seed=seed_for(seed, len(ended)))
        study.optimize(objective, n_trials=1, n_jobs=1, catch=(ProbeError,))
    complete = [trial for trial in ended if trial.state == TrialState.COMPLETE]
    if not complete:
        raise ProbeError(f"{place}: none of {len(ended)} settings converged; raise fit_probes.max_iter or lower C.high")
    best = Regularisation(**study.best_params)
    return Tuned(best, study.best_value, len(complete), len(ended) - len(complete))


def _ended(study: optuna.Study) -> list[optuna.trial.FrozenTrial]:
    """Return the trials that came to an end; one that a kill cut off stays RUNNING and does not count."""
    return study.get_trials(deepcopy=False, states=(TrialState.COMPLETE, TrialState.FAIL))


def _credits(
    vectors: NDArray[np.float32],
    labels: NDArray[np.bool_],
    train: NDArray[np.int64],
    held_out: NDArray[np.int64],
    regularisation: Regularisation,
    *,
    max_iter: int,
    seed: int,
    place: str,
) -> NDArray[np.float64]:
    probabilities = fit_and_predict(
        vectors[train], labels[train], vectors[held_out], regularisation, max_iter=max_iter, seed=seed, place=place
    )
    return credit(probabilities, labels[held_out])
