"""Greetings in the usual order of words and in another."""

import pandas as pd

from cxprobe.results.rates import Facet

NAMES = ("Ann", "Beth", "Carl", "Dan", "Eve", "Fay", "Gus", "Hal")
FACETS = (Facet(has_verdicts=True),)


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


def greeting_responses(items: pd.DataFrame, tokens: pd.DataFrame) -> pd.DataFrame:
    """Return whether the usual order of each greeting is the likelier one, as responses."""
    sums = {
        text: sum(number for number in row if number == number) for text, row in tokens[["text", "log_probs"]].values
    }
    right = items["good"].map(sums) > items["bad"].map(sums)
    fixed = {"source": "own", "measure": "accuracy", "chance": 0.5, "decides": True, "question": "form"}
    chosen = items["good"].where(right, items["bad"])
    responses = items.rename(columns={"id": "item", "good": "gold"}).drop(columns="bad")
    return responses.assign(**fixed, value=right.astype(float), chosen=chosen)
