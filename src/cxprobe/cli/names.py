"""The names that a shell completes, and how sizes are printed."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from cxprobe.run.carried import carried_files
from cxprobe.run.presets import preset_names
from cxprobe.run.project import construction_names, model_names


def complete_construction(incomplete: str) -> list[str]:
    """Return the constructions of the project in the working directory that begin with ``incomplete``."""
    return _beginning(construction_names(Path()), incomplete)


def complete_model(incomplete: str) -> list[str]:
    """Return the carried models, and the names of the models of params.yaml, that begin with ``incomplete``."""
    return _beginning(model_names(Path()), incomplete)


def complete_preset(incomplete: str) -> list[str]:
    """Return the presets of the project, or else the carried ones, that begin with ``incomplete``."""
    folder = Path("presets")
    return _beginning(preset_names(folder), incomplete) if folder.is_dir() else complete_carried_preset(incomplete)


def complete_carried_preset(incomplete: str) -> list[str]:
    """Return the carried presets that begin with ``incomplete``: a new project is made from one of them."""
    return _beginning(preset_names(carried_files() / "presets"), incomplete)


def _beginning(names: list[str], incomplete: str) -> list[str]:
    return [name for name in names if name.startswith(incomplete)]


ConstructionName = Annotated[
    str, typer.Argument(help="The name of its folder in constructions/.", autocompletion=complete_construction)
]
"""The argument of commands about a construction."""


def print_table(lines: Sequence[Sequence[str]], texts: int) -> None:
    """Print lines of cells in columns; so many columns of texts are aligned at the left, the others at the right."""
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    for line in lines:
        cells = [cell.ljust(width) for cell, width in zip(line[:texts], widths, strict=False)]
        cells += [cell.rjust(width) for cell, width in zip(line[texts:], widths[texts:], strict=True)]
        print("  ".join(cells).rstrip())


def shown_size(size: int) -> str:
    """Return a number of bytes in the unit that fits."""
    amount, units = float(size), ["bytes", "kB", "MB", "GB"]
    while round(amount, 1) >= 1000 and len(units) > 1:  # as it is shown
        amount /= 1000
        units.pop(0)
    return f"{amount:.0f} {units[0]}" if units[0] == "bytes" else f"{amount:.1f} {units[0]}"
