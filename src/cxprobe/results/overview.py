"""The picture of a run: what each model knows of each construction, as the report, the README and notebooks show it."""

import re
from collections.abc import Callable, Mapping, Sequence
from io import StringIO
from math import ceil
from typing import Any, NamedTuple
from xml.etree import ElementTree

import matplotlib as mpl
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import PercentFormatter

from cxprobe.constructions.construction import Construction
from cxprobe.results.findings import Finding, Question
from cxprobe.results.verdict import Style
from cxprobe.stats import Estimate

PANELS: Mapping[Question, str] = {"form": "form", "meaning": "meaning", "words": "prompts", "used": "use"}
TEXT, SOFT, LINE, BAND = "#1b1f24", "#59616b", "#d5dae0", "#c9ced5"
# Style of a verdict -> its colour, its mark, whether this is filled, and what it says; marks differ without colour.
_MARKS: Mapping[Style, tuple[str, str, bool, str]] = {
    "found": ("#00694b", "^", True, "knows"),
    "explained": ("#8a4300", "D", True, "right, perhaps without the construction"),
    "absent": ("#9b1c31", "o", False, "does not"),
    "undecided": (SOFT, "$?$", True, "undecided: too few items, or fails the control"),
}
_WITHOUT_VERDICT = (TEXT, ".", True, "")
# Colour of the picture -> the property of the page's style that takes its place there, so that it follows its theme.
_OF_PAGE = {TEXT: "text", SOFT: "soft", LINE: "line", BAND: "band", "#00694b": "good", "#8a4300": "odd"}
_OF_PAGE |= {"#9b1c31": "bad", "#ffffff": "ground"}
_STYLE: Any = {
    "svg.fonttype": "none",  # text stays text: small, sharp, and found by a search
    "font.family": "sans-serif",
    "font.sans-serif": ["Helvetica", "Arial", "DejaVu Sans"],
    "font.size": 10,
    "text.color": TEXT,
    "xtick.color": SOFT,
}
ROW, PANEL, GAP, HEAD, LETTER, ENTRY = 0.31, 2.1, 0.55, 0.5, 0.07, 0.19  # inches
TWO_LINES, SMALL_LETTER = 0.42, 0.056  # of a row with an example, and of a letter of it, in inches
_PIXELS = 104  # an inch, at most, on a page
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
    """

    row: str
    panel: str
    rate: Estimate
    chance: float
    style: Style | None = None
    baseline: Estimate | None = None
    control: Estimate | None = None
    link: str = ""


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


def row_names(constructions: Mapping[str, Construction]) -> dict[str, str]:
    """Return construction -> its name for people and, in a second line, an example."""
    return {slug: "\n".join(filter(None, [one.name, one.example])) for slug, one in constructions.items()}


def overview(
    findings: Sequence[Finding],
    names: Mapping[str, str],
    *,
    labels: Callable[[str], str] = str,
    link: Callable[[Finding], str] = lambda _: "",
    narrow: bool = False,
) -> Figure:
    """Draw the findings of the first page: constructions down, and for each question a column a model.

    Args:
        findings: What `cxprobe.results.findings.lead_findings` returns, at least one.
        names: Construction -> its name for people, see `row_names`.
        labels: Returns the name of a model for people.
        link: Returns where a click on a finding leads.
        narrow: Whether the questions stand below each other, for a phone.
    """
    models = list(dict.fromkeys(one.model for one in findings))
    marks = []
    for question, called in PANELS.items():
        for model in models:
            of_panel = [one for one in findings if (one.question, one.model) == (question, model)]
            panel = f"{called}\n{labels(model)}" if len(models) > 1 else called
            for one in of_panel:
                baseline, style = one.baseline.rate if one.baseline else None, one.verdict.style
                beside = (one.rate, one.row["chance"], style, baseline, one.control, link(one))
                marks.append(Mark(names[one.construction], panel, *beside))
    rows = [names[name] for name in _in_order(findings, models[0])]
    if not narrow:
        return draw(marks, [rows])
    # A phone has no room for examples.
    marks = [mark._replace(row=mark.row.split("\n")[0]) for mark in marks]
    rows = [row.split("\n")[0] for row in rows]
    blocks = []
    for called in PANELS.values():
        shown = {mark.row for mark in marks if mark.panel.split("\n")[0] == called}
        blocks.append([row for row in rows if row in shown])
    return draw(marks, [block for block in blocks if block], stacked=True)


def _in_order(findings: Sequence[Finding], model: str) -> list[str]:
    """Return the constructions: those of which the meaning is asked first, what the first model knows before others."""
    ranks = list(_MARKS)
    best: dict[str, tuple[int, int, float]] = {}
    for one in findings:
        rank = (one.question != "meaning", ranks.index(one.verdict.style), -one.rate.value)
        if one.construction not in best or (one.model == model and rank < best[one.construction]):
            best[one.construction] = rank
    return sorted(best, key=lambda name: best[name])


def draw(marks: Sequence[Mark], blocks: Sequence[Sequence[str]], *, stacked: bool = False) -> Figure:
    """Draw rates with their intervals on one scale from 0 to 100 %, the baseline as a band and the control as a tick.

    Args:
        marks: The rates.
        blocks: The rows from the top. Where several blocks are stacked, each has the panels of one question.
        stacked: Whether there is a block for each question.
    """
    panels = list(dict.fromkeys(mark.panel for mark in marks))
    questions = list(dict.fromkeys(panel.split("\n")[0] for panel in panels))
    of_block = [[p for p in panels if not stacked or p.split("\n")[0] == questions[i]] for i in range(len(blocks))]
    most, key = max(map(len, of_block)), _key_of(marks)
    lines = [mark.row.split("\n") for mark in marks]
    labels = 0.25 + max(LETTER * len(name) for name, *_ in lines)
    labels = max([labels, *(0.25 + SMALL_LETTER * len(example) for _, *examples in lines for example in examples)])
    row = TWO_LINES if any(len(of_row) > 1 for of_row in lines) else ROW
    panel_width = PANEL if most < 5 and not stacked else PANEL * 0.7
    width, columns = labels + (panel_width + GAP) * most, 1 if stacked else min(most, 3)
    head = 0.1 + ENTRY * ceil(len(key) / columns)
    height = sum(HEAD + len(rows) * row + 0.3 for rows in blocks) + head
    with mpl.rc_context(_STYLE):
        figure = Figure(figsize=(width, height))
        top = height - head
        for rows, of_it in zip(blocks, of_block, strict=True):
            top -= HEAD + len(rows) * row
            for column, panel in enumerate(of_it):
                left = labels + column * (panel_width + GAP)
                place = (left / width, top / height, panel_width / width, len(rows) * row / height)
                axes = figure.add_axes(place)
                _draw_panel(axes, panel, rows, [mark for mark in marks if mark.panel == panel], has_names=column == 0)
            top -= 0.3
        figure.legend(handles=key, loc="upper left", ncols=columns, frameon=False, fontsize=9, labelcolor=TEXT)
    return figure


def _draw_panel(axes: Axes, panel: str, rows: Sequence[str], marks: Sequence[Mark], *, has_names: bool) -> None:
    axes.set(xlim=(-0.06, 1.06), ylim=(len(rows) - 0.5, -0.5), xticks=(0, 0.5, 1))
    axes.xaxis.set_major_formatter(PercentFormatter(xmax=1))
    axes.tick_params(length=0)
    axes.set_title(panel, fontsize=11, fontweight="bold", loc="left")
    axes.spines[["top", "right", "left", "bottom"]].set_visible(False)
    axes.patch.set_visible(False)
    axes.hlines([number + 0.5 for number in range(-1, len(rows))], -0.06, 1.06, color=LINE, linewidth=0.6)
    axes.text(1.08, -0.75, "n", color=SOFT, fontsize=8)
    axes.set_yticks(range(len(rows)), [row.split("\n")[0] if has_names else "" for row in rows])
    links = {mark.row: mark.link for mark in marks}
    for number, (label, row) in enumerate(zip(axes.get_yticklabels(), rows, strict=True)):
        label.set_color(TEXT)
        if links.get(row):
            label.set_url(links[row])
        if has_names and "\n" in row:
            label.set_verticalalignment("bottom")
            axes.text(-0.09, number + 0.08, row.split("\n")[1], color=SOFT, fontsize=8, ha="right", va="top")
    for number in {*range(len(rows))} - {rows.index(mark.row) for mark in marks}:
        axes.text(0.5, number, "not tested", color=SOFT, fontsize=8, ha="center", va="center")
    for mark in marks:
        y, rate = rows.index(mark.row), mark.rate
        colour = _shown(mark.style)["color"]
        if mark.baseline:
            low, high = mark.baseline.low, mark.baseline.high
            axes.barh(y, high - low, left=low, height=0.62, color=BAND, alpha=0.7, zorder=0)
        axes.vlines(mark.chance, y - 0.5, y + 0.5, color=SOFT, linestyle=":", linewidth=1)
        if mark.control:
            axes.vlines(mark.control.value, y - 0.45, y + 0.45, color=TEXT, linewidth=1.6)
        axes.hlines(y, rate.low, rate.high, color=colour, linewidth=2)
        axes.text(1.08, y, f"{rate.n:,}", color=SOFT, fontsize=8, va="center")
        if mark.style == "undecided":
            axes.plot(
                rate.value, y, marker="o", color=colour, markerfacecolor="white", markersize=11, zorder=5, clip_on=False
            )
        (point,) = axes.plot(rate.value, y, zorder=6, clip_on=False, **_shown(mark.style))
        point.set_url(mark.link or None)


def _shown(style: Style | None) -> dict[str, Any]:
    colour, shape, is_filled, _ = _MARKS[style] if style else _WITHOUT_VERDICT
    size = 6 if style == "undecided" else 8.5
    return {"color": colour, "marker": shape, "markerfacecolor": colour if is_filled else "white", "markersize": size}


def _key_of(marks: Sequence[Mark]) -> list[Artist]:
    """Return the entries of the legend for what the marks have."""
    styles = {mark.style for mark in marks}
    key: list[Artist] = [
        Line2D([], [], linestyle="", label=words, **_shown(style))
        for style, (_, _, _, words) in _MARKS.items()
        if style in styles
    ]
    key.append(Line2D([], [], color=TEXT, linewidth=2, label="95 % interval of the rate"))
    if any(mark.control for mark in marks):
        said = "control: plain words that say the same"
        key.append(Line2D([], [], color=TEXT, marker="|", markersize=11, linestyle="", label=said))
    if any(mark.baseline for mark in marks):
        key.append(Patch(color=BAND, alpha=0.7, label="best baseline, 95 % interval"))
    return [*key, Line2D([], [], color=SOFT, linestyle=":", label="chance")]


def as_svg(figure: Figure, *, of_page: bool = False) -> str:
    """Return a figure as SVG.

    Args:
        figure: What `draw` returns.
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
    root.set("style", f"max-width: {_PIXELS * figure.get_figwidth():.0f}px")
    text = ElementTree.tostring(root, encoding="unicode")
    return re.sub("|".join(_OF_PAGE), lambda found: f"var(--{_OF_PAGE[found[0]]})", text)
