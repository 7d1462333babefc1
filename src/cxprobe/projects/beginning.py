"""Beginning a construction: a folder of commented files with a valid example, or the files of another one."""

import re
from pathlib import Path

from cxprobe.errors import ProjectError
from cxprobe.params import CONSTRUCTIONS_FOLDER
from cxprobe.projects.finding import require_construction
from cxprobe.reading import read_text
from cxprobe.storage import write_bytes

_TEMPLATE = Path(__file__).parent / "templates" / "construction"
_NAME = re.compile(r"[a-z0-9][a-z0-9-]*")
_EVERYTHING = "all"
# What people judged, and sentences that may be there once only.
_NOT_COPIED = {
    "items.yaml": "each of its premises may be in one construction only",
    "labels.tsv": "people judged the sentences of the other construction",
    "ratings.tsv": "people judged the items of the other construction",
}


def require_name(kind: str, name: str) -> None:
    """Refuse a name that cannot be a part of paths and of DVC's stage names.

    Raises:
        ProjectError: It has other characters than small letters, digits and hyphens, or begins with a hyphen.
    """
    if not _NAME.fullmatch(name):
        near = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")
        hint = f"; take '{near}'" if near else ""
        raise ProjectError(
            f"'{name}' cannot be the name of a {kind}: it may have small letters, digits and hyphens, and begins with "
            f"a letter or digit{hint}"
        )


def add_construction(name: str, source: str | None = None, constructions: Path = CONSTRUCTIONS_FOLDER) -> list[str]:
    """Write the files of a new construction.

    Args:
        name: The name of its folder.
        source: A construction whose files are copied, with its name replaced; None for commented files with an example.
        constructions: The folder of all constructions.

    Returns:
        What was not copied, and why: a line each.

    Raises:
        ProjectError: The name is none, or is taken.
        ConstructionError: The source does not exist.
    """
    require_name("construction", name)
    if name == _EVERYTHING:
        raise ProjectError(f"'{name}' is what runs on all constructions together are called; take another name")
    folder = constructions / name
    if folder.exists():
        raise ProjectError(f"{folder} is there already; take another name, or remove it first")
    if source is None:
        for file in _files(_TEMPLATE):
            text = file.read_text(encoding="utf-8").replace("<SLUG>", name).replace("<TITLE>", _title(name))
            write_bytes(text.encode(), folder / file.relative_to(_TEMPLATE))
        return []
    require_construction(source, constructions.parent)
    return _copy(constructions / source, folder)


def _copy(source: Path, folder: Path) -> list[str]:
    left = []
    for file in _files(source):
        path = file.relative_to(source)
        if path.as_posix() in _NOT_COPIED:
            left.append(f"{file} was not copied: {_NOT_COPIED[path.as_posix()]}")
            continue
        text = re.sub(rf"(?<![\w-]){re.escape(source.name)}(?![\w-])", folder.name, read_text(file, ProjectError))
        if path.name == "construction.yaml":
            text = re.sub(r"^name:.*$", f'name: "{_title(folder.name)}"', text, count=1, flags=re.MULTILINE)
            text = f"# Copied from {source.name} by `cxprobe new construction`: replace what is of that one.\n{text}"
        write_bytes(text.encode(), folder / path)
    return left


def _title(name: str) -> str:
    """Return the name of a folder as people may write it."""
    return name.replace("-", " ").capitalize()


def _files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
