"""The rates of minimal pairs beside published values."""

from pathlib import Path

import pandas as pd

from cxprobe.results.rates import ALL
from cxprobe.results.words import cell

MEANING = "all pairs of meaning"
PEOPLE = "people (majority)"  # whose published answers stand among the models
SOURCE = "Oba & Sugawara 2026, their items"  # of the published numbers
PUBLISHED = [Path(f"published/oba2026_{name}.tsv") for name in ("objectives", "human_validation")]


def pairs_beside_published(rates: pd.DataFrame, objectives: pd.DataFrame, people: pd.DataFrame) -> pd.DataFrame:
    """Return one table of accuracies by construction, published ones below those of this run.

    The published numbers are about the paper's own items, which differ from this project's: they show what is usual,
    and nothing is marked as different.

    Args:
        rates: Columns of `cxprobe.results.schema.RATES`; those of the facet origin are shown, which are of the
            published design alone.
        objectives: As published: model, data (what it was trained on) and score, a rate over all items.
        people: As published: construction ("overall" for all), items, and majority_percent, how often the majority of
            the people asked chose the right member.

    Returns:
        construction, model, source, accuracy (in percent, with its interval where there is one) and n; a table for
        reading, in which what was not published is an empty text.
    """
    ours = rates[rates["facet"] == "origin"].replace({"construction": {ALL: MEANING}})
    run = ours.rename(columns={"value": "accuracy"}).assign(source="this run")
    run["accuracy"] = [cell(*row) for row in run[["accuracy", "low", "high"]].to_numpy()]
    models = objectives.assign(construction=MEANING, n="", source=SOURCE)
    models["accuracy"] = (100 * models["score"]).map("{:.1f}".format)
    majority = people.replace({"construction": {"overall": MEANING}}).assign(model=PEOPLE, source=SOURCE)
    majority["accuracy"] = majority["majority_percent"].map("{:.1f}".format)
    both = pd.concat([run, models, majority.rename(columns={"items": "n"})], ignore_index=True)
    order = pd.Index([*dict.fromkeys([MEANING, *both["construction"]])]).get_indexer
    both = both.sort_values("construction", key=order, kind="stable", ignore_index=True)
    return both[["construction", "model", "source", "accuracy", "n"]].astype({"n": str})
