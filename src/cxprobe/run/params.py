"""The sections of params.yaml that a stage reads: the seed, the hardware, and those of its task.

A package derives a class with its own sections from `StageParams`. The script of a stage passes this class to
`cxprobe.run.running.run_stage`. So a fault in the section of another task stops no stage, and no shared module needs to
know all sections.
"""

from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Annotated, ClassVar, Literal, TypeVar

from pydantic import ConfigDict, Field, PositiveInt

from cxprobe.constructions import construction_names
from cxprobe.errors import ParamsError, raise_faults
from cxprobe.files.schema import Closed, read_checked

PARAMS_FILE = Path("params.yaml")
Seed = Annotated[int, Field(ge=0, lt=2**32)]  # as NumPy and scikit-learn take them
SomeParams = TypeVar("SomeParams", bound="StageParams")
Section = TypeVar("Section", bound=Closed)


class Compute(Closed):
    """The hardware and processes of all stages that run models. DVC tracks none of it."""

    accelerator: Literal["auto", "cpu", "gpu", "cuda", "mps"]
    """Lightning's name of the accelerator; auto takes a GPU if there is one."""
    devices: PositiveInt | Literal["auto"]
    """Devices per node. Each of n devices has its own process, which computes every n-th batch."""
    num_nodes: PositiveInt
    """How many machines."""
    strategy: str
    """Lightning's name of the strategy: auto for one device, ddp for several ..."""
    jobs: PositiveInt
    """Probes that are fitted, or tuned, at the same time."""


class StageParams(Closed):
    """The sections of params.yaml that a stage reads; it ignores all others."""

    model_config = ConfigDict(extra="ignore")

    experiments_file: ClassVar[Path]
    """The file of the descriptions in MLflow (`cxprobe.run.record`); only evaluating stages need it."""

    seed: Seed
    """The seed of all random draws."""
    compute: Compute
    """The hardware for all tasks."""

    def section(self, kind: type[Section]) -> Section:
        """Return the section of a type that it has, such as `cxprobe.tasks.pairs.params.PairsParams`."""
        return next(value for value in vars(self).values() if isinstance(value, kind))

    def faults_between(self, constructions: Collection[str]) -> Iterator[str]:
        """Yield contradictions between sections that are each valid.

        Args:
            constructions: The names of the project's constructions.
        """
        del constructions
        return iter(())

    @property
    def nothing_to_do(self) -> str:
        """Why a stage that runs once has nothing to do; "" if it has."""
        return ""


def read_params(sections: type[SomeParams]) -> SomeParams:
    """Read and check those sections of params.yaml that a class has.

    Args:
        sections: The class; its fields are the sections.

    Raises:
        ParamsError: One line for each fault, with its key, its value and what is allowed.
    """
    params = read_checked(sections, PARAMS_FILE, ParamsError)
    faults = dict.fromkeys(params.faults_between(construction_names()))
    raise_faults(ParamsError, (f"{PARAMS_FILE}: {fault}" for fault in faults))
    return params
