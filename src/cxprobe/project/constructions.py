"""A page about constructions, made from their data: definitions, and examples of items.

The page is Markdown, for people who have not seen the files. The examples are the first ones of each file. What stands
around the tables is in templates/constructions.md.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from jinja2 import StrictUndefined, Template

from cxprobe.constructions.construction import SCRIPT_LINK, load_construction
from cxprobe.constructions.names import construction_names
from cxprobe.results.task import ConstructionFiles
from cxprobe.tasks.registry import TASKS

_TEMPLATE = Path(__file__).parent / "templates" / "constructions.md"


def make_page() -> str:
    """Return the page about the constructions in the working directory.

    Raises:
        CxprobeError: A file has faults; `cxprobe check` tells those of all files.
    """
    return page_of(read_constructions(construction_names()))


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


def page_of(contents: Mapping[str, ConstructionFiles]) -> str:
    """Return the page about constructions, as Markdown.

    Args:
        contents: Folder -> the files in it.
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
    )
    return page


def _overview(content: ConstructionFiles) -> Sequence[str]:
    title = content.construction.name
    anchor = re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")  # as GitHub writes it
    return f"[{title}](#{anchor})", ", ".join(TASKS[name].title for name in content.items)


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
