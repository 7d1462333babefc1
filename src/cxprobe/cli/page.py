"""A page about constructions, made from their data: what each is, examples of its items, what blind models get.

The page is Markdown, for people who have not seen the files. The examples are the first ones of each file. What stands
around the tables is in templates/constructions.md.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
from jinja2 import StrictUndefined, Template

from cxprobe.constructions.construction import CONSTRUCTIONS_FOLDER, SCRIPT_LINK, load_construction
from cxprobe.constructions.people import People, load_people
from cxprobe.errors import DataError
from cxprobe.files.tables import read_table
from cxprobe.files.writing import RESULTS
from cxprobe.lm.params import members_of
from cxprobe.pairs.frames import load_pairs, pairs_file
from cxprobe.pairs.params import FORM, called_pairs, construction_of_pairs
from cxprobe.prompts.items import load_items
from cxprobe.report.site.examples import examples_of
from cxprobe.report.site.inputs import About
from cxprobe.report.site.words import SETS
from cxprobe.run.params import load_params
from cxprobe.scenarios.rules import load_scenarios

_TEMPLATE = Path(__file__).parent / "templates" / "constructions.md"
# A tracked table of results -> what is asked in one of its rows.
_ITEMS: Mapping[str, Callable[[Mapping[Any, Any]], str]] = {
    "report_pairs": lambda row: called_pairs(row["construction"]) + (", pseudowords" * (row["words"] == "pseudo")),
    "report_prompts": lambda row: SETS.get(row["set"], row["set"]),
    "report_scenarios": lambda row: f"scenario {row['scenario']}",
}
Row = Sequence[str]


# What blind models get: what was asked, such as "inference, challenge set", the share of right answers, its interval.
BLIND_RATE = ["construction", "items", "model", "accuracy", "low", "high", "n"]


def make_page() -> str:
    """Return the page about the constructions in the working directory, with the results that are tracked there.

    Raises:
        CxprobeError: A file has faults; `cxprobe check` tells those of all files.
    """
    people = load_people()
    contents = {}
    for folder in (path for path in sorted(CONSTRUCTIONS_FOLDER.glob("*")) if path.is_dir()):
        name = folder.name
        contents[name] = About(
            load_construction(name),
            {one: load_pairs(one, people) for one in (name, name + FORM) if pairs_file(one).is_file()},
            load_scenarios(name) if (folder / "scenarios.yaml").is_file() else None,
            load_items(name) if (folder / "items.yaml").is_file() else None,
        )
    return page_of(contents, people, _blind_rates())


def _blind_rates() -> pd.DataFrame:
    """Return what blind models get on pairs, inferences, reasoning items and scenarios, as far as there are results."""
    models = load_params().models
    blind = [member.slug for member in members_of(models, models) if member.is_blind]
    tables = [pd.DataFrame(columns=BLIND_RATE)]
    for stage, items in _ITEMS.items():
        path = RESULTS / stage / "accuracy.csv"
        if not path.exists():
            continue
        table = read_table(path)
        try:
            rows = table[table["model"].isin(blind)].astype({"accuracy": float, "low": float, "high": float, "n": int})
            rows = rows.assign(items=[items(row) for row in rows.to_dict("records")])
            tables.append(rows.assign(construction=rows["construction"].map(construction_of_pairs))[BLIND_RATE])
        except (KeyError, ValueError) as fault:
            raise DataError(
                f"{path}: is no table of accuracies ({fault}); `dvc repro {stage}` makes it anew"
            ) from fault
    return pd.concat(tables, ignore_index=True)


def page_of(contents: Mapping[str, About], people: People, rates: pd.DataFrame) -> str:
    """Return the page about constructions, as Markdown.

    Args:
        contents: Folder -> the files in it.
        people: The nouns of minimal pairs.
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
        examples={name: examples_of(content, people) for name, content in contents.items()},
        blind={name: list(_blind(rates[rates["construction"] == name])) for name in contents},
    )
    return page


def _overview(content: About) -> Row:
    title, pairs, items = content.construction.name, content.pairs, content.items
    anchor = re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")  # as GitHub writes it
    return (
        f"[{title}](#{anchor})",
        "; ".join(f"{len(own.variants)} variants of {len(own.frames)} frames" for own in pairs.values()),
        str(len(items.inference.premises)) if items and items.inference else "",
        str(len(items.reasoning) or "") if items else "",
        str(len(content.scenarios.tests)) if content.scenarios else "",
    )


def _blind(rates: pd.DataFrame) -> Iterator[Row]:
    """Give a row for each kind and number of items, with the models from the best to the worst."""
    for (asked, n), own in rates.groupby(["items", "n"]):
        shown = own.assign(rounded=own["accuracy"].round(2)).sort_values(["rounded", "model"], ascending=[False, True])
        told = [
            f"{model} {100 * rate:.0f} % [{100 * low:.0f}, {100 * high:.0f}]"
            for model, rate, low, high in shown[["model", "accuracy", "low", "high"]].itertuples(index=False)
        ]
        yield str(asked), str(n), ", ".join(told)


def _table(head: Row, rows: Iterable[Row]) -> str:
    lines = [f"| {' | '.join(head)} |", f"|{'---|' * len(head)}"]
    for row in rows:
        cells = [_line(text).replace("|", "\\|") for text in row]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def _line(text: str) -> str:
    """Return a text as a line without HTML, and without links that run code."""
    line = re.sub(r"&(?=[#\w])", "&amp;", re.sub(r"\s*\n\s*", " ", text).strip()).replace("<", "&lt;")
    return SCRIPT_LINK.sub(lambda scheme: scheme[0].replace(":", " :"), line)
