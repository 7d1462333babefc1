"""One process at a time works on an item of a stage; a second one is told who does."""

import errno
import os
import platform
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from cxprobe.errors import DataError
from cxprobe.files.writing import SCRATCH, read_json, write_json
from cxprobe.run.stage import Stage

_LOCKS = SCRATCH / "locks"
_NO_LOCKS = (errno.ENOLCK, errno.EOPNOTSUPP)  # of some shared disks


@contextmanager
def locked(stage: Stage[Any]) -> Iterator[None]:
    """Lock the folders of a stage's item for this process while the block runs.

    The operating system holds the lock and gives it back when the process ends, however it does: one that was killed
    never stands in the way, nor do processes that it has started. A file beside the lock says who holds it. On a shared
    disk without locks there is a warning, and the block runs.

    Raises:
        DataError: Another process works on the item; the message says which.
    """
    path = _LOCKS / f"{'/'.join(stage.data.parts[1:])}.lock"
    path.parent.mkdir(parents=True, exist_ok=True)
    holder, lock = path.with_suffix(".json"), FileLock(path, timeout=0)
    try:
        lock.acquire()
    except Timeout:
        raise DataError(
            f"another process works on {' '.join(stage.item.values()) or 'the same'}: {_shown(holder)}; wait until it "
            "has ended, or end it, and run the stage again"
        ) from None
    except OSError as fault:
        if fault.errno not in _NO_LOCKS:
            raise
        print(f"{path} cannot be locked ({fault.strerror}): let no other process run this stage", file=sys.stderr)
    try:
        since = datetime.now().astimezone().isoformat(" ", "seconds")
        write_json({"process": os.getpid(), "host": platform.node(), "since": since}, holder)
        yield
    finally:
        holder.unlink(missing_ok=True)
        lock.release()


def _shown(holder: Path) -> str:
    """Return who holds a lock."""
    try:
        known = read_json(holder)
        return f"process {known['process']} on {known['host']}, since {known['since']}"
    except (OSError, ValueError, KeyError):  # it has the lock since a moment ago, or has just given it back
        return "it has just begun or just ended"
