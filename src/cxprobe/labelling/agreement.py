"""How far people agree: what they label differently, and Cohen's kappa of every two of them."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import NamedTuple

from sklearn.metrics import cohen_kappa_score

from cxprobe.constructions import JUDGEMENTS, Judgement, Label

Target = tuple[str, str]  # the kind of a label ("sequence" or "sentence") and what is labelled


class Conflict(NamedTuple):
    """A sequence or a sentence that people label differently, and each person's label."""

    kind: str
    target: str
    labels: tuple[tuple[str, Judgement], ...]


class Kappa(NamedTuple):
    """How far two people agree.

    Attributes:
        first: One of them.
        second: The other.
        both: How many targets both have labelled.
        agreed: How many of these have the same label twice.
        value: Cohen's kappa, or None where it is not defined.
    """

    first: str
    second: str
    both: int
    agreed: int
    value: float | None


def conflicts(labels: Sequence[Label]) -> list[Conflict]:
    """Return the targets that have more than one label, sorted."""
    by_target: dict[Target, dict[str, Judgement]] = defaultdict(dict)
    for label in labels:
        by_target[label.kind, label.target][label.who] = label.label
    return [
        Conflict(kind, target, tuple(sorted(people.items())))
        for (kind, target), people in sorted(by_target.items())
        if len(set(people.values())) > 1
    ]


def kappas(labels: Sequence[Label]) -> list[Kappa]:
    """Return Cohen's kappa of every two people, sorted by their names.

    Kappa is not defined where both use one and the same label throughout: agreement by chance is then certain.

    Source:
        Cohen 1960, as scikit-learn computes it.
    """
    by_person: dict[str, dict[Target, Judgement]] = defaultdict(dict)
    for label in labels:
        by_person[label.who][label.kind, label.target] = label.label
    return [_kappa(first, second, by_person) for first, second in combinations(sorted(by_person), 2)]


def _kappa(first: str, second: str, by_person: Mapping[str, Mapping[Target, Judgement]]) -> Kappa:
    one, other = by_person[first], by_person[second]
    pairs = [(one[target], other[target]) for target in sorted(one.keys() & other.keys())]
    agreed = sum(mine == yours for mine, yours in pairs)
    defined = len({label for pair in pairs for label in pair}) > 1
    value = float(cohen_kappa_score(*zip(*pairs, strict=True), labels=list(JUDGEMENTS))) if defined else None
    return Kappa(first, second, len(pairs), agreed, value)
