"""A page about constructions, made from their data: definitions, examples of items, and rates of baselines.

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
from cxprobe.models.params import members_of
from cxprobe.project.params import load_params
from cxprobe.results.inputs import ConstructionFiles
from cxprobe.results.words import with_blanks
from cxprobe.tasks.registry import TASKS

_TEMPLATE = Path(__file__).parent / "templates" / "constructions.md"
# The rate of a baseline on the items of a construction, such as "inference, 0 shots".
BASELINE_RATE = ["construction", "items", "model", "accuracy", "low", "high", "n"]


def make_page() -> str:
    """Return the page about the constructions in the working directory, with the results that are tracked there.

    Raises:
        CxprobeError: A file has faults; `cxprobe check` tells those of all files.
    """
    contents = read_constructions(construction_names(Path()))
    return page_of(contents, _baseline_rates(contents))


def read_constructions(names: Iterable[str]) -> dict[str, ConstructionFiles]:
    """Return name -> the files of a construction in the working directory.

    Raises:
        CxprobeError: A file has faults; `cxprobe check` tells those of all files.
    """
    contents = {}
    for name in names:
        items = {}
        for task_name, task in TASKS.items():
            entries = task.items_in(name)
            if entries:
                items[task_name] = task.read_items(entries, lambda path: path)
        contents[name] = ConstructionFiles(load_construction(name), items)
    return contents


def _baseline_rates(contents: Mapping[str, ConstructionFiles]) -> pd.DataFrame:
    """Return the rates of baselines on the items of constructions, as far as there are results."""
    models = load_params().models
    baseline = [member.slug for member in members_of(models, models) if member.is_baseline]
    tables = [pd.DataFrame(columns=BASELINE_RATE)]
    for name, task in TASKS.items():
        path = RESULTS / f"{task.accuracy}.csv"
        if not path.exists():
            continue
        table = read_table(path)
        try:
            rows = table[(table["measure"] == "accuracy") & table["model"].isin(baseline)]
            rows = rows.rename(columns={"value": "accuracy"})
            rows = with_blanks(rows).assign(folder=rows["construction"].map(task.params.construction_of))
            rows = rows[rows["folder"].isin([folder for folder, files in contents.items() if name in files.items])]
            rows = rows.astype({"accuracy": float, "low": float, "high": float, "n": int})
            items = [task.row_label(row, contents[row["folder"]].items[name]) for row in rows.to_dict("records")]
            rows = rows.assign(items=items, construction=rows["folder"])
            tables.append(rows.loc[rows["items"] != "", BASELINE_RATE])
        except (KeyError, ValueError) as fault:
            raise DataError(
                f"{path}: is no table of accuracies ({fault}); `dvc repro evaluate_{name}` makes it anew"
            ) from fault
    return pd.concat(tables, ignore_index=True)


def page_of(contents: Mapping[str, ConstructionFiles], rates: pd.DataFrame) -> str:
    """Return the page about constructions, as Markdown.

    Args:
        contents: Folder -> the files in it.
        rates: The rates of baselines on their items: columns `BASELINE_RATE`.
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
            name: [example for task, items in content.items.items() for example in TASKS[task].examples(items)]
            for name, content in contents.items()
        },
        baseline={name: list(_baseline(rates[rates["construction"] == name])) for name in contents},
    )
    return page


def _overview(content: ConstructionFiles) -> Sequence[str]:
    title = content.construction.name
    anchor = re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")  # as GitHub writes it
    return f"[{title}](#{anchor})", ", ".join(TASKS[name].title for name in content.items)


def _baseline(rates: pd.DataFrame) -> Iterator[Sequence[str]]:
    """Yield a row for each kind and number of items, with the models from the best to the worst."""
    for (items, n), group in rates.groupby(["items", "n"]):
        shown = group.assign(rounded=group["accuracy"].round(2)).sort_values(
            ["rounded", "model"], ascending=[False, True]
        )
        rated = [
            f"{model} {100 * rate:.0f} % [{100 * low:.0f}, {100 * high:.0f}]"
            for model, rate, low, high in shown[["model", "accuracy", "low", "high"]].itertuples(index=False)
        ]
        yield str(items), str(n), ", ".join(rated)


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
