"""Minimal pairs: accuracies of the models that ran, beside what others have published."""

import pandas as pd

from cxprobe.reporting.tables import cell

ALL = "all pairs of meaning"
_COLUMNS = ["construction", "model", "source", "accuracy", "n"]


def pairs_beside_published(
    accuracies: pd.DataFrame, objectives: pd.DataFrame, people: pd.DataFrame, source: str
) -> pd.DataFrame:
    """Return one table of accuracies by construction, published ones below those of this run.

    The published numbers are about the paper's own items, which are others than this project's: they tell what is
    usual, and nothing is marked as different.

    Args:
        accuracies: Columns construction (`ALL` for all of them), model, accuracy, low, high and n.
        objectives: As published: model, data (what it was trained on) and score, a rate over all items.
        people: As published: construction ("overall" for all), items, and majority_percent, how often the majority of
            the people asked chose the right member.
        source: Where the published ones stand.

    Returns:
        construction, model, source, accuracy (in percent, with its interval where there is one) and n; a table for
        reading, in which what was not published is an empty text.
    """
    models = objectives.assign(construction=ALL, accuracy=[f"{100 * score:.1f}" for score in objectives["score"]], n="")
    majority = people.assign(
        construction=people["construction"].replace("overall", ALL),
        model="people (majority)",
        accuracy=[f"{percent:.1f}" for percent in people["majority_percent"]],
        n=people["items"],
    )
    run = accuracies.assign(accuracy=[cell(*row) for row in accuracies[["accuracy", "low", "high"]].to_numpy()])
    both = pd.concat(
        [run.assign(source="this run"), models.assign(source=source), majority.assign(source=source)], ignore_index=True
    )
    first = {name: place for place, name in enumerate([ALL, *dict.fromkeys(accuracies["construction"])])}
    both = both.sort_values("construction", key=lambda names: names.map(first), kind="stable")
    return both[_COLUMNS].astype({"n": str}).reset_index(drop=True)
