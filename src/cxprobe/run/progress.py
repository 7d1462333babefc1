"""The progress of long work, which tqdm shows every half minute."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tqdm import tqdm

from cxprobe.run.signals import end_if_signalled

_BETWEEN = 30.0  # seconds


class Progress:
    """The progress of one piece of work, see `progress`."""

    def __init__(self, bar: Any) -> None:
        self._bar = bar

    def update(self, finished: int, *, known: bool = False) -> None:
        """Count units that have been finished since the last call; known ones do not count in the rate.

        Raises:
            Killed: A signal has told the process to stop.
        """
        end_if_signalled()
        if known:
            self._bar.initial += finished
        self._bar.update(finished)


@contextmanager
def progress(total: int, unit: str, what: str, *, kept: str = "") -> Iterator[Progress]:
    """Show the progress of the block, which calls `Progress.update` with the number of finished units.

    Work of less than half a minute shows nothing. If an exception ends the block, such as Ctrl-C, a line names the work
    that was kept and the way to go on.

    Args:
        total: The number of units.
        unit: What is counted, in the plural, such as "texts".
        what: Names the work, such as "measure_pairs mini-mlm".
        kept: The work that an interrupted run leaves, such as "the scores of these texts are in data/...".
    """
    with tqdm(
        total=total,
        unit=f" {unit}",
        desc=what,
        file=sys.stderr,
        mininterval=_BETWEEN,
        delay=_BETWEEN,
        miniters=1,
        smoothing=0,
    ) as bar:
        try:
            yield Progress(bar)
        except BaseException:
            rest = f"{kept}; run the same command again to go on from there" if kept else "nothing was kept"
            print(f"{what}: stopped after {bar.n:,} of {total:,} {unit}; {rest}", file=sys.stderr, flush=True)
            raise
