"""How far people agree: what they label differently, and Cohen's kappa of every two of them.

What one person decides about the labels of others (`DECIDES`) is not compared: the person has seen their labels.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import NamedTuple

from sklearn.metrics import cohen_kappa_score

from cxprobe.people.decisions import in_force, is_decision, judgements_on
from cxprobe.people.labels import JUDGEMENTS, Judgement, Label
from cxprobe.people.sessions import Group

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
    """Return the targets that have more than one label and about which nobody has decided, sorted."""
    return [
        Conflict(kind, target, tuple(sorted(people.items())))
        for (kind, target), people in sorted(in_force(labels).items())
        if len(set(people.values())) > 1
    ]


def disputes(groups: Sequence[Group], labels: Sequence[Label]) -> list[tuple[Group, Conflict]]:
    """Return what keeps mined sentences from having a label: what to decide, and each person's label of it.

    Beside the conflicts about sequences and about sentences, these are sentences that one person labels otherwise than
    another labels their sequence. They come after the conflict about their sequence is decided.

    Args:
        groups: The mined sentences by their sequences; the disputes are in their order.
        labels: Everybody's labels.
    """
    judged = in_force(labels)
    found = []
    for group in groups:
        of_sequence = judged.get(("sequence", group.tags), {})
        if open_sequence := len(set(of_sequence.values())) > 1:
            found.append((group, Conflict("sequence", group.tags, tuple(sorted(of_sequence.items())))))
        for one in group.sentences:
            own = judged.get(("sentence", one.id))
            said = own if open_sequence else own and judgements_on(one.id, group.tags, judged)
            if said and len(set(said.values())) > 1:
                alone = Group("sentence", one.id, group.tags, (one,))
                found.append((alone, Conflict("sentence", one.id, tuple(sorted(said.items())))))
    return found


def kappas(labels: Sequence[Label]) -> list[Kappa]:
    """Return Cohen's kappa of every two people, sorted by their names.

    Kappa is not defined where both use one and the same label throughout: agreement by chance is then certain.

    Source:
        Cohen 1960, as scikit-learn computes it.
    """
    by_person: dict[str, dict[Target, Judgement]] = defaultdict(dict)
    for label in labels:
        if not is_decision(label.who):
            by_person[label.who][label.kind, label.target] = label.label
    return [_kappa(first, second, by_person) for first, second in combinations(sorted(by_person), 2)]


def _kappa(first: str, second: str, by_person: Mapping[str, Mapping[Target, Judgement]]) -> Kappa:
    one, other = by_person[first], by_person[second]
    pairs = [(one[target], other[target]) for target in sorted(one.keys() & other.keys())]
    agreed = sum(mine == yours for mine, yours in pairs)
    defined = len({label for pair in pairs for label in pair}) > 1
    value = float(cohen_kappa_score(*zip(*pairs, strict=True), labels=list(JUDGEMENTS))) if defined else None
    return Kappa(first, second, len(pairs), agreed, value)
