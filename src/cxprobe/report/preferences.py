"""Fixed preferences: models that give one answer whatever the sentence says, and are half right by that alone."""

from collections.abc import Sequence
from typing import Any

import pandas as pd

from cxprobe.params import Llm, Member

MOCK = "mockllm/"  # begins the name of a model that answers without a model
_HALF = 0.5


def fixed_preferences(
    sentences: pd.DataFrame,
) -> dict[tuple[str, str, str], tuple["pd.Series[Any]", "pd.Series[Any]"]]:
    """Return the models that are mostly wrong in one wording of a construction's pairs and mostly right in another.

    Pairs are grouped by the wording of what is asked and, where there are rivals, by whether the sentence has the
    construction: within such a group one answer, or one rule, may be right in all pairs. "Mostly" means that the 95 %
    interval does not contain a half.

    Args:
        sentences: Columns model, construction, words, variant, sentence, accuracy, low, high, n.

    Returns:
        (model, construction, words) -> the row in which the model is most wrong, and the one in which it is most right.
    """
    found = {}
    for key, own in sentences.groupby(["model", "construction", "words"], sort=False) if len(sentences) else ():
        worst = own.sort_values("accuracy", kind="stable").iloc[0]  # of several the first, so of one wording if it can
        best = own.sort_values("accuracy", ascending=False, kind="stable").iloc[0]
        if worst["high"] < _HALF < best["low"]:
            model, construction, words = key
            found[str(model), str(construction), str(words)] = (worst, best)
    return found


def mocks_beside_others(members: Sequence[Member]) -> set[str]:
    """Return the mock models if there are other models that are not blind, beside which they must not be drawn."""
    mocks = {member.slug for member in members if is_mock(member)}
    others = [member for member in members if not member.is_blind and member.slug not in mocks]
    return mocks if others else set()


def is_mock(member: Member) -> bool:
    """Return whether a model answers without a model: it tries the pipeline and is shown beside no other."""
    return isinstance(member.spec, Llm) and member.spec.name.startswith(MOCK)
