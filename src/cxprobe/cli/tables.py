"""Tables that commands print."""

from collections.abc import Sequence
from itertools import zip_longest
from typing import TextIO


def print_table(lines: Sequence[Sequence[str]], texts: int, stream: TextIO | None = None) -> None:
    """Print lines of cells in columns; so many columns of texts are aligned at the left, the others at the right.

    A line may end early. The stream is standard output by default.
    """
    widths = [max(map(len, column)) for column in zip_longest(*lines, fillvalue="")]
    aligned = [f"<{width}" if column < texts else f">{width}" for column, width in enumerate(widths)]
    for line in lines:
        print("  ".join(map(format, line, aligned)).rstrip(), file=stream)
