"""What to mine, as data: constructions/<name>/pattern.yaml, read and checked."""

from pathlib import Path
from typing import Annotated, Any

import pyarrow as pa
import pyarrow.compute as pc
from pydantic import AfterValidator, Field, model_validator

from cxprobe.constructions import Construction
from cxprobe.errors import ConstructionError
from cxprobe.mining.segmentation import WITHIN_A_SENTENCE
from cxprobe.params import CONSTRUCTIONS_FOLDER
from cxprobe.schema import Closed, read_yaml, validate

# spaCy's token attributes that the words alone decide; whatever else a pattern asks for, a tagger must say.
LEXICAL = frozenset({"ORTH", "TEXT", "NORM", "LOWER", "LENGTH", "SHAPE", "PREFIX", "SUFFIX", "OP"})
LEXICAL_PREFIXES = ("IS_", "LIKE_")
NOT_LEXICAL = frozenset({"IS_SENT_START"})

TokenPattern = dict[str, Any]


def _re2(expression: str) -> str:
    try:
        pc.match_substring_regex(pa.array([""]), expression)
    except pa.ArrowInvalid as fault:
        raise ValueError(f"{expression!r} is no RE2 expression: {_reason(fault)}") from None
    return expression


def _lower(word: str) -> str:
    if word != word.lower() or word != word.strip():
        raise ValueError(f"{word!r} must be in lower case, without blanks: it is compared with a token's lower case")
    return word


def _can_be_relaxed(tokens: list[TokenPattern]) -> list[TokenPattern]:
    for token in tokens:
        if token.get("OP") == "!" and any(not _is_lexical(key) for key in token):
            raise ValueError(
                f"{token}: OP '!' beside a tag; without the tag it would forbid every token. Write the tags that are "
                "allowed instead, {TAG: {NOT_IN: [...]}}"
            )
    return tokens


def _is_lexical(key: str) -> bool:
    return key in LEXICAL or (key.startswith(LEXICAL_PREFIXES) and key not in NOT_LEXICAL)


Expression = Annotated[str, AfterValidator(_re2)]
Word = Annotated[str, AfterValidator(_lower)]


class Alternative(Closed):
    """One form that a part can take."""

    name: str
    """What a reader calls it."""
    suppletive: bool
    """Whether the form is looked for only where include_suppletive is true."""
    tokens: Annotated[list[TokenPattern], AfterValidator(_can_be_relaxed), Field(min_length=1)]
    """The tokens, each as spaCy's Matcher takes it: {LOWER: the, TAG: DT}."""


class Part(Closed):
    """A part of the construction; a mark stands before its first token."""

    prefilter: Expression
    """RE2 expression that every instance of the part satisfies as plain text. It may let too much through, never
    too little; white space between two words is ``[\\s\\p{Z}\\p{Cc}]+``."""
    patterns: Annotated[list[Alternative], Field(min_length=1)]
    """The forms that it can take."""


class Pattern(Closed):
    """What a sentence must have to be a candidate: each part, in this order, none overlapping another.

    Where a part is found more than once, the earliest place that leaves room for the others counts.
    """

    include_suppletive: bool
    """Whether the forms marked as suppletive count."""
    dropped: list[Word]
    """Words, in lower case, that no part may contain, whatever their tag says."""
    parts: Annotated[list[Part], Field(min_length=1)]
    """Part i starts at mark i of construction.yaml's features."""
    must_match: Annotated[list[str], Field(min_length=1)]
    """Sentences that are candidates."""
    must_not_match: Annotated[list[str], Field(min_length=1)]
    """Sentences that are none."""

    @model_validator(mode="after")
    def _some_form_is_left(self) -> "Pattern":
        for number in range(len(self.parts)):
            if not self.alternatives(number):
                raise ValueError(
                    f"parts[{number}]: all its patterns are suppletive, and include_suppletive is false; nothing could "
                    "ever match"
                )
        return self

    @property
    def document_filter(self) -> str:
        """RE2 expression that a document satisfies if one of its sentences can be a candidate."""
        return WITHIN_A_SENTENCE.join(f"(?:{part.prefilter})" for part in self.parts)

    @property
    def sentence_filter(self) -> str:
        """RE2 expression that a sentence satisfies if it can be a candidate."""
        return "(?s:.*)".join(f"(?:{part.prefilter})" for part in self.parts)

    def alternatives(self, part: int) -> list[list[TokenPattern]]:
        """Return the token patterns of a part that are switched on."""
        return [one.tokens for one in self.parts[part].patterns if self.include_suppletive or not one.suppletive]


def lexical_only(tokens: list[TokenPattern]) -> list[TokenPattern]:
    """Return a token pattern without what a tagger must say: it matches wherever the whole pattern does."""
    return [{key: value for key, value in token.items() if _is_lexical(key)} for token in tokens]


def load_pattern(name: str, construction: Construction, constructions: Path = CONSTRUCTIONS_FOLDER) -> Pattern:
    """Read and check ``constructions/<name>/pattern.yaml``.

    Raises:
        ConstructionError: One line for every fault of the file; or a feature of the construction asks for a mark
            that no part sets.
    """
    path = constructions / name / "pattern.yaml"
    pattern = validate(Pattern, read_yaml(path, ConstructionError), path, ConstructionError, {})
    for feature, measure in construction.features.items():
        beyond = [mark for mark in measure.uses if mark >= len(pattern.parts)]
        if beyond:
            raise ConstructionError(
                f"{path}: parts: features.{feature} of construction.yaml asks for mark {beyond[0]}, but there are "
                f"{len(pattern.parts)} parts, from 0; add the part, or change the feature"
            )
    return pattern


def _reason(fault: pa.ArrowInvalid) -> str:
    return str(fault).removeprefix("Invalid regular expression: ")
