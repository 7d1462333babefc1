"""What to mine: ``constructions/<name>/pattern.yaml``, read and checked."""

from pathlib import Path
from typing import Annotated, Any

import pyarrow as pa
import pyarrow.compute as pc
from pydantic import AfterValidator, Field, model_validator

from cxprobe.constructions.construction import CONSTRUCTIONS_FOLDER, Construction, marks_beyond
from cxprobe.errors import ConstructionError
from cxprobe.files.schema import Closed, FaultsError, read_yaml, suggest, validate
from cxprobe.segmentation import WITHIN_A_SENTENCE

# The keys of token patterns in spaCy that words alone decide, and those that a tagger must say. What other parts of a
# pipeline set (DEP, LEMMA, ENT_TYPE) is set nowhere here, and would match nothing.
LEXICAL = frozenset({"ORTH", "TEXT", "NORM", "LOWER", "LENGTH", "SHAPE", "SPACY", "OP", "LIKE_NUM", "LIKE_URL"})
LEXICAL |= {"LIKE_EMAIL", "IS_ALPHA", "IS_ASCII", "IS_DIGIT", "IS_LOWER", "IS_UPPER", "IS_TITLE", "IS_PUNCT", "IS_STOP"}
LEXICAL |= {"IS_SPACE", "IS_BRACKET", "IS_QUOTE", "IS_LEFT_PUNCT", "IS_RIGHT_PUNCT", "IS_CURRENCY"}
FROM_TAGS = frozenset({"TAG", "POS", "MORPH"})
# What may stand in the place of a value: {TAG: {IN: [JJR, RBR]}}.
PREDICATES = frozenset({"REGEX", "IN", "NOT_IN", "IS_SUBSET", "IS_SUPERSET", "INTERSECTS", "==", "!=", ">=", "<=", ">"})
PREDICATES |= {"<", "FUZZY", *(f"FUZZY{edits}" for edits in range(1, 10))}

TokenPattern = dict[str, Any]


def _re2(expression: str) -> str:
    try:
        pc.match_substring_regex(pa.array([""]), expression)
    except pa.ArrowInvalid as fault:
        reason = str(fault).removeprefix("Invalid regular expression: ")
        raise ValueError(f"{expression!r} is not an RE2 expression: {reason}") from None
    return expression


def _lower(word: str) -> str:
    if word != word.lower() or word != word.strip():
        raise ValueError(f"{word!r} must be in lower case, without spaces: it is compared with a token's lower case")
    return word


def _known(tokens: list[TokenPattern]) -> list[TokenPattern]:
    for token in tokens:
        predicates = [key for value in token.values() if isinstance(value, dict) for key in value]
        for keys, known in ((token, LEXICAL | FROM_TAGS), (predicates, PREDICATES)):
            for key in keys:
                if key not in known:
                    raise ValueError(f"{token}: unknown key '{key}'{suggest(key, list(known))}")
        if token.get("OP") == "!" and FROM_TAGS & token.keys():
            raise ValueError(
                f"{token}: OP '!' beside a tag; without the tag it would forbid every token. Write the tags that are "
                "allowed instead, {TAG: {NOT_IN: [...]}}"
            )
    return tokens


Expression = Annotated[str, AfterValidator(_re2)]
Word = Annotated[str, AfterValidator(_lower)]


class Alternative(Closed):
    """One form that a part can take."""

    name: str
    """What a reader calls it."""
    tokens: Annotated[list[TokenPattern], AfterValidator(_known), Field(min_length=1)]
    """The tokens, each as spaCy's Matcher takes it: {LOWER: the, TAG: DT}."""
    enabled: bool = True
    """Whether the form is looked for; false keeps it in the file for other runs."""


class Part(Closed):
    """A part of the construction; a mark precedes its first token."""

    prefilter: Expression
    """RE2 expression that every instance of the part satisfies as plain text. It may let too much through, never
    too little; white space between two words is ``[\\s\\p{Z}\\p{Cc}]+``."""
    patterns: Annotated[list[Alternative], Field(min_length=1)]
    """The forms that it can take."""


class Pattern(Closed):
    """What a sentence must have to be a candidate: each part, in this order, none overlapping another.

    Where a part is found more than once, the earliest place that leaves room for the others counts.
    """

    parts: Annotated[list[Part], Field(min_length=1)]
    """Part i starts at mark i of construction.yaml's features."""
    must_match: Annotated[list[str], Field(min_length=1)]
    """Sentences that are candidates."""
    must_not_match: Annotated[list[str], Field(min_length=1)]
    """Sentences that are not candidates."""
    never: list[Word] = Field(default_factory=list)
    """Words, in lower case, that no part may contain, whatever their tag says."""

    @model_validator(mode="after")
    def _some_form_is_left(self) -> "Pattern":
        faults = [
            f"parts[{number}]: none of its patterns is enabled, so nothing could ever match; enable one"
            for number in range(len(self.parts))
            if not self.alternatives(number)
        ]
        if faults:
            raise FaultsError(faults)
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
        """Return the token patterns of a part that are enabled."""
        return [form.tokens for form in self.parts[part].patterns if form.enabled]


def lexical_only(tokens: list[TokenPattern]) -> list[TokenPattern]:
    """Return a token pattern without what a tagger must say: it matches wherever the whole pattern does."""
    return [{key: value for key, value in token.items() if key in LEXICAL} for token in tokens]


def load_pattern(name: str, construction: Construction, constructions: Path = CONSTRUCTIONS_FOLDER) -> Pattern:
    """Read and check ``constructions/<name>/pattern.yaml``.

    Raises:
        ConstructionError: One line for every fault of the file, and for every feature of the construction that asks for
            a mark that no part sets.
    """
    path = constructions / name / "pattern.yaml"
    pattern = validate(Pattern, read_yaml(path, ConstructionError, english=True), path, ConstructionError)
    if beyond := marks_beyond(construction.features, len(pattern.parts)):
        raise ConstructionError(
            "\n".join(
                f"{path}: parts: features.{feature} of construction.yaml asks for mark {mark}, but there are "
                f"{len(pattern.parts)} parts, from 0; add the part, or change the feature"
                for feature, mark in beyond
            )
        )
    return pattern
