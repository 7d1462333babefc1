"""End a process by an exception after a signal that tells it to stop, at a moment when this does no harm.

The exception can be lost: Python drops exceptions that are raised while it deletes an object, and some libraries catch
all exceptions. So the signal is noted too, and the next call of `end_if_signalled` ends the process.
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
