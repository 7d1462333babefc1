"""The people of minimal pairs, which all constructions share: ``lexicon/people.yaml``, read and checked."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated

from pydantic import Field

from cxprobe.constructions.checking import Fault, normalised, with_lines
from cxprobe.errors import ConstructionError
from cxprobe.files.schema import Closed, Distinct, SomeDistinct, read_yaml, suggest, validate
from cxprobe.text import SlotName, Words

PEOPLE_FILE = Path("lexicon/people.yaml")
ROLE_NOUN_TYPE = "common-noun"  # nouns of this type can have typical roles: the teacher, the student

PRONOUNS: Mapping[str, frozenset[str]] = {
    "he": frozenset({"he", "him", "his", "himself"}),
    "she": frozenset({"she", "her", "hers", "herself"}),
}
"""Pronoun -> its forms."""
OTHER_GENDER = {"he": "she", "she": "he"}
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
    people = validate(People, read_yaml(path, ConstructionError), path, ConstructionError)
    faults = [
        Fault(
            ("types", name, "pronouns"),
            f"types.{name}.pronouns: '{gender}' is not among the pronouns{suggest(gender, [*people.pronouns])}",
        )
        for name, kind in people.types.items()
        for gender in kind.pronouns
        if gender not in people.pronouns
    ]
    if len({frozenset(row) for row in people.pronouns.values()}) > 1:
        faults.append(Fault(("pronouns",), "pronouns: every gender must fill the same slots"))
    if faults:
        raise ConstructionError("\n".join(with_lines(path, faults)))
    return people


def gender_of(noun_phrase: str) -> str | None:
    """Return "he" or "she" for a noun phrase whose last noun only men or only women bear, else None."""
    words = normalised(noun_phrase).split()
    return GENDERED.get(words[-1]) if words else None


def lint_people(people: People) -> Iterator[Fault]:
    """Yield the faults of nouns in the lexicon that cannot take the pronouns of their type."""
    for name, kind in people.types.items():
        for position, noun in enumerate(kind.nouns):
            other = OTHER_GENDER.get(gender_of(noun) or "")
            for row in kind.pronouns:
                if other in people.pronouns[row].values():
                    what = (
                        f"'{noun}' would be called '{other}', since people of the type {name} get the pronouns {row}; "
                        "take a noun for both women and men"
                    )
                    yield Fault(("types", name, "nouns", position), what)
