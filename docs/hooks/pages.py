"""What MkDocs does beside turning docs/ into pages: it makes the reference, and takes in pages from elsewhere.

No page of the reference is written by hand, so none can differ from the code. `generated_pages` has all of them.
"""

import csv
import re
from collections.abc import Mapping
from itertools import takewhile
from pathlib import Path
from posixpath import normpath, relpath

from formats_in_markdown import MODELS, describe_formats
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page
from models_in_markdown import describe_model
from rates import METHODS
from typer.cli import get_docs_for_click
from typer.main import get_command

import cxprobe
from cxprobe.cli import app
from cxprobe.errors import ParamsError
from cxprobe.files.schema import read_yaml
from cxprobe.project.params import whole_params

ROOT = Path(__file__).parents[2]
# The columns of docs/reproduced/*.tsv, in which people send what they have measured.
SENT = ["paper", "table", "model", "items", "ours", "low", "high", "theirs", "same", "date", "who", "version"]
# A page of the site -> the file of the project that it shows.
TAKEN = {"index.md": "README.md"}
# A file that pages of docs/ link to, as the repository has it -> the page of the site that describes it.
SHOWN = {"presets/base.yaml": "reference/params.md"}
SHOWN |= {source: place for place, source in TAKEN.items()}
EXAMPLES = "src/cxprobe/project/templates/construction"
SHOWN |= {f"{EXAMPLES}/{file}": f"reference/formats.md#{file.replace('.', '')}" for file in MODELS}
SHOWN[f"{EXAMPLES}/form_pairs.yaml"] = "reference/formats.md#pairsyaml"
# Whose docstrings say what the columns of tables hold.
COLUMNS = (
    "tasks.recognition.measure.Predictions",
    "tasks.prompts.items.Item",
    "results.comparisons.compare_models",
)
STATISTICS = """\
::: cxprobe.stats
    options:
      show_root_heading: false
      heading_level: 3
      members: [rate_by, clusters_of, clusters_by, estimate_rate, difference_by, compare_paired, holm]
"""
PARAMS = """\
# Parameters

This page is made from the model that `cxprobe check` reads `params.yaml` with. An unknown key is a fault. So is a
missing one that has no default here. `params.schema.json` is the same as a JSON Schema: editors complete and check
params.yaml by it.

The last column is what this project's `params.yaml` has, where it is short. `cxprobe preset NAME` writes the file from
a preset.
"""
# A link or picture of Markdown: its text, and a target inside the project.
LINK = re.compile(r"(!?)\[([^\]]+)\]\((?!https?://|#|mailto:)([^)\s]+)\)")


WORDS = """\
# Words

Each word has one meaning, in params.yaml, tables, pages and code. The last column says where the code has it.

| word | meaning | in the code |
|---|---|---|
"""


def describe_words(root: Path) -> str:
    """Return the page of docs/words.tsv."""
    with (root / "docs" / "words.tsv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    lines = [f"| {row['word']} | {row['definition']} | `{row['in the code'].replace(':', '.')}` |" for row in rows]
    return WORDS + "\n".join(lines) + "\n"


def generated_pages(root: Path = ROOT) -> Mapping[str, str]:
    """Return every page that is made or taken from elsewhere: its place in the site and its Markdown."""
    made = {
        "reference/params.md": describe_params(root),
        "reference/commands.md": describe_commands(),
        "reference/formats.md": describe_formats(root),
        "reference/presets.md": describe_presets(root),
        "reference/words.md": describe_words(root),
    }
    return made | {place: (root / source).read_text() for place, source in TAKEN.items()}


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages that are not in docs/."""
    for place, text in generated_pages().items():
        files.append(File.generated(config, place, content=text))
    return files


def on_page_markdown(markdown: str, page: Page, **_: object) -> str:
    """Fill in what is made at every build, and let links to the project's files stay inside the site."""
    place = page.file.src_uri
    markdown = _of_the_site(markdown, TAKEN.get(place, f"docs/{place}"), place)
    if place == "papers.md":
        markdown = markdown.replace("<!-- results -->", describe_results(ROOT / "docs" / "reproduced"))
        markdown = f'<div class="wide" markdown>\n\n{markdown}\n\n</div>'
        page.meta["hide"] = ["navigation", "toc"]  # its tables are wide
    if place == "reference/api.md":
        markdown = markdown.replace("<!-- in full -->", f"## In full\n\n{describe_names()}\n\n{describe_columns()}")
    return markdown


def _of_the_site(markdown: str, source: str, place: str) -> str:
    """Return a page with links that lead inside the site; one to a file without a page becomes plain text."""

    def link(found: re.Match[str]) -> str:
        path, _, part = found[3].partition("#")
        target = normpath(Path(source).parent / path)
        if target not in SHOWN and not target.startswith("docs/"):
            return found[2]
        there = SHOWN.get(target, target.removeprefix("docs/") + "#" * bool(part) + part)
        return f"{found[1]}[{found[2]}]({relpath(there, Path(place).parent)})"

    return LINK.sub(link, markdown)


def describe_commands(name: str = "cxprobe") -> str:
    """Return every command with its arguments and options, as typer documents them."""
    command = get_command(app)
    with command.make_context(name, [], resilient_parsing=True) as context:
        text = get_docs_for_click(obj=command, ctx=context, name=name)  # type: ignore[arg-type]  # typer's own context
    _, _, rest = text.partition("\n")
    for one, about in command.commands.items():  # type: ignore[attr-defined]  # whole sentences, which typer shortens
        rest = re.sub(rf"^\* `{one}`:.*$", f"* `{one}`: {str(about.help).splitlines()[0]}", rest, flags=re.M)
    return f"# Commands\n\nThis page is made from the commands' own help.\n{rest}"


def describe_params(folder: Path) -> str:
    """Return the page about params.yaml, with the values of a project's own file."""
    return f"{PARAMS}\n{describe_model(whole_params(), 2, read_yaml(folder / 'params.yaml', ParamsError))}\n"


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


def describe_names() -> str:
    """Return the directives by which mkdocstrings shows every public name in full."""
    parts = []
    for name in cxprobe.__all__:
        parts.append(f"::: {getattr(cxprobe, name).__module__}.{name}")
        if name in METHODS:
            parts[-1] += f"\n    options: {{members: [{', '.join(METHODS[name])}]}}"
    return "\n\n".join(parts)


def describe_columns() -> str:
    """Return the directives by which mkdocstrings shows the columns of tables, and the functions of statistics."""
    parts = [f"::: cxprobe.{name}\n    options: {{heading_level: 3, members: []}}" for name in COLUMNS]
    return "\n\n".join(["## Columns of tables", *parts, "## Statistics", STATISTICS])


def describe_results(folder: Path) -> str:
    """Return the numbers that people have sent, a file each, as one table.

    Raises:
        ValueError: A file has other columns, or a number that is none.
    """
    rows = []
    for path in sorted(folder.glob("*.tsv")):
        with path.open(newline="") as file:
            for row in csv.DictReader(file, delimiter="\t"):
                if list(row) != SENT or not all(
                    re.fullmatch(r"-?[\d.]+", row[name]) for name in ("ours", "low", "high")
                ):
                    raise ValueError(
                        f"{path}: expected the columns {', '.join(SENT)}, and numbers in ours, low and high"
                    )
                shown = f"{row['ours']} [{row['low']}, {row['high']}]"
                cells = {name: cell for name, cell in row.items() if name not in ("low", "high")} | {"ours": shown}
                rows.append("| " + " | ".join(cells.values()) + " |")
    head = [name for name in SENT if name not in ("low", "high")]
    return "\n".join(["| " + " | ".join(head) + " |", "|---" * len(head) + "|", *rows])
