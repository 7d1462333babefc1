"""The same minimal pairs asked in three ways: the text that a probe takes, the model expects, and the model names.

``recognised``: a linear probe on the model's vectors, trained on other frames, takes the right text. ``expected``: the
model finds the right text more probable. ``said``: asked in words, it names the right text.
"""

from collections.abc import Mapping
from itertools import chain
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from cxprobe.stats import credits_of_margins
from cxprobe.tasks.pairs.evaluate import decisions_of
from cxprobe.tasks.pairs.sources import FRAME

WAYS = ("recognised", "expected", "said")


def with_ways(
    responses: pd.DataFrame, predicted: Mapping[str, Mapping[str, pd.DataFrame]], asked: Mapping[str, str | None]
) -> pd.DataFrame:
    """Return responses with those of probed models in each way, "words" among them, and by the probe of each layer.

    Args:
        responses: Those of all models (`cxprobe.tasks.pairs.evaluate.pair_responses`).
        predicted: Model -> construction -> predictions of its probes: id, layer (-1 for counts of words), probability.
        asked: Model -> the same one as it is asked in words, or None.
    """
    decisions = decisions_of(responses)
    ways: dict[str, list[pd.DataFrame]] = {way: [] for way in ("words", *WAYS)}
    layers: list[pd.DataFrame] = []
    for model, of_model in predicted.items():
        said = decisions[decisions["model"] == asked[model]].set_index("item")["value"]
        for name, table in of_model.items():
            table = table.assign(credit=credits_of_margins(table["probability"].to_numpy(np.float64) - 0.5))
            credits = table.pivot(index="id", columns="layer", values="credit")
            own = decisions[(decisions["model"] == model) & (decisions["construction"] == name)]
            items = own[own["item"].isin(credits.index)].reset_index(drop=True)
            credits = credits.loc[items["item"]].reset_index(drop=True)  # (pairs, words and layers)
            of_layers = credits.drop(columns=-1)
            values: dict[str, Any] = {
                "words": credits[-1],
                "recognised": _of_best_layer(of_layers, items[FRAME].astype(str)),
                "expected": items["value"],
                "said": items["item"].map(said),
            }
            for way, credit in values.items():
                ways[way].append(items.assign(way=way, value=credit))
            layers += [items.assign(way="recognised", layer=str(layer), value=of_layers[layer]) for layer in of_layers]
    added = pd.concat([responses.head(0), *chain(*ways.values()), *layers]).dropna(subset="value")
    added = added.assign(gold="", chosen="", scheme="", score="", decides=False, deciding=False, balanced=True)
    return pd.concat([responses, added], ignore_index=True)


def _of_best_layer(credits: pd.DataFrame, frames: "pd.Series[str]") -> NDArray[np.float64]:
    """Return the credit of each pair on the layer that is most often right about the pairs of all other frames.

    So no pair has a part in choosing its layer; of several layers the lowest.

    Args:
        credits: Shape (pairs, layers).
        frames: Shape (pairs,).
    """
    of_other_frames = credits.sum() - credits.groupby(frames).transform("sum")
    best = of_other_frames.to_numpy().argmax(axis=1)  # (pairs,)
    return np.take_along_axis(credits.to_numpy(np.float64), best[:, None], axis=1)[:, 0]
