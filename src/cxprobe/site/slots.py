"""The figures of slots: which words fill them in corpora."""

import pandas as pd
from matplotlib.figure import Figure

from cxprobe.files.writing import RESULTS
from cxprobe.report.dots import ranked_dots
from cxprobe.report.inputs import ReportInputs

DRAWN = 15  # words of a slot


def draw_slots(inputs: ReportInputs) -> dict[str, Figure]:
    """Return, for each construction whose slots were mined, the words that each slot attracts most as a figure."""
    figures = {}
    for slug, path in inputs.slots.items():
        # "null" and "nan" are words here.
        table = pd.read_csv(inputs.stage.use(RESULTS / path), keep_default_na=False)
        # What fills a slot once says little, unless nothing fills one twice.
        table = table[table["number"] >= min(2, table["number"].max())].groupby("slot").head(DRAWN)
        counts = zip(*(table[name] for name in ("word", "class", "number", "n")), strict=True)
        rows = [f"{word} ({of_class}: {number:,} of {n:,})" for word, of_class, number, n in counts]
        title = f"{inputs.constructions[slug].construction.name}: words in its slots, the most attracted first"
        figures[slug] = ranked_dots(table.assign(row=rows), title, rows="row", panels="slot", value="share")
    return figures
