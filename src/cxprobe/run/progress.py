"""Long work: how far it is, and its end by a signal at a moment when this does no harm.

A signal raises an exception. This can be lost: Python drops exceptions that are raised while it deletes an object, and
some libraries catch all exceptions. So the signal is noted too, and the next call of `end_if_signalled` ends the
process.
"""

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

_ENDING = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
_BETWEEN = 30.0  # seconds between two lines about progress


class Killed(SystemExit):
    """The process was told to stop; its exit code is 128 + the signal's number."""

    def __init__(self, signum: int) -> None:
        super().__init__(128 + signum)


class _Noted:
    """The last signal that came, and the number of open blocks that it must not interrupt."""

    signum: int | None = None
    uninterrupted = 0


def end_on_signals(*signums: signal.Signals) -> None:
    """Let signals end this process by `Killed`, so that it marks its runs and leaves no partial file and no process.

    Args:
        signums: The signals; by default SIGTERM, SIGINT and SIGHUP.
    """
    _Noted.signum = None
    for signum in signums or _ENDING:
        signal.signal(signum, _note_and_end)


def end_if_signalled() -> None:
    """End the process if a signal has told it to stop; do nothing in blocks that are `uninterrupted`.

    Raises:
        Killed: A signal has told the process to stop.
    """
    if _Noted.signum is not None and not _Noted.uninterrupted:
        raise Killed(_Noted.signum)


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Let a first signal wait until the block has ended; a second one does not wait."""
    end_if_signalled()
    _Noted.uninterrupted += 1
    try:
        yield
    finally:
        _Noted.uninterrupted -= 1
        end_if_signalled()


@contextmanager
def ending_as_killed() -> Iterator[None]:
    """End the block by `Killed` if a signal has come, even if the block ends by another error or by none.

    After the block signals end the process at once, since nothing looks for a lost exception any more.
    """
    try:
        yield
    finally:
        for signum in _ENDING:
            signal.signal(signum, signal.SIG_DFL)
        end_if_signalled()


def _note_and_end(signum: int, _frame: FrameType | None) -> None:
    waits = _Noted.uninterrupted and _Noted.signum is None
    _Noted.signum = signum
    if not waits:
        raise Killed(signum)


class Progress:
    """The progress of one piece of work, see `progress`."""

    def __init__(self, bar: Any) -> None:
        self._bar, self._finished = bar, 0.0

    def update(self, finished: float, *, known: bool = False) -> None:
        """Count units, or parts of them, finished since the last call; known ones do not count in the rate.

        Raises:
            Killed: A signal has told the process to stop.
        """
        end_if_signalled()
        self._finished += finished
        step = min(round(self._finished), self._bar.total) - self._bar.n
        if known:
            self._bar.initial += step
        self._bar.update(step)


@contextmanager
def progress(total: int, unit: str, what: str, *, kept: str = "") -> Iterator[Progress]:
    """Show the progress of the block every half minute; it calls `Progress.update` with the number of finished units.

    Work of less than half a minute shows nothing. If an exception ends the block, such as Ctrl-C, a line names the work
    that was kept and the way to go on.

    Args:
        total: The number of units.
        unit: What is counted, in the plural, such as "texts".
        what: Names the work, such as "measure_pairs mini-mlm".
        kept: The work that an interrupted run leaves, such as "the scores of these texts are in data/...".
    """
    from tqdm import tqdm  # not needed by commands, which end on signals too

    how: dict[str, Any] = {"mininterval": _BETWEEN, "delay": _BETWEEN, "miniters": 1, "smoothing": 0}
    with tqdm(total=total, unit=f" {unit}", desc=what, file=sys.stderr, **how) as bar:
        try:
            yield Progress(bar)
        except BaseException:
            rest = f"{kept}; run the same command again to go on from there" if kept else "nothing was kept"
            print(f"{what}: stopped after {bar.n:,} of {total:,} {unit}; {rest}", file=sys.stderr, flush=True)
            raise
