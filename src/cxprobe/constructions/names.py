"""The names of a project's constructions. It is a module of its own, so that commands import it quickly."""

from pathlib import Path


def construction_names(constructions: Path = Path("constructions")) -> list[str]:
    """Return the sorted names of a project's constructions: of its folders with a construction.yaml."""
    return sorted(file.parent.name for file in constructions.glob("*/construction.yaml"))
