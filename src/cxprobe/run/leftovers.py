"""Leftovers of stages that were removed from dvc.yaml: their entries in dvc.lock, and their outputs on disk."""

import shutil
from collections.abc import Collection, Mapping
from itertools import chain
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
    """Return the stages that are in dvc.lock but not in dvc.yaml, each with its outputs that are still on disk.

    Outputs outside of data/ and results/ are ignored, and so are outputs that a present stage has.

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
    """Delete the outputs and entries that `find_leftovers` returned. DVC's cache keeps its copies until ``dvc gc``."""
    for path in chain.from_iterable(leftovers.values()):
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)
    with modify_yaml(str(LOCK)) as content:
        for name in leftovers:
            del content["stages"][name]


def _is_left(path: Path, outputs: Collection[Path]) -> bool:
    """Return whether a path is on disk, below data/ or results/, and neither inside an output nor around one."""
    if path.parts[0] not in (DATA.name, RESULTS.name) or ".." in path.parts:
        return False
    absolute = path.absolute()
    is_used = any(absolute.is_relative_to(output) or output.is_relative_to(absolute) for output in outputs)
    is_on_disk = path.exists() or path.is_symlink()
    return is_on_disk and not is_used
