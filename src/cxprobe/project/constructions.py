"""A page about constructions, made from their data: definitions, and examples of items.

The page is Markdown, for people who have not seen the files. The examples are the first ones of each file. What stands
around the tables is in templates/constructions.md.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from jinja2 import StrictUndefined, Template

from cxprobe.constructions import construction_names
from cxprobe.constructions.construction import CONSTRUCTIONS_FOLDER, SCRIPT_LINK, load_construction
from cxprobe.errors import ConstructionError
from cxprobe.files.schema import suggest
from cxprobe.results.task import ConstructionFiles
from cxprobe.tasks.registry import TASKS


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
        found = [(task, entries) for task in TASKS.values() if (entries := task.items_in(name))]
        items = {task.name: task.read_items(entries, lambda path: path) for task, entries in found}
        contents[name] = ConstructionFiles(load_construction(name), items)
    return contents


def require_construction(name: str, constructions: Path = CONSTRUCTIONS_FOLDER) -> None:
    """Refuse a construction that a folder, by default that of the project in the working directory, does not have.

    Raises:
        ConstructionError: There is none; the message has a near match and all that there are.
    """
    names = construction_names(constructions)
    if name not in names:
        file = constructions / name / "construction.yaml"
        raise ConstructionError(f"{file}: there is no such file{suggest(name, names)}")


def page_of(contents: Mapping[str, ConstructionFiles]) -> str:
    """Return the page about constructions, as Markdown.

    Args:
        contents: Folder -> the files in it.
    """
    kept: dict[str, Any] = {"trim_blocks": True, "lstrip_blocks": True, "keep_trailing_newline": True}
    template = Path(__file__).parent / "templates" / "constructions.md"
    page: str = Template(template.read_text("utf-8"), undefined=StrictUndefined, **kept).render(
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
