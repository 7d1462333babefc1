"""From the raw probabilities of all texts to every item's decisions and flips."""

from collections.abc import Mapping

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from cxprobe.decisions.calibration import calibrate
from cxprobe.decisions.choices import decide, flip
from cxprobe.errors import DataError
from cxprobe.records import CLUSTER

UNCALIBRATED = "none"


def judge(
    scores: pd.DataFrame, items: pd.DataFrame, right: Mapping[str, int], normalised: Mapping[str, bool]
) -> pd.DataFrame:
    """Decide every test of every item, without calibration and with each.

    Args:
        scores: Columns item, scenario, log_p_first and log_p_second; all texts of a scenario, item by item.
        items: Columns id and cluster_<...>.
        right: Test -> which candidate is right, 0 or 1.
        normalised: Calibration -> whether probabilities are first normalised over the candidates.

    Returns:
        One row a calibration ("none" first), test and item: calibration, scenario, item, accuracy (1, 0, or 0.5 for
        a tie), and the items' clusters.

    Raises:
        DataError: An item lacks texts that others have, or the tests and calibrations are not those of the scores.
    """
    log_p = {str(name): _by_item(str(name), rows, items["id"]) for name, rows in scores.groupby("scenario", sort=False)}
    if log_p.keys() != right.keys() | normalised.keys():
        raise DataError(
            f"the scores are of {', '.join(sorted(log_p))}; asked for {', '.join(sorted(right.keys() | normalised))}; "
            "run fill_scenarios again"
        )
    clusters = items.filter(regex=f"^{CLUSTER}").reset_index(drop=True)
    parts = []
    for calibration in (UNCALIBRATED, *normalised):
        for test, answer in right.items():
            tested = log_p[test][:, 0]  # (items, 2)
            if calibration != UNCALIBRATED:
                tested = calibrate(tested, log_p[calibration], normalised=normalised[calibration])
            named = {"calibration": calibration, "scenario": test, "item": items["id"].to_numpy()}
            parts.append(pd.DataFrame({**named, "accuracy": decide(tested, answer)}).join(clusters))
    return pd.concat(parts, ignore_index=True)


def flips_from(decisions: pd.DataFrame, base: str) -> pd.DataFrame:
    """Return, for every decision in another test than ``base``, whether it flips from the item's decision there.

    Args:
        decisions: As `judge` returns them.
        base: A test.

    Returns:
        The rows of the other tests, with the column flips (1, 0, or 0.5 beside a tie) in the place of accuracy.
    """
    keys = ["calibration", "item"]
    before = decisions.loc[decisions["scenario"] == base, [*keys, "accuracy"]].rename(columns={"accuracy": "before"})
    others = decisions[decisions["scenario"] != base].merge(before, on=keys, validate="many_to_one")
    changed = flip(others["before"].to_numpy(), others["accuracy"].to_numpy())
    return others.drop(columns=["before", "accuracy"]).assign(flips=changed)


def _by_item(scenario: str, rows: pd.DataFrame, ids: "pd.Series[str]") -> NDArray[np.float64]:
    """Return the log-probabilities in a scenario's texts, shape (items, texts, 2)."""
    texts, rest = divmod(len(rows), len(ids))
    if rest or not np.array_equal(rows["item"].to_numpy(), np.repeat(ids.to_numpy(), texts)):
        raise DataError(f"{scenario}: {len(rows)} texts do not go with the {len(ids)} items; run fill_scenarios again")
    return rows[["log_p_first", "log_p_second"]].to_numpy(dtype=np.float64).reshape(len(ids), texts, 2)
