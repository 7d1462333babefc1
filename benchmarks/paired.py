"""Timing in pairs: ways of doing one thing take turns, so that a machine whose speed drifts is fair to all."""

from collections.abc import Callable
from time import perf_counter

_LEAST, _ROUND = 16, 20.0  # items of the first short measurement, and the seconds that a round of all ways may take


def take_turns(
    ways: dict[str, Callable[[], object]], rounds: int, clock: Callable[[], float] = perf_counter
) -> dict[str, list[float]]:
    """Run every way once to warm up and then ``rounds`` times in turn; return the seconds of each run."""
    for way in ways.values():
        way()
    seconds: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(rounds):
        for name, way in ways.items():
            start = clock()
            way()
            seconds[name].append(clock() - start)
    return seconds


def fitting_size(
    ways_of: Callable[[int], dict[str, Callable[[], object]]], most: int, clock: Callable[[], float] = perf_counter
) -> tuple[int, float]:
    """Measure a round of few items, and return how many a round can have that takes some seconds.

    Args:
        ways_of: Number of items -> the ways of doing something with so many.
        most: The greatest number of items.
        clock: What counts the seconds.

    Returns:
        The number of items, 0 if a processor is too slow for this; and the seconds that an item takes in a round.
    """
    seconds = sum(took for (took,) in take_turns(ways_of(_LEAST), 1, clock).values()) / _LEAST
    number = min(most, int(_ROUND / seconds))
    return (number if number >= min(_LEAST, most) else 0), seconds
