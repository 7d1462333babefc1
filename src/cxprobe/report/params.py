"""The section ``report`` of params.yaml: what the reports say about data sets, and which comparisons they test."""

from typing import Annotated

from pydantic import Field

from cxprobe.files.schema import Closed, Slug


class Families(Closed):
    """The families of comparisons that have p values, corrected within each family over all groups of a line of work.

    All other comparisons are shown with their intervals alone.
    """

    twins: bool
    """Each trained model against its twins, whose weights know nothing."""
    best_blind: bool
    """Each trained model against the blind model with the highest accuracy; of the checkpoints of a training the last
    one."""
    neighbours: bool
    """Each model of a series against the one before it: checkpoints of a training, or sizes of a family."""
    models: list[Annotated[list[Slug], Field(min_length=2, max_length=2)]]
    """Pairs of trained models that are tested against each other."""


class Report(Closed):
    """What the reports say about data sets and models."""

    limit: Annotated[float, Field(gt=0.5, le=1)]
    """The accuracy of a blind model above which a card says that a data set "is answered above chance without the
    construction", where chance is 0.5. Where chance is c, the limit lies at the same share of the way from c to 1."""
    tested: Families
    """The comparisons of models that are tested."""
