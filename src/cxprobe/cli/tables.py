"""Tables that commands print."""

from collections.abc import Sequence


def print_table(lines: Sequence[Sequence[str]], texts: int) -> None:
    """Print lines of cells in columns; so many columns of texts are aligned at the left, the others at the right."""
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    aligned = [f"<{width}" if column < texts else f">{width}" for column, width in enumerate(widths)]
    for line in lines:
        print("  ".join(map(format, line, aligned)).rstrip())
