"""The search over regularisation, with Optuna, on the training part alone."""

import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import matplotlib as mpl
import numpy as np
import optuna
import pandas as pd
import sklearn
from joblib import Parallel, delayed
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray
from optuna.importance import FanovaImportanceEvaluator, get_param_importances
from optuna.storages import BaseStorage, InMemoryStorage, RDBStorage
from optuna.trial import FrozenTrial, TrialState, create_trial
from sqlalchemy.pool import StaticPool

from cxprobe.constructions.sentences import LABELS
from cxprobe.errors import ProbeError
from cxprobe.files.arrays import Vectors
from cxprobe.files.schema import Source
from cxprobe.files.tables import write_table
from cxprobe.files.writing import digest, replacing, scratch_folder
from cxprobe.lm.params import Member
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
    has_folds,
    templates_by_label,
)
from cxprobe.recognition.measure import ProbedSource
from cxprobe.recognition.params import FitProbes, TuneProbes
from cxprobe.run.params import Params
from cxprobe.run.progress import progress
from cxprobe.run.record import Trial
from cxprobe.seeding import seed_for
from cxprobe.stats import credit

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


FOLDER = "tuning"  # of everything about the searches, beside the predictions


@dataclass(frozen=True)
class Study:
    """The searches of one model on one construction.

    Attributes:
        model: The model.
        construction: The construction's slug, for titles.
        sources: What was to be searched for; empty if nothing was.
        searches: What was found.
        seed: Of the estimates of the importances.
    """

    model: Member
    construction: str
    sources: Mapping[Source, ProbedSource]
    searches: Searches
    seed: int

    @property
    def counts(self) -> dict[str, int]:
        """How many probes were tuned, how many not for lack of data, and how many settings did not converge.

        There are no numbers where nothing was to be searched for.
        """
        if not self.sources:
            return {}
        probes = sum(source.probes for source in self.sources.values())
        counts = {"tuned_probes": len(self.searches), "not_tuned_for_lack_of_data": probes - len(self.searches)}
        failed = int(settings_table(self.searches)["not_converged"].sum())
        return {**counts, "not_converged": failed} if self.searches else counts

    def regularisation(self, source: Source, feature: str, layers: int, settings: FitProbes) -> list[Regularisation]:
        """Return the regularisation of each layer's probe: what was found, or that of the settings without a search.

        Args:
            source: The kind of sentences.
            feature: What is probed.
            layers: The number of layers, the embeddings included.
            settings: The section fit_probes.
        """
        if Search(source, feature, 0) not in self.searches:
            return [Regularisation(settings.C, settings.l1_ratio, settings.standardise)] * layers
        return [self.searches[Search(source, feature, layer)].regularisation for layer in range(layers)]

    def write(self, folder: Path) -> None:
        """Write settings.parquet, trials.parquet and study.db, if anything was found, into a folder of their own."""
        folder = folder / FOLDER
        if self.searches:
            write_table(settings_table(self.searches), folder / "settings.parquet")
            write_table(trials_table(self.searches), folder / "trials.parquet")
            write_study(self.searches, folder / "study.db")

    def tables(self) -> dict[str, pd.DataFrame]:
        """Return the tables of what was found, and of what was not searched, each by its path below the results."""
        tables = {}
        if self.searches:
            tables = {"settings": settings_table(self.searches), "parameter_importance": self._importances}
        left_out = not_searched(self.sources)
        tables |= {} if left_out.empty else {"not_searched": left_out}
        return {str(self.model.inside / FOLDER / stem): table for stem, table in tables.items()}

    def figures(self) -> dict[str, Figure]:
        """Return the figures of what was found (`search_figures`), each by its path below the results."""
        if not self.searches:
            return {}
        title = f"{self.model.label}, {self.construction}"
        figures = search_figures(trials_table(self.searches), self._importances, title)
        return {str(self.model.inside / FOLDER / stem): figure for stem, figure in figures.items()}

    def trials(self) -> list[Trial]:
        """Return every trial as a child run, whose name begins with that of the model."""
        records = trial_records(trials_table(self.searches))
        return [replace(record, name=f"{self.model.slug} {record.name}") for record in records]

    @cached_property
    def _importances(self) -> pd.DataFrame:
        return parameter_importances(self.searches, self.seed)


def study_probes(
    model: Member, construction: str, sources: Mapping[Source, ProbedSource], params: Params, *, scratch: Path
) -> Study:
    """Search for the regularisation of all probes of a model (`search_all`); of none if params switch it off.

    Args:
        model: The model.
        construction: The construction's slug.
        sources: Source -> its subsets and vectors.
        params: The seed, and the sections tune_probes and fit_probes.
        scratch: The folder in which the trials of all searches stay, so that no trial is evaluated twice.

    Raises:
        DataError: A sentence has no vector.
        ProbeError: No setting converged for some probe.
    """
    settings, seed = params.tune_probes, params.seed
    if not settings.enabled:
        return Study(model, construction, {}, {}, seed)
    fitting = Fitting(
        params.fit_probes.max_iter, seed_for(seed, "tune_probes", construction), f"{model.slug}, {construction}"
    )
    folder = scratch / model.slug / construction
    kept, what = f"finished trials are in {folder}", f"tune_probes {model.slug} {construction}"
    with progress(settings.trials * count_searches(sources), "trials", what, kept=kept) as shown:
        searches = search_all(sources, settings, fitting, scratch=folder, progress=shown.update)
    return Study(model, construction, sources, searches, seed)


_PANEL = (3.6, 2.6)  # inches


def search_figures(trials: pd.DataFrame, importances: pd.DataFrame, title: str) -> dict[str, Figure]:
    """Draw `optimisation_history` and `parameter_importance`, and return them by these names."""
    return {
        "optimisation_history": optimisation_history(trials, title),
        "parameter_importance": parameter_importance(importances, title),
    }


def optimisation_history(trials: pd.DataFrame, title: str) -> Figure:
    """Draw the highest accuracy so far over the trials: a panel per feature and source, a line per layer.

    Args:
        trials: Columns source, feature, layer, number, accuracy, state (`trials_table`).
        title: Of the figure.
    """
    figure = Figure(layout="constrained")
    for axes, panel in _panels(figure, trials[trials["state"] == "COMPLETE"], title):
        layers = sorted(panel["layer"].unique())
        colours = mpl.colormaps["viridis"](np.linspace(0, 0.9, len(layers)))  # the rest is too pale for a line
        for layer, colour in zip(layers, colours, strict=True):
            own = panel[panel["layer"] == layer].sort_values("number")
            axes.scatter(own["number"], own["accuracy"], color=colour, s=4, alpha=0.5)
            highest = own["accuracy"].cummax()
            axes.step(own["number"], highest, where="post", color=colour, linewidth=1, label=f"layer {layer}")
        axes.set(xlabel="trial", ylabel="accuracy on held-out folds")
    return _with_legend(figure)


def parameter_importance(importances: pd.DataFrame, title: str) -> Figure:
    """Draw the importance of each parameter by layer: a panel per feature and source.

    Args:
        importances: Columns source, feature, layer, parameter, importance (`parameter_importances`).
        title: Of the figure.
    """
    figure = Figure(layout="constrained")
    for axes, panel in _panels(figure, importances, title):
        for (parameter, own), marker in zip(panel.groupby("parameter"), "os^", strict=False):
            axes.plot(own["layer"], own["importance"], marker=marker, markersize=4, label=str(parameter))
        axes.set(xlabel="layer (0 = embeddings)", ylabel="share of the variance", ylim=(-0.02, 1.02))
    return _with_legend(figure)


def _panels(figure: Figure, table: pd.DataFrame, title: str) -> Iterator[tuple[Axes, pd.DataFrame]]:
    """Divide a figure into a row per feature and a column per source, and yield each panel with its rows."""
    figure.suptitle(title, fontsize=11)
    features, sources = (table[name].unique().tolist() for name in ("feature", "source"))
    if table.empty:
        figure.text(0.5, 0.5, "all settings are equally accurate", ha="center")
        return
    figure.set_size_inches(len(sources) * _PANEL[0] + 0.4, len(features) * _PANEL[1] + 0.8)
    grid = figure.subplots(len(features), len(sources), squeeze=False)
    for (row, column), axes in np.ndenumerate(grid):
        panel = table[(table["feature"] == features[row]) & (table["source"] == sources[column])]
        if panel.empty:
            axes.set_axis_off()
            continue
        axes.set_title(f"{features[row]}, {sources[column]}".replace("_", " "), fontsize=10)
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        axes.grid(axis="y", color="0.9", linewidth=0.6)
        yield axes, panel


def _with_legend(figure: Figure) -> Figure:
    """Add the lines of all panels to one legend, each name once."""
    named = {
        label: handle for axes in figure.axes for handle, label in zip(*axes.get_legend_handles_labels(), strict=True)
    }
    if named:
        figure.legend(named.values(), named.keys(), loc="outside lower center", ncols=5, frameon=False, fontsize=8)
    return figure
