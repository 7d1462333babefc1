"""The two plots of rates: dots with intervals, and curves over a quantity such as training tokens.

`overview` is the picture of a run: what each model knows of each construction, as the report, the README and notebooks
show it. Every row or panel says how many items its rates are of.
"""

import re
import textwrap
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import astuple
from io import StringIO
from math import ceil, isfinite, nan
from typing import TYPE_CHECKING, Any, NamedTuple
from xml.etree import ElementTree

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.markers import MarkerStyle
from matplotlib.patches import Patch, Rectangle
from matplotlib.ticker import MaxNLocator, PercentFormatter

from cxprobe.results.comparisons import BEST_BASELINE
from cxprobe.results.findings import Finding, Question, estimate_of
from cxprobe.results.verdict import Style, share_of_control
from cxprobe.stats import Estimate

if TYPE_CHECKING:
    from cxprobe.results.task import ConstructionFiles

PANELS: Mapping[Question, str] = {"form": "form", "meaning": "meaning", "words": "prompts", "used": "use"}
TEXT, SOFT, LINE, BAND = "#1b1f24", "#59616b", "#d5dae0", "#c9ced5"
# Style of a verdict -> its colour, its mark, whether this is filled, and what it says; marks differ without colour.
# The question mark is made here, since dollar signs in the figures are no formula.
_MARKS: Mapping[Style, tuple[str, str | MarkerStyle, bool, str]] = {
    "found": ("#00694b", "^", True, "meaning: adds most; other panels: above the best baseline"),
    "explained": (
        "#8a4300",
        "D",
        True,
        "meaning: adds a part; other panels: above chance, perhaps without the construction",
    ),
    "absent": ("#9b1c31", "o", False, "meaning: adds nothing; other panels: not above chance"),
    "undecided": (SOFT, MarkerStyle("$?$"), True, "undecided: too few items, no baseline, or the control is failed"),
}
# Colours for colour-blind readers (Okabe & Ito 2008).
OKABE_ITO = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")  # one more than colours, so that the pairs repeat late
# Colour of the picture -> the property of the page's style that takes its place there, so that it follows its theme.
_OF_PAGE = {TEXT: "text", SOFT: "soft", LINE: "line", BAND: "band", "#00694b": "good", "#8a4300": "odd"}
_OF_PAGE |= {"#9b1c31": "bad", "#ffffff": "ground"}
_STYLE: Any = {
    "svg.fonttype": "none",  # text stays text: small, sharp, and found by a search
    "text.parse_math": False,  # two dollar signs in the name of a construction are no formula
    "font.family": "sans-serif",
    "font.sans-serif": ["Helvetica", "Arial", "DejaVu Sans"],
    "font.size": 10,
    "text.color": TEXT,
    "xtick.color": SOFT,
}
ROW, PANEL, GAP, HEAD, LETTER, ENTRY = 0.31, 2.1, 0.55, 0.5, 0.07, 0.19  # inches
SPREAD, BESIDE = 0.62, 0.085  # of a row, over which marks beside each other are spread; of each of them, in inches
TITLE, HEADING = 0.095, 0.085  # of a letter of a title and of a panel's title, in inches
TWO_LINES, SMALL_LETTER = 0.42, 0.056  # of a row with an example, and of a letter of it, in inches
CELL = 0.72  # of a model in a matrix, in inches
_PIXELS = 104  # an inch, on a page that is wide enough
_SVG = "http://www.w3.org/2000/svg"


class Mark(NamedTuple):
    """A rate in a picture.

    Attributes:
        row: The name of its row; an example may be its second line.
        panel: The name of its panel.
        rate: The rate.
        chance: That of a guess.
        style: What its verdict comes down to; None for a rate without one.
        baseline: The interval that is drawn as a band.
        control: The rate that is drawn as a tick.
        link: Where a click leads; "" for nowhere.
        others: Where the scale is the control: condition -> the contrast in it as a share of the control. Then the rate
            is that of the construction, and its interval that of what it adds to the nearest of these. Empty where a
            control is failed, and there is no rate: NaN.
        kind: What has a colour and a marker, such as the model, where marks stand beside each other in a row; then
            the style has none.
    """

    row: str
    panel: str
    rate: Estimate
    chance: float
    style: Style | None = None
    baseline: Estimate | None = None
    control: Estimate | None = None
    link: str = ""
    kind: str = ""
    others: Mapping[str, float] | None = None


class Picture(NamedTuple):
    """A picture that a notebook shows.

    Attributes:
        svg: The picture, as SVG.
        said: What it says, in words.
    """

    svg: str
    said: str

    def _repr_svg_(self) -> str:
        return self.svg


def row_names(constructions: "Mapping[str, ConstructionFiles]") -> dict[str, str]:
    """Return construction -> its name for people and, in a second line, an example."""
    every = {slug: files.construction for slug, files in constructions.items()}
    return {slug: "\n".join(filter(None, [one.name, one.example])) for slug, one in every.items()}


def overview(
    findings: Sequence[Finding],
    names: Mapping[str, str],
    *,
    labels: Callable[[str], str] = str,
    link: Callable[[Finding], str] = lambda _: "",
) -> Figure:
    """Draw the findings of the first page: a row a construction, a panel a question; of several models, see `matrix`.

    Args:
        findings: What `cxprobe.results.findings.lead_findings` returns, at least one.
        names: Construction -> its name for people, see `row_names`.
        labels: Returns the name of a model for people.
        link: Returns where a click on a finding leads.
    """
    models = list(dict.fromkeys(one.model for one in findings))
    order = _in_order(findings, models[0])
    if len(models) > 1:
        return matrix(findings, {name: names[name].split("\n")[0] for name in order}, labels, link)
    marks = []
    for question, called in PANELS.items():
        asked = [one for one in findings if one.question == question]
        marks += [mark_of(one, names[one.construction], called, link(one)) for one in asked]
    return dots(marks, [names[name] for name in order])


def mark_of(finding: Finding, row: str, panel: str, link: str = "") -> Mark:
    """Return the mark of a finding: a rate, or the effects of a contrast as shares of the control.

    Args:
        finding: The finding.
        row: The name of the row.
        panel: The name of the panel.
        link: Where a click leads.
    """
    effects, style = finding.effects, finding.verdict.style
    if effects is None:
        best = finding.baseline.rate if finding.baseline else None
        return Mark(row, panel, finding.rate, finding.row["chance"], style, best, finding.control, link)
    n, control = effects.adds.n, effects.control
    if not effects.passes_control:
        return Mark(row, panel, Estimate(nan, nan, nan, n), 0.0, style, link=link, others={})
    others = {name: rival.value / control.value for name, rival in effects.rivals.items()}
    adds, nearest = share_of_control(effects.adds, control), others[effects.nearest]
    rate = Estimate(nearest + adds.value, nearest + adds.low, nearest + adds.high, n)
    return Mark(row, panel, rate, 0.0, style, control=Estimate(1.0, 1.0, 1.0, n), link=link, others=others)


def matrix(
    findings: Sequence[Finding],
    names: Mapping[str, str],
    labels: Callable[[str], str],
    link: Callable[[Finding], str],
) -> Figure:
    """Draw findings of several models: a row a construction, a block a question, in it a column a model.

    A cell has the rate in percent, or what the construction adds in percent of the control, if this is passed; a ground
    that is the darker the further it is above chance or 0; and the mark of the verdict. A dash says that the
    model was not asked.

    Args:
        findings: At most one of a construction, question and model.
        names: Construction -> its name for people, in the order of the rows.
        labels: Returns the name of a model for people.
        link: Returns where a click on a finding leads.
    """
    models = list(dict.fromkeys(one.model for one in findings))
    at = {(one.construction, one.question, one.model): one for one in findings}
    blocks = [question for question in PANELS if any(one.question == question for one in findings)]
    side, titles = 0.2 + LETTER * max(map(len, names.values())), 0.2 + LETTER * max(len(labels(m)) for m in models)
    key = _key_of_verdicts({one.verdict.style for one in findings})
    key.append(Line2D([], [], linestyle="", label="number: percent right; meaning: percent of the control"))
    key.append(Line2D([], [], linestyle="", label="–: not asked; no number: the control is failed"))
    wide, high, below = CELL * len(models), ROW * len(names), 0.1  # of a block, and below it
    width = max(side + (wide + GAP / 2) * len(blocks), _entry_width(key))
    height = below + high + titles + HEAD + ENTRY * len(key) + 0.1
    with mpl.rc_context(_STYLE):
        figure = Figure(figsize=(width, height))
        for number, question in enumerate(blocks):
            left = side + number * (wide + GAP / 2)
            axes = figure.add_axes((left / width, below / height, wide / width, high / height))
            axes.set(xlim=(-0.5, len(models) - 0.5), ylim=(len(names) - 0.5, -0.5))
            axes.spines[:].set_visible(False)
            axes.tick_params(length=0)
            axes.xaxis.tick_top()
            axes.set_xticks(range(len(models)), [labels(model) for model in models], rotation=90, color=TEXT)
            axes.set_yticks(range(len(names)), [*names.values()] if number == 0 else [""] * len(names), color=TEXT)
            axes.set_title(PANELS[question], fontsize=11, fontweight="bold", loc="left", pad=8)
            for line, row in enumerate(names):
                for column, model in enumerate(models):
                    if (one := at.get((row, question, model))) is None:
                        axes.text(column, line, "–", color=SOFT, ha="center", va="center")
                        continue
                    look = _look_of(one.verdict.style) | {"markersize": 6}
                    share, above = one.rate.value, (one.rate.value - one.row["chance"]) / (1 - one.row["chance"])
                    if one.effects:
                        passes, control = one.effects.passes_control, one.effects.control
                        share = above = one.effects.adds.value / control.value if passes else nan
                    ground = Rectangle((column - 0.48, line - 0.46), 0.96, 0.92, color=look["color"], linewidth=0)
                    ground.set_alpha(0.05 + 0.3 * min(max(0.0, above), 1.0) if isfinite(above) else 0.05)
                    axes.add_patch(ground)
                    axes.plot(column - 0.27, line, **look)
                    said = f"{100 * share:z.0f}" if isfinite(share) else ""
                    told = axes.text(column - 0.05, line, said, va="center", fontsize=10)
                    told.set_url(link(one) or None)
        figure.legend(handles=key, loc="upper left", frameon=False, fontsize=9, labelcolor=TEXT)
    return figure


def _in_order(findings: Sequence[Finding], model: str) -> list[str]:
    """Return the constructions: those of which the meaning is asked first, what the first model knows before others."""
    ranks = list(_MARKS)
    best: dict[str, tuple[int, int, float]] = {}
    for one in findings:
        rank = (one.question != "meaning", ranks.index(one.verdict.style), -one.rate.value)
        if one.construction not in best or (one.model == model and rank < best[one.construction]):
            best[one.construction] = rank
    return sorted(best, key=lambda name: best[name])


def marks_of(table: pd.DataFrame, *, row: str, panel: str, kind: str, best: pd.DataFrame | None = None) -> list[Mark]:
    """Return a mark for each rate of a table.

    Args:
        table: Columns row, panel and kind (their names), accuracy in [0, 1], low, high, n and chance.
        row: The column whose values have a row each, in the table's order; a value may have two lines.
        panel: The column whose values have a panel each.
        kind: The column whose values have a colour and a marker each.
        best: The best baseline of each row and panel, as of `cxprobe.results.comparisons.best_baseline`.
    """
    known = [] if best is None else best.to_dict("records")
    bands = {(one[row], one[panel]): estimate_of(one, "accuracy") for one in known}
    marks = []
    for one in table.to_dict("records"):
        rate, band = estimate_of(one, "accuracy"), bands.get((one[row], one[panel]))
        marks.append(Mark(one[row], one[panel], rate, one["chance"], baseline=band, kind=one[kind]))
    return marks


def dots(marks: Sequence[Mark], rows: Sequence[str] = (), *, title: str = "") -> Figure:
    """Draw rates with their intervals on one scale from 0 to 100 %, the baseline as a band and the control as a tick.

    Args:
        marks: The rates.
        rows: The rows from the top; none for the order of the marks.
        title: Of the figure.
    """
    rows = rows or list(dict.fromkeys(mark.row for mark in marks))
    panels = list(dict.fromkeys(mark.panel for mark in marks))
    kinds = list(dict.fromkeys(mark.kind for mark in marks))
    key = _key_of(marks, kinds)
    lines = [mark.row.split("\n") for mark in marks]
    labels = 0.25 + max(LETTER * len(name) for name, *_ in lines)
    labels = max([labels, *(0.25 + SMALL_LETTER * len(example) for _, *examples in lines for example in examples)])
    row = max(TWO_LINES if any(len(of_row) > 1 for of_row in lines) else ROW, BESIDE * len(kinds))
    panel_width = PANEL if len(panels) < 5 else PANEL * 0.7
    entry = _entry_width(key)
    width = max(labels + (panel_width + GAP) * len(panels), entry)
    columns = max(1, min(len(panels), 3, int(width / entry)))
    title = _within(title, width / TITLE)
    above = ENTRY * (title.count("\n") + 1.5) if title else 0
    below, high = 0.3, len(rows) * row
    height = below + high + HEAD + 0.1 + ENTRY * ceil(len(key) / columns) + above
    with mpl.rc_context(_STYLE):
        figure = Figure(figsize=(width, height))
        for column, panel in enumerate(panels):
            left = labels + column * (panel_width + GAP)
            axes = figure.add_axes((left / width, below / height, panel_width / width, high / height))
            of_panel = [mark for mark in marks if mark.panel == panel]
            _draw_panel(axes, panel, rows, of_panel, kinds, has_names=column == 0)
        if title:
            figure.suptitle(title, x=0.1 / width, y=1 - 0.06 / height, ha="left", va="top", fontsize=11)
        under_title = (0, 0, 1, 1 - above / height)
        how: Any = {"ncols": columns, "frameon": False, "fontsize": 9, "labelcolor": TEXT}
        figure.legend(handles=key, loc="upper left", bbox_to_anchor=under_title, **how)
    return figure


def _draw_panel(
    axes: Axes, panel: str, rows: Sequence[str], marks: Sequence[Mark], kinds: Sequence[str], *, has_names: bool
) -> None:
    of_control = any(mark.others is not None for mark in marks)
    numbers = [x for mark in marks for x in (*astuple(mark.rate)[:3], *(mark.others or {}).values()) if isfinite(x)]
    start, end = (min([-0.2, *numbers]), max([1.2, *numbers])) if of_control else (0.0, 1.0)

    def at(share: float) -> float:
        return start + share * (end - start)

    axes.set(xlim=(at(-0.06), at(1.06)), ylim=(len(rows) - 0.5, -0.5), xticks=(0, 1) if of_control else (0, 0.5, 1))
    axes.xaxis.set_major_formatter(PercentFormatter(xmax=1))
    axes.tick_params(length=0)
    axes.set_title(panel, fontsize=11, fontweight="bold", loc="left")
    axes.spines[["top", "right", "left", "bottom"]].set_visible(False)
    axes.patch.set_visible(False)
    axes.hlines([number + 0.5 for number in range(-1, len(rows))], at(-0.06), at(1.06), color=LINE, linewidth=0.6)
    axes.text(at(1.08), -0.75, "n", color=SOFT, fontsize=8)
    axes.set_yticks(range(len(rows)), [row.split("\n")[0] if has_names else "" for row in rows])
    links = {mark.row: mark.link for mark in marks}
    for number, (label, row) in enumerate(zip(axes.get_yticklabels(), rows, strict=True)):
        label.set_color(TEXT)
        if links.get(row):
            label.set_url(links[row])
        if has_names and "\n" in row:
            label.set_verticalalignment("bottom")
            axes.text(at(-0.09), number + 0.08, row.split("\n")[1], color=SOFT, fontsize=8, ha="right", va="top")
    for number in {*range(len(rows))} - {rows.index(mark.row) for mark in marks}:
        axes.text(at(0.5), number, "not tested", color=SOFT, fontsize=8, ha="center", va="center")
    offsets = np.linspace(-SPREAD / 2, SPREAD / 2, len(kinds)) if len(kinds) > 1 else [0.0]
    sizes: dict[str, set[int]] = {}
    for mark in marks:
        sizes.setdefault(mark.row, set()).add(mark.rate.n)
    for mark in marks:
        middle, rate, look = rows.index(mark.row), mark.rate, _look(mark, kinds)
        y = middle + offsets[kinds.index(mark.kind)]
        of_row = sorted(sizes.pop(mark.row, ()))
        if of_row and mark.baseline:
            low, high = mark.baseline.low, mark.baseline.high
            axes.barh(middle, high - low, left=low, height=0.62, color=BAND, alpha=0.7, zorder=0)
        if of_row:
            axes.vlines(mark.chance, middle - 0.5, middle + 0.5, color=SOFT, linestyle=":", linewidth=1)
        if mark.control:
            axes.vlines(mark.control.value, y - 0.45, y + 0.45, color=TEXT, linewidth=1.6)
        if of_row:
            axes.text(at(1.08), middle, _span(of_row), color=SOFT, fontsize=8, va="center")
        if not isfinite(rate.value):
            said = axes.text(at(0.5), middle, "the control is failed", color=SOFT, fontsize=8, ha="center", va="center")
            said.set_url(mark.link or None)
            continue
        axes.hlines(y, *np.clip((rate.low, rate.high), start, end), color=look["color"], linewidth=2)
        for other in (mark.others or {}).values():
            axes.plot(other, y, color=TEXT, marker="|", markersize=7, zorder=4)
        if mark.style == "undecided":
            around: Any = {"marker": "o", "markerfacecolor": "white", "markersize": 11}
            axes.plot(rate.value, y, color=look["color"], zorder=5, clip_on=False, **around)
        (point,) = axes.plot(rate.value, y, label=mark.kind, zorder=6, clip_on=False, **look)
        point.set_url(mark.link or None)


def _span(sizes: Sequence[int]) -> str:
    """Return the smallest and the largest number of items."""
    return " to ".join(f"{size:,}" for size in sorted({min(sizes), max(sizes)}))


def _look_of(style: Style) -> dict[str, Any]:
    colour, shape, is_filled, _ = _MARKS[style]
    # A sign in a circle is small, and an edge around its strokes would fill it.
    size, edge = (6.5, 0.0) if style == "undecided" else (8.5, 1.0)
    face = colour if is_filled else "white"
    return {"color": colour, "marker": shape, "markerfacecolor": face, "markersize": size, "markeredgewidth": edge}


def _look(mark: Mark, kinds: Sequence[str]) -> dict[str, Any]:
    if mark.style:
        return _look_of(mark.style)
    if not mark.kind:
        return {"color": TEXT, "marker": ".", "markersize": 8.5}
    number = kinds.index(mark.kind)
    return {"color": OKABE_ITO[number % len(OKABE_ITO)], "marker": MARKERS[number % len(MARKERS)], "markersize": 5}


def _key_of_verdicts(styles: Collection[Style | None]) -> list[Artist]:
    """Return the entries of the legend for verdicts."""
    return [Line2D([], [], linestyle="", label=_MARKS[one][-1], **_look_of(one)) for one in _MARKS if one in styles]


def _entry_width(key: Sequence[Artist]) -> float:
    """Return the width of the longest entry of a legend in inches."""
    return 0.6 + SMALL_LETTER * max(len(str(one.get_label())) for one in key)


def _key_of(marks: Sequence[Mark], kinds: Sequence[str]) -> list[Artist]:
    """Return the entries of the legend for what the marks have."""
    looks = {mark.kind: _look(mark, kinds) for mark in marks if mark.kind}
    key: list[Artist] = [Line2D([], [], linestyle="", label=kind, **look) for kind, look in looks.items()]
    key += _key_of_verdicts({mark.style for mark in marks})
    key.append(Line2D([], [], color=TEXT, linewidth=2, label="95 % interval of the rate"))
    if any(mark.others for mark in marks):
        key[-1].set_label("95 % interval of the rate; meaning: of what is added to the nearest rival")
        said = "the neutral sentence and rivals, in percent of the control"
        key.append(Line2D([], [], color=TEXT, marker="|", markersize=7, linestyle="", label=said))
    if any(mark.control for mark in marks):
        said = "control: plain words that say the same"
        key.append(Line2D([], [], color=TEXT, marker="|", markersize=11, linestyle="", label=said))
    if any(mark.baseline for mark in marks):
        key.append(Patch(color=BAND, alpha=0.7, label=f"{BEST_BASELINE}, 95 % interval"))
    return [*key, Line2D([], [], color=SOFT, linestyle=":", label="chance")]


def curves(
    table: pd.DataFrame,
    title: str,
    *,
    x: str,
    panels: str,
    colours: str,
    value: str = "accuracy",
    chance: float | None = 0.5,
    best: pd.DataFrame | None = None,
    linear: bool = False,
    shares: bool = True,
) -> Figure:
    """Draw rates over a quantity, a panel for each value of a column, with 95 % bands.

    Args:
        table: Columns x, panels and colours (their names), value, low, high and perhaps n, which then stands in the
            panel's title.
        title: Of the figure.
        x: The column of the quantity, such as training tokens.
        panels: The column whose values have a panel each.
        colours: The column whose values have a curve each, with a colour and a marker; colours of numbers follow their
            order.
        value: The column of the values.
        chance: Where a line is drawn; None for a bias, whose best value is 0.
        best: The best baseline of each panel, as of `cxprobe.results.comparisons.best_baseline`, drawn as a black line.
        linear: Whether the quantity is a whole number on a linear axis, such as a layer; else the axis is logarithmic.
        shares: Whether the values are shares, drawn from 0 to 100 %; else the axis ends where the intervals do.
    """
    names, kinds = (list(dict.fromkeys(table[column])) for column in (panels, colours))
    is_scale = pd.api.types.is_numeric_dtype(table[colours])
    palette: Any = mpl.colormaps["viridis"](np.linspace(0, 0.9, len(kinds))) if is_scale else OKABE_ITO
    headings = [_within(_readable(str(name)), 2.2 / HEADING) for name in names]
    if "n" in table:
        sizes = [_span(table.loc[table[panels] == name, "n"].tolist()) for name in names]
        headings = [f"{heading}\n(n = {size})" for heading, size in zip(headings, sizes, strict=True)]
    columns = min(4, len(names))
    lines = ceil(len(names) / columns)
    bottom = 0.85
    panel_height = 1.81 + 0.17 * max(len(heading.split("\n")) for heading in headings)
    width, height = columns * 2.4 + 0.8, lines * panel_height + bottom + 0.2
    figure = Figure(figsize=(width, height))
    least, most = table[x].min(), table[x].max()
    for number, name in enumerate(names):
        line, column = divmod(number, columns)
        up = bottom + (lines - 1 - line) * panel_height
        axes = figure.add_axes(((0.75 + column * 2.4) / width, up / height, 2.1 / width, 1.45 / height))
        in_panel = table[table[panels] == name]
        for kind_number, kind in enumerate(kinds):
            rates = in_panel[in_panel[colours] == kind].sort_values(x)
            colour, marker = palette[kind_number % len(palette)], MARKERS[kind_number % len(MARKERS)]
            if (rates["low"] < rates["high"]).any():
                axes.fill_between(rates[x], rates["low"], rates["high"], color=colour, alpha=0.2, linewidth=0)
            label = f"{colours} {kind}" if is_scale else str(kind)
            axes.plot(rates[x], rates[value], color=colour, marker=marker, markersize=4, label=label)
        if chance is not None:
            axes.axhline(chance, color=SOFT, linestyle=":", linewidth=1.2, label="chance")
        for rate in () if best is None else best.loc[best[panels] == name, value]:
            axes.axhline(rate, color="black", linewidth=1.2, label=BEST_BASELINE)
        if shares:
            axes.set_ylim(-0.02, 1.02)
            axes.yaxis.set_major_formatter(PercentFormatter(xmax=1))
        else:
            axes.set_ylim(table["low"].min(), table["high"].max())
        if linear:
            axes.set_xlim(least - 0.5, most + 0.5)
            axes.xaxis.set_major_locator(MaxNLocator(nbins=7, integer=True))
        else:
            axes.set_xscale("log")
            axes.set_xlim(least / 1.2, most * 1.2)
        axes.grid(axis="y", color="0.9", linewidth=0.6)
        axes.spines[["top", "right"]].set_visible(False)
        is_lowest = number + columns >= len(names)
        axes.tick_params(which="both", labelsize=8, labelbottom=is_lowest, labelleft=column == 0)
        axes.set_xlabel(_readable(x) if is_lowest else "", fontsize=8)
        axes.set_ylabel("" if column else _readable(value), fontsize=8)
        axes.set_title(headings[number], fontsize=9, parse_math=False)
    figure.suptitle(_within(title, width / TITLE), fontsize=11, parse_math=False)
    legend: dict[str, Any] = {}
    for axes in figure.axes:
        handles, labels = axes.get_legend_handles_labels()
        legend |= dict(zip(labels, handles, strict=True))
    columns = max(1, min(columns + 1, int(width / (0.6 + HEADING * max(map(len, legend))))))
    how: Any = {"ncols": columns, "frameon": False, "fontsize": 8}
    for text in figure.legend(legend.values(), legend.keys(), loc="outside lower center", **how).get_texts():
        text.set_parse_math(False)
    return figure


def _within(text: str, letters: float) -> str:
    """Return a text in lines of at most so many letters; its own lines stay apart."""
    return "\n".join(textwrap.fill(line, max(12, int(letters))) for line in text.split("\n"))


def _readable(name: str) -> str:
    return name.replace("_", " ").replace("-", " ")


def as_svg(figure: Figure, *, of_page: bool = False) -> str:
    """Return a figure as SVG.

    Args:
        figure: What `dots` returns.
        of_page: Whether it is a part of a page of HTML, whose colours it takes; else it is a file with a white ground.
    """
    drawn = StringIO()
    with mpl.rc_context(_STYLE | {"svg.hashsalt": f"cxprobe {figure.get_figwidth()}"}):  # the same file every time
        ground = "none" if of_page else "white"
        figure.savefig(drawn, format="svg", metadata={"Date": None, "Creator": None}, facecolor=ground)
    ElementTree.register_namespace("", _SVG)
    ElementTree.register_namespace("xlink", "http://www.w3.org/1999/xlink")
    root = ElementTree.fromstring(drawn.getvalue())  # noqa: S314  (of matplotlib itself)
    for group in root.iter(f"{{{_SVG}}}g"):
        group.attrib.pop("id", None)  # a page may have several pictures
    if not of_page:
        return ElementTree.tostring(root, encoding="unicode", xml_declaration=True)
    for name in ("width", "height"):
        del root.attrib[name]
    root.set("style", f"width: {_PIXELS * figure.get_figwidth():.0f}px")
    text = ElementTree.tostring(root, encoding="unicode")
    return re.sub("|".join(_OF_PAGE), lambda found: f"var(--{_OF_PAGE[found[0]]})", text)
