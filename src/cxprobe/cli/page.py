"""A page about constructions, made from their data: what each is, examples of its items, what blind models get.

The page is Markdown, for people who have not seen the files. The examples are the first ones of each file. What stands
around the tables is in templates/constructions.md.
"""

import csv
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from jinja2 import StrictUndefined, Template

from cxprobe.constructions.construction import CONSTRUCTIONS_FOLDER, SCRIPT_LINK, load_construction
from cxprobe.constructions.people import People, load_people
from cxprobe.errors import DataError
from cxprobe.files.reading import read_text
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
_ITEMS: Mapping[str, Callable[[Mapping[str, str]], str]] = {
    "report_pairs": lambda row: called_pairs(row["construction"]) + (", pseudowords" * (row["words"] == "pseudo")),
    "report_prompts": lambda row: SETS.get(row["set"], row["set"]),
    "report_scenarios": lambda row: f"scenario {row['scenario']}",
}
Row = Sequence[str]


class BlindRate(NamedTuple):
    """What a blind model gets on the items of one kind of a construction.

    Attributes:
        construction: Its folder.
        items: What was asked, such as "minimal pairs" or "inference, challenge set".
        model: The model's slug.
        accuracy: The share of right answers, in [0, 1].
        low: The lower end of its 95 % interval.
        high: The upper end.
        n: The number of items.
    """

    construction: str
    items: str
    model: str
    accuracy: float
    low: float
    high: float
    n: int


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
    return page_of(contents, people, list(_blind_rates()))


def _blind_rates() -> Iterator[BlindRate]:
    """Give what blind models get on pairs, inferences, reasoning items and scenarios, as far as there are results."""
    models = load_params().models
    blind = {member.slug for member in members_of(models, models) if member.is_blind}
    for stage, items in _ITEMS.items():
        path = RESULTS / stage / "accuracy.csv"
        try:
            for row in csv.DictReader(read_text(path, DataError).splitlines()) if path.exists() else ():
                if row["model"] in blind:
                    accuracy, low, high, n = (float(row[column]) for column in ("accuracy", "low", "high", "n"))
                    name = construction_of_pairs(row["construction"])
                    yield BlindRate(name, items(row), row["model"], accuracy, low, high, int(n))
        except (KeyError, ValueError, csv.Error) as fault:
            raise DataError(
                f"{path}: is no table of accuracies ({fault}); `dvc repro {stage}` makes it anew"
            ) from fault


def page_of(contents: Mapping[str, About], people: People, rates: Sequence[BlindRate]) -> str:
    """Return the page about constructions, as Markdown.

    Args:
        contents: Folder -> the files in it.
        people: The nouns of minimal pairs.
        rates: What blind models get on their items.
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
        blind={name: list(_blind([rate for rate in rates if rate.construction == name])) for name in contents},
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


def _blind(rates: Sequence[BlindRate]) -> Iterator[Row]:
    """Give a row for each kind and number of items, with the models from the best to the worst."""
    for asked, n in sorted({(rate.items, rate.n) for rate in rates}):
        best_first = sorted(
            (rate for rate in rates if (rate.items, rate.n) == (asked, n)),
            key=lambda rate: (-round(rate.accuracy, 2), rate.model),
        )
        told = [
            f"{rate.model} {100 * rate.accuracy:.0f} % [{100 * rate.low:.0f}, {100 * rate.high:.0f}]"
            for rate in best_first
        ]
        yield asked, str(n), ", ".join(told)


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
