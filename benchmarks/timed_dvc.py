"""Runs `dvc` in this process and writes down what each stage cost DVC itself: `timed_dvc.py REPORT ARGUMENTS`.

Processor time of this process alone: what the stages' own commands take is not in it. With QUICK_LOCK=1, dvc.lock is
read and written by libyaml in the place of the round trip in Python that DVC makes after each stage: the difference of
the two is what this round trip costs.
"""

import json
import os
import resource
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from dvc import dvcfile
from dvc.cli import main
from dvc.repo import reproduce
from ruamel.yaml import YAML

report = Path(sys.argv[1])  # one line of JSON for each stage, and one for all of it at the end
timed = reproduce._reproduce_stage


def _timed_stage(stage: Any, **options: Any) -> Any:
    start = time.process_time()
    done = timed(stage, **options)
    lock = Path("dvc.lock")
    size = lock.stat().st_size if lock.exists() else 0
    seconds = time.process_time() - start
    _note({"stage": stage.addressing, "seconds": seconds, "ran": bool(done), "lock": size})
    return done


def _note(known: dict[str, Any]) -> None:
    with report.open("a") as file:
        file.write(json.dumps(known) + "\n")


@contextmanager
def _quick_lock(path: str, fs: Any = None) -> Iterator[dict[str, Any]]:  # noqa: ARG001
    lock = Path(path)
    yaml = YAML(typ="safe")
    yaml.default_flow_style = False
    yaml.sort_base_mapping_type_on_output = False  # type: ignore[assignment]
    content = (yaml.load(lock) or {}) if lock.exists() else {}
    yield content
    yaml.dump(content, lock)


if __name__ == "__main__":
    report.unlink(missing_ok=True)
    reproduce._reproduce_stage = _timed_stage
    reproduce._reproduce.__kwdefaults__ = None
    reproduce._reproduce.__defaults__ = tuple(
        _timed_stage if one is timed else one for one in reproduce._reproduce.__defaults__ or ()
    )
    if os.environ.get("QUICK_LOCK"):
        dvcfile.modify_yaml = _quick_lock
    start, wall = time.process_time(), time.perf_counter()
    code = main(sys.argv[2:])
    usage = resource.getrusage(resource.RUSAGE_SELF)
    seconds, waited = time.process_time() - start, time.perf_counter() - wall
    _note({"code": code, "seconds": seconds, "wall": waited, "peak": usage.ru_maxrss * 1024})
    sys.exit(code)
