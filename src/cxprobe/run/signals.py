"""Signals that tell a process to stop: they end it by an exception, at a moment at which that does no harm.

The exception can be lost: Python drops those that are raised while it removes an object, and some libraries catch all.
So the signal is noted too, and `end_if_signalled` ends the work where it goes on.
"""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

_ENDING = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


class Killed(SystemExit):
    """The process was told to stop; its exit code is 128 + the signal's number."""

    def __init__(self, signum: int) -> None:
        super().__init__(128 + signum)


class _Noted:
    """The signal that has come, and how many blocks are open that it must not interrupt."""

    signum: int | None = None
    uninterrupted = 0


def end_on_signals(*signums: signal.Signals) -> None:
    """Let signals end this process by `Killed`, so that runs are marked, nothing is left half-written, and no process.

    Args:
        signums: Which; by default SIGTERM, SIGINT and SIGHUP.
    """
    _Noted.signum = None
    for signum in signums or _ENDING:
        signal.signal(signum, _note_and_end)


def end_if_signalled() -> None:
    """End the process if a signal has told it to stop, outside of blocks that are `uninterrupted`.

    Raises:
        Killed: It has.
    """
    if _Noted.signum is not None and not _Noted.uninterrupted:
        raise Killed(_Noted.signum)


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Let a signal wait until the block has ended; if a second one comes, that one does not wait."""
    end_if_signalled()
    _Noted.uninterrupted += 1
    try:
        yield
    finally:
        _Noted.uninterrupted -= 1
        end_if_signalled()


@contextmanager
def ending_as_killed() -> Iterator[None]:
    """Let the block end by `Killed` if a signal has come, also where that has led to another error, or to none.

    After the block signals end the process by themselves, since nothing would look for a lost exception any more.
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
