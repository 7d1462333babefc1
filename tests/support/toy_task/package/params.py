"""The section greetings of params.yaml."""

from pathlib import Path
from typing import ClassVar

from cxprobe.files.schema import Closed, Distinct, Slug
from cxprobe.results.params import Everything, TaskParams, TaskSection


class MakeGreetings(Closed):
    """How greetings are made."""

    names: int
    """How many people are greeted."""


class GreetingsParams(TaskSection):
    """Which models are asked about greetings."""

    models: dict[Slug, Everything]
    """Slugs of the section models."""
    constructions: Distinct[Slug]
    """Whose greetings."""
    make: MakeGreetings
    """How greetings are made."""


class GreetingsStage(TaskParams):
    """What the stages of greetings read of params.yaml."""

    task: ClassVar[str] = "greetings"
    experiments_file = Path(__file__).with_name("experiments.yaml")

    greetings: GreetingsParams
    """Greetings in two orders of words."""
