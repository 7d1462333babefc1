"""The section of params.yaml for scenarios: items, and candidate words at their masks."""

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, ClassVar, Literal, get_args

import pandas as pd
from pydantic import Field, PositiveInt

from cxprobe.files.schema import Closed, Distinct, Slug
from cxprobe.files.tables import read_made_table
from cxprobe.files.writing import DATA
from cxprobe.models.params import RuleOfScenarios
from cxprobe.results.params import Everything, TaskParams, TaskSection

MADE = DATA / "make_scenarios"


class MakeScenarios(Closed):
    """Items of a construction's scenarios.yaml and their texts."""

    share: Annotated[float, Field(gt=0, le=1)]
    """How much of all items is asked; every word stays about as frequent as the others."""
    calibrated_by: Literal["own_texts", "base_texts"]
    """What a test is calibrated by: own_texts, in its own order and words where scenarios.yaml has such (by_test), or
    base_texts, those of the base test for all."""


class ScoreScenarios(Closed):
    """Candidate words at the mask of every text."""

    token_budget: PositiveInt
    """The most tokens in one batch."""


class ScenariosParams(TaskSection):
    """Masked scenarios: which masked models are asked about which constructions, and how."""

    models: dict[Slug, Everything]
    """Entries of models."""
    constructions: Distinct[Slug]
    """Those with a scenarios.yaml."""
    make: MakeScenarios
    score: ScoreScenarios

    def texts(self, use: Callable[[Path], Path] = Path) -> pd.DataFrame:
        """Return the made texts with the column construction; ``use`` notes each file before it is read."""
        paths = {name: use(MADE / name / "texts.parquet") for name in self.constructions}
        tables = [read_made_table(path).assign(construction=name) for name, path in paths.items()]
        return pd.concat(tables, ignore_index=True)


class ScenariosStage(TaskParams):
    """What the stages of scenarios read of params.yaml."""

    task: ClassVar[str] = "scenarios"
    experiments_file = Path(__file__).with_name("experiments.yaml")
    baseline_kinds = get_args(RuleOfScenarios)

    scenarios: ScenariosParams
    """Masked scenarios."""
