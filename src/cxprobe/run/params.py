"""What each stage reads of params.yaml: the seed, on what it computes, and the sections that its script names.

A package adds its sections to `StageParams`, and a script hands the class to `cxprobe.run.running.run_stage`. So a
fault in another line of work stops no stage, and no shared module knows the sections of all.
"""

from collections.abc import Collection, Iterator
from operator import attrgetter
from pathlib import Path
from typing import Annotated, ClassVar, Literal, Self, TypeVar

from pydantic import ConfigDict, Field

from cxprobe.constructions.names import construction_names
from cxprobe.errors import ParamsError
from cxprobe.files.schema import Closed, read_yaml, validate

PARAMS_FILE = Path("params.yaml")
ONE_PROCESS = {"accelerator": "cpu", "devices": 1, "num_nodes": 1, "strategy": "auto"}
"""Lightning's settings for one process, which it need not start."""
SomeParams = TypeVar("SomeParams", bound="StageParams")
Section = TypeVar("Section", bound=Closed)


class Precision(Closed):
    """How a model in another precision than float32 is compared with float32 before the long work begins."""

    items: Annotated[int, Field(ge=1)]
    """How many of the stage's items are measured in both precisions."""
    largest_difference: Annotated[float, Field(gt=0)]
    """The largest relative difference that is accepted: the norm of the difference of the raw answers over the norm
    of those in float32. A model's own `compared` says what it is compared with if not float32, and its own limit."""


class Compute(Closed):
    """On what all measuring stages run models. No number follows from it but for precision, which DVC alone tracks."""

    accelerator: Literal["auto", "cpu", "gpu", "cuda", "mps"]
    """Lightning's name of what computes; auto takes a GPU if there is one."""
    devices: Annotated[int, Field(ge=1)] | Literal["auto"]
    """How many of them per node; each has a process of its own, which computes every n-th batch. A part of `cxprobe
    measure` takes one, whatever stands here."""
    num_nodes: Annotated[int, Field(ge=1)]
    """How many machines."""
    strategy: str
    """Lightning's name of the strategy: auto for one device, ddp for several ..."""
    jobs: Annotated[int, Field(ge=1)]
    """Probes that are fitted, or tuned, at the same time."""
    precision: Precision
    """How a model in low precision is compared with float32."""

    @property
    def is_one_process(self) -> bool:
        """Whether one process on the CPU computes all."""
        return self.model_dump(include=set(ONE_PROCESS)) == ONE_PROCESS

    def in_one_process(self) -> Self:
        """Return the same settings for one process on the CPU, such as one that asks a server."""
        return self.model_copy(update=ONE_PROCESS)


class StageParams(Closed):
    """The sections of params.yaml that a stage reads. The others are not looked at."""

    model_config = ConfigDict(extra="ignore")

    experiments_file: ClassVar[Path]
    """What MLflow shows of the runs, of the sections of a stage that judges (`cxprobe.run.experiments`)."""

    seed: Annotated[int, Field(ge=0)]
    """What every draw follows from."""
    compute: Compute
    """Where measuring runs, for all lines of work."""

    def section(self, kind: type[Section]) -> Section:
        """Return the section of a type, such as `cxprobe.pairs.params.PairsParams`.

        Raises:
            TypeError: There is none.
        """
        for value in vars(self).values():
            if isinstance(value, kind):
                return value
        raise TypeError(f"{type(self).__name__} has no section of the type {kind.__name__}")

    def names_of(self, part: str) -> list[str]:
        """Return the keys of a mapping, or the entries of a list, by its dotted name."""
        return list(attrgetter(part)(self))

    def faults_between(self, constructions: Collection[str]) -> Iterator[str]:
        """Yield what is wrong between sections that are right in themselves.

        Args:
            constructions: The names of the project's constructions.
        """
        del constructions
        yield from ()

    @property
    def nothing_to_do(self) -> str:
        """Why a stage that runs once has nothing to do; "" if it has."""
        return ""


def read_params(sections: type[SomeParams], path: Path = PARAMS_FILE) -> SomeParams:
    """Read the sections of a parameter file that a class names, and check them.

    Args:
        sections: The class.
        path: The file; constructions are looked for in the working directory.

    Raises:
        ParamsError: One line for each fault, with its key, its value and what is allowed.
    """
    content = read_yaml(path, ParamsError)
    params = validate(sections, content, path, ParamsError)
    faults = list(dict.fromkeys(params.faults_between(construction_names(Path()))))
    if faults:
        raise ParamsError("\n".join(f"{path}: {fault}" for fault in faults))
    return params
