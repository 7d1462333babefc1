"""The section of params.yaml for scenarios: items, and candidate words at their masks."""

from typing import Annotated

from pydantic import Field

from cxprobe.files.schema import Closed, Distinct, Slug


class MakeScenarios(Closed):
    """Items of a construction's scenarios.yaml and their texts."""

    share: Annotated[float, Field(gt=0, le=1)]
    """How much of all items is asked; every word stays about as frequent as the others."""


class ScoreScenarios(Closed):
    """Candidate words at the mask of every text."""

    token_budget: Annotated[int, Field(ge=1)]
    """The most tokens in one batch."""


class ScenariosParams(Closed):
    """Masked scenarios: which masked models are asked about which constructions, and how."""

    models: Distinct[Slug]
    """Slugs of the section models."""
    constructions: Distinct[Slug]
    """Those with a scenarios.yaml."""
    make: MakeScenarios
    score: ScoreScenarios
