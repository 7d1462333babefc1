"""A session whose answers are in labels.tsv before the next one is asked for."""

import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from threading import Lock

from cxprobe.constructions import read_labels, write_labels
from cxprobe.labelling.sessions import Reply, Session, answer


class SavedSession:
    """A session and its file. Several threads may use it.

    The file is read again before each answer, so that what another person or `git pull` has written meanwhile stays.

    Args:
        session: Where to begin.
        path: The labels.tsv.
        clock: Seconds that only grow.
    """

    def __init__(self, session: Session, path: Path, clock: Callable[[], float] = time.monotonic) -> None:
        self._session, self._path, self._clock = session, path, clock
        self._lock, self._since = Lock(), clock()

    @property
    def session(self) -> Session:
        """The session as it is now."""
        return self._session

    def say(self, text: str, shown: int | None = None) -> Reply:
        """Do what a person asks for, and write the labels if they have changed.

        Args:
            text: What was typed.
            shown: The number of the group that the person sees, if it could be another than the session's: then nothing
                is done. 0 where all is labelled and none is shown.

        Raises:
            ConstructionError: labels.tsv has a fault that somebody else has made meanwhile; nothing is done.
            DiskFullError: The labels cannot be written; nothing is done.
        """
        with self._lock:
            before = replace(self._session, labels=tuple(read_labels(self._path)))
            number = 0 if before.place is None else before.place + 1
            if shown is not None and shown != number:
                said = "nothing was done: the session has moved on, perhaps in another window; look again"
                return Reply(self._session, said, refused=True)
            reply = answer(before, text, self._clock() - self._since)
            if set(reply.session.labels) != set(before.labels):
                write_labels(reply.session.labels, self._path)
            if reply.session.place != before.place:
                self._since = self._clock()
            self._session = reply.session
            return reply
