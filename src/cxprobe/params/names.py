"""The types of names in params.yaml, which the sections share."""

from typing import Annotated, Literal, TypeVar

from pydantic import AfterValidator, Field, StringConstraints

from cxprobe.schema import distinct

T = TypeVar("T")

# A slug is a part of paths and of DVC's stage names, where a dot or a space would mean something else.
Slug = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9-]*$")]
Distinct = Annotated[list[T], AfterValidator(distinct)]
SomeDistinct = Annotated[list[T], AfterValidator(distinct), Field(min_length=1)]

Everything = Literal["all"]
Source = Literal["generated", "balanced", "mined"]
SchemeName = Literal["pll", "pll_word_l2r"]
ScoreName = Literal["per_token", "sum", "per_character", "given_context", "pmi"]
AnswerScore = Literal["sum", "per_token", "per_character", "pmi"]
