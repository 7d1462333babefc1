"""What a stage's work returns: finished numbers, tables and figures."""

import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic

import pandas as pd
from typing_extensions import TypeVar

from cxprobe.errors import DataError, ParamsError
from cxprobe.files.schema import Closed, suggest
from cxprobe.files.writing import DATA, RESULTS, read_json
from cxprobe.lm.params import ModelFacts
from cxprobe.run.params import Params
from cxprobe.run.processes import Job
from cxprobe.run.project import construction_names
from cxprobe.run.provenance import md5_of
from cxprobe.run.record import Trial

if TYPE_CHECKING:  # most stages draw nothing
    from matplotlib.figure import Figure

MOST_METRICS = 40  # MLflow's UI draws about 100 charts and drops the others without a word


@dataclass(frozen=True)
class JudgedRun:
    """One model on one construction: a run of MLflow that people compare with others.

    Runs of one stage have the same names of metrics, settings, tables and figures, as far as they apply.

    Attributes:
        model: The model's slug.
        facts: What the model is.
        construction: The construction's slug, or "all".
        source: Where the items come from, such as "generated"; a part of paths like the construction and the model.
        dataset: The file that holds the items, already given to `Stage.use`; None if no single file does.
        items: The number of items that were judged.
        metrics: Name -> number, the most important first; at most 40 together with the series.
        settings: What decided on the numbers, usually from `Stage.settings`.
        series: Name -> (step, number) pairs; the step is a layer, a number of shots or the tokens of a training.
        tables: Path below the run's folder, without suffix -> a table, written as .csv.
        figures: Path below the run's folder, without suffix -> a figure, written as .png.

    Raises:
        ValueError: There are more than 40 metrics, or construction or source is empty.
    """

    model: str
    facts: ModelFacts
    construction: str
    source: str
    dataset: Path | None
    items: int
    metrics: Mapping[str, float]
    settings: Mapping[str, str]
    series: Mapping[str, Sequence[tuple[int, float]]] = field(default_factory=dict)
    tables: Mapping[str, pd.DataFrame] = field(default_factory=dict)
    figures: "Mapping[str, Figure]" = field(default_factory=dict)

    @property
    def label(self) -> str:
        """The model's name for people, which says if it is blind or if its weights are not the trained ones."""
        match self.facts.state:
            case "trained":
                return self.model
            case "none":
                return f"{self.model} (blind)"
            case state:
                return f"{self.model} ({state} weights)"

    def __post_init__(self) -> None:
        """Refuse what MLflow's UI could not show."""
        place = f"the run of {self.model} on {self.construction or '?'}, {self.source or '?'}"
        if not (self.model and self.construction and self.source):
            raise ValueError(f"{place}: model, construction and source must not be empty; say 'all' for all of them")
        names = {*self.metrics, *self.series}
        if len(names) > MOST_METRICS:
            raise ValueError(
                f"{place} has {len(names)} metrics and series, at most {MOST_METRICS} are allowed; put the rest into "
                f"a table. The last ones: {', '.join([*self.metrics, *self.series][MOST_METRICS:][:5])}"
            )


@dataclass(frozen=True)
class Outcome:
    """The finished results of a stage.

    Attributes:
        counts: The numbers of a stage that makes, measures or reports: counts.csv and the metrics of its run.
        series: Name -> (step, number) pairs of a stage that makes or measures, for MLflow.
        tables: Path below the results folder, without suffix -> a table, written as .csv; not for judging stages.
        figures: Path below the results folder, without suffix -> a figure, written as .png; not for judging stages.
        facts: What the stage found out about its inputs, such as the hash of the weights; tags of the runs.
        headline: The numbers of a judging stage that stand in metrics.json, nested at most two deep: at most 12, or two
            for each model of a panel if that is more.
        runs: The judged runs of a judging stage, of one model or of all models of a panel; in a report, the runs of
            series of models.
        trials: What a search has tried: child runs.
    """

    counts: Mapping[str, float] = field(default_factory=dict)
    series: Mapping[str, Sequence[tuple[int, float]]] = field(default_factory=dict)
    tables: Mapping[str, pd.DataFrame] = field(default_factory=dict)
    figures: "Mapping[str, Figure]" = field(default_factory=dict)
    facts: Mapping[str, str] = field(default_factory=dict)
    headline: Mapping[str, Any] = field(default_factory=dict)
    runs: Sequence[JudgedRun] = ()
    trials: Sequence[Trial] = ()


# Parameters that only say where the work runs, by the last part of their name: the numbers do not follow from them.
PLACEMENT = frozenset(
    ("accelerator", "connections", "devices", "engine", "jobs", "num_nodes", "retries", "strategy", "timeout")
)
# The sections of params.yaml that describe an item: argument of the script -> section.
_SECTIONS = {"model": "models", "llm": "llms", "benchmark": "benchmarks", "corpus": "corpora"}

_SLUG = re.compile(r"[a-z0-9][a-z0-9-]*")

# The model of the file of parameters that a stage reads: params.yaml, unless the stage does not belong to the pipeline.
P = TypeVar("P", bound=Closed, default=Params)


@dataclass
class Stage(Generic[P]):
    """What a stage's work is handed.

    Attributes:
        name: The script's name = the section of params.yaml = the folder of outputs.
        item: "model", "llm", "construction" ... -> slug, as far as the script takes them.
        params: All parameters of the stage's file.
        of: Which keys of ``item`` name the folders, in this order; None for all of them.
        inputs: Path of what was read -> its MD5 at that moment; filled by `use`.
        job: What is to be done of a measuring stage.
    """

    name: str
    item: Mapping[str, str]
    params: P
    of: tuple[str, ...] | None = None
    inputs: dict[str, str] = field(default_factory=dict)
    job: Job = field(default_factory=Job)

    def refuse_unknown(self) -> None:
        """Refuse an item that the file of parameters does not have, since its name becomes a part of paths.

        Raises:
            ParamsError: It is not there, or is no name.
        """
        for key, slug in self.item.items():
            known = self._known(key)
            if not _SLUG.fullmatch(slug):
                raise ParamsError(f"--{key} {slug}: a name has small letters, digits and hyphens only")
            if known is not None and slug not in known:
                raise ParamsError(
                    f"--{key} {slug}: {_SECTIONS.get(key, f'{key}s/')} has no '{slug}'{suggest(slug, list(known))}"
                )

    def _known(self, key: str) -> Collection[str] | None:
        """Return the names that an item may have; None for one that nothing lists."""
        if key == "construction" and isinstance(self.params, Params):
            return construction_names(Path())
        return getattr(self.params, _SECTIONS.get(key, ""), None)

    def use(self, path: Path) -> Path:
        """Note a file, or a folder that DVC made, as an input of the stage and return it.

        Raises:
            DataError: It does not exist.
        """
        if not path.exists():
            made = path.parts[0] in (DATA.name, RESULTS.name) and "raw" not in path.parts
            raise DataError(
                f"{path} is missing; `dvc repro` makes it, `dvc pull` fetches it from the team's remote"
                if made
                else f"{path} is missing; write it, or take what needs it out of `grid` in params.yaml"
            )
        self.inputs[str(path)] = md5_of(path)
        return path

    def has_finished(self) -> bool:
        """Return whether the stage has a record of the same parameters and inputs, and its data; code is not compared.

        Raises:
            OSError: The record cannot be read.
        """
        path = self.results / "record.json"
        if not path.is_file() or not self.data.exists():
            return False
        record = read_json(path)
        same = record["params"] == {"stage": self.name, **self.item, **self.own_settings()}
        return same and all(Path(name).exists() and md5_of(Path(name)) == md5 for name, md5 in record["inputs"].items())

    @property
    def data(self) -> Path:
        """The path, without a suffix, of the data that the stage makes for its item."""
        return DATA.joinpath(self.name, *self._parts())

    @property
    def results(self) -> Path:
        """The folder of the results that the stage has for its item."""
        return RESULTS.joinpath(self.name, *self._parts())

    def settings(self, *sections: str) -> dict[str, str]:
        """Return the parameters that decide on the numbers: the seed and those of some sections of the file.

        Args:
            sections: Names of sections, or of parts of them, such as "build_recognition.generated".

        Returns:
            Dotted name -> value as JSON writes it; without parameters that only say where the work runs. The part of a
            section is not in the names, so that runs on "generated" and on "mined" have the same ones.
        """
        return {name: value for name, value in self._flattened(*sections) if not _is_placement(name)}

    def own_settings(self) -> dict[str, str]:
        """Return the settings of the stage's own section and of what its item names in the file.

        The entry of a model is called "model.name" and so on whatever the model's slug is, so that the same parameter
        has the same name in every run.
        """
        every = self.params.model_dump(mode="json")
        own = self.settings(self.name) if self.name in every else self.settings()
        for key, slug in self.item.items():
            section = every.get(_SECTIONS.get(key, ""), {})
            own |= {f"{key}.{name}": _shown(value) for name, value in _flatten(section.get(slug, {}))}
        return own

    def placement(self) -> dict[str, str]:
        """Return the parameters of the stage's own section that only say where the work runs."""
        if self.name not in type(self.params).model_fields:
            return {}
        return {name: value for name, value in self._flattened(self.name) if _is_placement(name)}

    def _parts(self) -> list[str]:
        return [self.item[key] for key in (self.item if self.of is None else self.of)]

    def _flattened(self, *sections: str) -> Iterator[tuple[str, str]]:
        every = self.params.model_dump(mode="json")
        if "seed" in every:
            yield "seed", _shown(every["seed"])
        for section in sections:
            content: Any = every
            named, *_ = parts = section.split(".")
            for part in parts:
                content = content[part]
            yield from ((f"{named}.{name}", _shown(value)) for name, value in _flatten(content or {}))


def _flatten(content: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for key, value in content.items():
        if isinstance(value, Mapping):
            yield from ((f"{key}.{rest}", leaf) for rest, leaf in _flatten(value))
        else:
            yield key, value


def _shown(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _is_placement(name: str) -> bool:
    return not PLACEMENT.isdisjoint(name.split("."))
