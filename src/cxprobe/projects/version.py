"""Which cxprobe a project was made for: the file ``cxprobe.version``, on which all stages of the project depend.

In the repository a stage depends on the modules that it reaches. A project has no source, so another version of
cxprobe is another ``cxprobe.version``, and all stages run again. The answers of models that are stored are kept.
"""

import hashlib
from importlib.metadata import version
from pathlib import Path

from cxprobe.errors import ProjectError
from cxprobe.reading import read_text

VERSION_FILE = Path("cxprobe.version")
_PACKAGE = Path(__file__).parents[1]


def installed_version() -> str:
    """Return name, version and code of the installed package, such as "cxprobe 0.1.0, code 1f0c9a2b77de".

    The code is the start of a SHA-256 of the package's own files: two copies that have the same version and other code
    give other results.
    """
    files = [path for path in _PACKAGE.rglob("*") if path.is_file() and _is_own(path.relative_to(_PACKAGE))]
    hashed = hashlib.sha256()
    for path in sorted(files):
        hashed.update(f"{path.relative_to(_PACKAGE).as_posix()}\0".encode() + path.read_bytes() + b"\0")
    return f"cxprobe {version('cxprobe')}, code {hashed.hexdigest()[:12]}"


def version_fault(folder: Path) -> str | None:
    """Return what is wrong if another cxprobe is installed than the one that a project was made for.

    Args:
        folder: The project; one without a ``cxprobe.version`` has the source itself, and nothing is wrong.
    """
    file = folder / VERSION_FILE
    if not file.exists():
        return None
    wanted, installed = read_text(file, ProjectError).strip(), installed_version()
    if wanted == installed:
        return None
    release = wanted.removeprefix("cxprobe ").partition(",")[0]
    return (
        f"{file}: the project was made for {wanted!r}, and {installed!r} is installed; to take it over, run `cxprobe "
        "init --upgrade .` and `dvc repro`, which runs the stages once more and measures only what is new; else "
        f"install cxprobe {release} again"
    )


def _is_own(path: Path) -> bool:
    return path.parts[0] != "project" and "__pycache__" not in path.parts
