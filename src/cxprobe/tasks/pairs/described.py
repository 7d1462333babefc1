"""Descriptions of pairs: what each variant asks, and in which one answer is always right."""

from collections.abc import Sequence
from itertools import groupby, takewhile

import pandas as pd

from cxprobe.tasks.pairs.balance import unbalanced_cells


def own_tables(pairs: Sequence[pd.DataFrame]) -> dict[str, pd.DataFrame]:
    """Return the tables that describe this project's pairs with real words, given those of each construction."""
    every = pd.concat(pairs, ignore_index=True)
    real = every[every["words"] == "real"]
    return {"questions": question_table(real), "unbalanced": unbalanced_cells(real)}


def question_table(pairs: pd.DataFrame) -> pd.DataFrame:
    """Return construction, variant and question: the first right continuation with its answer left out."""
    first = pairs.drop_duplicates(["construction", "variant"])
    asked = [_without_answer(good, bad) for good, bad in zip(first["good"], first["bad"], strict=True)]
    return first[["construction", "variant"]].assign(question=asked).reset_index(drop=True)


def _without_answer(good: str, bad: str) -> str:
    """Return a continuation with "…" instead of the words in which the two members of a pair differ."""
    one, other = (text.strip().removesuffix(".").split() for text in (good, bad))
    if len(one) == len(other):
        kept = [word if word == its else "…" for word, its in zip(one, other, strict=True)]
        return " ".join(word for word, _ in groupby(kept))
    before = _shared(one, other)
    after = _shared(one[len(before) :][::-1], other[len(before) :][::-1])
    return " ".join([*before, "…", *after[::-1]])


def _shared(one: Sequence[str], other: Sequence[str]) -> list[str]:
    """Return the words that two texts begin with alike."""
    return [word for word, _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False))]
