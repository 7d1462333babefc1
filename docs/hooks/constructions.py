"""The page constructions/README.md: definitions of the constructions, and an item of each kind.

The items are the first ones of each file. `python docs/hooks/constructions.py` writes the page anew; a test compares it
with the files beside it.
"""

import re
from collections.abc import Iterable, Sequence
from contextlib import chdir
from pathlib import Path

from cxprobe.constructions import construction_names
from cxprobe.project.constructions import read_constructions
from cxprobe.results.task import ConstructionFiles
from cxprobe.tasks.registry import TASKS

ROOT = Path(__file__).parents[2]
PAGE = Path("constructions/README.md")
HEAD = """\
# Constructions

`python docs/hooks/constructions.py` makes this page from the files beside it. Do not edit it: change the data, and run
the command again. Every example is the first of its file, so none has been picked.
"""
WHAT_IS_CHANGED = """\
## What is changed, and why

Every kind of item comes in several forms. What changes between them, and what stays, tells why a model is right.
"""
KINDS = [
    (
        "pairs",
        "*switched*: the two people change places, and the answer with them",
        "whether a model goes by who typically does what, or by a name",
    ),
    (
        "pairs",
        "*rival*: a sentence that looks alike and lacks the construction, or has it of someone or something else; "
        "the other member is right",
        "whether a model likes one member whatever the sentence says",
    ),
    (
        "pairs",
        "*variants*: another question about the same sentence; *own* ones are not in the published design",
        "whether it knows the meaning or one wording",
    ),
    (
        "inference",
        "*readings*: the same form asserted, denied, left open ...; a hypothesis is then related in another way",
        "whether the hypothesis alone tells the answer",
    ),
    (
        "inference",
        "*challenge*: the same surface with another construction",
        "whether it reads the form or the words",
    ),
    (
        "reasoning",
        "see each construction's table: in half of the tests an answer follows, in the others none",
        "whether it combines the rule with the facts",
    ),
    (
        "scenarios",
        "tests with an answer, and *calibrations* without one",
        "how probable a word is for other reasons",
    ),
]


def make_page(root: Path) -> str:
    """Return the page about the constructions of a project, in Markdown.

    Raises:
        CxprobeError: A file has faults; `cxprobe check` tells those of all files.
    """
    with chdir(root):
        contents = read_constructions(construction_names())
    overview = [_overview(content) for content in contents.values()]
    kinds = _table(["items", "what is changed", "what it shows"], KINDS)
    parts = [HEAD, _table(["construction", "tasks"], overview), WHAT_IS_CHANGED, kinds]
    for folder, content in contents.items():
        parts += _describe(folder, content)
    return "\n".join(parts)


def _overview(content: ConstructionFiles) -> Sequence[str]:
    title = content.construction.name
    anchor = re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")  # as GitHub writes it
    return f"[{title}](#{anchor})", ", ".join(TASKS[name].title for name in content.items)


def _describe(folder: str, content: ConstructionFiles) -> list[str]:
    """Return the parts of the page that are about a construction."""
    about = content.construction
    sources = "; ".join(_line(source).rstrip(".") for source in about.sources)
    parts = [
        f"## {_line(about.name)}\n",
        f"{_line(about.gloss)}\n",
        f"*What counts:* {_line(about.positive)}\n",
        f"Folder: [{folder}]({folder}/). Sources: {sources}.\n",
    ]
    examples = [example for task, items in content.items.items() for example in TASKS[task].examples(items)]
    if examples:
        parts.append(_table(["item", "text", "right", "wrong"], examples))
    return parts


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [f"| {' | '.join(head)} |", f"|{'---|' * len(head)}"]
    for row in rows:
        cells = [_line(text).replace("|", "\\|") for text in row]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join([*lines, ""])


def _line(text: str) -> str:
    """Return a text as a line, in which what looks like HTML is shown as it stands."""
    return re.sub(r"\s*\n\s*", " ", text).strip().replace("<", "&lt;")


if __name__ == "__main__":
    (ROOT / PAGE).write_text(make_page(ROOT), encoding="utf-8")
