"""Greetings in the usual order of words and in another."""

import pandas as pd

NAMES = ("Ann", "Beth", "Carl", "Dan", "Eve", "Fay", "Gus", "Hal")


def make_greetings(construction: str, names: int) -> pd.DataFrame:
    """Return one row a person: id, construction, good, bad and cluster_name."""
    people = [NAMES[number % len(NAMES)] for number in range(names)]
    return pd.DataFrame(
        {
            "id": [f"{construction}/{number}" for number in range(names)],
            "construction": construction,
            "good": [f"Hello, {name}, how are you?" for name in people],
            "bad": [f"You are how {name}, hello,?" for name in people],
            "cluster_name": people,
        }
    )


def judge_greetings(items: pd.DataFrame, tokens: pd.DataFrame) -> pd.DataFrame:
    """Return the items with accuracy: whether the usual order is the likelier one."""
    sums = {
        text: sum(number for number in row if number == number) for text, row in tokens[["text", "log_probs"]].values
    }
    right = items["good"].map(sums) > items["bad"].map(sums)
    return items.assign(accuracy=right.astype(float))
