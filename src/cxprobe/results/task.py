"""The interface of a task: parameters, checks, plans, reports and exports.

Each task has a module ``task.py`` with a subclass of `Task`, and `cxprobe.tasks.registry` lists these classes. All
methods have defaults, so a subclass overrides only what its task has. To add a task, add its folder and its entry in
the list.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import pandas as pd

from cxprobe.constructions.checking import FoundFaults
from cxprobe.constructions.construction import CONSTRUCTIONS_FOLDER, Construction, load_construction
from cxprobe.files.tables import read_table
from cxprobe.files.writing import RESULTS
from cxprobe.models.asking import CHARACTERS_PER_TOKEN
from cxprobe.models.params import Llm, Model, checkpoints_of, members_of
from cxprobe.results.findings import Baseline, Finding, estimate_of, findings_in
from cxprobe.results.params import ReportParams, TaskParams
from cxprobe.results.published import Beside
from cxprobe.results.schema import evaluated
from cxprobe.run.record import Experiments, load_experiments
from cxprobe.run.stage import Stage

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class Example(NamedTuple):
    """An item, as a model sees it.

    Attributes:
        kind: The kind of item, and what is changed in it.
        text: The text that the model sees.
        right: The right answer.
        wrong: The other answers; "" if they cannot be listed.
    """

    kind: str
    text: str
    right: str
    wrong: str


class Shown(NamedTuple):
    """How pages show a row of the rates.

    Attributes:
        way: The label of its items.
        in_overview: Whether it may stand on the first page, if it decides.
        baseline: The row of its baseline, where that is not at the same place.
    """

    way: str
    in_overview: bool = True
    baseline: Mapping[Any, Any] | None = None


class ExportedItems(NamedTuple):
    """The items of a task for tools of others.

    Attributes:
        tables: Configuration in the task's dataset.yaml -> its table of the exported data set.
        left_out: A sentence about each thing that the data set leaves out.
    """

    tables: Mapping[str, pd.DataFrame]
    left_out: Sequence[str] = ()


class PageTable(NamedTuple):
    """A table of a page: its title, the file of its numbers, relative to results/, and its cells."""

    title: str
    source: str
    head: Sequence[str]
    rows: Sequence[Sequence[str]]


class Demand(NamedTuple):
    """The work of one model in one stage.

    Attributes:
        stage: The stage, without its item.
        model: The entry of models or llms.
        texts: The number of different texts that it reads, or of requests to it.
        tokens: The approximate number of tokens of all texts.
        replied: The most tokens that all replies can have; 0 for models that are not prompted.
    """

    stage: str
    model: str
    texts: int
    tokens: int
    replied: int = 0


class ConstructionFiles(NamedTuple):
    """The files of a construction.

    Attributes:
        construction: Its construction.yaml.
        items: Task -> its items, as `Task.read_items` returns them; tasks without items of the construction are absent.
    """

    construction: Construction
    items: Mapping[str, Any]


class ReportInputs:
    """The results of a run for its report: the tables of the tasks that ran, and the files of the constructions.

    Attributes:
        stage: Notes what is read; has the parameters.
        sections: Task -> what its stages read of params.yaml, of all tasks.
        tasks: Name -> a task that ran, which params.yaml says; what it does not name may still be on disk.
        constructions: Folder -> its files: those that most tasks ask about first.
    """

    def __init__(self, stage: Stage[Any], sections: Mapping[str, TaskParams], tasks: Mapping[str, "Task"]) -> None:
        self.stage, self.sections = stage, sections
        self.tasks = {name: task for name, task in tasks.items() if not sections[name].nothing_to_do}
        self._tables: dict[Path, pd.DataFrame] = {}
        asked: list[str] = []
        for name, params in sections.items():
            if params.of_task.constructions and name in self.tasks:
                stage.use(RESULTS / f"evaluate_{name}" / "rates.csv")
            asked += dict.fromkeys(params.construction_of(entry) for entry in params.of_task.constructions)
        ordered = sorted(dict.fromkeys(asked), key=lambda name: -asked.count(name))
        self.constructions = {name: self._files_of(name) for name in ordered}

    @property
    def settings(self) -> dict[str, str]:
        """Dotted name of a parameter -> its value, of the tasks that ran."""
        names = [setting for name in self.tasks for setting in self.sections[name].settings]
        return self.stage.settings(*names, "report")

    def table(self, path: str) -> pd.DataFrame:
        """Return a table of a task by its path relative to results/, without suffix; an empty one if there is none."""
        file = RESULTS / f"{path}.csv"
        return self._read(file) if file.exists() else pd.DataFrame()

    def rates(self, task: str) -> pd.DataFrame:
        """Return the rates of a task, exactly."""
        return self._read(evaluated(task) / "rates.parquet")

    def responses(self, task: str) -> pd.DataFrame:
        """Return the responses of a task."""
        return self._read(evaluated(task) / "responses.parquet")

    def findings(self) -> list[Finding]:
        """Return the findings of the tasks that ask about constructions of this project."""
        asking = [name for name in self.tasks if self.sections[name].of_task.constructions]
        return findings_of({name: self.rates(name) for name in asking}, self.tasks, self.constructions)

    def _read(self, file: Path) -> pd.DataFrame:
        if file not in self._tables:
            self._tables[file] = read_table(self.stage.use(file))
        return self._tables[file]

    def _files_of(self, construction: str) -> ConstructionFiles:
        self.stage.use(CONSTRUCTIONS_FOLDER / construction / "construction.yaml")
        items = {}
        for name, task in self.tasks.items():
            params = self.sections[name]
            entries = [entry for entry in params.of_task.constructions if params.construction_of(entry) == construction]
            if entries:
                items[name] = task.read_items(entries, self.stage.use)
        kept = {name: content for name, content in items.items() if content is not None}
        return ConstructionFiles(load_construction(construction), kept)


class Task:
    """A task.

    Attributes:
        params: The class of the sections that its stages read; it has the name of the task.
        title: The title in reports, such as "Minimal pairs".
        asks: The kinds of checkpoints that it can ask: "encoder", "masked", "causal".
        items_file: The file of a construction's folder that has its items; "" for a task that has none, or several.
        caveat: What to keep in mind about its rates, for the pages of constructions.
        beside: How pages show its values beside published ones.
    """

    params: ClassVar[type[TaskParams]]
    title: ClassVar[str]
    asks: ClassVar[Collection[str]] = ("masked", "causal")
    items_file: ClassVar[str] = ""
    caveat: ClassVar[str] = ""
    beside: ClassVar[Beside] = Beside()

    @property
    def name(self) -> str:
        """The name of the task, of its section of params.yaml, and of its stages."""
        return self.params.task

    @property
    def experiments(self) -> Experiments:
        """Its MLflow experiments, by name."""
        return load_experiments(self.params.experiments_file)

    # ---- constructions

    def items_in(self, construction: str) -> list[str]:
        """Return the entries of ``constructions`` in the section that the files of a construction's folder allow."""
        has_items = self.items_file and (CONSTRUCTIONS_FOLDER / construction / self.items_file).is_file()
        return [construction] if has_items else []

    def read_items(self, entries: Sequence[str], use: Callable[[Path], Path]) -> Any:
        """Read the items of a construction; None if the task has no files of items.

        Args:
            entries: The entries of ``constructions`` in the section that are about this construction, at least one.
            use: Notes a path as an input, and returns it.
        """

    def examples(self, items: Any) -> Iterator[Example]:
        """Yield an example of each kind of item: the first ones in the files, so that none is selected by hand."""
        yield from ()

    def check_construction(self, folder: Path, faults: FoundFaults) -> None:
        """Check the task's files in a construction's folder."""

    def check(self, params: ReportParams | None, faults: FoundFaults) -> None:
        """Check that the project has what the task's section needs, and its files outside of constructions/.

        Args:
            params: The parameters; None if they have faults, so that all files are checked.
            faults: The faults that are found are added here.
        """
        for name in getattr(params, self.name).constructions if params and self.items_file else ():
            faults.require(f"{self.name}.constructions", name, CONSTRUCTIONS_FOLDER / name / self.items_file)

    # ---- plans

    def demand(self, params: ReportParams) -> Iterator[Demand]:
        """Yield the work of each model that is loaded or served in each stage, from the items that were made."""
        yield from ()

    # ---- reports

    def shown(self, row: Mapping[Any, Any], rates: pd.DataFrame, items: Any) -> Shown | None:
        """Return how pages show a row of the rates; None if they do not.

        Args:
            row: The row.
            rates: All rates of the task.
            items: What `read_items` returned.
        """
        return None

    def figures(self, inputs: ReportInputs) -> "dict[str, Figure]":
        """Return name -> a figure of the rates; a name with the folder of a construction is about that one."""
        return {}

    # ---- exports

    def export(self, params: ReportParams) -> ExportedItems:
        """Return the items that were made."""
        return ExportedItems({})


def read_demand(
    models: Mapping[str, Model], stage: str, entries: Iterable[str], texts: Collection[str]
) -> Iterator[Demand]:
    """Yield the texts and tokens that the models of each entry read; baselines and files are not counted.

    Args:
        models: The models of params.yaml.
        stage: The measuring stage.
        entries: The entries of models that the stage asks; an entry may have several models.
        texts: The texts that each model reads; a text that is read several times is listed several times.
    """
    characters = sum(map(len, texts))
    for entry in entries:
        members = len(checkpoints_of(members_of(models, [entry])))
        if members and texts:
            tokens = members * characters // CHARACTERS_PER_TOKEN
            yield Demand(stage, entry, members * len(texts), tokens)


def texts_of_pairs(tables: Iterable[pd.DataFrame]) -> set[str]:
    """Return the texts of pairs, each with its context."""
    pairs = pd.concat(tables)
    return {*(pairs["context"] + pairs["good"]), *(pairs["context"] + pairs["bad"])}


def replied_demand(
    llms: Mapping[str, Llm], stage: str, entries: Iterable[str], questions: Sequence[str]
) -> Iterator[Demand]:
    """Yield the requests to each model that is prompted."""
    characters = sum(map(len, questions))
    for entry in entries:
        replied = len(questions) * llms[entry].max_tokens
        yield Demand(stage, entry, len(questions), characters // CHARACTERS_PER_TOKEN, replied)


def findings_of(
    rates: Mapping[str, pd.DataFrame], tasks: Mapping[str, Task], constructions: Mapping[str, ConstructionFiles]
) -> list[Finding]:
    """Return the findings of all tasks that pages show.

    Args:
        rates: Task -> its rates, with the columns of `cxprobe.results.schema.RATES`; tasks that did not run are absent.
        tasks: Name -> the task.
        constructions: Folder -> its files.
    """
    findings = []
    for name, table in rates.items():
        task = tasks[name]
        for one in findings_in(table, task.params.construction_of):
            files = constructions[one.construction]
            if shown := task.shown(one.row, table, files.items.get(name)):
                in_overview = one.headline and shown.in_overview and not files.construction.placebo
                found = Baseline(one.row["baseline"], estimate_of(shown.baseline)) if shown.baseline else None
                findings.append(replace(one, way=shown.way, baseline=one.baseline or found, headline=in_overview))
    return findings
