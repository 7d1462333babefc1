"""The picture of the README and its text alternative, drawn from the results that git keeps.

`python docs/hooks/picture.py` writes docs/images/overview.svg and the text in README.md anew; a test compares both with
the results.
"""

import re
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.figure import Figure
from rates import estimate, read_rate

from cxprobe.report.words import interval, number, percent
from cxprobe.stats import Estimate

ROOT = Path(__file__).parents[2]
PICTURE = Path("docs/images/overview.svg")
CONSTRUCTION = "comparative-correlative"
# Panel -> its title, where the rates of a model are, models in the order of the panel (trained, twin, blind), the
# columns of a rate, and what guessing gives.
RATE, BOTH = ("accuracy", "low", "high", "n"), ("both", "both_low", "both_high", "both_n")
FORM = (
    "Trained probe: the construction,\nor two noun phrases",
    ("results/judge_recognition/metrics.json", f"{{}}/{CONSTRUCTION}, balanced"),
    ("mini-mlm", "minilm", "minilm-random"),
    ("bag-of-words", "word-ngrams", "character-ngrams", "positions", "tag-unigrams", "tag-ngrams"),
    RATE,
    50,
)
MEANING = (
    "Likelihood of minimal pairs of meaning:\nright in both orders of two people",
    ("results/report_pairs/accuracy.csv", f"model={{}}, construction={CONSTRUCTION}, words=real"),
    ("mini-mlm", "mini-clm", "mini-clm-random"),
    (
        *("unigrams", "ngrams", "first-mentioned", "last-mentioned", "shorter", "second-sentence-alone"),
        *("trained-bag-of-words", "trained-tags"),
    ),
    BOTH,
    25,
)
NAMES = {
    "minilm": "MiniLM",
    "minilm-random": "random MiniLM",
    "mini-clm-random": "random mini-clm",
    "word-ngrams": "word n-grams",
    "character-ngrams": "character n-grams",
    "tag-unigrams": "tags",
    "tag-ngrams": "tag n-grams",
    "trained-bag-of-words": "trained bag of words",
    "trained-tags": "trained tag n-grams",
    "unigrams": "word frequencies",
    "ngrams": "trigrams",
}
COLOURS = ("#4053d3", "#4053d3", "#8a8a8a", "#ddb310")  # trained, trained, twin, blind
STYLE: Any = {
    "svg.fonttype": "none",  # text stays text: small, sharp, and found by a search
    "svg.hashsalt": "cxprobe",  # the same file every time
    "font.family": "sans-serif",
    "font.sans-serif": ["Helvetica", "Arial", "DejaVu Sans"],
    "font.size": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
}


def read_panel(root: Path, panel: tuple[Any, ...]) -> dict[str, Estimate]:
    """Return name -> rate of the models of a panel, the best blind one last.

    Args:
        root: The project's folder.
        panel: `FORM` or `MEANING`.
    """
    _, (file, key), models, blind, columns, _ = panel
    rates = {}
    for slug in (*models, *blind):
        row = read_rate(root / file, key.format(slug))
        rates[slug] = estimate(dict(zip(RATE, (row[name] for name in columns), strict=True)))
    best = max(blind, key=lambda slug: rates[slug].value)
    return {NAMES.get(slug, slug): rates[slug] for slug in models} | {
        f"best blind that ran ({NAMES.get(best, best)})": rates[best]
    }


def describe(root: Path) -> str:
    """Return the text alternative of the picture: what it shows, in words with numbers."""
    said = []
    for panel in (FORM, MEANING):
        rates = read_panel(root, panel)
        listed = ", ".join(f"{name} {percent(rate.value)} {interval(rate)}" for name, rate in rates.items())
        sizes = sorted({rate.n for rate in rates.values()})
        said.append(f"{listed}; {' to '.join(map(number, sizes))}")
    text = (
        "Two panels about the comparative correlative, of different items and methods. Left: how often a probe tells "
        f"the construction from two noun phrases: {said[0]}. Right: pairs of meaning of "
        f"which the likelihood is right in both orders of two people: {said[1]}. Guessing gives 50 % and 25 %."
    )
    return text.replace("\u00a0", " ")


def draw(root: Path) -> Figure:
    """Return the picture."""
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(8.4, 2.6), layout="constrained")
        for axis, panel in zip(figure.subplots(1, 2), (FORM, MEANING), strict=True):
            rates = read_panel(root, panel)
            for place, (rate, colour) in enumerate(zip(rates.values(), COLOURS, strict=True)):
                axis.plot([100 * rate.low, 100 * rate.high], [place, place], color=colour, linewidth=2)
                axis.plot(100 * rate.value, place, "o", color=colour, markersize=7)
                axis.annotate(percent(rate.value), (100 * rate.high, place), (6, -3), textcoords="offset points")
            axis.axvline(panel[-1], color="#8a8a8a", linestyle=":")
            sizes = " to ".join(map(str, sorted({rate.n for rate in rates.values()})))
            axis.set(xlabel=f"right, % (n = {sizes})", xlim=(-3, 105), ylim=(len(rates) - 0.5, -0.6))
            axis.set_title(panel[0], fontsize=11)
            names = [name.replace(" (", "\n(") for name in rates]
            axis.set_yticks(range(len(rates)), names, multialignment="right")
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
