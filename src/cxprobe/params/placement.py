"""Where a measuring stage runs its model: the same four settings in the section of each."""

from typing import Annotated, Literal, Self

from pydantic import Field

from cxprobe.params.large import ServedModel
from cxprobe.schema import Closed


class Placement(Closed):
    """On what Lightning runs a model. The numbers do not follow from it: DVC does not track it."""

    accelerator: Literal["auto", "cpu", "gpu", "cuda", "mps"]
    """Lightning's name of what computes; auto takes a GPU if there is one."""
    devices: Annotated[int, Field(ge=1)] | Literal["auto"]
    """How many of them per node; each has a process of its own, which computes every n-th batch. A part of `cxprobe
    measure` takes one, whatever stands here."""
    num_nodes: Annotated[int, Field(ge=1)]
    """How many machines."""
    strategy: str
    """Lightning's name of the strategy: auto for one device, ddp for several ..."""

    def on_one_device(self) -> Self:
        """Return the same settings for one device."""
        return self.model_copy(update={"devices": 1, "num_nodes": 1, "strategy": "auto"})

    def for_model(self, model: object) -> Self:
        """Return the same settings for a model; one on a server needs one process here, and no device of this machine.

        Args:
            model: Its entry in params.yaml.
        """
        if not isinstance(model, ServedModel):
            return self
        return self.on_one_device().model_copy(update={"accelerator": "cpu"})
