"""The people of minimal pairs, which all constructions share: ``lexicon/people.yaml``, read and checked."""

from pathlib import Path
from typing import Annotated

from pydantic import Field

from cxprobe.errors import ConstructionError
from cxprobe.files.reading import line_of
from cxprobe.files.schema import Closed, Distinct, SomeDistinct, read_yaml, suggest, validate
from cxprobe.text.templates import SlotName, Words

PEOPLE_FILE = Path("lexicon/people.yaml")
ROLE_NOUN_TYPE = "common-noun"  # nouns of this type can have typical roles: the teacher, the student

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


def people_if_sound() -> People | None:
    """Return the people of the project; None if the lexicon has faults, which its own check reports."""
    try:
        return load_people()
    except ConstructionError:
        return None


def load_people(path: Path = PEOPLE_FILE) -> People:
    """Read and check the lexicon of people.

    Raises:
        ConstructionError: One line for every fault: the file does not fit the schema; a noun is listed twice in its
            type; a type names an unknown gender; or two genders fill different slots.
    """
    people = validate(People, read_yaml(path, ConstructionError), path, ConstructionError)
    faults = []
    for name, kind in people.types.items():
        faults += [
            f"{path}, line {line_of(path, 'types', name, 'pronouns')}: types.{name}.pronouns: '{gender}' is not among "
            f"the pronouns{suggest(gender, list(people.pronouns))}"
            for gender in kind.pronouns
            if gender not in people.pronouns
        ]
    slots_by_gender = [set(row) for row in people.pronouns.values()]
    if any(slots != slots_by_gender[0] for slots in slots_by_gender):
        faults.append(f"{path}, line {line_of(path, 'pronouns')}: pronouns: every gender must fill the same slots")
    if faults:
        raise ConstructionError("\n".join(faults))
    return people
