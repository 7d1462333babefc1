"""The names that a shell completes, and how tables are printed."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from cxprobe.constructions.names import construction_names
from cxprobe.project.carried import carried_files
from cxprobe.project.folder import model_names
from cxprobe.project.presets import preset_names

# Typer leaves out what does not begin with what was typed.


def complete_construction() -> list[str]:
    """Return the constructions of the project in the working directory."""
    return construction_names(Path())


def complete_model() -> list[str]:
    """Return the carried models, and the names of the models of params.yaml."""
    return model_names(Path())


def complete_preset() -> list[str]:
    """Return the presets of the project, or else the carried ones."""
    folder = Path("presets")
    return preset_names(folder) if folder.is_dir() else complete_carried_preset()


def complete_carried_preset() -> list[str]:
    """Return the carried presets: a new project is made from one of them."""
    return preset_names(carried_files() / "presets")


ConstructionName = Annotated[
    str, typer.Argument(help="The name of its folder in constructions/.", autocompletion=complete_construction)
]
"""The argument of commands about a construction."""


def print_table(lines: Sequence[Sequence[str]], texts: int) -> None:
    """Print lines of cells in columns; so many columns of texts are aligned at the left, the others at the right."""
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    aligned = [f"<{width}" if column < texts else f">{width}" for column, width in enumerate(widths)]
    for line in lines:
        print("  ".join(map(format, line, aligned)).rstrip())
