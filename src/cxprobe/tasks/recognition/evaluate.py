"""Responses of probes to test sentences, and rates of what stands beside them: controls and selectivity."""

from itertools import combinations

import numpy as np
import pandas as pd
from scipy.special import stdtrit

from cxprobe.results.rates import Facet
from cxprobe.results.schema import DRAW, HALF, KEYS, other_where_wrong
from cxprobe.stats import LEVEL, credit, difference_by, rate_by

FACETS = (
    Facet("", where="decides", has_verdicts=True),
    Facet("layer", ["layer"], steps=True),
    Facet("feature", ["feature", "layer"], steps=True, in_git=False),
    Facet("value", ["feature", "feature_value", "layer"], steps=True, in_git=False),
)
TOGETHER = ""  # in a feature's place: all features
_OVERLAP = f"{DRAW}overlap"
_RUN = KEYS[1:]  # predictions on folds have a column task of their own
_ABSENT = {"low": np.nan, "high": np.nan, "ties": 0, "chance": np.nan}
_ABSENT |= {"control": np.nan, "control_n": np.nan, "decides": False}


def recognition_responses(probes: pd.DataFrame, splits: pd.DataFrame) -> pd.DataFrame:
    """Return the responses of one model's probes on one source of sentences; the middle layer decides.

    The middle layer has the number ``layers // 2``, where layer 0 is the embeddings. It is fixed in advance.

    Args:
        probes: Of `cxprobe.tasks.recognition.measure.Predictions`.
        splits: Columns feature, split, draw, id: the subsets that the probes were trained and tested on.

    Returns:
        Columns of `cxprobe.results.schema.RESPONSES` but task, model, construction and source; layer, feature and
        feature_value; and clusters. A sentence is a cluster, since it may be in the subsets of several features. The
        value is the mean over the training draws; of several draws, draw_<number> is the value in each, and
        draw_overlap the overlap of the item's feature (`overlaps`).
    """
    key = ["feature", "id", "layer"]
    by_draw = _credited(probes).pivot(index=key, columns="draw", values="accuracy")
    values = by_draw.mean(axis=1).rename("value").to_frame()
    if len(by_draw.columns) > 1:
        values = values.join(by_draw.add_prefix(DRAW))
        values[_OVERLAP] = values.index.get_level_values("feature").map(overlaps(splits))
    first = probes[probes["draw"] == 0].rename(columns={"value": "feature_value", "label": "gold"})
    responses = first.drop(columns=["draw", "probability"]).join(values, on=key)
    other = responses["gold"].map({"positive": "negative", "negative": "positive"})
    named = responses.assign(
        item=responses["feature"] + " " + responses["id"],
        measure="accuracy",
        chance=HALF,
        chosen=other_where_wrong(responses["value"], responses["gold"], other),
        decides=responses["layer"] == responses["layer"].nunique() // 2,
        cluster_sentence=responses["id"],
    )
    return named.drop(columns="id")


def estimate_over_draws(responses: pd.DataFrame, by: list[str]) -> pd.DataFrame:
    """Return the rates of `cxprobe.stats.rate_by`, with the spread of training draws in their intervals.

    Args:
        responses: Of `recognition_responses`.
        by: The columns that make the groups.
    """
    rates = rate_by(responses, "value", by)
    drawn = responses.filter(regex=rf"^{DRAW}\d").columns
    if drawn.empty:
        return rates
    means = responses.groupby(by, sort=False)[[_OVERLAP, *drawn]].mean().reset_index(drop=True)
    return add_spread(rates, means[drawn], means[_OVERLAP])


def add_spread(rates: pd.DataFrame, of_draws: pd.DataFrame, overlap: "pd.Series[float]") -> pd.DataFrame:
    """Add the spread of training draws to the intervals of mean rates over draws.

    The interval of the items' mean credits holds the error of another test part, the t interval of the draws that of
    another training part. They are added as variances: each side becomes the root of the sum of both squared
    half-widths. The half-width of the draws is

        t(0.975; k - 1) * s * sqrt(1 / k + overlap / (1 - overlap))

    where s is the standard deviation of the k draws' rates. Draws of n out of N sentences share n / N of them, their
    variance is that of independent ones times (1 - n / N), and their mean has the error of the N sentences. Nothing is
    added where all draws are the same, since their spread is unknown.

    Args:
        rates: One row a rate: value, low, high.
        of_draws: For each rate, a column with the rate in each draw; NaN where there are fewer draws.
        overlap: For each rate, the share of a draw's training sentences that are in another one too, in [0, 1].

    Source:
        Zou & Donner 2008 for adding intervals; Cochran 1977, §2.6, for draws from finitely many.
    """
    draws = of_draws.count(axis=1)
    error = of_draws.std(axis=1) * np.sqrt(1 / draws + overlap / (1 - overlap))
    half = error * stdtrit(draws - 1, (1 + LEVEL) / 2)
    low = rates["value"] - np.hypot(rates["value"] - rates["low"], half)
    high = rates["value"] + np.hypot(rates["high"] - rates["value"], half)
    has_spread = (draws > 1) & (overlap < 1)
    limits = {"low": low.clip(lower=0.0), "high": high.clip(upper=1.0)}
    return rates.assign(**{name: limit.where(has_spread, rates[name]) for name, limit in limits.items()})


def overlaps(splits: pd.DataFrame) -> dict[str, float]:
    """Return for each feature the share of a training draw's sentences that another draw has too, a mean over pairs.

    Args:
        splits: Columns feature, split, draw, id; at least two draws.
    """
    draws = splits[splits["split"] == "train"].groupby(["feature", "draw"])["id"].agg(frozenset)
    return {
        str(feature): float(np.mean([len(first & second) / len(first) for first, second in combinations(sets, 2)]))
        for feature, sets in draws.groupby("feature")
    }


def rates_of_controls(controls: pd.DataFrame) -> pd.DataFrame:
    """Return the rates of controls, which need no probe: facet control, level <control> or <control>.<feature>.

    Args:
        controls: Of `cxprobe.tasks.recognition.measure.Predictions`, with the columns model, construction and source.
    """
    credited = _with_together(_credited(controls))
    rates = rate_by(credited, "accuracy", [*_RUN, "feature", "control"])
    level = (rates["control"] + "." + rates["feature"]).str.rstrip(".")
    named = rates.drop(columns="control").rename(columns={"accuracy": "value"})
    return _rates(named.assign(facet="control", level=level, measure="accuracy", chance=HALF))


def rates_on_folds(folds: pd.DataFrame) -> pd.DataFrame:
    """Return the rates on the folds of the training part, by layer, of each feature and of all together.

    Selectivity is the accuracy on the real labels less that on random labels of words. Both are learnt on the
    same folds from the same sentences, so the difference is paired. Sentences with the same word have one control label
    and are a cluster, as those of one template are.

    Args:
        folds: Of `cxprobe.tasks.recognition.measure.Predictions`, with the columns model, construction and source.

    Returns:
        The measures accuracy_on_folds, whose control is the accuracy of random labels of words; probe_selectivity; and
        known, whose facet is training: the share of sentences whose word is in other folds too, since others cannot be
        known by heart.

    Source:
        Hewitt & Liang 2019, §2.
    """
    by, credited = [*_RUN, "feature", "layer"], _with_together(_credited(folds))
    real, random = (credited[credited["task"] == task] for task in ("real", "control"))
    means = real.groupby(by, sort=False).agg(value=("accuracy", "mean"), n=("id", "size"), known=("known", "mean"))
    control = random.groupby(by, sort=False)["accuracy"].agg(control="mean", control_n="size")
    learnt = means.join(control).reset_index()
    words = learnt[learnt["layer"] == 0]
    known = words[[*by, "n"]].assign(value=words["known"], facet="training", level=words["feature"], measure="known")
    parts = [_by_layer(learnt, "accuracy_on_folds"), _rates(known)]
    if len(random):
        key = [*by, "id"]
        both = real.merge(random[[*key, "accuracy"]], on=key, suffixes=("", "_random"), validate="one_to_one")
        differences = difference_by(both, "accuracy", "accuracy_random", by).rename(columns={"difference": "value"})
        parts.append(_by_layer(differences, "probe_selectivity", decides=True))
    return pd.concat(parts, ignore_index=True)


def with_best_layers(rates: pd.DataFrame) -> pd.DataFrame:
    """Return rates, and the layer that is best on the folds of the training part, for each feature and for all.

    The highest of several accuracies on the test part would be too optimistic; that of a layer which is chosen without
    the test part is not. Of layers that are equally accurate on the folds the lowest is taken.

    Args:
        rates: Of recognition, with those of `rates_on_folds`.

    Returns:
        ``rates``, followed by those of the facet best_layer: the measure layer, and the accuracy of that layer.
    """
    curves = rates[rates["facet"].isin(["layer", "feature"])]
    feature_and_layer = curves["level"].str.rpartition(".")
    placed = curves.assign(feature=feature_and_layer[0], layer=feature_and_layer[2].astype(int))
    key = [*_RUN, "feature"]
    on_folds = placed[placed["measure"] == "accuracy_on_folds"].sort_values("layer", kind="stable")
    if on_folds.empty:
        return rates
    best = on_folds.loc[on_folds.groupby(key, sort=False)["value"].idxmax(), [*key, "layer"]]
    tested = placed[placed["measure"] == "accuracy"].merge(best, on=[*key, "layer"])
    accuracy = tested.assign(facet="best_layer", level=tested["feature"], decides=False)
    number = accuracy.assign(measure="layer", value=accuracy["layer"].astype(float), ties=0)
    number[["low", "high", "chance"]] = np.nan
    return pd.concat([rates, accuracy, number], ignore_index=True)[rates.columns]


def _by_layer(rates: pd.DataFrame, measure: str, *, decides: bool = False) -> pd.DataFrame:
    """Return rates with a facet and a level that say the feature and the layer.

    Args:
        rates: Columns model, construction, source, feature, layer, value, n, and perhaps others.
        measure: What they measure.
        decides: Whether that of the middle layer, of all features together, decides.
    """
    is_all, layer = rates["feature"] == TOGETHER, rates["layer"].astype(str)
    middle = rates.groupby([*_RUN])["layer"].transform("nunique") // 2
    return _rates(
        rates.assign(
            facet=np.where(is_all, "layer", "feature"),
            level=layer.where(is_all, rates["feature"] + "." + layer),
            measure=measure,
            decides=is_all & (rates["layer"] == middle) & decides,
        )
    )


def _rates(rates: pd.DataFrame) -> pd.DataFrame:
    """Return the columns of rates that no comparison gives; those that are absent are empty."""
    absent = {name: value for name, value in _ABSENT.items() if name not in rates}
    return rates.assign(**absent, task="recognition")[[*KEYS, "facet", "level", "measure", "value", "n", *_ABSENT]]


def _with_together(items: pd.DataFrame) -> pd.DataFrame:
    """Return items followed by themselves as those of one feature, in which a sentence can be several times."""
    clustered = items.assign(cluster_sentence=items["id"])
    together = clustered.assign(id=items["feature"] + " " + items["id"], feature=TOGETHER)
    return pd.concat([clustered, together], ignore_index=True)


def _credited(predictions: pd.DataFrame) -> pd.DataFrame:
    """Return predictions with their credits in place of the probabilities."""
    positive = (predictions["label"] == "positive").to_numpy()
    accuracy = credit(predictions["probability"].to_numpy(dtype=np.float64), positive)
    return predictions.drop(columns="probability").assign(accuracy=accuracy)
