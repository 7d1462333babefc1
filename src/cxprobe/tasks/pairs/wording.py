"""How minimal pairs are asked: in which format, and after which solved pairs."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from cxprobe.constructions.people import NounType, People
from cxprobe.errors import ParamsError
from cxprobe.files.schema import suggest
from cxprobe.tasks.pairs.frames import PAPER_FORMAT, PairsFile, fill_variant, place_of
from cxprobe.tasks.pairs.params import MakePairs


class PairFormat(NamedTuple):
    """How the pairs of a construction are asked.

    Attributes:
        format: The format of the second text.
        examples: How many solved pairs stand before each pair.
        controls: What they are drawn from, in the same format; at least one if there are examples.
    """

    format: str = PAPER_FORMAT
    examples: int = 0
    controls: Sequence[PairsFile] = ()

    @property
    def called(self) -> str:
        """The name in tables: `PAPER_FORMAT` for the paper's wording without examples."""
        return self.format + (f", {self.examples} example{'s' * (self.examples > 1)}" if self.examples else "")


IN_PAPER = PairFormat()
"""The paper's wording, without examples."""


def wording_of(name: str, contents: Mapping[str, PairsFile], settings: MakePairs) -> PairFormat:
    """Return the wording of the pairs of a construction: the paper's, where they lack the format.

    Their examples are of the controls that are switched if these pairs are, and neither these pairs nor their own
    control. Pairs of form have none.

    Args:
        name: The pairs.
        contents: Name -> pairs, with those that the examples may be of.
        settings: The format and the number of examples.

    Raises:
        ParamsError: No pairs have the format, or there is no control for examples.
    """
    known = [PAPER_FORMAT, *dict.fromkeys(format_ for content in contents.values() for format_ in content.formats)]
    if settings.format not in known:
        raise ParamsError(
            f"pairs.make.format: no pairs of pairs.constructions have the format '{settings.format}'"
            f"{suggest(settings.format, known)}"
        )
    content = contents[name]
    format_ = settings.format if settings.format in content.formats else PAPER_FORMAT
    if not settings.examples or content.tests == "form":
        return PairFormat(format_)
    controls = [
        other.in_format(settings.format)
        for other_name, other in sorted(contents.items())
        if other.tests == "control" and other_name not in (name, content.control)
        if other.switched == content.switched
    ]
    if not controls:
        raise ParamsError(
            f"pairs.make.examples: is {settings.examples}, and pairs.constructions has no control with "
            f"switched: {str(content.switched).lower()} besides that of {name}; add one, or take 0"
        )
    return PairFormat(format_, settings.examples, controls)


def solved_pairs(
    wording: PairFormat, people: People, kind: NounType, persons: Sequence[str], rng: np.random.Generator
) -> str:
    """Return the examples of an item, a line each: contexts with their right texts, about other people.

    Controls, frames and people are drawn. So are the variants, but as often with the person named first right as with
    the second: controls have as many of either.

    Args:
        wording: How the item is asked.
        people: The pronouns.
        kind: The nouns.
        persons: The people of the item.
        rng: The generator.

    Raises:
        ParamsError: There are not enough nouns.
    """
    free = [str(noun) for noun in rng.permutation([noun for noun in kind.nouns if noun not in persons])]
    turns, text = rng.permutation(wording.examples), ""
    for turn in turns:
        control = wording.controls[int(rng.integers(len(wording.controls)))]
        asked = [(variant, sentence) for variant in control.variants.values() for sentence in variant.contexts]
        asked.sort(key=lambda one: place_of(one[0], control.people, one[1]))
        variant, sentence = asked[turn % len(asked)]
        drawn = [rows[rng.integers(len(rows))] for rows in control.groups.values()]
        values = {slot: words for row in drawn for slot, words in row.items()}
        if len(free) < len(control.people):
            raise ParamsError(
                f"pairs.make.examples: is {wording.examples}, and a noun type has {len(kind.nouns)} nouns, too few for "
                "people of their own in each example; take fewer"
            )
        values |= people.pronouns[kind.pronouns[rng.integers(len(kind.pronouns))]]
        values |= {slot: free.pop() for slot in control.people}
        context, good, _ = fill_variant(variant, values, sentence)
        text += f"{context} {good}\n"
    return text
