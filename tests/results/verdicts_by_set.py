"""How often a verdict is wrong with the spreads of each set of contrasts: `python tests/results/verdicts_by_set.py`.

The spreads are those of SmolLM2 in recorded/quick.csv: of a frame in the construction, and of what it adds to the
nearest rival, from which follows what the conditions of a frame share. Half of what they do not share comes from words
that two frames share. Prints a table of docs/verdicts.md; with other numbers of frames as arguments.
"""

import sys
from pathlib import Path

import numpy as np
import pandas as pd
import typer
from scipy.stats import t as student
from test_contrast_verdicts import shares, truth_of

from cxprobe.results.verdict import ADDS, CONTROL_OVER_WORDS, EQUIVALENCE

RECORDED = Path(__file__).parents[2] / "recorded" / "quick.csv"
MODEL = "smollm2-135m"
MOST_SHARED = 0.95
"""More than that is not taken to be shared by the conditions of a frame."""


def main() -> None:
    """Print a row for each set: spreads, then per cent of samples with a false and with a true verdict."""
    frames = [int(number) for number in sys.argv[1:]] or [16, 40]
    rates = pd.read_csv(RECORDED, low_memory=False).query(
        "task == 'contrasts' and model == @MODEL and measure == 'contrast' and construction != 'all' and wording.isna()"
    )
    heads = ["false *adds*", "false *adds nothing*", "*adds nothing* of a null effect"]
    typer.echo(f"| set | spread of a frame | shared by conditions | control | {' | '.join(heads)} |")
    typer.echo("|" + "---|" * (4 + len(heads)))
    for name, rows in rates.groupby("construction", sort=False):
        at = rows.set_index("condition")
        spread, of_adds = (spread_of(at.loc[condition]) for condition in ("construction", ADDS))
        shared = float(np.clip(1 - of_adds**2 / (2 * spread**2), 0, MOST_SHARED))
        control = max(at.loc[CONTROL_OVER_WORDS, "value"], 0.0)
        cells = [f"{spread:.2f}", f"{100 * shared:.0f} %", f"{control:.2f}"]
        found = []
        for n in frames:
            how = {"spread": spread, "icc": shared, "words": n // 2, "share": 0.5}
            of_nearest = (control / 2, control / 2 - EQUIVALENCE * control)
            null, at_bound = (shares(n, truth_of(control / 2, one, 0.0, control=control), **how) for one in of_nearest)
            found.append([null["adds_most"] + null["adds_part"], at_bound["adds_nothing"], null["adds_nothing"]])
        cells += [", ".join(f"{100 * share:.0f}" for share in of_frames) for of_frames in zip(*found, strict=True)]
        typer.echo(f"| {name} | {' | '.join(cells)} |")


def spread_of(row: "pd.Series[float]") -> float:
    """Return the standard deviation of a frame, which the interval of a mean implies."""
    half = (row["high"] - row["low"]) / 2
    return float(half / student.ppf(0.975, row["n"] - 1) * np.sqrt(row["n"]))


if __name__ == "__main__":
    main()
