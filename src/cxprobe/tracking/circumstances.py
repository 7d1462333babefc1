"""When, where and by which code runs were made: kept beside the tracking store, since it must change no output."""

import hashlib
import json
import sys
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path

from cxprobe.records import Circumstances, RunRecord
from cxprobe.storage import project_folder, read_json, write_json


def record_digest(record: RunRecord) -> str:
    """Return the SHA-256 of a record, by which its run is known in every store.

    The inputs do not count, apart from the data set: a stage judges several constructions, and a correction of one of
    them changes its inputs and not the results on the others, which need no second run.
    """
    content = {name: value for name, value in asdict(record).items() if name != "inputs"}
    return hashlib.sha256(json.dumps(content, sort_keys=True, default=str).encode()).hexdigest()


def keep_circumstances(records: Iterable[RunRecord], circumstances: Circumstances) -> None:
    """Keep the circumstances of runs on this machine, for `find_circumstances`; a full disk is only a warning."""
    try:
        for record in records:
            write_json(asdict(circumstances), _path(record))
    except OSError as error:
        print(f"time, commit and machine of the runs could not be kept: {error}", file=sys.stderr)


def find_circumstances(record: RunRecord) -> Circumstances | None:
    """Return the circumstances of the newest run that gave this record; None if it ran on another machine."""
    path = _path(record)
    return Circumstances(**read_json(path)) if path.is_file() else None


def _path(record: RunRecord) -> Path:
    return project_folder() / "mlruns" / "context" / f"{record_digest(record)}.json"
