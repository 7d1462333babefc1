"""The argument of a stage's work (`Stage`) and its result (`Outcome`)."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import pandas as pd
from ruamel.yaml import YAML

from cxprobe.errors import DataError
from cxprobe.files.writing import DATA, RESULTS, digest
from cxprobe.run.params import StageParams
from cxprobe.run.record import Run

if TYPE_CHECKING:  # most stages draw nothing
    from matplotlib.figure import Figure

P = TypeVar("P", bound=StageParams, covariant=True)


@dataclass
class Stage(Generic[P]):
    """The argument of a stage's work.

    Attributes:
        name: The name in dvc.yaml, such as "measure_pairs": also that of its folders in data/ and results/.
        item: Its item, such as the slug of a model; "" for a stage that runs once.
        params: The sections of params.yaml that its script names.
        inputs: Path of each input -> its MD5; filled by `use`.
    """

    name: str
    item: str
    params: P
    inputs: dict[str, str] = field(default_factory=dict)

    @property
    def task(self) -> str:
        """The task: the last word of the name."""
        return self.name.rpartition("_")[2]

    @property
    def data(self) -> Path:
        """The folder of the data that the stage makes."""
        return DATA / self.name / self.item

    @property
    def results(self) -> Path:
        """The folder of the stage's results."""
        return RESULTS / self.name / self.item

    def use(self, path: Path) -> Path:
        """Note a file, or a folder that DVC made, as an input of the stage and return it.

        Raises:
            DataError: It does not exist.
        """
        if not path.exists():
            made = path.parts[0] in (DATA.name, RESULTS.name) and "benchmarks" not in path.parts[1:2]
            remedy = "run `dvc repro`, or `dvc pull`" if made else "write it, or take what needs it out of params.yaml"
            raise DataError(f"{path} is missing; {remedy}")
        self.inputs[str(path)] = md5_of(path)
        return path

    @property
    def evaluates(self) -> bool:
        """Whether it turns raw answers into rates, and so has runs in MLflow."""
        return self.name.startswith("evaluate_")

    def settings(self, *names: str) -> dict[str, str]:
        """Return the parameters that decide on the numbers of a run: the seed, and parts of params.yaml.

        Args:
            names: Dotted names of mappings, such as "pairs.make" or "recognition.make.generated".

        Returns:
            Name -> value as JSON writes it. What is below the second step of a name is not repeated in the names, so
            that runs on "generated" and on "mined" sentences have parameters of the same names.
        """
        content = self.params.model_dump(mode="json")
        settings = {"seed": str(self.params.seed)}
        for name in names:
            part: Any = content
            for key in name.split("."):
                part = part[key]
            prefix = ".".join(name.split(".")[:2])
            settings |= {f"{prefix}.{key}": value for key, value in _flatten(part or {})}
        return settings


@dataclass(frozen=True)
class Outcome:
    """The finished results of a stage.

    Attributes:
        counts: The numbers of a stage that makes, measures or reports: counts.csv.
        tables: Path below the results folder, without suffix -> a table, written as .csv.
        figures: Path below the results folder, without suffix -> a figure, written as .png.
        pages: Path below the results folder -> the text of a page.
        headline: The metrics of an evaluating stage for DVC: model -> name -> number (results/metrics/<task>).
        runs: The runs of an evaluating stage.
        faults: Model -> the reason why it was not evaluated. Its rows are absent, and the stage ends with an error.
    """

    counts: Mapping[str, float] = field(default_factory=dict)
    tables: Mapping[str, pd.DataFrame] = field(default_factory=dict)
    figures: "Mapping[str, Figure]" = field(default_factory=dict)
    pages: Mapping[str, str] = field(default_factory=dict)
    headline: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    runs: Sequence[Run] = ()
    faults: Mapping[str, str] = field(default_factory=dict)


def _flatten(content: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for key, value in content.items():
        if isinstance(value, Mapping):
            yield from ((f"{key}.{rest}", leaf) for rest, leaf in _flatten(value))
        else:
            yield key, value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def md5_of(path: Path) -> str:
    """Return a file's MD5; a folder's is the one that DVC has just noted, since its data may be tens of GB.

    A folder inside of a stage's output is named by the output's MD5 and the way from there. A folder that no stage
    has written has the MD5 "not in dvc.lock".
    """
    if path.is_file():
        return digest(path, "md5")
    lock = Path("dvc.lock")
    outputs = _locked_outputs(lock, lock.stat().st_mtime_ns) if lock.is_file() else {}
    for folder in (path, *path.parents):
        if folder.as_posix() in outputs:
            return "/".join([outputs[folder.as_posix()], *path.relative_to(folder).parts])
    return "not in dvc.lock"


@cache
def _locked_outputs(lock: Path, _modified: int) -> dict[str, str]:
    """Return the MD5 of every output in a lock file, which is read again only after it was modified."""
    stages = (YAML(typ="safe").load(lock) or {}).get("stages", {})
    return {out["path"]: str(out["md5"]) for stage in stages.values() for out in stage.get("outs", [])}
