"""The description of a construction, ``constructions/<name>/construction.yaml``, and the people of minimal pairs.

All constructions share the people: ``lexicon/people.yaml``. Both files are read and checked.
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, NonNegativeInt, PositiveInt, StringConstraints, model_validator

from cxprobe.constructions import ALL_SENTENCES, LabelName, Split
from cxprobe.constructions.checking import Fault, normalised, with_lines
from cxprobe.errors import ConstructionError, raise_faults
from cxprobe.files.schema import Closed, Distinct, SomeDistinct, Two, read_checked, suggest
from cxprobe.stats import CLUSTER
from cxprobe.text import SlotName, Words

CONSTRUCTIONS_FOLDER = Path("constructions")
SentenceSource = Literal["generated", "balanced", "mined"]
"""Where sentences come from: the first pair of grammars, the second one, or a corpus."""
GrammarSource = Literal["generated", "balanced"]
"""The sources that have grammars."""


class Length(Closed):
    """A feature: the number of words of the sentence."""

    measure: Literal["length"]

    def of(self, words: int, marks: tuple[int, ...]) -> int:  # noqa: ARG002
        """Return the feature of a sentence of so many words whose marked parts start at ``marks``."""
        return words


class Start(Closed):
    """A feature: the position of the word that starts a marked part; positions count from 0."""

    measure: Literal["start"]
    mark: NonNegativeInt
    """Which mark of the sentence, from 0."""

    def of(self, words: int, marks: tuple[int, ...]) -> int:  # noqa: ARG002
        """Return the feature of a sentence of so many words whose marked parts start at ``marks``."""
        return marks[self.mark]


class Distance(Closed):
    """A feature: how many words lie between the starts of two marked parts."""

    measure: Literal["distance"]
    marks: Two[NonNegativeInt]
    """The two marks, the earlier first."""

    @model_validator(mode="after")
    def _earlier_first(self) -> "Distance":
        if self.marks[0] >= self.marks[1]:
            raise ValueError(f"marks must name the earlier mark first; {list(self.marks)} does not")
        return self

    def of(self, words: int, marks: tuple[int, ...]) -> int:  # noqa: ARG002
        """Return the feature of a sentence of so many words whose marked parts start at ``marks``."""
        return marks[self.marks[1]] - marks[self.marks[0]]


_COLUMNS = """
    construction end id item label matched model slots source start tags text url all feature split value words control
    credit layer margin probability score seed accuracy high highest low n rate tie_rate ties"""
RESERVED_FEATURES = frozenset({*_COLUMNS.split(), ALL_SENTENCES})
"""Columns and metrics of sentences, results and rates; a feature is another column and metric."""


def _free(name: str) -> str:
    if name in RESERVED_FEATURES or name.startswith(CLUSTER):
        raise ValueError(
            f"'{name}' names another column of the tables of sentences, or another metric; give the feature a name "
            f"that is none of {', '.join(sorted(RESERVED_FEATURES))} and does not begin with {CLUSTER}"
        )
    return name


# HTML; what Markdown makes a link or a picture of: [x](address), or [x]: address on a line of its own; and the
# beginning of an address that runs code where it is clicked.
_MARKUP = re.compile(
    r"<[a-z/!?][^>]*>?|!?\[[^\]]*\](?:\(|:\s*\S*?[:/&])|\b(?:javascript|vbscript|data)\\?:(?=\S)", re.IGNORECASE
)


def _without_markup(text: str) -> str:
    if markup := _MARKUP.search(text):
        raise ValueError(f"{markup[0]!r} is HTML, a picture or a link, which may lead readers astray; write plain text")
    return text


Prose = Annotated[str, AfterValidator(_without_markup)]
"""Text for people, which pages show."""
FeatureName = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]*$"), AfterValidator(_free)]
Feature = Annotated[Length | Start | Distance, Field(discriminator="measure")]


def marks_beyond(features: Mapping[str, Feature], marks: int) -> list[tuple[str, int]]:
    """Return each feature that asks for a mark which a sentence with so many marks does not have, and the mark."""
    beyond = []
    for name, feature in features.items():
        match feature:
            case Start(mark=last) | Distance(marks=(_, last)) if last >= marks:
                beyond.append((name, last))
    return beyond


class Grammars(Closed):
    """How the two grammars of a pair, one for each lexical half, are read; `grammar_file` says which files they are."""

    start: dict[LabelName, str]
    """The symbol that expands to the sentences of each label."""
    content: Annotated[list[str], Field(min_length=1)]
    """Categories of content words: the two grammars must have none of their words in common."""
    clusters: Annotated[list[str], Field(min_length=1)] | None = None
    """Categories of content whose words cluster the sentences when intervals are estimated; absent: all of content.
    Where both labels have the same words in the same places, name only the categories whose words change places."""
    marker: str
    """The terminal that marks where a part of the construction starts."""
    marks: PositiveInt
    """How many markers each sentence has."""
    no_space_before: list[str]
    """Punctuation that is written without a space before it."""

    @model_validator(mode="after")
    def _both_labels(self) -> "Grammars":
        if lacking := {"positive", "negative"} - self.start.keys():
            raise ValueError(f"start names no symbol for the label {', '.join(sorted(lacking))}")
        if unknown := set(self.clusters or ()) - set(self.content):
            raise ValueError(f"clusters names {', '.join(sorted(unknown))}, which content does not have")
        return self


class SecondPair(Closed):
    """The grammars of the source "balanced", in which spelling does not tell the two labels apart.

    Their files are grammars/balanced_train.cfg and grammars/balanced_test.cfg. Nothing of the first pair is used:
    neither its symbols nor its features.
    """

    positive: Prose
    """What its positive sentences are, and what its negative ones."""
    grammar: Grammars
    """How its grammars are read."""
    features: Annotated[dict[FeatureName, Feature], Field(min_length=1)]
    """Feature of a sentence -> how it is measured; each gives one balanced subset."""


class Construction(Closed):
    """A construction as construction.yaml describes it."""

    name: Prose
    """What people call it."""
    gloss: Prose
    """Form and meaning in a sentence. What stands first between double quotes is the example that pictures show."""
    expects: Prose = ""
    """The expectation of a model that knows its meaning: what follows "the model expects" in a verdict."""
    slots: dict[Prose, Prose]
    """Slot -> what fills it."""
    positive: Prose
    """What counts as an instance, and what the matched negatives are."""
    sources: Annotated[list[Prose], Field(min_length=1)]
    """Where the grammars and the definitions come from."""
    placebo: bool = False
    """Whether this is not a construction but a regularity that no speaker has learnt; the report does not count it."""
    grammar: Grammars | None = None
    """How its grammars are read; absent for a construction that has none."""
    features: dict[FeatureName, Feature] = Field(default_factory=dict)
    """Feature of a sentence -> how it is measured; each gives one balanced subset. Absent where no sentences of the
    construction are generated or mined."""
    balanced: SecondPair | None = None
    """A second pair of grammars; absent for a construction that has none."""

    @model_validator(mode="after")
    def _only_marks_that_exist(self) -> "Construction":
        pairs = [("features", self.features, self.grammar)]  # without a grammar, pattern.yaml has the marks
        if self.balanced is not None:
            pairs.append(("balanced.features", self.balanced.features, self.balanced.grammar))
        faults = (
            f"{section}.{name} asks for mark {mark}, but the last mark of a sentence is {grammar.marks - 1} (marks "
            "count from 0)"
            for section, features, grammar in pairs
            if grammar is not None
            for name, mark in marks_beyond(features, grammar.marks)
        )
        raise_faults(ValueError, faults)
        return self

    @property
    def example(self) -> str:
        """What its gloss quotes first, "" where that is no sentence or phrase."""
        quoted = re.search(r'"([^"]* [^"]*)"', self.gloss)
        return quoted[1] if quoted else ""

    def for_source(self, source: SentenceSource) -> "Construction":
        """Return the construction with the grammar, features and definition of positive sentences that a source has.

        Only "balanced" has its own; the other sources share the first ones.

        Raises:
            ConstructionError: The source is "balanced", and there is no second pair of grammars.
        """
        if source != "balanced":
            return self
        if self.balanced is None:
            raise ConstructionError(
                f"{self.name}: construction.yaml has no section balanced, so there are no balanced sentences; write a "
                "second pair of grammars, or take balanced out of recognition.constructions in params.yaml"
            )
        return self.model_copy(update=dict(self.balanced) | {"balanced": None})

    def rules(self) -> Grammars:
        """Return the rules by which the construction's grammars are read.

        Raises:
            ConstructionError: It has none.
        """
        if self.grammar is None:
            raise ConstructionError(
                f"{self.name}: construction.yaml has no grammar, so no sentences can be generated; write its grammars, "
                "or take it out of recognition.constructions in params.yaml"
            )
        return self.grammar


def grammar_file(source: GrammarSource, split: Split) -> str:
    """Return the path, relative to the construction's folder, of the grammar of a source and a split."""
    return f"grammars/{'balanced_' if source == 'balanced' else ''}{split}.cfg"


def load_construction(name: str, constructions: Path = CONSTRUCTIONS_FOLDER) -> Construction:
    """Read and check ``constructions/<name>/construction.yaml``.

    Raises:
        ConstructionError: One line for every fault of the file.
    """
    path = constructions / name / "construction.yaml"
    return read_checked(Construction, path, ConstructionError)


PEOPLE_FILE = Path("lexicon/people.yaml")
ROLE_NOUN_TYPE = "common-noun"  # nouns of this type can have typical roles: the teacher, the student

PRONOUNS: Mapping[str, frozenset[str]] = {
    "he": frozenset({"he", "him", "his", "himself"}),
    "she": frozenset({"she", "her", "hers", "herself"}),
}
"""Pronoun -> its forms."""
_FEMININE = """
    abbess actress aunt ballerina baroness bride countess daughter daughter-in-law duchess empress girl girlfriend
    goddess godmother grandma granddaughter grandmother granny heiress heroine hostess lady landlady mother
    mother-in-law mum niece nun princess queen schoolgirl seamstress sister sister-in-law stepdaughter stepmother
    waitress widow wife witch woman"""
_MASCULINE = """
    abbot baron boy boyfriend bridegroom brother brother-in-law count dad daddy duke emperor father father-in-law
    gentleman godfather grandad grandfather grandpa grandson groom husband king man monk nephew prince
    schoolboy son son-in-law stepfather stepson uncle widower wizard"""
GENDERED: Mapping[str, str] = dict.fromkeys(_FEMININE.split(), "she") | dict.fromkeys(_MASCULINE.split(), "he")
"""Nouns that only women bear, or only men: noun -> its pronoun. Nouns in -man are borne by both often enough."""

Row = Annotated[dict[SlotName, Words], Field(min_length=1)]


class NounType(Closed):
    """Nouns for people that are alike in kind."""

    pronouns: SomeDistinct[str]
    """The genders whose pronouns can refer to these nouns: keys of `People.pronouns`. Several are used equally
    often."""
    nouns: Annotated[Distinct[Words], Field(min_length=2)]
    """The nouns, with their article if they have one."""


class People(Closed):
    """The nouns that all constructions share."""

    pronouns: dict[str, Row]
    """Gender -> the slot of a form -> the form."""
    types: dict[str, NounType]
    """The noun types."""


def load_people(path: Path = PEOPLE_FILE) -> People:
    """Read and check the lexicon of people.

    Raises:
        ConstructionError: One line for every fault: the file does not fit the schema; a noun is listed twice in its
            type; a type names an unknown gender; or two genders fill different slots.
    """
    people = read_checked(People, path, ConstructionError)
    faults = [
        Fault(
            ("types", name, "pronouns"),
            f"types.{name}.pronouns: '{gender}' is not among the pronouns{suggest(gender, people.pronouns)}",
        )
        for name, kind in people.types.items()
        for gender in kind.pronouns
        if gender not in people.pronouns
    ]
    if len({frozenset(row) for row in people.pronouns.values()}) > 1:
        faults.append(Fault(("pronouns",), "pronouns: every gender must fill the same slots"))
    raise_faults(ConstructionError, with_lines(path, faults))
    return people


def lint_people(people: People) -> Iterator[Fault]:
    """Yield the faults of nouns in the lexicon that cannot take the pronouns of their type."""
    for name, kind in people.types.items():
        for position, noun in enumerate(kind.nouns):
            last = normalised(noun).rpartition(" ")[2]
            other = {"he": "she", "she": "he"}.get(GENDERED.get(last, ""))
            for row in kind.pronouns:
                if other in people.pronouns[row].values():
                    what = (
                        f"'{noun}' would be called '{other}', since people of the type {name} get the pronouns {row}; "
                        "take a noun for both women and men"
                    )
                    yield Fault(("types", name, "nouns", position), what)
