"""Progress in texts, of work that goes on in other units."""

from collections.abc import Callable

Progress = Callable[[int], None]
"""Is called with the number of texts that have been finished since the last call."""


def in_proportion(progress: Progress | None, texts: int, parts: int) -> Progress:
    """Return a function that is called with finished parts and reports finished texts.

    Batches take their parts from many texts at once, so a share of the parts counts as the same share of the texts.

    Args:
        progress: Is told the texts; None to report nothing.
        texts: All texts; as many are reported when all parts are finished.
        parts: All parts.
    """
    finished, all_parts = 0, max(parts, 1)

    def report(n: int) -> None:
        nonlocal finished
        before, finished = texts * finished // all_parts, min(finished + n, all_parts)
        if progress is not None:
            progress(texts * finished // all_parts - before)

    return report
