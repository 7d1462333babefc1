"""Whether a folder is a project, and which names it has; quick enough for the completion of a command line."""

from collections.abc import Collection
from pathlib import Path

from cxprobe.errors import ConstructionError, CxprobeError, ParamsError, ProjectError
from cxprobe.projects.carried import carried_files

# The same as in `cxprobe.params`, which takes longer to import than a completion may.
_PARAMS, _CONSTRUCTIONS = "params.yaml", "constructions"
_MARKS = (_PARAMS, "dvc.yaml", _CONSTRUCTIONS)


def is_project(folder: Path) -> bool:
    """Return whether a folder has any of what makes a project: params.yaml, dvc.yaml, constructions/."""
    return any((folder / mark).exists() for mark in _MARKS)


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
        f"{folder.absolute()} is no project: it has no {', '.join(_MARKS[:-1])} or {_MARKS[-1]}/; {go}, or make a "
        "project with `cxprobe init FOLDER`"
    )


def construction_names(folder: Path) -> list[str]:
    """Return the names of the constructions of a project, sorted."""
    return sorted(file.parent.name for file in (folder / _CONSTRUCTIONS).glob("*/construction.yaml"))


def preset_names() -> list[str]:
    """Return the names of the presets that a project can begin with."""
    return sorted(path.stem for path in (carried_files() / "presets").glob("*.yaml"))


def carried_models() -> list[str]:
    """Return the names of the models that cxprobe carries, sorted."""
    return sorted(config.parent.name for config in (carried_files() / "models").glob("*/config.json"))


def model_names(folder: Path) -> list[str]:
    """Return what a model can be called where it is loaded: carried models, and the names in the project's params.yaml.

    A params.yaml that is not there, or that has faults, gives none.
    """
    from cxprobe.schema import read_yaml

    carried = carried_models()
    try:
        models = read_yaml(folder / _PARAMS, ParamsError).get("models")
    except CxprobeError:
        return carried
    entries = models.values() if isinstance(models, dict) else []
    named = [one["name"] for one in entries if isinstance(one, dict) and isinstance(one.get("name"), str)]
    return list(dict.fromkeys([*carried, *named]))


def require_construction(name: str, folder: Path) -> None:
    """Refuse a construction that a project does not have.

    Raises:
        ConstructionError: There is none; the message has a near match and all that there are.
    """
    from cxprobe.schema import suggest

    names = construction_names(folder)
    if name not in names:
        file = folder / _CONSTRUCTIONS / name / "construction.yaml"
        raise ConstructionError(f"{file}: there is no such file{suggest(name, names)}")


def require_known(kind: str, name: str, allowed: Collection[str]) -> None:
    """Refuse a name that is not among those that are allowed.

    Raises:
        ProjectError: It is not; the message has a near match and all that are allowed.
    """
    from cxprobe.schema import suggest

    if name not in allowed:
        raise ProjectError(f"there is no {kind} '{name}'{suggest(name, list(allowed))}")
