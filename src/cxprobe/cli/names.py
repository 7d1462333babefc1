"""The names that a command line can have: those that a shell completes, and those that are refused."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer

from cxprobe.errors import ParamsError
from cxprobe.run.carried import carried_files
from cxprobe.run.presets import preset_names
from cxprobe.run.project import construction_names, model_names, require_construction


def refuse_unknown(arguments: Mapping[str, object]) -> None:
    """Refuse a construction, in the argument of this name of a command, that the project does not have.

    Raises:
        ConstructionError: The message has a near match and all that there are.
    """
    name = arguments.get("construction")
    if isinstance(name, str):
        require_construction(name, Path())


def refuse_unknown_file(path: Path) -> None:
    """Refuse a parameter file that does not exist.

    Raises:
        ParamsError: The message has a near match, and params.yaml and all presets.
    """
    if not path.exists():
        from cxprobe.files.schema import suggest

        raise ParamsError(f"{path}: there is no such file{suggest(str(path), _parameter_files())}")


def complete_construction(incomplete: str) -> list[str]:
    """Return the constructions of the project in the working directory that begin so."""
    return _beginning(construction_names(Path()), incomplete)


def complete_model(incomplete: str) -> list[str]:
    """Return the carried models, and the names of the models of params.yaml, that begin so."""
    return _beginning(model_names(Path()), incomplete)


def complete_preset(incomplete: str) -> list[str]:
    """Return the presets that begin so."""
    return _beginning(preset_names(carried_files() / "presets"), incomplete)


def complete_parameter_file(incomplete: str) -> list[str]:
    """Return params.yaml and the presets of the project that begin so."""
    return _beginning(_parameter_files(), incomplete)


def _parameter_files() -> list[str]:
    return ["params.yaml", *(path.as_posix() for path in sorted(Path("presets").glob("*.yaml")))]


def _beginning(names: list[str], incomplete: str) -> list[str]:
    return [name for name in names if name.startswith(incomplete)]


ConstructionName = Annotated[
    str, typer.Argument(help="The name of its folder in constructions/.", autocompletion=complete_construction)
]
"""The argument of commands about a construction."""
