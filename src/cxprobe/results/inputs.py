"""The contents of pages: the tables of the tasks that ran, and the files of the constructions."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from cxprobe.constructions.construction import CONSTRUCTIONS_FOLDER, Construction, load_construction
from cxprobe.files.tables import read_table
from cxprobe.files.writing import RESULTS
from cxprobe.results.params import TaskParams
from cxprobe.results.schema import evaluated
from cxprobe.run.stage import Stage

if TYPE_CHECKING:
    from cxprobe.results.task import Task


@dataclass(frozen=True)
class ConstructionFiles:
    """The files of a construction.

    Attributes:
        construction: Its construction.yaml.
        items: Task -> its items, as `cxprobe.results.task.Task.read_items` returns them; tasks without items of the
            construction are absent.
    """

    construction: Construction
    items: Mapping[str, Any]


@dataclass
class ReportInputs:
    """The results of a run for its report.

    Attributes:
        stage: Notes what is read; has the parameters.
        sections: Task -> what its stages read of params.yaml, of all tasks.
        tasks: Name -> a task that ran.
        constructions: Folder -> its files: those that most tasks ask about first.
    """

    stage: Stage[Any]
    sections: Mapping[str, TaskParams]
    every_task: Sequence["Task"]
    tasks: "dict[str, Task]" = field(init=False)
    constructions: dict[str, ConstructionFiles] = field(init=False)
    _tables: dict[Path, pd.DataFrame] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Look for what ran, which params.yaml says; what it does not name may still be on disk."""
        self.tasks = {task.name: task for task in self.every_task if not self.sections[task.name].nothing_to_do}
        asked: list[str] = []
        for name, params in self.sections.items():
            if params.of_task.constructions and name in self.tasks:
                self.stage.use(RESULTS / f"{self.tasks[name].accuracy}.csv")
            asked += dict.fromkeys(params.construction_of(entry) for entry in params.of_task.constructions)
        ordered = sorted(dict.fromkeys(asked), key=lambda name: -asked.count(name))
        self.constructions = {name: self._files_of(name) for name in ordered}

    @property
    def settings(self) -> dict[str, str]:
        """Dotted name of a parameter -> its value, of the tasks that ran."""
        names = [f"{name}.{step}" for name, task in self.tasks.items() for step in task.steps]
        return self.stage.settings(*names, "report")

    def table(self, path: str) -> pd.DataFrame:
        """Return a table by its path relative to results/, without suffix; an empty one if its task did not run."""
        file = RESULTS / f"{path}.csv"
        there = path.split("/")[0].partition("_")[2] in self.tasks and file.exists()
        return self._read(file) if there else pd.DataFrame()

    def rates(self, task: str) -> pd.DataFrame:
        """Return the rates of a task, exactly."""
        return self._read(evaluated(task) / "rates.parquet")

    def every_rate(self) -> dict[str, pd.DataFrame]:
        """Return the rates of each task that asks about constructions of this project."""
        return {name: self.rates(name) for name in self.tasks if self.sections[name].of_task.constructions}

    def responses(self, task: str) -> pd.DataFrame:
        """Return the responses of a task."""
        return self._read(evaluated(task) / "responses.parquet")

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
