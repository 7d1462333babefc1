"""Where a stage stands in the run of the pipeline, and how long the rest takes.

The first stage of a run asks DVC which stages are not up to date, and keeps the answer for those that follow. Each
stage keeps the seconds that it took, by which the next run on this machine knows how much is left.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from cxprobe.files.writing import SCRATCH, project_folder, read_json, write_json


@contextmanager
def scheduled(stage: str) -> Iterator[None]:
    """Print the place of a stage that DVC runs, and keep the seconds of the block that does its work.

    Args:
        stage: The stage, as DVC calls it; "" where something else runs the script.
    """
    if not stage:
        yield
        return
    folder = project_folder() / SCRATCH / "schedule"
    plan_file, begun = folder / "plan.json", time.time()
    plan: dict[str, Any] = read_json(plan_file) if plan_file.is_file() else {"started": 0, "stages": []}
    last = {path.stem: read_json(path) for path in (folder / "stages").glob("*.json")}
    left = [one for one in plan["stages"] if one not in last or last[one]["ended"] < plan["started"]]
    if stage not in left:
        left = _stages_to_run(stage)
        plan = {"started": int(begun), "stages": left}
        write_json(plan, plan_file)
    number, of = len(plan["stages"]) - len(left) + 1, len(plan["stages"])
    place = f"stage {number} of {of} of the pipeline that were not up to date"
    if last.keys() >= set(left):
        place += f", {sum(last[one]['seconds'] for one in left) / 60:.0f} min left if all take as long as last time"
    print(place, flush=True)
    yield
    now = time.time()
    write_json({"seconds": now - begun, "ended": int(now)}, folder / "stages" / f"{stage}.json")


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
