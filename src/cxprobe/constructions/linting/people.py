"""Rules for people whose pronouns are drawn: the lexicon, and the typical roles of a construction's pairs."""

from collections.abc import Iterator

from cxprobe.constructions.linting.faults import Fault
from cxprobe.constructions.linting.sentences import gender_of
from cxprobe.constructions.people import NounType, People


def lint_people(people: People) -> Iterator[Fault]:
    """Find nouns of the lexicon that cannot bear the pronouns of their type."""
    for name, kind in people.types.items():
        for place, noun in enumerate(kind.nouns):
            yield from (Fault(("types", name, "nouns", place), what) for what in unbearable(noun, name, kind, people))


def unbearable(noun: str, name: str, kind: NounType, people: People) -> Iterator[str]:
    """Give the pronouns of a noun type that one of its nouns cannot bear, as "king" cannot bear "she".

    Args:
        noun: The noun, with its article.
        name: The noun type's name.
        kind: The noun type.
        people: The lexicon, which has the pronouns.
    """
    own = gender_of(noun)
    for row in kind.pronouns:
        forms = set(people.pronouns[row].values())
        other = {"he": "she", "she": "he"}.get(own or "")
        if other in forms:
            yield (
                f"'{noun}' would be called '{other}', since people of the type {name} get the pronouns {row}; take a "
                "noun for both women and men"
            )
