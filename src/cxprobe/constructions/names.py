"""The names of a project's constructions. A module of its own, since commands must import it quickly."""

from pathlib import Path


def construction_names(folder: Path) -> list[str]:
    """Return the names of the constructions of a project, sorted: folders with a construction.yaml."""
    return sorted(file.parent.name for file in (folder / "constructions").glob("*/construction.yaml"))
