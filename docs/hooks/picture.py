"""The picture of the README and its text alternative, drawn from the results that git keeps.

`python docs/hooks/picture.py` writes docs/images/overview.svg and the text in README.md anew; a test compares both with
the results.
"""

import re
from pathlib import Path
from typing import Any

import matplotlib as mpl
import pandas as pd
from matplotlib.figure import Figure

from cxprobe.results.verdict import BESIDE_CONTROL

ROOT = Path(__file__).parents[2]
PICTURE = Path("docs/images/overview.svg")
RATES = Path("recorded/rates.csv")
MODEL, NAME = "smollm2-135m", "SmolLM2 135M"
# Colour and mark of a construction by its verdict; others are grey and hollow.
FOUND = {"knows": ("#00694b", "o"), "without_construction": ("#b05a00", "D")}
OTHER = ("#6b7280", "o")
STYLE: Any = {
    "svg.fonttype": "none",  # text stays text: small, sharp, and found by a search
    "svg.hashsalt": "cxprobe",  # the same file every time
    "font.family": "sans-serif",
    "font.sans-serif": ["Helvetica", "Arial", "DejaVu Sans"],
    "font.size": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
}


def read_contrasts(root: Path) -> pd.DataFrame:
    """Return the contrasts of the real model by construction, as shares of the effect of its control.

    Args:
        root: The project's folder.

    Returns:
        A row a construction, the largest contrast first: value, low and high of the construction, neutral and rival,
        each divided by the mean of the control; n, the number of frames; and verdict, a key.
    """
    table = pd.read_csv(root / RATES)
    of_model = table[(table["model"] == MODEL) & (table["facet"] == "condition")]
    contrasts = of_model[of_model["measure"] == "contrast"].pivot(index="construction", columns="level")
    control = contrasts["value"]["control"]
    shown = {name: contrasts[name]["construction"] / control for name in ("value", "low", "high")}
    shown |= {name: contrasts["value"][name] / control for name in ("neutral", "rival")}
    shares = of_model[(of_model["measure"] == "above_zero") & (of_model["level"] == "construction")]
    verdicts = shares.set_index("construction")["verdict"]
    rows = pd.DataFrame(shown).assign(n=contrasts["n"]["construction"].astype(int), verdict=verdicts)
    return rows.sort_values("value", ascending=False)


def describe(root: Path) -> str:
    """Return the text alternative of the picture."""
    rows = read_contrasts(root)
    said = [
        f"{construction} {row['value']:.1f} (neutral {row['neutral']:.1f}, rival {row['rival']:.1f}), "
        f"{BESIDE_CONTROL[row['verdict']].words}"
        for construction, row in rows.iterrows()
    ]
    return (
        f"What {NAME} expects of the meaning of nine constructions, as a share of what it expects after plain words, "
        f"over {rows['n'].max()} frames each: {'; '.join(said)}."
    )


def draw(root: Path) -> Figure:
    """Return the picture: a row for each construction, beside the neutral condition, the rival and the control."""
    rows = read_contrasts(root)
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(7.6, 4.0), layout="constrained")
        axis = figure.subplots()
        axis.axvline(0, color="#8a8a8a", linewidth=0.8)
        axis.axvline(1, color="#8a8a8a", linestyle=":")
        for place, (_, row) in enumerate(rows.iterrows()):
            colour, mark = FOUND.get(row["verdict"], OTHER)
            axis.plot([row["low"], row["high"]], [place, place], color=colour, linewidth=2)
            face = colour if row["verdict"] in FOUND else "white"
            axis.plot(row["value"], place, mark, color=colour, markerfacecolor=face, markersize=8)
            axis.plot(row["neutral"], place, "|", color="#1b1f24", markersize=12, markeredgewidth=2)
            axis.plot(row["rival"], place, "x", color="#1b1f24", markersize=6)
            axis.text(3.6, place, BESIDE_CONTROL[row["verdict"]].words, color=colour, va="center", fontsize=9)
        axis.set_yticks(range(len(rows)), rows.index)
        axis.invert_yaxis()
        axis.set(xlim=(-0.75, 3.5), xlabel=f"contrast of {NAME} as a share of its control (dotted)")
        for label, mark in (("construction, 95 % interval", "o"), ("neutral verb", "|"), ("rival: same words", "x")):
            axis.plot([], [], mark, color="#1b1f24", label=label)
        axis.legend(loc="upper center", bbox_to_anchor=(0.5, 1.12), ncols=3, frameon=False)
    return figure


def write(root: Path) -> None:
    """Write the picture, and its text alternative into the README."""
    with mpl.rc_context(STYLE):
        draw(root).savefig(root / PICTURE, metadata={"Date": None, "Creator": None}, bbox_inches="tight")
    readme = root / "README.md"
    text = re.sub(
        r"!\[[^\]]*\]\(" + re.escape(str(PICTURE)), f"![{_escaped(describe(root))}]({PICTURE}", readme.read_text()
    )
    readme.write_text(text)


def _escaped(text: str) -> str:
    """Return a text for Markdown's square brackets: intervals are written with round ones."""
    return text.replace("[", "(").replace("]", ")")


if __name__ == "__main__":
    write(ROOT)
