"""A construction: a folder of data, loaded and checked. Nothing about any one construction stands in Python."""

from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, StringConstraints, model_validator

from cxprobe.errors import ConstructionError
from cxprobe.params import CONSTRUCTIONS_FOLDER
from cxprobe.records import Label
from cxprobe.schema import Closed, read_yaml, validate


class Length(Closed):
    """A feature: the number of words of the sentence."""

    measure: Literal["length"]

    @property
    def uses(self) -> tuple[int, ...]:
        """The marks that are looked at."""
        return ()

    def of(self, words: int, marks: tuple[int, ...]) -> int:  # noqa: ARG002
        """Return the feature of a sentence of so many words whose marked parts start at ``marks``."""
        return words


class Start(Closed):
    """A feature: the position of the word that starts a marked part; positions count from 0."""

    measure: Literal["start"]
    mark: Annotated[int, Field(ge=0)]
    """Which mark of the sentence, from 0."""

    @property
    def uses(self) -> tuple[int, ...]:
        """The marks that are looked at."""
        return (self.mark,)

    def of(self, words: int, marks: tuple[int, ...]) -> int:  # noqa: ARG002
        """Return the feature of a sentence of so many words whose marked parts start at ``marks``."""
        return marks[self.mark]


class Distance(Closed):
    """A feature: how many words lie between the starts of two marked parts."""

    measure: Literal["distance"]
    marks: tuple[Annotated[int, Field(ge=0)], Annotated[int, Field(ge=0)]]
    """The two marks, the earlier first."""

    @model_validator(mode="after")
    def _earlier_first(self) -> "Distance":
        if self.marks[0] >= self.marks[1]:
            raise ValueError(f"marks must name the earlier mark first; {list(self.marks)} does not")
        return self

    @property
    def uses(self) -> tuple[int, ...]:
        """The marks that are looked at."""
        return self.marks

    def of(self, words: int, marks: tuple[int, ...]) -> int:  # noqa: ARG002
        """Return the feature of a sentence of so many words whose marked parts start at ``marks``."""
        return marks[self.marks[1]] - marks[self.marks[0]]


# A feature's name is a column of tables that have columns of their own.
RESERVED = ("id", "text", "label", "split", "feature", "value", "layer", "control", "probability")


def _not_reserved(name: str) -> str:
    if name in RESERVED:
        raise ValueError(f"'{name}' is a column of every table; name the feature otherwise")
    return name


FeatureName = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]*$"), AfterValidator(_not_reserved)]
Feature = Annotated[Length | Start | Distance, Field(discriminator="measure")]


class Grammars(Closed):
    """How the two grammars of a construction, train.cfg and test.cfg beside construction.yaml, are read."""

    start: dict[Label, str]
    """The symbol that expands to the sentences of each label."""
    content: Annotated[list[str], Field(min_length=1)]
    """Categories of content words: the two grammars must share none of their words."""
    marker: str
    """The terminal that stands where a part of the construction starts."""
    marks: Annotated[int, Field(ge=1)]
    """How many markers each sentence has."""
    no_space_before: list[str]
    """Punctuation that is written without a blank before it."""

    @model_validator(mode="after")
    def _both_labels(self) -> "Grammars":
        lacking = {"positive", "negative"} - self.start.keys()
        if lacking:
            raise ValueError(f"start names no symbol for the label {', '.join(sorted(lacking))}")
        return self


class Construction(Closed):
    """A construction as construction.yaml describes it."""

    name: str
    """What people call it."""
    gloss: str
    """Form and meaning in a sentence."""
    slots: dict[str, str]
    """Slot -> what fills it."""
    positive: str
    """What counts as an instance, and what the matched negatives are."""
    sources: Annotated[list[str], Field(min_length=1)]
    """Where the grammars and the definitions come from."""
    grammar: Grammars | None
    """How its grammars are read, or null for a construction that has none and is only mined."""
    features: Annotated[dict[FeatureName, Feature], Field(min_length=1)]
    """Feature -> how it is measured; each gives one balanced subset."""

    @model_validator(mode="after")
    def _only_marks_that_exist(self) -> "Construction":
        if self.grammar is None:  # the marks are then those of pattern.yaml, which is held against the features
            return self
        for name, feature in self.features.items():
            beyond = [mark for mark in feature.uses if mark >= self.grammar.marks]
            if beyond:
                raise ValueError(
                    f"features.{name} asks for mark {beyond[0]}, but a sentence has {self.grammar.marks}, from 0"
                )
        return self

    def rules(self) -> Grammars:
        """Return how the construction's grammars are read.

        Raises:
            ConstructionError: It has none.
        """
        if self.grammar is None:
            raise ConstructionError(
                f"{self.name}: construction.yaml says grammar: null, so no sentences can be generated; write its "
                "grammars, or take it out of grid.sentences in params.yaml"
            )
        return self.grammar


def load_construction(name: str, constructions: Path = CONSTRUCTIONS_FOLDER) -> Construction:
    """Read and check ``constructions/<name>/construction.yaml``.

    Raises:
        ConstructionError: One line for every fault of the file.
    """
    path = constructions / name / "construction.yaml"
    return validate(Construction, read_yaml(path, ConstructionError), path, ConstructionError, {})
