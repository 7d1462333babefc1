"""The section contrasts of params.yaml: which frames, and which models."""

from pathlib import Path
from typing import ClassVar, get_args

from pydantic import NonNegativeInt, PositiveInt

from cxprobe.files.schema import Closed, Distinct, Slug
from cxprobe.models import SchemeName
from cxprobe.models.params import RuleOfPairs
from cxprobe.results.params import TaskParams, TaskSection


class MakeContrasts(Closed):
    """Frames from a construction's contrasts.yaml, from the first of those on that no model was tried on."""

    frames: PositiveInt
    """How many of each construction."""
    shuffled: NonNegativeInt
    """Of these, to which the words of the construction's contexts in random order are one more condition."""


class ScoreContrasts(Closed):
    """How the answers of contrasts are scored."""

    scheme: SchemeName
    """How a masked model is asked: each token masked alone, or with what follows in its own word."""
    token_budget: PositiveInt
    """The most tokens in one batch."""


class MeasuredFrames(Closed):
    """The frames that a model gets."""

    frames: PositiveInt | None = None
    """So many of each construction, from the first on; null for all. For masked models, which read a text once for
    each of its tokens."""


class ContrastsParams(TaskSection):
    """Contrasts: of which constructions, and which models get them."""

    models: dict[Slug, MeasuredFrames]
    """Entry of models -> its frames, {} for all."""
    constructions: Distinct[Slug]
    """Those with a contrasts.yaml."""
    make: MakeContrasts
    score: ScoreContrasts


class ContrastsStage(TaskParams):
    """What the stages of contrasts read of params.yaml."""

    task: ClassVar[str] = "contrasts"
    experiments_file = Path(__file__).with_name("experiments.yaml")
    baseline_kinds = ("unigrams", "ngrams", "continuation_alone", "pair_classifier", *get_args(RuleOfPairs))
    kinds_of_answers = ("scores",)

    contrasts: ContrastsParams
    """Sums of pairs in which preferences cancel."""
