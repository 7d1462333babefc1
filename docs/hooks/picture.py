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

from cxprobe.results.words import percent

ROOT = Path(__file__).parents[2]
PICTURE = Path("docs/images/overview.svg")
RATES = Path("results/evaluate_pairs/rates.csv")
FORM = "-form"
# How the models of a kind are drawn: real language models large, the bundled ones small, in these colours.
REAL = {"smollm2-135m": ("SmolLM2 135M", "#4053d3", 9.0)}
BUNDLED = {"mini-clm": ("mini-clm", "#b51d14", 4.0)}
BASELINES = (
    *("unigrams", "ngrams", "first-mentioned", "last-mentioned", "shorter", "second-sentence-alone"),
    *("trained-bag-of-words", "trained-tags"),
)
BAND, CHANCE = "#ddb310", 0.5
STYLE: Any = {
    "svg.fonttype": "none",  # text stays text: small, sharp, and found by a search
    "svg.hashsalt": "cxprobe",  # the same file every time
    "font.family": "sans-serif",
    "font.sans-serif": ["Helvetica", "Arial", "DejaVu Sans"],
    "font.size": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
}


def read_rates(root: Path) -> pd.DataFrame:
    """Return the rates of constructions that were asked about their meaning and their form.

    Args:
        root: The project's folder.

    Returns:
        model, construction (of meaning), form, meaning: shares of right pairs, in [0, 1].
    """
    table = pd.read_csv(root / RATES)
    table = table[(table["source"] == "real") & table["facet"].isna() & (table["measure"] == "accuracy")]
    columns = ["model", "construction", "value"]
    meaning = table[columns].rename(columns={"value": "meaning"})
    form = table[table["construction"].str.endswith(FORM)][columns].rename(columns={"value": "form"})
    form["construction"] = form["construction"].str.removesuffix(FORM)
    return meaning.merge(form, on=["model", "construction"])


def baseline_bands(rates: pd.DataFrame) -> dict[str, tuple[float, float]]:
    """Return for form and meaning the least and the greatest rate of the best baseline of a construction."""
    return _ranges(rates[rates["model"].isin(BASELINES)].groupby("construction")[["form", "meaning"]].max())


def _ranges(rates: pd.DataFrame) -> dict[str, tuple[float, float]]:
    return {asked: (float(rates[asked].min()), float(rates[asked].max())) for asked in ("form", "meaning")}


def describe(root: Path) -> str:
    """Return the text alternative of the picture: what it shows, in words with numbers."""
    rates = read_rates(root)
    ranges = {name: _ranges(rates[rates["model"] == slug]) for slug, (name, *_) in (REAL | BUNDLED).items()}
    ranges["the best baseline"] = baseline_bands(rates)
    said = []
    for name, of_name in ranges.items():
        parts = [f"{percent(low)} to {percent(high)} of {asked}" for asked, (low, high) in of_name.items()]
        said.append(f"{name} {' and '.join(parts)}")
    text = f"A dot for each construction: the share of right pairs of form and of meaning. {'; '.join(said)}."
    return text.replace("\u00a0", " ")


def draw(root: Path) -> Figure:
    """Return the picture: a dot for each construction, form against meaning, the best baselines as bands."""
    rates = read_rates(root)
    bands = baseline_bands(rates)
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(6.4, 4.2), layout="constrained")
        axis = figure.subplots()
        axis.axvspan(100 * bands["form"][0], 100 * bands["form"][1], color=BAND, alpha=0.25, linewidth=0)
        axis.axhspan(
            *(100 * rate for rate in bands["meaning"]), color=BAND, alpha=0.25, linewidth=0, label="best baselines"
        )
        for slug, (name, colour, size) in (BUNDLED | REAL).items():
            rows = rates[rates["model"] == slug]
            axis.plot(100 * rows["form"], 100 * rows["meaning"], "o", color=colour, markersize=size, label=name)
            if slug in REAL:
                for number, (_, row) in enumerate(rows.sort_values("form").iterrows()):
                    at, height = (100 * row["form"], 100 * row["meaning"]), 58 + 4 * (number % 6)
                    line = {"arrowstyle": "-", "color": colour, "linewidth": 0.5}
                    label: dict[str, Any] = {"ha": "center", "fontsize": 8, "arrowprops": line}
                    axis.annotate(row["construction"], at, (at[0], height), **label)
        axis.axhline(100 * CHANCE, color="#8a8a8a", linestyle=":")
        axis.axvline(100 * CHANCE, color="#8a8a8a", linestyle=":")
        axis.set(xlabel="pairs of form that are right, %", ylabel="pairs of meaning that are right, %")
        axis.set(xlim=(40, 103), ylim=(40, 100))
        axis.legend(loc="upper right", frameon=False)
    return figure


def write(root: Path) -> None:
    """Write the picture, and its text alternative into the README."""
    with mpl.rc_context(STYLE):
        draw(root).savefig(root / PICTURE, metadata={"Date": None, "Creator": None})
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
