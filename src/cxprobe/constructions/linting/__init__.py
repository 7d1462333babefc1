"""Rules that items must keep so that they hold, beyond that their files can be read.

A file that breaks one of them can still be loaded: the loaders do not know these rules, `cxprobe check` asks for them.
They look at what they can know from the words alone: whether two texts differ in more than they should, whether a word
gives the answer away, whether the same is asked twice, and whether articles and pronouns fit. Whether a sentence is
natural and its gold answer is right is for people to say.

`lint_pairs`, `lint_people`, `lint_scenarios` and `lint_items` each take what a loader has returned and give faults,
each with the keys of its place; `with_lines` gives them their file and line. `lint_premises` compares the premises of
all constructions.
"""

from cxprobe.constructions.linting.faults import Fault, with_lines
from cxprobe.constructions.linting.items import lint_items, lint_premises
from cxprobe.constructions.linting.pairs import lint_pairs
from cxprobe.constructions.linting.people import lint_people
from cxprobe.constructions.linting.scenarios import lint_scenarios

__all__ = ["Fault", "lint_items", "lint_pairs", "lint_people", "lint_premises", "lint_scenarios", "with_lines"]
