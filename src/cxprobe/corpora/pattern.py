"""Patterns of constructions: ``constructions/<name>/pattern.yaml``, read and checked."""

from itertools import chain
from pathlib import Path
from typing import Annotated, Any

import pyarrow as pa
import pyarrow.compute as pc
from pydantic import AfterValidator, Field, model_validator

from cxprobe.constructions.construction import (
    CONSTRUCTIONS_FOLDER,
    Feature,
    FeatureName,
    load_construction,
    marks_beyond,
)
from cxprobe.errors import ConstructionError, raise_faults
from cxprobe.files.schema import Closed, read_checked

# The keys of token patterns in spaCy that a tagger must say, and those that a parser or a lemmatiser must say. Words
# alone decide on all others. spaCy refuses unknown keys when it loads a pattern.
FROM_TAGS = frozenset({"TAG", "POS", "MORPH"})
FROM_PARSES = frozenset({"DEP", "LEMMA"})
TokenPattern = dict[str, Any]


def _re2(expression: str) -> str:
    try:
        pc.match_substring_regex(pa.array([""]), expression)
    except pa.ArrowInvalid as fault:
        reason = str(fault).removeprefix("Invalid regular expression: ")
        raise ValueError(f"{expression!r} is not an RE2 expression: {reason}") from None
    return expression


def _without_negated_tags(tokens: list[TokenPattern]) -> list[TokenPattern]:
    for token in tokens:
        if token.get("OP") == "!" and (FROM_TAGS | FROM_PARSES) & token.keys():
            raise ValueError(
                f"{token}: OP '!' beside a tag; without the tag it would forbid every token. Write the tags that are "
                "allowed instead, {TAG: {NOT_IN: [...]}}"
            )
    return tokens


Expression = Annotated[str, AfterValidator(_re2)]


class Node(Closed):
    """A word of a dependency tree, as spaCy's DependencyMatcher takes it."""

    RIGHT_ID: str
    """Its name: that of the slot in construction.yaml that it fills, or any other."""
    RIGHT_ATTRS: TokenPattern
    """Its attributes, as in a pattern of tokens, but without OP: {TAG: {REGEX: "^NN"}, DEP: obj}."""
    LEFT_ID: str | None = None
    """The name of an earlier word; absent for the first word."""
    REL_OP: str | None = None
    """The relation of the earlier word to this one: ">" is "is its head"; absent for the first word."""


class Alternative(Closed):
    """One form that a part can take: as a sequence of tokens, or as a tree of dependencies."""

    name: str
    """Its name for readers."""
    tokens: Annotated[list[TokenPattern], AfterValidator(_without_negated_tags)] = Field(default_factory=list)
    """The tokens, each as spaCy's Matcher takes it: {LOWER: the, TAG: DT}."""
    dependencies: list[Node] = Field(default_factory=list)
    """The words of a tree, the first without LEFT_ID; a match reaches from its first word to its last."""

    @model_validator(mode="after")
    def _one_form(self) -> "Alternative":
        if bool(self.tokens) == bool(self.dependencies):
            raise ValueError("expected either tokens or dependencies, and at least one of them")
        return self

    @property
    def words(self) -> list[TokenPattern]:
        """The attributes of its words."""
        return [*self.tokens, *(node.RIGHT_ATTRS for node in self.dependencies)]


class Part(Closed):
    """A part of the construction; a mark precedes its first token."""

    prefilter: Expression
    """RE2 expression that every instance of the part satisfies as plain text. It may let too much through, never
    too little; white space between two words is ``[\\s\\p{Z}\\p{Cc}]+``."""
    patterns: Annotated[list[Alternative], Field(min_length=1)]
    """The forms that it can take."""


class Pattern(Closed):
    """The parts of a candidate sentence, in this order, none overlapping another.

    Where a part is found more than once, the earliest place that leaves room for the others counts.
    """

    parts: Annotated[list[Part], Field(min_length=1)]
    """Part i starts at mark i of construction.yaml's features."""
    must_match: Annotated[list[str], Field(min_length=1)]
    """Sentences that are candidates."""
    must_not_match: Annotated[list[str], Field(min_length=1)]
    """Sentences that are not candidates."""

    @property
    def prefilter(self) -> str:
        """RE2 expression that a sentence with a candidate satisfies, and so does each text that it is a part of."""
        return "(?s:.*)".join(f"(?:{part.prefilter})" for part in self.parts)

    @property
    def asks_for(self) -> set[str]:
        """The annotation that it needs of words and trees: some of `FROM_TAGS` and `FROM_PARSES`."""
        forms = [*chain(*self.forms)]
        keys = {key for form in forms for word in form.words for key in word}
        keys |= {"DEP" for form in forms if form.dependencies}
        return keys & (FROM_TAGS | FROM_PARSES)

    @property
    def labels(self) -> set[str]:
        """The labels of dependencies that it names."""
        labels = set[str]()
        for word in chain.from_iterable(form.words for form in chain(*self.forms)):
            label = word.get("DEP", {})
            labels |= {*label.get("IN", ()), *label.get("NOT_IN", ())} if isinstance(label, dict) else {label}
        return labels

    @property
    def is_parsed(self) -> bool:
        """Whether sentences must be parsed; tags alone do not say where the construction is."""
        return bool(self.asks_for & FROM_PARSES)

    @property
    def forms(self) -> list[list[Alternative]]:
        """The forms of each part."""
        return [part.patterns for part in self.parts]


class Wanted(Closed):
    """The parts of a construction that mining depends on."""

    pattern: Pattern
    """The pattern of candidates."""
    features: dict[FeatureName, Feature]
    """The measures of candidates."""
    slots: list[str]
    """The words of the pattern's trees with these names are written."""


def load_wanted(name: str, constructions: Path = CONSTRUCTIONS_FOLDER) -> Wanted:
    """Read ``constructions/<name>/pattern.yaml``, and what mining takes of construction.yaml.

    Raises:
        ConstructionError: One line for every fault of the file, then of construction.yaml, and for every feature that
            asks for a mark which no part sets.
    """
    path = constructions / name / "pattern.yaml"
    pattern = read_checked(Pattern, path, ConstructionError)
    construction = load_construction(name, constructions)
    faults = (
        f"{path}: parts: features.{feature} of construction.yaml asks for mark {mark}, but there are "
        f"{len(pattern.parts)} parts, from 0; add the part, or change the feature"
        for feature, mark in marks_beyond(construction.features, len(pattern.parts))
    )
    raise_faults(ConstructionError, faults)
    return Wanted(pattern=pattern, features=construction.features, slots=list(construction.slots))
