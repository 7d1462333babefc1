"""The sections of params.yaml for the same pairs asked in three ways: by a probe, by likelihood, in words."""

from typing import Annotated

from pydantic import Field

from cxprobe.params.names import Slug
from cxprobe.schema import Closed


class FitPairProbes(Closed):
    """Probes that tell the right text of a pair from the wrong one; the vectors are those of extract_features."""

    C: Annotated[float, Field(gt=0)]
    """Inverse strength of the regularisation."""
    folds: Annotated[int, Field(ge=2)]
    """Into how many parts the frames are divided; each is predicted by probes that were trained on the others."""
    max_iter: Annotated[int, Field(ge=1)]
    """The most iterations of the solver; if it has not converged then, that is an error."""
    jobs: Annotated[int, Field(ge=1)]
    """Layers at the same time; the numbers do not depend on it."""


class JudgeWays(Closed):
    """The verdicts of a model on the same pairs, side by side."""

    asked: dict[Slug, Slug]
    """Model of grid.ways -> the entry of grid.pairs.llms that is the same model, asked in words; {} for none."""
