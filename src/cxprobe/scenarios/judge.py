"""Calibration: the probability of a candidate relative to its probability in texts without a right answer."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import log_softmax, logsumexp

from cxprobe.errors import DataError
from cxprobe.scenarios.rules import Scenarios
from cxprobe.stats import CLUSTER, credits_of_margins, rate_by


def calibrate(tested: NDArray[np.float64], reference: NDArray[np.float64], *, normalised: bool) -> NDArray[np.float64]:
    """Return the logarithm of P(a | S) / mean over i of P(a | C_i) for both candidates a.

    With one calibration text this is the pointwise mutual information of the candidate and the part of the test that is
    not in that text. With content-free texts and probabilities normalised over the candidates, which are the labels
    then, it is contextual calibration with W the inverse of the diagonal matrix of the mean, and b = 0.

    Args:
        tested: Shape (items, 2): natural-log probabilities in the test S.
        reference: Shape (items, texts, 2): those in the calibration texts C_i.
        normalised: Whether each probability is first divided by the sum of both candidates'.

    Returns:
        Shape (items, 2). Adding a constant to both of an item's numbers in any text changes no comparison of
        the two if they are normalised; adding one to a candidate's numbers everywhere changes none in any case.

    Source:
        Weissweiler et al. 2022, section 4 (the formula); Holtzman et al. 2021 (PMI); Zhao et al. 2021 (contextual).
    """
    if normalised:
        tested, reference = log_softmax(tested, axis=-1), log_softmax(reference, axis=-1)
    mean = logsumexp(reference, axis=1) - np.log(reference.shape[1])  # (items, 2)
    return np.asarray(tested - mean, dtype=np.float64)


# Nats. Probabilities come from float32, which distinguishes them to about 1e-6; smaller differences are rounding.
TIE = 1e-10


def decide(scores: NDArray[np.float64], right: int) -> NDArray[np.float64]:
    """Return 1 where the right candidate scores higher, 0 where it scores lower, and 0.5 for a tie.

    Two scores that differ by rounding alone are a tie: where a calibration removes the whole difference between two
    candidates, rounding leaves such a small one.

    Args:
        scores: Shape (items, 2), natural logarithms.
        right: Which candidate is right, 0 or 1.

    Raises:
        DataError: A score is not finite.
    """
    return credits_of_margins(scores[:, right] - scores[:, 1 - right], TIE)


def flip(before: NDArray[np.float64], after: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return 1 where a decision is right in one text and wrong in the other, and 0 where it is right or wrong in both.

    A tie is a decision at random, so next to a tie a flip is as likely as not: 0.5.

    Args:
        before: Shape (items,), from `decide`.
        after: Shape (items,), of the same items in another text.
    """
    return before * (1 - after) + after * (1 - before)


UNCALIBRATED = "none"
MOST_METRICS = 40  # of a judged run
MOST_HEADLINES = 12  # of one model in metrics.json


def decide_tests(scores: pd.DataFrame, items: pd.DataFrame, scenarios: Scenarios) -> pd.DataFrame:
    """Decide every test of every item, without calibration and with each.

    Args:
        scores: Columns item, scenario, log_p_first and log_p_second; all texts of a scenario, item by item.
        items: Columns id and cluster_<...>.
        scenarios: The tests with their right answers, and the calibrations.

    Returns:
        One row per calibration ("none" first), test and item: calibration, scenario (the test), base (whether it is
        the base test), item, accuracy (1, 0, or 0.5 for a tie), and the items' clusters.

    Raises:
        DataError: An item has fewer texts than others, or the tests and calibrations are not those of the scores.
    """
    log_p = {str(name): _by_item(str(name), rows, items["id"]) for name, rows in scores.groupby("scenario", sort=False)}
    if log_p.keys() != scenarios.tests.keys() | scenarios.calibrations.keys():
        raise DataError(
            f"the scores are of {', '.join(sorted(log_p))}, but scenarios.yaml has "
            f"{', '.join(sorted([*scenarios.tests, *scenarios.calibrations]))}; run fill_scenarios again"
        )
    clusters = items.filter(regex=f"^{CLUSTER}").reset_index(drop=True)
    parts = []
    for calibration in (UNCALIBRATED, *scenarios.calibrations):
        for name, test in scenarios.tests.items():
            tested = log_p[name][:, 0]  # (items, 2)
            if calibration != UNCALIBRATED:
                normalised = scenarios.calibrations[calibration].normalised
                tested = calibrate(tested, log_p[calibration], normalised=normalised)
            right = scenarios.candidates.index(test.answer)
            named = {"calibration": calibration, "scenario": name, "base": name == scenarios.base}
            decided = {"item": items["id"].to_numpy(), "accuracy": decide(tested, right)}
            parts.append(pd.DataFrame(named | decided).join(clusters))
    return pd.concat(parts, ignore_index=True)


def flips_from_base(decisions: pd.DataFrame) -> pd.DataFrame:
    """Return, for every decision in another test than the base test, whether it flips from the item's decision there.

    Args:
        decisions: What `decide_tests` returns, of one construction.

    Returns:
        The rows of the other tests, with the column flips (1, 0, or 0.5 next to a tie) in the place of base and
        accuracy.
    """
    keys = ["calibration", "item"]
    before = decisions.loc[decisions["base"], [*keys, "accuracy"]].rename(columns={"accuracy": "before"})
    others = decisions[~decisions["base"]].merge(before, on=keys, validate="many_to_one")
    changed = flip(others["before"].to_numpy(), others["accuracy"].to_numpy())
    return others.drop(columns=["base", "before", "accuracy"]).assign(flips=changed)


def uncalibrated(table: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of a table of decisions, flips or rates that no calibration has touched, without that column."""
    return table[table["calibration"] == UNCALIBRATED].drop(columns="calibration").reset_index(drop=True)


def scenario_rates(credited: pd.DataFrame, rate: str) -> pd.DataFrame:
    """Return a rate with its 95 % interval for each model, calibration and scenario.

    Args:
        credited: Columns model, calibration, scenario, cluster_<...> and ``rate``, each item's credit: 0, 0.5 where
            a tie decides, 1.
        rate: accuracy or flips.

    Returns:
        model, calibration, scenario, the rate, low and high in [0, 1], n, and ties, the share of items with 0.5.
    """
    rates = rate_by(credited, rate, ["model", "calibration", "scenario"])
    return rates.assign(ties=rates["ties"] / rates["n"])


def scenario_metrics(
    decisions: pd.DataFrame, rates: Mapping[str, pd.DataFrame], *, most: int = MOST_METRICS
) -> dict[str, float]:
    """Return the numbers of one model by name, the most important first.

    Args:
        decisions: What `decide_tests` returns, of one construction or several.
        rates: What `scenario_rates` returns for "accuracy" and for "flips", of the same items.
        most: How many numbers at most; calibrations are left out from the last one on, each with all its tests.

    Returns:
        accuracy (of the base test without calibration) with low, high, n and tie_rate; test.<test> and flips.<test>
        without calibration; and the accuracies <calibration>.test.<test>.
    """
    base = decisions[decisions["base"] & (decisions["calibration"] == UNCALIBRATED)]
    overall = rate_by(base, "accuracy", ["calibration"]).iloc[0]
    metrics = {name: float(overall[name]) for name in ("accuracy", "low", "high", "n")}
    metrics["tie_rate"] = float(overall["ties"] / overall["n"])
    tests = dict(_by_calibration(rates["accuracy"], "accuracy", "test"))
    metrics |= tests.pop(UNCALIBRATED)
    metrics |= dict(_by_calibration(rates["flips"], "flips", "flips")).get(UNCALIBRATED, {})
    for calibration, own in tests.items():
        if len(metrics) + len(own) <= most:
            metrics |= {f"{calibration}.{name}": rate for name, rate in own.items()}
    return metrics


def scenario_headline(
    metrics: Mapping[str, Mapping[str, float]], entry: str, *, most: int = MOST_HEADLINES
) -> dict[str, Any]:
    """Return the numbers of metrics.json.

    Args:
        metrics: Model -> what `scenario_metrics` returns of it on all constructions.
        entry: The key of the section models: of the one model, or of a panel of blind ones.
        most: How many numbers of one model.

    Returns:
        The first numbers of the model; for a panel, accuracy and n of each of its members.
    """
    if entry in metrics:
        return dict(list(metrics[entry].items())[:most])
    return {slug: {name: own[name] for name in ("accuracy", "n")} for slug, own in metrics.items()}


def _by_calibration(rates: pd.DataFrame, rate: str, prefix: str) -> Iterator[tuple[str, dict[str, float]]]:
    """Give each calibration with its rates by the names of the metrics."""
    for calibration, rows in rates.groupby("calibration", sort=False):
        names = prefix + "." + rows["scenario"]
        yield str(calibration), dict(zip(names, rows[rate].tolist(), strict=True))


def _by_item(scenario: str, rows: pd.DataFrame, ids: "pd.Series[str]") -> NDArray[np.float64]:
    """Return the log-probabilities in a scenario's texts, shape (items, texts, 2)."""
    texts, rest = divmod(len(rows), len(ids))
    if rest or not np.array_equal(rows["item"].to_numpy(), np.repeat(ids.to_numpy(), texts)):
        raise DataError(
            f"{scenario}: {len(rows)} texts do not belong to the {len(ids)} items; run fill_scenarios again"
        )
    return rows[["log_p_first", "log_p_second"]].to_numpy(dtype=np.float64).reshape(len(ids), texts, 2)
