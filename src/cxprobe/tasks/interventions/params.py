"""The section of params.yaml for interventions, and what its tables call things."""

from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Annotated, ClassVar, Literal

from pydantic import Field, PositiveInt

from cxprobe.files.schema import Closed, Distinct, Slug, SomeDistinct, named_elsewhere
from cxprobe.files.writing import DATA
from cxprobe.results.params import Everything, TaskParams, TaskSection
from cxprobe.stats import CLUSTER

TRAIN, TEST = "train", "test"
FRAME_OF_ITEM = f"{CLUSTER}frame"
WHOLE, DAS, MEANS, PROBE, ERASE, RANDOM = "whole", "das", "difference-of-means", "probe", "erase", "random"
INTERVENTIONS = (WHOLE, DAS, MEANS, PROBE, ERASE, RANDOM)
DIRECTIONS = (DAS, MEANS, PROBE)
DIRECTION = "direction"  # the best one of these
TRANSFERRED = (DAS, MEANS, ERASE, RANDOM)
"""What is learnt on one construction and tried on the others; random is the control."""
NEUTRAL = "neutral sentences"
"""Stands in the place of a construction; the space keeps it apart from all folders."""
TRUE, CONTROL, SELECTIVE = "true", "control", "true less control"
MADE_ITEMS = DATA / "make_interventions" / "items.parquet"
EFFECTS_FILE, TRANSFER_FILE = "effects.parquet", "transfer.parquet"
Regions = Literal["all", "ends"]


class MakeInterventions(Closed):
    """Items: a base and a source sentence each."""

    train: Annotated[int, Field(ge=8)]
    """Items of each construction by which directions are found; 400 in CausalGym."""
    test: Annotated[int, Field(ge=4)]
    """Items of each construction on which they are evaluated; 100 in CausalGym."""
    learn: SomeDistinct[Slug] | None
    """On which of the constructions directions are found; the others are only asked. null for all."""
    regions: Regions
    """Where vectors are exchanged: at all regions, as in CausalGym, or at the first and the last one."""


class MeasureInterventions(Closed):
    """Vectors that are exchanged."""

    layers: PositiveInt | None
    """How many layers, evenly spaced, the last one among them; null for all."""
    steps: PositiveInt
    """Steps of DAS, each with 4 items; 100 in CausalGym. With fewer a direction may not be found."""
    draws: PositiveInt
    """Random directions."""
    token_budget: PositiveInt
    """The most tokens in one batch that is evaluated."""


class InterventionsParams(TaskSection):
    """Interventions: in which models vectors are exchanged, between sentences of which constructions."""

    models: dict[Slug, Everything]
    """Entries of models."""
    constructions: Distinct[Slug]
    """Those with an interventions.yaml."""
    make: MakeInterventions
    measure: MeasureInterventions


class InterventionsStage(TaskParams):
    """What the stages of interventions read of params.yaml."""

    task: ClassVar[str] = "interventions"
    experiments_file = Path(__file__).with_name("experiments.yaml")

    interventions: InterventionsParams
    """Interventions."""

    def faults_between(self, constructions: Collection[str]) -> Iterator[str]:
        """Yield constructions on which directions are found, and that are not asked about."""
        yield from super().faults_between(constructions)
        learn, asked = self.interventions.make.learn or [], self.interventions.constructions
        if asked:
            yield from named_elsewhere("interventions.make.learn", learn, "interventions.constructions", asked)
