"""The sections of params.yaml for scenarios: items, and candidate words at their masks."""

from typing import Annotated

from pydantic import Field

from cxprobe.files.schema import Closed
from cxprobe.lm.params import Placement


class BuildScenarios(Closed):
    """Items of a construction's scenarios.yaml and their texts."""

    share: Annotated[float, Field(gt=0, le=1)]
    """How much of all items is asked; every word stays about as frequent as the others."""


class FillScenarios(Placement):
    """Candidate words at the mask of every scenario."""

    token_budget: Annotated[int, Field(ge=1)]
    """The most tokens in one batch."""
