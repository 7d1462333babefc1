"""What MkDocs does beside turning docs/ into pages: it makes the reference, and takes in pages from elsewhere.

No page of the reference is written by hand, so none can differ from the code. `generated_pages` has all of them.
"""

import csv
import re
from collections.abc import Mapping
from itertools import takewhile
from pathlib import Path
from posixpath import normpath, relpath

from commands_in_markdown import describe_commands
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page
from params_in_markdown import describe_params

ROOT = Path(__file__).parents[2]
# The columns of docs/reproduced/*.tsv, in which people send what they have measured.
SENT = ["paper", "table", "model", "items", "ours", "low", "high", "theirs", "same", "date", "who", "version"]
# A page of the site -> the file of the project that it shows.
TAKEN = {"index.md": "README.md"}
# A file that pages of docs/ link to -> the page of the site that shows it.
SHOWN = {"presets/base.yaml": "reference/params.md"}
# A link or picture of Markdown: its text, and a target inside the project.
LINK = re.compile(r"(!?)\[([^\]]+)\]\((?!https?://|#|mailto:)([^)\s]+)\)")


def generated_pages(root: Path = ROOT) -> Mapping[str, str]:
    """Return every page that is made or taken from elsewhere: its place in the site and its Markdown."""
    made = {
        "reference/params.md": describe_params(root),
        "reference/commands.md": describe_commands(),
        "reference/presets.md": describe_presets(root),
    }
    return made | {place: _taken(root, place, source) for place, source in TAKEN.items()}


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages that are not in docs/, and the published tables that docs/papers.md links to."""
    for place, text in generated_pages().items():
        files.append(File.generated(config, place, content=text))
    for path in sorted((ROOT / "published").glob("*.tsv")):
        files.append(File.generated(config, f"published/{path.name}", abs_src_path=str(path)))
    return files


def on_page_markdown(markdown: str, page: Page, **_: object) -> str:
    """Let links to the project's files stay inside the site."""
    if page.file.src_uri == "papers.md":
        markdown = markdown.replace("](../published/", "](published/")
        markdown = f'<div class="wide" markdown>\n\n{markdown}\n\n</div>'
        page.meta["hide"] = ["navigation", "toc"]  # its tables are wide
    if page.file.src_uri == "howto/papers.md":
        markdown = markdown.replace("<!-- results -->", describe_results(ROOT / "docs" / "reproduced"))
    return _of_the_site(markdown, page.file.src_uri)


def _of_the_site(markdown: str, place: str) -> str:
    """Return a page whose links to files of the project lead to the pages that show them."""

    def link(found: re.Match[str]) -> str:
        path = found[3].partition("#")[0]
        target = normpath(Path("docs", place).parent / path)
        if target not in SHOWN:
            return found[0]
        return f"{found[1]}[{found[2]}]({relpath(SHOWN[target], Path(place).parent)})"

    return LINK.sub(link, markdown)


def describe_presets(root: Path) -> str:
    """Return a page about the presets: what each file says of itself at its beginning."""
    lines = [
        "# Presets",
        "`cxprobe init FOLDER --preset NAME` begins a project with a preset, and `cxprobe preset NAME` writes "
        "`params.yaml` of one that is there. A preset has what differs from [`base.yaml`](params.md).",
    ]
    for path in sorted((root / "presets").glob("*.yaml")):
        if path.name != "base.yaml":
            said = takewhile(lambda line: line.startswith("# "), path.read_text().split("\n"))
            lines += [f"## {path.stem}", " ".join(line.removeprefix("# ") for line in said)]
    return "\n\n".join(lines) + "\n"


def describe_results(folder: Path) -> str:
    """Return the numbers that people have sent, a file each, as one table.

    Raises:
        ValueError: A file has other columns, or a number that is none.
    """
    rows = []
    for path in sorted(folder.glob("*.tsv")):
        with path.open(newline="") as file:
            for row in csv.DictReader(file, delimiter="\t"):
                if list(row) != SENT or not all(re.fullmatch(r"[\d.]+", row[name]) for name in ("ours", "low", "high")):
                    raise ValueError(
                        f"{path}: expected the columns {', '.join(SENT)}, with ours, low and high in percent"
                    )
                shown = f"{row['ours']} [{row['low']}, {row['high']}]"
                cells = {name: cell for name, cell in row.items() if name not in ("low", "high")} | {"ours": shown}
                rows.append("| " + " | ".join(cells.values()) + " |")
    head = [name for name in SENT if name not in ("low", "high")]
    return "\n".join(["| " + " | ".join(head) + " |", "|---" * len(head) + "|", *rows])


def _taken(root: Path, place: str, source: str) -> str:
    """Return a file of the project as a page of the site: a link without a page becomes plain text."""
    pages = {shown: page for page, shown in TAKEN.items()}
    here = Path(source).parent
    up = "../" * place.count("/")

    def link(found: re.Match[str]) -> str:
        path, _, part = found[3].partition("#")
        target = normpath(here / path)
        if target in pages or target.startswith("docs/"):
            page = pages.get(target, target.removeprefix("docs/"))
            return f"{found[1]}[{found[2]}]({up}{page}{'#' * bool(part)}{part})"
        return found[2]

    return LINK.sub(link, (root / source).read_text())
