"""Accuracies of all models' probes on one source of sentences, of the controls, and of the layer that is best."""

from collections.abc import Sequence
from itertools import combinations
from math import hypot, sqrt
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import stdtrit

from cxprobe.run.record import Trial
from cxprobe.stats import CLUSTER, LEVEL, Estimate, credit, difference_by, rate_by

_CREDIT = "credit_of_draw_"  # and the number of the draw


def accuracy_by(items: pd.DataFrame, by: Sequence[str]) -> pd.DataFrame:
    """Return the accuracy with its 95 % interval for each group of items (`rate_by`), with the spread of draws in it.

    Args:
        items: What `rate_by` needs, with the column accuracy. With several draws also ``overlap`` and one column a
            draw, see `mean_over_draws`.
        by: The columns whose values make the groups.

    Returns:
        The columns of ``by``, accuracy, low, high, n.
    """
    rates = rate_by(items, "accuracy", by).drop(columns="ties")
    drawn = [column for column in items.columns if column.startswith(_CREDIT)]
    if not drawn:
        return rates
    low, high = [], []
    groups = items.groupby(list(by), sort=False)
    for row, (_, group) in zip(rates.to_dict("records"), groups, strict=True):
        estimate = Estimate(row["accuracy"], row["low"], row["high"], row["n"])
        widened = add_spread(estimate, group[drawn].to_numpy().mean(axis=0), group["overlap"].mean())
        low.append(widened.low)
        high.append(widened.high)
    return rates.assign(low=low, high=high)


def add_spread(estimate: Estimate, rates: NDArray[np.float64], overlap: float) -> Estimate:
    """Return the estimate of a mean rate over training draws with the spread of the draws in its interval.

    The interval of the items' mean credits, which says how far another test part could be off, and the t interval of
    the draws, which says how far other training parts could, are added as variances: each side becomes the root of the
    sum of both squared half-widths. What draws share does not show in their spread. The half-width of the draws is

        t(0.975; k - 1) * s * sqrt(1 / k + overlap / (1 - overlap))

    where s is the standard deviation of the k draws' rates. Draws of n out of N sentences share n / N of them, their
    variance is that of independent ones times (1 - n / N), and their mean can be off as the N sentences can. Where all
    draws are the same, nothing is known about the spread and nothing is added.

    Args:
        estimate: Of each item's mean credit over the draws.
        rates: Shape (draws,): the rate in each draw.
        overlap: The share of a draw's training sentences that are in another one too, in [0, 1].

    Source:
        Zou & Donner 2008 for adding intervals; Cochran 1977, §2.6, for draws from finitely many.
    """
    draws = len(rates)
    if draws < 2 or overlap >= 1:
        return estimate
    quantile = float(stdtrit(draws - 1, (1 + LEVEL) / 2))
    half = quantile * float(np.std(rates, ddof=1)) * sqrt(1 / draws + overlap / (1 - overlap))
    low = estimate.value - hypot(estimate.value - estimate.low, half)
    high = estimate.value + hypot(estimate.high - estimate.value, half)
    return Estimate(estimate.value, max(0.0, low), min(1.0, high), estimate.n)


def mean_over_draws(credited: pd.DataFrame, splits: pd.DataFrame) -> pd.DataFrame:
    """Return the items of all draws as one row each, whose accuracy is the mean over the draws.

    Args:
        credited: Columns model, feature, id, layer, draw, accuracy, and others, which do not depend on the draw.
        splits: Columns feature, split, draw, id: what each draw has in its training part.

    Returns:
        The same without draw. If there are several draws, also overlap (`overlaps`, of the item's feature) and the
        accuracy in each draw, a column each.
    """
    first = credited[credited["draw"] == 0].drop(columns=["draw", "accuracy"])
    key = ["model", "feature", "id", "layer"]
    wide = credited.pivot(index=key, columns="draw", values="accuracy")
    if len(wide.columns) == 1:
        return credited.drop(columns="draw")
    named = wide.add_prefix(_CREDIT).assign(accuracy=wide.mean(axis=1)).reset_index()
    merged = first.merge(named, on=key, validate="one_to_one")
    return merged.assign(overlap=merged["feature"].map(overlaps(splits)))


def overlaps(splits: pd.DataFrame) -> dict[str, float]:
    """Return for each feature which share of a training draw's sentences another draw has too, the mean of all pairs.

    Args:
        splits: Columns feature, split, draw, id; at least two draws.
    """
    draws = splits[splits["split"] == "train"].groupby(["feature", "draw"])["id"].agg(frozenset)
    return {
        str(feature): float(np.mean([len(first & second) / len(first) for first, second in combinations(sets, 2)]))
        for feature, sets in draws.groupby("feature")
    }


TOGETHER = "together"  # in a feature's place: all features
# The smallest probability that counts in a code. Vectors have single precision, in which 1 - 1e-8 is 1.
_LEAST = 1e-7


class Credited(NamedTuple):
    """Credited predictions of all models for the sentences of one source (`credit_predictions`).

    Attributes:
        probes: Of the test part: columns model, feature, value, id, layer, accuracy (the mean over the training draws),
            and at least one that begins with ``cluster_``; with several draws the columns of `mean_over_draws`.
        controls: Of the test part: model, feature, value, id, control, accuracy, clusters.
        folds: Of the training part: model, feature, id, task ("real" or "control"), layer, known, accuracy, clusters.
        code: Of the training part: model, feature, id, layer, bits, the length of the label's code by the probe.
    """

    probes: pd.DataFrame
    controls: pd.DataFrame
    folds: pd.DataFrame
    code: pd.DataFrame


class Recognition(NamedTuple):
    """The accuracies of all models on one source of sentences.

    Every table begins with the column model, and those of accuracies end in accuracy, low, high, n.

    Attributes:
        by_layer: Columns feature, layer.
        by_value: Columns feature, value, layer.
        controls: Columns feature, control.
        together: Column layer: all features together.
        controls_together: Column control: all features together.
        best_layer: Columns feature, layer, accuracy_on_folds: the layer that is best on the folds of the training part,
            with its accuracy on the test part, for each feature and for all (`TOGETHER`); no rows without folds.
        selectivity: Columns feature, layer, accuracy and control (on the folds, of the real labels and of random labels
            of words), selectivity (their difference), low, high, n, known (the share of sentences whose word is in the
            other folds too: others cannot be known by heart); no rows without a control task.
        code_length: Columns feature, layer, bits (of an online code of the training labels), bits_of_probe (of the code
            that trusts the probe alone), n, compression; no rows without a code.
    """

    by_layer: pd.DataFrame
    by_value: pd.DataFrame
    controls: pd.DataFrame
    together: pd.DataFrame
    controls_together: pd.DataFrame
    best_layer: pd.DataFrame
    selectivity: pd.DataFrame
    code_length: pd.DataFrame

    def of(self, model: str) -> "Recognition":
        """Return the tables of one model, without the column model."""
        return Recognition(*(table[table["model"] == model].drop(columns="model") for table in self))


def judged_items(items: pd.DataFrame, summary: pd.DataFrame) -> pd.DataFrame:
    """Return the items of all models at the layer that each is judged by, as `compare_models` takes them.

    Args:
        items: Columns construction, source, model, feature, id, layer, accuracy, and clusters.
        summary: Columns construction, source, model, layer: the layer that sums up the model.

    Returns:
        Columns construction, source, model, accuracy and clusters; id names the sentence within the subset of a
        feature, and the sentence is a cluster, since it may be in several.
    """
    keys = ["construction", "source", "model", "layer"]
    at_layer = items.merge(summary[keys], on=keys, validate="many_to_one")
    clusters = at_layer.filter(regex=f"^{CLUSTER}").columns
    named = at_layer.assign(id=at_layer["feature"] + " " + at_layer["id"], cluster_sentence=at_layer["id"])
    return named[[*keys[:-1], "id", "accuracy", *clusters, "cluster_sentence"]]


def metrics_of(judged: Recognition) -> dict[str, float | int]:
    """Return what sums up a model: the accuracy of all features together at the middle layer.

    The middle layer has the number ``layers // 2``, where layer 0 is the embeddings. It is fixed in advance. The names
    are accuracy, low, high, n, layer, accuracy_layer_0, and control_<name> for each control. With folds there is
    accuracy_best_layer too, the accuracy on the test part of best_layer, which is chosen on the training part; with a
    control task and a code selectivity and compression, at the middle layer.

    Args:
        judged: The tables of one model (`Recognition.of`).
    """
    by_layer = judged.together.set_index("layer").to_dict("index")
    middle = len(by_layer) // 2
    metrics: dict[str, float | int] = {str(name): value for name, value in by_layer[middle].items()}
    metrics |= {"layer": middle, "accuracy_layer_0": by_layer[0]["accuracy"]}
    for name, accuracy in judged.controls_together[["control", "accuracy"]].itertuples(index=False):
        metrics[f"control_{name}"] = float(accuracy)
    for best in _together(judged.best_layer).to_dict("records"):
        metrics |= {"accuracy_best_layer": best["accuracy"], "best_layer": best["layer"]}
    for name, table in (("selectivity", judged.selectivity), ("compression", judged.code_length)):
        at_layer = _together(table).set_index("layer")[name]
        if middle in at_layer:
            metrics[name] = float(at_layer[middle])
    return metrics


def curves_by_layer(judged: Recognition) -> dict[str, list[tuple[int, float]]]:
    """Return the curves of a model by layer: name -> (layer, number) pairs.

    They are the accuracies of all features together and of each; selectivity and compression, of all together, if there
    are any.

    Args:
        judged: The tables of one model (`Recognition.of`).
    """
    curves = {"accuracy": (judged.together, "accuracy")}
    curves |= {str(name): (rows, "accuracy") for name, rows in judged.by_layer.groupby("feature", sort=False)}
    curves["selectivity"] = (_together(judged.selectivity), "selectivity")
    curves["compression"] = (_together(judged.code_length), "compression")
    return {
        f"by_layer.{name}": list(zip(rows["layer"].tolist(), rows[column].tolist(), strict=True))
        for name, (rows, column) in curves.items()
        if not rows.empty
    }


def credit_predictions(
    probes: pd.DataFrame, controls: pd.DataFrame, folds: pd.DataFrame, code: pd.DataFrame, splits: pd.DataFrame
) -> Credited:
    """Return predictions with what they are worth: 1 for a right one, 0 for a wrong one, 0.5 for a tie; or their code.

    Args:
        probes: Columns model, probability (of "positive") and label, feature, id, layer, draw, and others, which are
            kept.
        controls: The same with control in place of layer and draw.
        folds: The same with task and layer; it may have no rows.
        code: The same with layer; it may have no rows.
        splits: Columns feature, split, draw, id: the subsets that the probes were trained and tested on.
    """
    of_label = np.where(code["label"] == "positive", code["probability"], 1 - code["probability"])
    return Credited(
        mean_over_draws(_credited(probes), splits),
        _credited(controls),
        _credited(folds),
        code.assign(bits=-np.log2(np.maximum(of_label, _LEAST))),
    )


def judge_predictions(credited: Credited) -> Recognition:
    """Return the accuracies of all models' probes and of the controls on one source of sentences.

    A sentence may be in the subsets of several features, so over all features together it is a cluster, in addition to
    the usual ones.
    """
    probes, controls, folds, code = credited
    # Controls depend on no model: they are judged once, and said of each.
    models = controls[["model"]].drop_duplicates()
    first = controls[controls["model"] == models["model"].iloc[0]].drop(columns="model")
    by_layer = accuracy_by(probes, ["model", "feature", "layer"])
    together = accuracy_by(_with_sentences(probes), ["model", "layer"])

    def by_model(table: pd.DataFrame) -> pd.DataFrame:
        of_models: list[pd.DataFrame] = [table[table["model"] == model] for model in models["model"]]
        return pd.concat(of_models, ignore_index=True)

    return Recognition(
        by_layer=by_layer,
        by_value=accuracy_by(probes, ["model", "feature", "value", "layer"]),
        controls=models.merge(accuracy_by(first, ["feature", "control"]), how="cross"),
        together=together,
        controls_together=models.merge(accuracy_by(_with_sentences(first), ["control"]), how="cross"),
        best_layer=by_model(best_layers(folds, pd.concat([by_layer, together.assign(feature=TOGETHER)]))),
        selectivity=by_model(selectivity(folds)),
        code_length=by_model(code_length(code)),
    )


def best_layers(folds: pd.DataFrame, tested: pd.DataFrame) -> pd.DataFrame:
    """Return the layer that is best on the folds of the training part, for each feature and for all together.

    The highest of several accuracies on the test part would be too optimistic; that of a layer which is chosen without
    the test part is not. Of layers that are equally accurate on the folds the lowest is taken.

    Args:
        folds: Of `Credited`.
        tested: Columns model, feature, layer, accuracy, low, high, n: the accuracies on the test part.

    Returns:
        Columns model, feature, layer, accuracy_on_folds; accuracy, low, high, n, on the test part.
    """
    real = _with_together(folds[folds["task"] == "real"])
    by_layer = real.groupby(["model", "feature", "layer"], as_index=False)["accuracy"].mean()
    best = by_layer.loc[by_layer.groupby(["model", "feature"])["accuracy"].idxmax()]
    chosen = best.rename(columns={"accuracy": "accuracy_on_folds"})
    columns = ["model", "feature", "layer", "accuracy_on_folds", "accuracy", "low", "high", "n"]
    return tested.merge(chosen, on=["model", "feature", "layer"])[columns]


def selectivity(folds: pd.DataFrame) -> pd.DataFrame:
    """Return by how much the real labels are learnt better than random labels of words, with a 95 % interval.

    Both are learnt on the same folds from the same sentences, so the difference is paired. Sentences with the same word
    have one control label and are a cluster, as those of one template are.

    Args:
        folds: Of `Credited`.

    Returns:
        See `Recognition.selectivity`.

    Source:
        Hewitt & Liang 2019, §2.
    """
    key = ["model", "feature", "layer", "id"]
    real, control = (_with_together(folds[folds["task"] == task]) for task in ("real", "control"))
    both = real.merge(control[[*key, "accuracy"]], on=key, suffixes=("", "_control"), validate="one_to_one")
    by = key[:-1]
    means = both.groupby(by).agg(
        accuracy=("accuracy", "mean"), control=("accuracy_control", "mean"), known=("known", "mean")
    )
    differences = difference_by(both, "accuracy", "accuracy_control", by).rename(columns={"difference": "selectivity"})
    columns = [*by, "accuracy", "control", "selectivity", "low", "high", "n", "known"]
    return differences.merge(means, on=by)[columns]


def code_length(code: pd.DataFrame) -> pd.DataFrame:
    """Return how many bits an online code of the training labels has.

    The code mixes two, each with a weight of one half at first, which Bayes' rule moves to the one that has been
    shorter: the probe's, and that of a fair coin, one bit a label. So it is at most one bit longer than the shorter of
    them. The probe alone can be far longer than n bits, since it is sure of what it has learnt by heart; the mixture
    says what there is to know, and random labels have the code of coin flips.

    Args:
        code: Of `Credited`.

    Returns:
        See `Recognition.code_length`. Compression is n, the bits of a uniform code of two labels, by bits. Where there
        is nothing to know it is from n / (n + 1), since the mixture costs up to a bit, to 1.

    Source:
        Voita & Titov 2020, §2.3; Grünwald 2007, §6 and §9, for Bayesian mixtures as prequential codes.
    """
    key, numbers = ["model", "feature", "layer"], ["bits", "bits_of_probe", "n"]
    lengths = code.groupby(key, sort=False)["bits"].agg(bits_of_probe="sum", n="size").reset_index()
    probe, coin = (lengths[name].to_numpy(dtype=np.float64) for name in ("bits_of_probe", "n"))
    # Without a first portion that could train anything, the probe's code is the coin's, and so is the mixture.
    lengths["bits"] = 1 - np.logaddexp2(-probe, -coin)
    sums = lengths.groupby(["model", "layer"], as_index=False, sort=False)[numbers].sum().assign(feature=TOGETHER)
    both = pd.concat([lengths, sums], ignore_index=True)
    return both.assign(compression=both["n"] / both["bits"])[[*key, *numbers, "compression"]]


def trials_of(tried: pd.DataFrame) -> list[Trial]:
    """Return every setting that a search has tried, as a child run.

    Args:
        tried: Of `cxprobe.recognition.tuning.tune_subset`, with the column feature.
    """
    trials = []
    for row in tried.to_dict("records"):
        is_complete = row["state"] == "COMPLETE"
        metrics = {"accuracy": row["accuracy"]} if is_complete else {}
        params = {name: str(row[name]) for name in ("feature", "layer", "C", "standardise")}
        name = f"{row['feature']} {row['layer']} {row['number']}"
        trials.append(Trial(name, metrics, params, "FINISHED" if is_complete else "FAILED"))
    return trials


def _together(table: pd.DataFrame) -> pd.DataFrame:
    return table[table["feature"] == TOGETHER]


def _with_sentences(items: pd.DataFrame) -> pd.DataFrame:
    """Return items of which those of one sentence are a cluster."""
    return items.assign(cluster_sentence=items["id"])


def _with_together(items: pd.DataFrame) -> pd.DataFrame:
    """Return items followed by themselves as those of one feature, in which a sentence can be several times."""
    items = _with_sentences(items)
    together = items.assign(id=items["feature"] + " " + items["id"], feature=TOGETHER)
    return pd.concat([items, together], ignore_index=True)


def _credited(predictions: pd.DataFrame) -> pd.DataFrame:
    """Return predictions with their credits in place of the probabilities."""
    positive = (predictions["label"] == "positive").to_numpy()
    accuracy = credit(predictions["probability"].to_numpy(dtype=np.float64), positive)
    return predictions.drop(columns="probability").assign(accuracy=accuracy)
