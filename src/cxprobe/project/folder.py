"""The project in the working directory, and what is in it."""

from pathlib import Path

from cxprobe.constructions import construction_names
from cxprobe.errors import ConstructionError, ProjectError
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
