"""What the benchmarks of one run have found, as a table: how many times as fast as a peer, and what is aimed at."""

import os
import platform
from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from importlib.metadata import version
from pathlib import Path
from statistics import median
from typing import NamedTuple

_PACKAGES = ("torch", "transformers", "minicons")
_HEAD = """\
# Speed against peers

`make benchmark` writes this page. The ways take turns, round by round, since speeds of two machines, or of one at two
times, cannot be compared. A ratio is the median over rounds, with the lowest and the highest. Above 1, cxprobe is the
faster one. How many items a round has follows from a first short measurement; what this processor cannot do in a
sensible time is left out.

"""


class Ratio(NamedTuple):
    """How a way of doing something compares with the project's own.

    Attributes:
        title: What is done.
        ours: The project's way.
        peer: The other way.
        ratios: For each round, the time of the peer over our own.
        goal: The least ratio that is aimed at, or None.
    """

    title: str
    ours: str
    peer: str
    ratios: Sequence[float]
    goal: float | None


class LeftOut(NamedTuple):
    """What a processor cannot do in a sensible time: its title, and why it was left out."""

    title: str
    why: str


def ratios_of(title: str, seconds: Mapping[str, Sequence[float]], goals: Mapping[str, float]) -> list[Ratio]:
    """Compare the first way with each of the others.

    Args:
        title: What is done.
        seconds: For each way, the time of each round.
        goals: The least ratios that are aimed at, by the peers' names.
    """
    ours, *peers = seconds
    if unknown := goals.keys() - set(peers):
        raise ValueError(f"goals name ways that were not timed: {sorted(unknown)}; there are {peers}")
    return [
        Ratio(title, ours, peer, [a / b for a, b in zip(seconds[peer], seconds[ours], strict=True)], goals.get(peer))
        for peer in peers
    ]


def as_text(title: str, seconds: Mapping[str, Sequence[float]], unit: str, amount: float) -> str:
    """Return each way's median speed, for the eye."""
    lines = [f"  {name:42s} {amount / median(times):10.1f} {unit}" for name, times in seconds.items()]
    return "\n".join(["", title, *lines])


def as_markdown(found: Iterable[Ratio | LeftOut]) -> str:
    """Return the page: the machine, the versions, and a row for each ratio and for what was left out."""
    rows = [
        f"| {one.title} | | | {one.why} | |"
        if isinstance(one, LeftOut)
        else f"| {one.title} | {one.ours} | {one.peer} | {_spread(one.ratios)} | {_verdict(one)} |"
        for one in found
    ]
    head = "| work | way | peer | ratio | goal |\n|---|---|---|---|---|\n"
    return _HEAD + f"{_machine()}\n\n" + head + "\n".join(rows) + "\n"


def _spread(ratios: Sequence[float]) -> str:
    return f"{median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})"


def _verdict(one: Ratio) -> str:
    if one.goal is None:
        return ""
    return f"{one.goal:g}, {'met' if median(one.ratios) >= one.goal else '**not met**'}"


def _machine() -> str:
    versions = ", ".join(f"{name} {version(name)}" for name in _PACKAGES)
    return f"{date.today()}: {_processor()}, {os.cpu_count()} cores, Python {platform.python_version()}, {versions}."


def _processor() -> str:
    """Return the processor's name where the system says it; bfloat16 is quick only where it has instructions for it."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.is_file() else []
    found = dict(line.split(":", 1) for line in lines if ":" in line)
    named = {key.strip(): value.strip() for key, value in found.items()}
    bfloat16 = "with" if "bf16" in named.get("flags", "") else "without"
    return f"{named.get('model name', platform.processor() or platform.machine())} ({bfloat16} bfloat16 instructions)"
