"""Signals that tell a process to stop: they end it by an exception, at a moment at which that does no harm."""

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

_SOON = 0.01  # seconds


class Killed(SystemExit):
    """The process was told to stop; its exit code is 128 + the signal's number."""

    def __init__(self, signum: int) -> None:
        super().__init__(128 + signum)
        self.signum = signum


class _PutOff:
    """Whether signals have to wait, and the one that does."""

    active = False
    signum: int | None = None


def end_on_signals(*signums: signal.Signals) -> None:
    """Let signals end this process by `Killed`, so that runs are marked, nothing is left half-written, and no process.

    Args:
        signums: Which; by default SIGTERM, SIGINT and SIGHUP.
    """
    for signum in signums or (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(signum, _kill)
    if sys.unraisablehook is sys.__unraisablehook__:
        sys.unraisablehook = _kill_later


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Let a signal wait until the block has ended; if a second one comes, that one does not wait."""
    outer = _PutOff.active
    _PutOff.active = True
    try:
        yield
    finally:
        _PutOff.active = outer
        if not outer and (signum := _PutOff.signum) is not None:
            _PutOff.signum = None
            raise Killed(signum)


@contextmanager
def ending_as_killed() -> Iterator[None]:
    """Let the block end by `Killed` where a signal has led to another error.

    A signal may come in the middle of anything, also where a library cleans up after itself, which then fails.
    """
    try:
        yield
    except Exception as fault:
        before: BaseException | None = fault
        while before is not None and not isinstance(before, Killed):
            before = before.__cause__ or before.__context__
        if before is None:
            raise
        raise Killed(before.signum) from None


def _kill(signum: int, _frame: FrameType | None) -> None:
    if not _PutOff.active or _PutOff.signum is not None:
        _PutOff.signum = None
        raise Killed(signum)
    _PutOff.signum = signum


def _kill_later(lost: "sys.UnraisableHookArgs") -> None:
    """Try again if a signal came while Python removed an object, when an exception has no effect."""
    if isinstance(lost.exc_value, Killed):
        signum = lost.exc_value.signum
        signal.signal(signal.SIGALRM, lambda _, frame: _kill(signum, frame))
        signal.setitimer(signal.ITIMER_REAL, _SOON)
    else:
        sys.__unraisablehook__(lost)
