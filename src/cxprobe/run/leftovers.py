"""What stages have left that dvc.yaml does not have any more: their entries of dvc.lock, and their outputs on disk."""

import shutil
from collections.abc import Collection, Mapping
from pathlib import Path

from dvc.exceptions import DvcException
from dvc.repo import Repo
from dvc.stage import PipelineStage
from dvc.utils.serialize import modify_yaml

from cxprobe.errors import DataError
from cxprobe.files.schema import read_yaml
from cxprobe.files.writing import DATA, RESULTS

LOCK = Path("dvc.lock")


def find_leftovers() -> dict[str, list[Path]]:
    """Return the stages in dvc.lock that dvc.yaml does not have, each with its outputs that are still on disk.

    Outputs outside of data/ and results/ do not count, nor those that another stage has now.

    Raises:
        DataError: DVC cannot read the project in the working directory; the message is DVC's.
    """
    try:
        with Repo() as repo:
            outputs = {Path(out.fs_path) for out in repo.index.outs}
            stages = {stage.name for stage in repo.index.stages if isinstance(stage, PipelineStage)}
    except DvcException as fault:
        raise DataError(f"DVC cannot read the project: {fault}") from fault
    locked = read_yaml(LOCK, DataError).get("stages") or {} if LOCK.is_file() else {}
    leftovers = dict[str, list[Path]]()
    for name in locked.keys() - stages:
        paths = [Path(out["path"]) for out in locked[name].get("outs", ())]
        leftovers[name] = [path for path in paths if _is_left(path, outputs)]
    return dict(sorted(leftovers.items()))


def remove_leftovers(leftovers: Mapping[str, Collection[Path]]) -> None:
    """Remove what `find_leftovers` has returned, for good; DVC's cache keeps its copies until ``dvc gc``."""
    for path in (path for paths in leftovers.values() for path in paths):
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)
    with modify_yaml(str(LOCK)) as content:
        for name in leftovers:
            del content["stages"][name]


def _is_left(path: Path, outputs: Collection[Path]) -> bool:
    """Return whether a path is on disk, below data/ or results/, and in no output and above none."""
    if path.parts[0] not in (DATA.name, RESULTS.name) or ".." in path.parts:
        return False
    there = path.absolute()
    is_used = any(there.is_relative_to(output) or output.is_relative_to(there) for output in outputs)
    return not is_used and (path.exists() or path.is_symlink())
