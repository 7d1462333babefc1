"""The picture of the README and its text alternative, drawn from the results that git keeps.

`python docs/hooks/picture.py` writes docs/images/overview.svg and the text in README.md anew; a test compares both with
the results.
"""

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import matplotlib as mpl
import pandas as pd
from matplotlib.figure import Figure

ROOT = Path(__file__).parents[2]
PICTURE = Path("docs/images/overview.svg")
CONSTRUCTION = "comparative-correlative"
FEATURE = "length"
NAMES = {
    "minilm": "MiniLM",
    "minilm-random": "random weights",
    "word-ngrams": "word n-grams",
    "character-ngrams": "character n-grams",
    "unigrams": "word frequencies",
    "ngrams": "trigrams",
}
PROBED = ("mini-mlm", "minilm", "minilm-random")
SCORED = ("mini-mlm", "mini-clm")
BLIND_FORM = ["bag-of-words", "word-ngrams", "character-ngrams", "positions"]
BLIND_MEANING = ["unigrams", "ngrams", "first-mentioned", "last-mentioned", "shorter", "second-sentence-alone"]
COLOURS = {"mini-mlm": "#4053d3", "minilm": "#b51d14", "mini-clm": "#00a37a", "minilm-random": "#8a8a8a"}
BLIND_COLOUR = "#ddb310"
STYLE: Any = {
    "svg.fonttype": "none",  # text stays text: small, sharp, and found by a search
    "svg.hashsalt": "cxprobe",  # the same file every time
    "font.family": "sans-serif",
    "font.sans-serif": ["Helvetica", "Arial", "DejaVu Sans"],
    "font.size": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
}


def read_rates(root: Path) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the rates of the picture: probes by layer on balanced sentences, and minimal pairs.

    Args:
        root: The project's folder.
    """
    probes = pd.read_csv(root / "results" / "report_recognition" / "accuracy.csv")
    pairs = pd.read_csv(root / "results" / "report_pairs" / "accuracy.csv")
    probes = probes.query("construction == @CONSTRUCTION and source == 'balanced' and feature == @FEATURE")
    return probes, pairs.query("construction == @CONSTRUCTION and words == 'real'")


def best_blind(rates: pd.DataFrame, blind: list[str]) -> "pd.Series[Any]":
    """Return the row of the blind model with the highest rate."""
    own = rates[rates["model"].isin(blind)]
    return own.sort_values("accuracy", ascending=False, kind="stable").iloc[0]


def describe(root: Path) -> str:
    """Return the text alternative of the picture: what it shows, in words with numbers."""
    probes, pairs = read_rates(root)
    middle = probes[probes["layer"] == probes["layer"].max() // 2]
    form, meaning = best_blind(probes, BLIND_FORM), best_blind(pairs, BLIND_MEANING)
    return (
        "Two panels about the comparative correlative. Left, form: accuracy of a linear probe by layer, "
        f"n = {form['n']} sentences. At the middle layer {_listed(middle, PROBED)}; the best blind model has "
        f"{_percent(form)}. Right, "
        f"meaning: share of minimal pairs in which the right sentence is the more probable one, n = {meaning['n']}. "
        f"{_listed(pairs, SCORED)}; the best blind model has {_percent(meaning)}. Chance is 50 %."
    )


def _listed(rates: pd.DataFrame, slugs: Iterable[str]) -> str:
    return ", ".join(f"{_name(slug)} has {_percent(rates[rates['model'] == slug].iloc[0])}" for slug in slugs)


def draw(root: Path) -> Figure:
    """Return the picture."""
    probes, pairs = read_rates(root)
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(8.4, 3.3), layout="constrained")
        form, meaning = figure.subplots(1, 2, width_ratios=(1.35, 1))
        _draw_form(form, probes)
        _draw_meaning(meaning, pairs)
        for axis in (form, meaning):
            axis.title.set_size(11)
    return figure


def _draw_form(axis: mpl.axes.Axes, probes: pd.DataFrame) -> None:
    for slug in PROBED:
        own = probes[probes["model"] == slug].sort_values("layer")
        axis.plot(own["layer"], 100 * own["accuracy"], color=COLOURS[slug], marker="o", markersize=4)
        axis.fill_between(
            own["layer"], 100 * own["low"], 100 * own["high"], color=COLOURS[slug], alpha=0.13, linewidth=0
        )
        end = own.iloc[-1]
        axis.annotate(
            _name(slug),
            (end["layer"], 100 * end["accuracy"]),
            (6, -3),
            textcoords="offset points",
            color=COLOURS[slug],
            annotation_clip=False,
        )
    blind = best_blind(probes, BLIND_FORM)
    axis.axhline(100 * blind["accuracy"], color=BLIND_COLOUR, linestyle="--")
    axis.annotate(
        f"best blind:\n{_name(blind['model'])}",
        (probes["layer"].max(), 100 * blind["accuracy"]),
        (6, 6),
        textcoords="offset points",
        color="#8a6d00",
        annotation_clip=False,
    )
    axis.axhline(50, color="#8a8a8a", linestyle=":")
    axis.set(
        title=f"Form: a probe on each layer (n = {blind['n']})",
        xlabel="layer",
        ylabel="right, %",
        ylim=(20, 100),
        xticks=sorted(set(probes["layer"])),
    )


def _draw_meaning(axis: mpl.axes.Axes, pairs: pd.DataFrame) -> None:
    blind = best_blind(pairs, BLIND_MEANING)
    rows = [(_name(slug), COLOURS[slug], pairs[pairs["model"] == slug].iloc[0]) for slug in SCORED]
    rows.append((f"best blind:\n{_name(blind['model'])}", BLIND_COLOUR, blind))
    for place, (_, colour, row) in enumerate(rows):
        axis.plot([100 * row["low"], 100 * row["high"]], [place, place], color=colour, linewidth=2)
        axis.plot(100 * row["accuracy"], place, "o", color=colour, markersize=7)
        axis.annotate(_percent(row), (100 * row["high"], place), (6, -3), textcoords="offset points")
    axis.axvline(50, color="#8a8a8a", linestyle=":")
    axis.set(title=f"Meaning: minimal pairs (n = {blind['n']})", xlabel="right, %", xlim=(20, 100), ylim=(2.5, -0.6))
    axis.set_yticks(range(len(rows)), [name for name, _, _ in rows])


def _name(slug: str) -> str:
    return NAMES.get(slug, slug.replace("-", " ") if slug in BLIND_FORM + BLIND_MEANING else slug)


def _percent(row: "pd.Series[Any]") -> str:
    return f"{100 * row['accuracy']:.0f} % [{100 * row['low']:.0f}, {100 * row['high']:.0f}]"


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
