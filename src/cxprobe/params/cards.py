"""The section of params.yaml for the cards of data sets."""

from typing import Annotated

from pydantic import Field

from cxprobe.schema import Closed


class Cards(Closed):
    """What a card says about a data set: whether a blind model solves it."""

    limit: Annotated[float, Field(gt=0.5, le=1)]
    """The accuracy of a blind model above which a data set "can be solved without the construction", where chance is
    0.5. Where chance is c, the limit lies at the same share of the way from c to 1."""
