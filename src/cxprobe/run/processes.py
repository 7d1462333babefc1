"""The processes that run a model over many texts: on what they compute, and which batches are whose.

Batches are planned from the texts alone, and each is computed as a whole by one process, so the numbers do not depend
on how many processes there are. They may be those of one stage, which Lightning's strategies start (several GPUs or
machines); the first of them waits for the others, joins what all have computed, and writes the outputs. Or they are
parts of `cxprobe measure`, which know nothing of each other and write no outputs: the stage finds their answers later.
"""

import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Thread
from typing import TYPE_CHECKING, Any, NamedTuple

from cxprobe.errors import ParamsError
from cxprobe.run.params import ONE_PROCESS, Compute

if TYPE_CHECKING:  # Lightning takes seconds to import, and one process on the CPU does without it
    from lightning_fabric import Fabric


_LOOKS = 1.0  # seconds between two looks at whether the process that started this one is there
_GRACE = 10.0  # seconds to keep what was computed


class Share(NamedTuple):
    """Every n-th batch of a plan.

    Attributes:
        number: Which of the shares, from 0.
        of: How many shares there are.
    """

    number: int
    of: int

    def has(self, batch: int) -> bool:
        """Return whether a batch, by its number in the plan, belongs to this share."""
        return batch % self.of == self.number


WHOLE = Share(0, 1)


class AnswerCount(NamedTuple):
    """How much of a stage's work on one model is there.

    Attributes:
        unit: What is counted, in the plural: "answers" or "batches".
        there: How many are there.
        total: How many there will be.
    """

    unit: str
    there: int
    total: int


@dataclass
class Job:
    """What is to be done of a measuring stage: all of it, a part of its answers, or a count of them.

    Attributes:
        share: The part of the answers; None for the whole stage, outputs and all.
        counts: Whether the answers are only counted; no weights are loaded then.
        counted: What has been counted.
        fabric: Lightning's side of the processes that it has started; None where there is one.
    """

    share: Share | None = None
    counts: bool = False
    counted: list[AnswerCount] = field(default_factory=list)
    fabric: "Fabric | None" = None

    def start(self, compute: Compute) -> "Processes":
        """Return what this process is among those of the job; with a strategy for several, start the others once.

        Raises:
            ParamsError: Lightning cannot run with these settings on this machine.
        """
        if self.counts:
            return Processes("meta", _kind_of_device(compute), WHOLE, False, self)
        if self.share is not None:
            device = _one_device(compute)
            return Processes(device, device.partition(":")[0], self.share, False, self)
        if compute.is_one_process:
            return Processes("cpu", "cpu", WHOLE, True, self)
        fabric = self.fabric = self.fabric or _launch(compute)
        share = Share(fabric.global_rank, fabric.world_size)
        return Processes(str(fabric.device), fabric.device.type, share, fabric.is_global_zero, self)


@dataclass(frozen=True)
class Processes:
    """One of the processes of a job.

    Attributes:
        device: Where its model runs, as PyTorch names it; "meta" where answers are only counted.
        kind_of_device: Of the device that computes: "cpu", "cuda" ...; numbers differ between them in the last digits.
        share: Its batches.
        writes: Whether it joins what all processes have computed and writes the outputs.
        job: What they do.
    """

    device: str
    kind_of_device: str
    share: Share
    writes: bool
    job: Job

    @property
    def alone(self) -> bool:
        """Whether this process computes everything and writes the outputs."""
        return self.writes and self.share == WHOLE

    @property
    def counts(self) -> bool:
        """Whether answers are only counted."""
        return self.job.counts

    def wait(self) -> None:
        """Wait until all processes of the stage have come so far."""
        if self.job.fabric is not None:
            self.job.fabric.barrier()


def end_with_parent() -> None:
    """Let this process end soon after the one that started it has ended, however that was.

    Lightning's first process ends all when a helper dies. Nobody looks after the helpers when the first is killed: they
    would compute on until they next wait for it, or wait half an hour for one that died while it started.
    """
    parent = os.getppid()

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(_LOOKS)
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(_GRACE)
        os.kill(os.getpid(), signal.SIGKILL)  # Python does not see the first while it waits for other processes

    Thread(target=watch, name="parent", daemon=True).start()


def _settings(compute: Compute) -> dict[str, Any]:
    return {name: getattr(compute, name) for name in ONE_PROCESS}


@contextmanager
def _refusing(compute: Compute) -> Iterator[None]:
    """Raise what Lightning refuses as a fault of params.yaml."""
    try:
        yield
    except (ValueError, RuntimeError, TypeError) as fault:
        settings = ", ".join(f"{name}: {value}" for name, value in _settings(compute).items())
        raise ParamsError(
            f"Lightning cannot run with {settings}: {str(fault).strip().splitlines()[0]}; mend them in the section "
            "compute of params.yaml (one process on the CPU: cpu, 1, 1, auto)"
        ) from fault


def _launch(compute: Compute) -> "Fabric":
    """Start the processes of a stage by Lightning, or join them as one that it has started."""
    if int(os.environ.get("LOCAL_RANK", 0)) > 0:
        end_with_parent()
    with _refusing(compute):
        from lightning_fabric import Fabric

        fabric = Fabric(**_settings(compute))
        fabric.launch()
    return fabric


def _one_device(compute: Compute) -> str:
    """Return the device of a part: the first that this process sees, whatever has started it."""
    if compute.accelerator == "cpu":
        return "cpu"
    with _refusing(compute):
        from lightning_fabric import Fabric
        from lightning_fabric.plugins.environments.lightning import LightningEnvironment

        # Slurm may have started sixteen parts at once; they are no processes of one run.
        return str(Fabric(accelerator=compute.accelerator, devices=1, plugins=[LightningEnvironment()]).device)


def _kind_of_device(compute: Compute) -> str:
    """Return on what a stage would compute, also on a machine that has no such device."""
    import torch

    here = "mps" if torch.backends.mps.is_available() else "cuda" if torch.cuda.is_available() else "cpu"
    return {"auto": here, "gpu": "mps" if here == "mps" else "cuda"}.get(compute.accelerator, compute.accelerator)
