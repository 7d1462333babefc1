"""Timing in pairs: ways of doing one thing take turns, so that a machine whose speed drifts is fair to all."""

from collections.abc import Callable
from statistics import median
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


def show(title: str, seconds: dict[str, list[float]], unit: str, amount: float) -> None:
    """Print each way's median speed, and how many times as fast as it the first way is, round by round."""
    first = next(iter(seconds.values()))
    print(f"\n{title}")
    for name, times in seconds.items():
        ratios = sorted(theirs / ours for ours, theirs in zip(first, times, strict=True))
        spread = f"{median(ratios):.2f} ({ratios[0]:.2f} to {ratios[-1]:.2f})"
        print(f"  {name:42s} {amount / median(times):10.1f} {unit}   first way is {spread} times as fast")
