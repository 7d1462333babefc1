"""The project in the working directory: what is in it, and for which version of cxprobe it was made."""

from importlib.metadata import version
from pathlib import Path

from cxprobe.constructions.names import construction_names
from cxprobe.errors import ConstructionError, ProjectError
from cxprobe.files.reading import read_text
from cxprobe.files.schema import suggest
from cxprobe.project.bundled import bundled_files


def is_project(folder: Path) -> bool:
    """Return True if a folder has params.yaml, dvc.yaml or constructions/, as a project has."""
    return any((folder / mark).exists() for mark in ("params.yaml", "dvc.yaml", "constructions"))


def require_project(folder: Path) -> None:
    """Refuse a folder that is no project.

    Raises:
        ProjectError: It is none; the message names the nearest folder above it that is one.
    """
    if is_project(folder):
        return
    above = next((parent for parent in folder.absolute().parents if is_project(parent)), None)
    go = f"go to the project above it (cd {above})" if above else "go to the folder of a project"
    raise ProjectError(
        f"{folder.absolute()} is no project: it has no params.yaml, dvc.yaml or constructions/; {go}, or make a "
        "project with `cxprobe init FOLDER`"
    )


def bundled_models() -> list[str]:
    """Return the names of the models that cxprobe carries, sorted."""
    return sorted(config.parent.name for config in (bundled_files() / "models").glob("*/config.json"))


def require_construction(name: str, constructions: Path = Path("constructions")) -> None:
    """Refuse a construction that a folder, by default that of the project in the working directory, does not have.

    Raises:
        ConstructionError: There is none; the message has a near match and all that there are.
    """
    names = construction_names(constructions)
    if name not in names:
        file = constructions / name / "construction.yaml"
        raise ConstructionError(f"{file}: there is no such file{suggest(name, names)}")


VERSION_FILE = Path("cxprobe.version")
_PACKAGE = Path(__file__).parents[1]


def installed_version() -> str:
    """Return name, version and code of the installed package, such as "cxprobe 0.1.0, code 1f0c9a2b77de".

    The code is the start of a SHA-256 of the package's own files: two copies that have the same version and other code
    give other results.
    """
    from cxprobe.files.writing import digest_of_files  # with NumPy, which takes time

    left_out = {"bundled", "__pycache__"}
    files = (path for path in _PACKAGE.rglob("*") if left_out.isdisjoint(path.relative_to(_PACKAGE).parts))
    code = digest_of_files(_PACKAGE, filter(Path.is_file, files))
    return f"cxprobe {version('cxprobe')}, code {code[:12]}"


def version_fault(folder: Path) -> str | None:
    """Return a fault if another cxprobe is installed than the one that a project was made for; None for none.

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
