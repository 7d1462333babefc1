"""What several commands share: the name of a construction, and how tables are printed."""

from collections.abc import Sequence
from typing import Annotated

import typer

ConstructionName = Annotated[str, typer.Argument(help="The name of its folder in constructions/.")]
"""The argument of commands about a construction."""


def print_table(lines: Sequence[Sequence[str]], texts: int) -> None:
    """Print lines of cells in columns; so many columns of texts are aligned at the left, the others at the right."""
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    aligned = [f"<{width}" if column < texts else f">{width}" for column, width in enumerate(widths)]
    for line in lines:
        print("  ".join(map(format, line, aligned)).rstrip())
