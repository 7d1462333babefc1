"""The processes of a stage that runs a model over many texts: their devices and their batches.

Batches are planned from the texts alone, and each is computed as a whole by one process, so the numbers do not depend
on how many processes there are. Lightning's strategies start them (several GPUs or machines); the first of them waits
for the others, joins what all have computed, and writes the outputs.
"""

import ctypes
import os
import signal
import sys
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from cxprobe.errors import ParamsError
from cxprobe.run.params import Compute

if TYPE_CHECKING:  # Lightning takes seconds to import, and one process on the CPU does without it
    from lightning_fabric import Fabric


# Lightning's settings for one process on the CPU: the present one, so that no process is started.
_ONE_PROCESS = {"accelerator": "cpu", "devices": 1, "num_nodes": 1, "strategy": "auto"}


class Processes(NamedTuple):
    """One of the processes of a stage.

    Attributes:
        device: Where its model runs, as PyTorch names it.
        number: Which of the processes it is, from 0; the first writes the outputs.
        of: How many processes there are.
        fabric: Lightning's side of the processes; None where it has started none.
    """

    device: str
    number: int = 0
    of: int = 1
    fabric: "Fabric | None" = None

    @property
    def kind_of_device(self) -> str:
        """What computes: "cpu", "cuda" ...; numbers differ between them in the last digits."""
        return self.device.partition(":")[0]

    def has(self, batch: int) -> bool:
        """Return whether this process computes a batch, by its number in the plan: one of n has every n-th."""
        return batch % self.of == self.number

    def wait(self) -> None:
        """Wait until all processes of the stage have come so far."""
        if self.fabric is not None:
            self.fabric.barrier()


ALONE = Processes("cpu")
"""The present process, which computes everything on the CPU."""


def start_processes(compute: Compute) -> Processes:
    """Return this process among those of its stage; with settings for several, start the others once.

    Raises:
        ParamsError: Lightning cannot run with these settings on this machine.
    """
    settings = compute.model_dump(include=set(_ONE_PROCESS))
    if settings == _ONE_PROCESS:
        return ALONE
    fabric = _launch(**settings)
    return Processes(str(fabric.device), fabric.global_rank, fabric.world_size, fabric)


@cache
def _launch(**settings: Any) -> "Fabric":
    """Start the processes of a stage by Lightning, or join them as one that it has started."""
    if int(os.environ.get("LOCAL_RANK", 0)) > 0:
        end_with_parent()
    try:
        from lightning_fabric import Fabric
        from lightning_fabric.plugins.environments.lightning import LightningEnvironment

        # In a job of Slurm with one task Lightning would wait for tasks that nobody starts.
        starts_them = os.environ.get("SLURM_NTASKS") == "1"
        fabric = Fabric(**settings, plugins=[LightningEnvironment()] if starts_them else None)
        fabric.launch()
    except (ValueError, RuntimeError, TypeError) as fault:
        what = f"compute: Lightning cannot run with {settings}: {str(fault).strip().splitlines()[0]}"
        raise ParamsError(f"{what}; one process on the CPU is {_ONE_PROCESS}") from fault
    return fabric


def end_with_parent() -> None:
    """Let this process end, on Linux, with the one that started it, however that has ended.

    Lightning's first process ends all when a helper dies. Nobody looks after the helpers when the first is killed: they
    would compute on until they next wait for it, or wait half an hour for one that died while it started.
    """
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG: the signal at the end of its parent
