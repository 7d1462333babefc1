"""How far long work has come: a line every half minute."""

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

from cxprobe.run.signals import end_if_signalled

_BETWEEN_LINES = 30.0  # seconds


class ProgressLines:
    """The progress of one piece of work, see `progress`."""

    def __init__(self, total: int | None, unit: str, what: str) -> None:
        self._total, self._unit, self._what = total, unit, what
        self._done = self._known = 0
        self._began = self._shown = time.monotonic()

    def update(self, finished: int, *, known: bool = False) -> None:
        """Count units that have been finished since the last call; known ones do not count in the rate.

        Raises:
            Killed: A signal has told the process to stop.
        """
        end_if_signalled()
        self._done += finished
        self._known += finished if known else 0
        if time.monotonic() - self._shown >= _BETWEEN_LINES:
            self._shown = time.monotonic()
            print(self.line(), file=sys.stderr, flush=True)

    def line(self) -> str:
        """Return how far the work has come, with its rate and the time that is left."""
        seconds = self._shown - self._began
        rate = (self._done - self._known) / seconds if seconds else 0.0
        parts = [self.counted()]
        if rate:
            parts.append(f"{rate:,.0f}/s" if rate >= 10 else f"{rate:.1f}/s")
            if self._total is not None:
                parts.append(f"{duration((self._total - self._done) / rate)} left")
        return f"{self._what}: {', '.join(parts)}"

    def counted(self) -> str:
        """Return the number of units that are finished, of how many."""
        of = "" if self._total is None else f" of {self._total:,}"
        return f"{self._done:,}{of} {self._unit}"


@contextmanager
def progress(total: int | None, unit: str, what: str, *, kept: str = "") -> Iterator[ProgressLines]:
    """Show how far the block has come: its `ProgressLines.update` is called with the number of finished units.

    There is at most one line every half minute on the standard error, with rate and time left. If an exception ends the
    block, such as Ctrl-C, a line says what was kept and how to go on.

    Args:
        total: The number of units; None if it is not known.
        unit: What is counted, in the plural, such as "texts".
        what: Names the work, such as "score_pairs mini-mlm".
        kept: What an interrupted run leaves for the next one, such as "the scores of these texts are in data/...".
    """
    shown = ProgressLines(total, unit, what)
    try:
        yield shown
    except BaseException:
        rest = f"; {kept}; run the same command again to go on from there" if kept else "; nothing was kept"
        print(f"{what}: stopped after {shown.counted()}{rest}", file=sys.stderr, flush=True)
        raise


def duration(seconds: float) -> str:
    """Return a time as one says it: in seconds below a minute, in minutes below an hour."""
    if seconds < 60:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"
