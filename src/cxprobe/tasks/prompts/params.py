"""The section prompts of params.yaml: models, items and prompts."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, ClassVar, Literal, get_args

import pandas as pd
from pydantic import AfterValidator, Field, NonNegativeInt, PositiveInt, model_validator

from cxprobe.files.schema import Closed, Distinct, Slug, SomeDistinct, distinct
from cxprobe.files.tables import read_made_table
from cxprobe.files.writing import DATA
from cxprobe.models.params import ModelSpec, RuleOfPrompts, Series
from cxprobe.results.params import Everything, TaskParams, TaskSection

IMPORTED = Path("data", "benchmarks")  # where DVC sees that a file of others has changed
OWN: tuple[str, ...] = ("templatic", "challenge")  # the sets of inferences that a construction's items.yaml has
CONTROL = "-control"  # ends the names of the sets of a control
Kind = Literal["inference", "reasoning"]
Relation = Literal["entailment", "neutral", "contradiction"]
RELATIONS: tuple[Relation, ...] = get_args(Relation)
RELATION_OF: Mapping[str, Relation] = {str(place): relation for place, relation in enumerate(RELATIONS)}
"""Digit, by which a model answers -> the relation."""
PAPER = "ABC"
"""The paper's order of the options: A and B are the readings, C is that there is not enough information. An order names
the options by these letters: in "BCA" the option that is shown as A is the item's B."""
MADE = DATA / "make_prompts"


def _imported(path: str) -> str:
    if IMPORTED not in Path(path).parents or ".." in Path(path).parts:
        raise ValueError(f"'{path}' is not below {IMPORTED}/, where DVC sees that it has changed; put the file there")
    return path


ImportedFile = Annotated[str, AfterValidator(_imported)]


class Shots(Closed):
    """How many examples are shown, and where they are drawn from."""

    number: NonNegativeInt
    """Examples of each relation, from each source; 0 for none."""
    sources: Distinct[Annotated[str, AfterValidator(lambda source: source if source in OWN else _imported(source))]]
    """templatic or challenge for the construction's own items, or files in the shape of the CxNLI release."""
    of_the_construction: bool
    """Whether they are of the construction that is asked about; false to draw from all items of files."""

    @model_validator(mode="after")
    def _sources_for_shots(self) -> "Shots":
        if bool(self.number) != bool(self.sources):
            raise ValueError(f"number is {self.number} and sources has {len(self.sources)}; give both, or 0 and []")
        if not self.of_the_construction and (own := {*self.sources} & {*OWN}):
            raise ValueError(f"{min(own)} are items of the construction; set of_the_construction: true")
        return self


class MakePrompts(Closed):
    """The questions: every item with every prompt, number of shots and chain of thought."""

    sets: Distinct[Literal["templatic", "challenge", "reasoning"]]
    """Which of the project's own items; [] for imported ones alone."""
    files: dict[str, ImportedFile | Annotated[dict[str, ImportedFile], Field(min_length=1)]]
    """Name of a set -> what is asked about as well, in the shape of the CxNLI release: a file of inferences, or
    construction -> its file of multiple choice, which does not say what it is about."""
    premises: PositiveInt | None
    """How many premises (frames) of each set and construction are drawn, with all that is asked about them; null for
    all."""
    control_premises: PositiveInt | None
    """Likewise of each set of a control."""
    inference_prompts: SomeDistinct[str]
    """Names of prompts/inference.yaml."""
    reasoning_prompts: SomeDistinct[str]
    """Names of prompts/reasoning.yaml."""
    chain_of_thought: SomeDistinct[bool]
    """Whether the model reasons first: [false], [true] or both."""
    option_orders: Literal["paper", "rotated"]
    """How the options of a reasoning item stand where they are shown: paper, the two readings and then that there is
    not enough information, once; rotated, three times, so that each option stands first, second and last (three times
    as many questions)."""
    shots: Annotated[list[Shots], Field(min_length=1)]
    """Of inference items; reasoning items have none."""

    @property
    def inference_files(self) -> dict[str, str]:
        """Name of a set -> its file of inferences."""
        return {name: path for name, path in self.files.items() if isinstance(path, str)}

    def reasoning_files(self, construction: str) -> dict[str, str]:
        """Return name of a set -> its file of multiple choice about a construction."""
        every = {name: files for name, files in self.files.items() if not isinstance(files, str)}
        return {name: files[construction] for name, files in every.items() if construction in files}

    @property
    def inferences(self) -> dict[str, str]:
        """All files of inferences: those asked about by the names of their sets, those of examples by their paths."""
        sources = sorted({source for shots in self.shots for source in shots.sources} - set(OWN))
        return {path: path for path in sources} | self.inference_files

    @model_validator(mode="after")
    def _tell_settings_apart(self) -> "MakePrompts":
        if taken := self.files.keys() & {*OWN, "reasoning"}:
            raise ValueError(f"files: '{min(taken)}' is the name of a set of the project's own; give the file another")
        distinct([f"shots: {one.number} of {sorted(one.sources)}" for one in self.shots])  # it tells results apart
        return self


class AskedOf(Closed):
    """The prompts that a model gets, of all questions that are made; all of what is not named."""

    sets: SomeDistinct[str] | None = None
    """The project's own sets, and those of files."""
    shots: SomeDistinct[NonNegativeInt] | None = None
    """Numbers of shots of inferences."""
    chain_of_thought: SomeDistinct[bool] | None = None
    """Whether it reasons first."""

    def part_of(self, questions: pd.DataFrame) -> pd.DataFrame:
        """Return the questions that the model gets, of ``questions.parquet``."""
        if self.sets is not None:
            questions = questions[questions["set"].isin(self.sets)]
        if self.shots is not None:
            questions = questions[questions["shots"].isin(self.shots) | (questions["kind"] == "reasoning")]
        if self.chain_of_thought is not None:
            questions = questions[questions["chain_of_thought"].isin(self.chain_of_thought)]
        return questions.reset_index(drop=True)


class PromptsParams(TaskSection):
    """Inference and multiple choice, by prompts."""

    models: dict[Slug, Everything]
    """Entries of models: sets of baselines, and files of replies."""
    llms: dict[Slug, AskedOf]
    """Entry of llms -> the prompts that it gets."""
    constructions: Distinct[str]
    """The constructions whose items.yaml is asked about."""
    make: MakePrompts

    def made(self, table: str, use: Callable[[Path], Path] = Path) -> pd.DataFrame:
        """Return a made table of all constructions, such as "items"; ``use`` notes each file before it is read."""
        paths = [use(MADE / name / f"{table}.parquet") for name in self.constructions]
        return pd.concat(map(read_made_table, paths), ignore_index=True)

    @model_validator(mode="after")
    def _ask_what_is_made(self) -> "PromptsParams":
        made: Mapping[str, Sequence[object]] = {
            "sets": [*self.make.sets, *self.make.files],
            "shots": [shots.number for shots in self.make.shots],
            "chain_of_thought": self.make.chain_of_thought,
        }
        for slug, asked in self.llms.items():
            for key, known in made.items():
                for value in {*(getattr(asked, key) or ())} - {*known}:
                    raise ValueError(f"llms.{slug}.{key}: '{value}' is not in what prompts.make has: {known}")
        return self


class PromptsStage(TaskParams):
    """What the stages of prompts read of params.yaml."""

    task: ClassVar[str] = "prompts"
    experiments_file = Path(__file__).with_name("experiments.yaml")
    baseline_kinds = ("hypothesis_only", "premise_only", *get_args(RuleOfPrompts))
    kinds_of_answers = ("replies",)

    prompts: PromptsParams
    """Inference and reasoning."""

    def _unfit_models(self) -> Iterator[str]:
        yield from super()._unfit_models()
        for slug in self.prompts.models:
            if isinstance(self.models.get(slug), ModelSpec | Series):
                yield f"prompts.models.{slug}: a checkpoint gets prompts by an entry of llms, as hf/<name>; take it out"
