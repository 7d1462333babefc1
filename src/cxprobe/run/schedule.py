"""Where a stage stands in the run of the pipeline, and how long the rest takes.

The first stage of a run asks DVC which stages are not up to date, and keeps the answer for those that follow. Each
stage keeps the time that it took, so that the next run knows how much work is left.
"""

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cxprobe.files.writing import SCRATCH, project_folder, read_json, write_json

SHIPPED = Path("recorded/seconds.json")
"""Stage -> the seconds that it took in the default run on two cores, for a machine on which it has not run yet."""
_ENOUGH = 0.05  # of the work must be done before its speed says something about the rest


@dataclass(frozen=True)
class Schedule:
    """The stages of a run.

    Attributes:
        stages: The stages that were not up to date when it started, as DVC calls them.
        seconds: Stage -> the seconds that it took when it ran last; of some stages nothing is known.
        ended: Stage of this run that has ended -> the time of its end, in seconds since the epoch.
    """

    stages: Sequence[str]
    seconds: Mapping[str, float]
    ended: Mapping[str, float]

    @property
    def place(self) -> str:
        """The place of a stage that begins now, and the minutes that all of them need."""
        place = f"stage {len(self.ended) + 1} of {len(self.stages)} of the pipeline that were not up to date"
        left = self.seconds_left()
        if left is None:
            return place
        return f"{place}, {f'some {left / 60:.0f} min' if left >= 90 else 'about a minute'} left for all"

    def seconds_left(self) -> float | None:
        """Return the seconds until all stages have ended, None if nothing is known of one of them.

        The work that is left is divided by the speed of the work that is done, which has in it the speed of the machine
        and the number of stages that run at the same time.
        """
        work = {stage: self._work_of(stage) for stage in self.stages}
        if not all(work.values()):
            return None
        done = sum(work[stage] for stage in self.ended)
        left = sum(work.values()) - done
        return left * self._seconds_busy() / done if done > _ENOUGH * (done + left) else left

    def _work_of(self, stage: str) -> float:
        """Return the seconds of a stage, or the most of another model in the same stage; 0 where nothing is known."""
        name = stage.partition("@")[0]
        alike = [seconds for other, seconds in self.seconds.items() if other.partition("@")[0] == name]
        return self.seconds.get(stage, max(alike, default=0.0))

    def _seconds_busy(self) -> float:
        """Return the seconds in which at least one of the stages ran that have ended; a run may be interrupted."""
        busy, until = 0.0, 0.0
        for stage in sorted(self.ended, key=self._start_of):
            end = self.ended[stage]
            busy += max(0.0, end - max(until, self._start_of(stage)))
            until = max(until, end)
        return busy

    def _start_of(self, stage: str) -> float:
        return self.ended[stage] - self.seconds[stage]


@contextmanager
def scheduled(stage: str) -> Iterator[None]:
    """Print the place of a stage that DVC runs, and keep the time of the block that does its work.

    Args:
        stage: The stage, as DVC calls it; "" where something else runs the script.
    """
    if not stage:
        yield
        return
    folder = project_folder() / SCRATCH / "schedule"
    begun = time.time()
    schedule = _read_schedule(folder)
    if stage not in schedule.stages or stage in schedule.ended:
        write_json({"started": int(begun), "stages": _stages_to_run(stage)}, folder / "plan.json")
        schedule = _read_schedule(folder)
    print(schedule.place, flush=True)
    yield
    now = time.time()
    write_json({"seconds": now - begun, "ended": int(now)}, folder / "stages" / f"{stage}.json")


def _read_schedule(folder: Path) -> Schedule:
    plan_file = folder / "plan.json"
    plan: dict[str, Any] = read_json(plan_file) if plan_file.is_file() else {"started": 0, "stages": []}
    seconds = read_json(SHIPPED) if SHIPPED.is_file() else {}
    ended = {}
    for path in (folder / "stages").glob("*.json"):
        last = read_json(path)
        seconds[path.stem] = last["seconds"]
        if path.stem in plan["stages"] and last["ended"] >= plan["started"]:
            ended[path.stem] = last["ended"]
    return Schedule(plan["stages"], seconds, ended)


def _stages_to_run(stage: str) -> list[str]:
    """Return the stages that are not up to date and those that depend on them; the given one is one of them."""
    from dvc.exceptions import DvcException
    from dvc.repo import Repo
    from dvc.repo.graph import get_subgraph_of_nodes

    try:
        with Repo() as repo, repo.lock:
            graph = repo.index.graph
            changed = [node for node in graph if node.addressing == stage or _has_changed(node)]
    except DvcException:  # another command of DVC holds the lock
        return [stage]
    return sorted(node.addressing for node in get_subgraph_of_nodes(graph, changed, downstream=True))


def _has_changed(node: Any) -> bool:
    """Return whether a stage of DVC is not up to date."""
    from dvc.lock import LockError

    try:
        return bool(node.status())
    except LockError:  # it runs at present
        return True
