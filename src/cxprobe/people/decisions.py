"""Which of the labels in labels.tsv count: everybody's own, or those of a person who decides between others."""

from collections.abc import Mapping, Sequence

from cxprobe.people.labels import Judgement, Label

DECIDES = " (decides)"
"""What follows the name of a person who decides what others have labelled differently."""


def is_decision(who: str) -> bool:
    """Return whether a name in labels.tsv is that of a person who decides between others."""
    return who.endswith(DECIDES)


def in_force(labels: Sequence[Label]) -> dict[tuple[str, str], dict[str, Judgement]]:
    """Return the labels that count: (kind, target) -> who -> label.

    Where somebody has decided about a sequence or a sentence, the decisions alone count, and nobody's own label of it.
    """
    by_target: dict[tuple[str, str], dict[str, Judgement]] = {}
    for label in labels:
        by_target.setdefault((label.kind, label.target), {})[label.who] = label.label
    return {target: _decisions(people) or people for target, people in by_target.items()}


def judgements_on(
    sentence: str, tags: str, judged: Mapping[tuple[str, str], Mapping[str, Judgement]]
) -> dict[str, Judgement]:
    """Return what counts for one sentence: who -> label.

    A decision about the sentence counts alone. Else each person's label of the sentence replaces the label that this
    person gave to its sequence, and all of these count.

    Args:
        sentence: Its id.
        tags: Its sequence of tags.
        judged: The labels that count, of `in_force`.
    """
    of_sequence, of_sentence = judged.get(("sequence", tags), {}), judged.get(("sentence", sentence), {})
    return dict(of_sentence) if _decisions(of_sentence) else {**of_sequence, **of_sentence}


def _decisions(by_person: Mapping[str, Judgement]) -> dict[str, Judgement]:
    return {who: label for who, label in by_person.items() if is_decision(who)}
