"""Recognition side by side: the figures and cards of all models and sources."""

from collections.abc import Sequence

import pandas as pd
from matplotlib.figure import Figure

from cxprobe.lm.params import Member
from cxprobe.recognition.make import TEMPLATE
from cxprobe.report.cards import card_figure, card_table, composition_table, word_table
from cxprobe.report.dots import curves

_KEYS = ["construction", "source", "feature"]
_LAYER = "layer (0 = embeddings)"


def figures_of_grid(by_layer: pd.DataFrame, members: Sequence[Member], cards: pd.DataFrame) -> dict[str, Figure]:
    """Draw the accuracies of all models on all sources of sentences, and the cards, a figure each a construction.

    Args:
        by_layer: Columns construction, source, model, feature, layer, accuracy, low, high, n.
        members: What the models are.
        cards: What `recognition_cards` returns as "card"; may be empty.

    Returns:
        "recognition_<construction>" (none if all models are blind) and, where there are blind models,
        "cards_<construction>" -> figure.
    """
    seeing = [member.slug for member in members if not member.is_blind]
    figures = {}
    for name, rows in by_layer.groupby("construction", sort=False):
        in_construction = cards[cards["construction"] == name]
        if rows["model"].isin(seeing).any():
            best = in_construction.sort_values("accuracy", ascending=False, kind="stable").drop_duplicates(_KEYS)
            figures[f"recognition_{name}"] = accuracy_by_layer(rows, members, f"{name}: probes by layer", best)
        if not in_construction.empty:
            short = in_construction.assign(dataset=in_construction["source"] + ", " + in_construction["feature"])
            figures[f"cards_{name}"] = card_figure(short, f"{name}: what blind models get")
    return figures


def accuracy_by_layer(by_layer: pd.DataFrame, members: Sequence[Member], title: str, cards: pd.DataFrame) -> Figure:
    """Draw accuracy by layer, a panel for each feature and source, and a line for each model that is not blind.

    Args:
        by_layer: Columns model (a slug), source, feature, layer, accuracy, low, high, n.
        members: What the models are.
        title: Of the figure.
        cards: The best blind model of each source and feature, drawn as a line: columns source, feature, accuracy, and
            says, a sentence below the panel's title or "".

    Source:
        Weissweiler et al. 2022, Figure 1.
    """
    labels = {member.slug: member.label for member in members if not member.is_blind}
    best = cards.assign(panel=(cards["feature"] + ", " + cards["source"] + "\n" + cards["says"]).str.strip())
    seeing = by_layer[by_layer["model"].isin(labels)]
    table = seeing.merge(best[["source", "feature", "panel"]], how="left", on=["source", "feature"])
    panels, named = table["panel"].fillna(table["feature"] + ", " + table["source"]), table["model"].map(labels)
    table = table.assign(panel=panels, label=named).rename(columns={"layer": _LAYER})
    return curves(table, title, x=_LAYER, panels="panel", colours="label", best=best, linear=True)


def recognition_cards(
    by_layer: pd.DataFrame, sentences: pd.DataFrame, members: Sequence[Member], limit: float
) -> dict[str, pd.DataFrame]:
    """Return the cards of the balanced subsets: what they consist of, and what blind models get on them.

    Args:
        by_layer: Columns construction, source, model, feature, layer, accuracy, low, high, n; blind models have layer 0
            alone.
        sentences: One row a sentence of a subset: construction, source, feature, split, label, text, cluster_template.
        members: What the models are.
        limit: The accuracy above which a subset can be solved without the construction (`cards.limit`).

    Returns:
        "card" (`card_table`), "card_composition" (`composition_table`, by split), "card_words" (`word_table`) and
        "card_templates" (columns label, template, count, share: the ten most frequent of each label); each begins with
        construction, source, feature.
    """
    rates, items = (table.assign(dataset=table[_KEYS].agg(", ".join, axis=1)) for table in (by_layer, sentences))
    tables = {
        # Subsets are balanced, so that chance is one half.
        "card": card_table(rates, chance=0.5, limit=limit, members=members),
        "card_composition": composition_table(items, by=["split"]),
        "card_words": word_table(items),
        "card_templates": _template_table(items),
    }
    keys = items.drop_duplicates("dataset").set_index("dataset")[_KEYS]
    return {
        stem: table.join(keys, on="dataset")[[*_KEYS, *(name for name in table if name != "dataset")]]
        for stem, table in tables.items()
    }


def _template_table(items: pd.DataFrame, most: int = 10) -> pd.DataFrame:
    counts = items.groupby(["dataset", "label", TEMPLATE], sort=False).size().rename("count").reset_index()
    share = counts["count"] / counts.groupby(["dataset", "label"])["count"].transform("sum")
    ranked = counts.assign(share=share).sort_values("count", ascending=False, kind="stable")
    first = ranked.groupby(["dataset", "label"], sort=False).head(most).sort_index()
    return first.rename(columns={TEMPLATE: "template"})
