"""What to mine: ``constructions/<name>/pattern.yaml``, read and checked."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import pyarrow as pa
import pyarrow.compute as pc
from pydantic import AfterValidator, Field, model_validator

from cxprobe.constructions.construction import CONSTRUCTIONS_FOLDER, Construction, marks_beyond
from cxprobe.errors import ConstructionError, ParamsError
from cxprobe.files.schema import Closed, FaultsError, read_yaml, suggest, validate
from cxprobe.segmentation import WITHIN_A_SENTENCE

# spaCy's token attributes that the words alone decide; whatever else a pattern asks for, a tagger must say.
LEXICAL = frozenset({"ORTH", "TEXT", "NORM", "LOWER", "LENGTH", "SHAPE", "PREFIX", "SUFFIX", "OP"})
LEXICAL_PREFIXES = ("IS_", "LIKE_")
NOT_LEXICAL = frozenset({"IS_SENT_START"})

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
    tokens: Annotated[list[TokenPattern], AfterValidator(_can_be_relaxed), Field(min_length=1)]
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
    return [{key: value for key, value in token.items() if _is_lexical(key)} for token in tokens]


def load_pattern(name: str, construction: Construction, constructions: Path = CONSTRUCTIONS_FOLDER) -> Pattern:
    """Read and check ``constructions/<name>/pattern.yaml``.

    Raises:
        ConstructionError: One line for every fault of the file, and for every feature of the construction that asks for
            a mark that no part sets.
    """
    path = constructions / name / "pattern.yaml"
    pattern = validate(Pattern, read_yaml(path, ConstructionError), path, ConstructionError)
    if beyond := marks_beyond(construction.features, len(pattern.parts)):
        raise ConstructionError(
            "\n".join(
                f"{path}: parts: features.{feature} of construction.yaml asks for mark {mark}, but there are "
                f"{len(pattern.parts)} parts, from 0; add the part, or change the feature"
                for feature, mark in beyond
            )
        )
    return pattern


def leave_out(pattern: Pattern, names: Sequence[str], place: str) -> Pattern:
    """Return a pattern in which some forms are not looked for.

    The examples of the pattern are checked with all of its forms (`check_examples`), so do that first.

    Args:
        pattern: The pattern.
        names: Names of its forms; a form of that name is left out of every part that has it.
        place: Where the names are from, for messages, such as "mining.left_out.<construction>".

    Raises:
        ParamsError: A name is not in the pattern, or a part has no form left.
    """
    known = {form.name for part in pattern.parts for form in part.patterns}
    unknown = [
        f"{place}: '{name}' is not in its pattern.yaml{suggest(name, list(known))}"
        for name in names
        if name not in known
    ]
    if unknown:
        raise ParamsError("\n".join(unknown))
    parts = []
    for number, part in enumerate(pattern.parts):
        kept = [form for form in part.patterns if form.name not in names]
        if not any(form.enabled for form in kept):
            raise ParamsError(f"{place}: parts[{number}] of its pattern.yaml has no form left; leave fewer out")
        parts.append(part.model_copy(update={"patterns": kept}))
    return pattern.model_copy(update={"parts": parts})
