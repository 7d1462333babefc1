"""Timing in pairs: ways of doing one thing take turns, so that a machine whose speed drifts is fair to all."""

from collections.abc import Callable
from time import perf_counter


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
