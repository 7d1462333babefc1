"""A page about constructions, made from their data: what each is, examples of its items, what blind models get.

The page is Markdown, for people who have not seen the files. The examples are the first ones of each file. What stands
around the tables is in templates/constructions.md.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import pandas as pd
from jinja2 import StrictUndefined, Template

from cxprobe.constructions.construction import SCRIPT_LINK, load_construction
from cxprobe.constructions.names import construction_names
from cxprobe.errors import DataError
from cxprobe.files.tables import read_table
from cxprobe.files.writing import RESULTS
from cxprobe.lines import LINES
from cxprobe.lm.params import members_of
from cxprobe.project.params import load_params
from cxprobe.report.inputs import ConstructionFiles

_TEMPLATE = Path(__file__).parent / "templates" / "constructions.md"
# What blind models get: what was asked, such as "inference, challenge set", the share of right answers, its interval.
BLIND_RATE = ["construction", "items", "model", "accuracy", "low", "high", "n"]


def make_page() -> str:
    """Return the page about the constructions in the working directory, with the results that are tracked there.

    Raises:
        CxprobeError: A file has faults; `cxprobe check` tells those of all files.
    """
    contents = {}
    for name in construction_names(Path()):
        items = {}
        for line_name, line in LINES.items():
            entries = line.items_in(name)
            if entries:
                items[line_name] = line.read_items(entries, lambda path: path)
        contents[name] = ConstructionFiles(load_construction(name), items)
    return page_of(contents, _blind_rates())


def _blind_rates() -> pd.DataFrame:
    """Return what blind models get on pairs, inferences, reasoning items and scenarios, as far as there are results."""
    models = load_params().models
    blind = [member.slug for member in members_of(models, models) if member.is_blind]
    tables = [pd.DataFrame(columns=BLIND_RATE)]
    for name, line in LINES.items():
        path = RESULTS / f"{line.accuracy}.csv"
        if not path.exists():
            continue
        table = read_table(path)
        try:
            accuracies = table[table["measure"] == "accuracy"].rename(columns={"value": "accuracy"})
            rows = accuracies[accuracies["model"].isin(blind)].astype(
                {"accuracy": float, "low": float, "high": float, "n": int}
            )
            rows = rows.assign(items=[line.asked_in(row) for row in rows.to_dict("records")])
            folders = rows["construction"].map(line.params.construction_of)
            tables.append(rows.assign(construction=folders).loc[rows["items"] != "", BLIND_RATE])
        except (KeyError, ValueError) as fault:
            raise DataError(
                f"{path}: is no table of accuracies ({fault}); `dvc repro evaluate_{name}` makes it anew"
            ) from fault
    return pd.concat(tables, ignore_index=True)


def page_of(contents: Mapping[str, ConstructionFiles], rates: pd.DataFrame) -> str:
    """Return the page about constructions, as Markdown.

    Args:
        contents: Folder -> the files in it.
        rates: What blind models get on their items: columns `BLIND_RATE`.
    """
    template = Template(
        _TEMPLATE.read_text("utf-8"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    page: str = template.render(
        contents=contents,
        line=_line,
        table=_table,
        overview=[_overview(content) for content in contents.values()],
        examples={
            name: [example for line, items in content.items.items() for example in LINES[line].examples(items)]
            for name, content in contents.items()
        },
        columns=[column for line in LINES.values() for column in line.overview_columns],
        blind={name: list(_blind(rates[rates["construction"] == name])) for name in contents},
    )
    return page


def _overview(content: ConstructionFiles) -> Sequence[str]:
    title = content.construction.name
    anchor = re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")  # as GitHub writes it
    cells = [cell for name, line in LINES.items() for cell in line.overview(content.items.get(name))]
    return (f"[{title}](#{anchor})", *cells)


def _blind(rates: pd.DataFrame) -> Iterator[Sequence[str]]:
    """Give a row for each kind and number of items, with the models from the best to the worst."""
    for (asked, n), group in rates.groupby(["items", "n"]):
        shown = group.assign(rounded=group["accuracy"].round(2)).sort_values(
            ["rounded", "model"], ascending=[False, True]
        )
        rated = [
            f"{model} {100 * rate:.0f} % [{100 * low:.0f}, {100 * high:.0f}]"
            for model, rate, low, high in shown[["model", "accuracy", "low", "high"]].itertuples(index=False)
        ]
        yield str(asked), str(n), ", ".join(rated)


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [f"| {' | '.join(head)} |", f"|{'---|' * len(head)}"]
    for row in rows:
        cells = [_line(text).replace("|", "\\|") for text in row]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def _line(text: str) -> str:
    """Return a text as a line without HTML, and without links that run code."""
    line = re.sub(r"&(?=[#\w])", "&amp;", re.sub(r"\s*\n\s*", " ", text).strip()).replace("<", "&lt;")
    return SCRIPT_LINK.sub(lambda scheme: scheme[0].replace(":", " :"), line)
