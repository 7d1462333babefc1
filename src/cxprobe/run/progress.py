"""How far long work has come: a line every half minute."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TextIO

from cxprobe.run.signals import end_if_signalled

_BETWEEN_LINES = 30.0  # seconds


@dataclass
class ProgressLines:
    """The progress of one piece of work.

    Attributes:
        what: Names the work, such as "score_pairs mini-mlm".
        total: The number of units; None if it is not known.
        unit: What is counted, in the plural.
        clock: Gives the time in seconds.
        stream: Where lines go.
        initial: Units that an earlier run has finished; they do not count in the rate.
    """

    what: str
    total: int | None
    unit: str
    clock: Callable[[], float]
    stream: TextIO
    initial: int

    def __post_init__(self) -> None:
        """Begin to count."""
        self.done = self.initial
        self._began = self._shown = self.clock()

    def update(self, finished: int, *, known: bool = False) -> None:
        """Count units that have been finished since the last call; known ones do not count in the rate.

        Raises:
            Killed: A signal has told the process to stop.
        """
        end_if_signalled()
        self.done += finished
        if known:
            self.initial += finished
        if self.clock() - self._shown >= _BETWEEN_LINES:
            self._shown = self.clock()
            print(self.line(), file=self.stream, flush=True)

    def line(self) -> str:
        """Return how far the work has come, with its rate and the time that is left."""
        seconds = self.clock() - self._began
        rate = (self.done - self.initial) / seconds if seconds else 0.0
        parts = [self.counted()]
        if rate:
            parts.append(f"{rate:,.0f}/s" if rate >= 10 else f"{rate:.1f}/s")
            if self.total is not None:
                parts.append(f"{duration((self.total - self.done) / rate)} left")
        return f"{self.what}: {', '.join(parts)}"

    def counted(self) -> str:
        """Return the number of units that are finished, of how many."""
        of = "" if self.total is None else f" of {self.total:,}"
        return f"{self.done:,}{of} {self.unit}"


@contextmanager
def progress(
    total: int | None,
    unit: str,
    what: str,
    *,
    kept: str = "",
    initial: int = 0,
    clock: Callable[[], float] = time.monotonic,
    stream: TextIO | None = None,
) -> Iterator[ProgressLines]:
    """Show how far the block has come: its `ProgressLines.update` is called with the number of finished units.

    There is at most one line every half minute, with rate and time left. If an exception ends the block, such as
    Ctrl-C, a line says what was kept and how to go on.

    Args:
        total: The number of units, those of an earlier run included; None if it is not known.
        unit: What is counted, in the plural, such as "texts".
        what: Names the work, such as "score_pairs mini-mlm".
        kept: What an interrupted run leaves for the next one, such as "the scores of these texts are in data/...".
        initial: Units that an earlier run has finished.
        clock: Gives the time in seconds.
        stream: Where to write; by default the standard error.
    """
    shown = ProgressLines(what, total, unit, clock, stream or sys.stderr, initial)
    try:
        yield shown
    except BaseException:
        rest = f"; {kept}; run the same command again to go on from there" if kept else "; nothing was kept"
        print(f"{what}: stopped after {shown.counted()}{rest}", file=shown.stream, flush=True)
        raise


def duration(seconds: float) -> str:
    """Return a time as one says it: in seconds below a minute, in minutes below an hour."""
    if seconds < 60:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"
