"""What has left the grid: entries of dvc.lock, data, results and answers that no stage of dvc.yaml has any more."""

import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dvc.exceptions import DvcException
from dvc.repo import Repo
from dvc.stage import PipelineStage
from dvc.utils.serialize import modify_yaml

from cxprobe.errors import DataError, ParamsError
from cxprobe.files.schema import read_yaml
from cxprobe.files.writing import DATA, RESULTS, SCRATCH
from cxprobe.run.params import PARAMS_FILE

_NEVER = (DATA / "raw", SCRATCH)  # what people bring, and what the next run goes on from


@dataclass(frozen=True)
class Leftovers:
    """What `find_leftovers` has found.

    Attributes:
        entries: Lock file -> its entries of stages that the dvc.yaml beside it does not have.
        paths: Files and folders below data/ and results/ that are not an output of a stage.
        answers: Folders of answers of models that are in no part of the grid.
    """

    entries: Mapping[Path, Sequence[str]]
    paths: Sequence[Path]
    answers: Sequence[Path]

    @property
    def removable(self) -> list[Path]:
        """All files and folders."""
        return [*self.paths, *self.answers]


def find_leftovers() -> Leftovers:
    """Find what has left the grid of the project in the working directory; nothing is changed.

    DVC itself resolves dvc.yaml, in all folders. Files that `dvc import` brings (``*.dvc``), ``.gitignore``, data/raw
    and data/.scratch are never found, apart from answers of models that are in no part of the grid.

    Raises:
        DataError: DVC cannot read the project; the message is DVC's.
        ParamsError: params.yaml cannot be read.
    """
    try:
        with Repo() as repo:
            outputs = {Path(out.fs_path) for out in repo.index.outs if out.is_in_repo}
            stages: dict[Path, set[str]] = {Path(repo.root_dir) / "dvc.lock": set()}
            for stage in repo.index.stages:
                if isinstance(stage, PipelineStage):  # others are *.dvc files
                    stages.setdefault(Path(stage.dvcfile.path).with_name("dvc.lock"), set()).add(stage.name)
    except DvcException as fault:
        raise DataError(f"DVC cannot read the project: {fault}") from fault
    entries = {_relative(lock): left for lock, names in stages.items() if (left := _entries_left(lock, names))}
    relative = {_relative(output) for output in outputs}
    paths = [path for folder in (DATA, RESULTS) if folder.is_dir() for path in _paths_left(folder, relative)]
    return Leftovers(entries, paths, list(_answers_left(_models_of_grid())))


def remove_leftovers(leftovers: Leftovers) -> None:
    """Remove what was found, for good; DVC's cache keeps its own copies of outputs until ``dvc gc``."""
    for lock, names in leftovers.entries.items():
        with modify_yaml(str(lock)) as content:
            for name in names:
                del content["stages"][name]
    for path in leftovers.removable:
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()


def size_of(path: Path) -> int:
    """Return the size in bytes of a file, or of all files of a folder."""
    files = [path] if path.is_symlink() or not path.is_dir() else [one for one in path.rglob("*") if not one.is_dir()]
    return sum(file.lstat().st_size for file in files)


def _entries_left(lock: Path, stages: set[str]) -> list[str]:
    content = read_yaml(lock, DataError) if lock.is_file() else {}
    return [name for name in content.get("stages") or {} if name not in stages]


def _paths_left(folder: Path, outputs: set[Path]) -> Iterator[Path]:
    above = {parent for output in outputs for parent in output.parents}
    for path in sorted(folder.iterdir()):
        if path in outputs or path in _NEVER or _is_kept(path):
            continue
        if path.is_dir() and (path in above or any(map(_is_kept, path.rglob("*")))):
            yield from _paths_left(path, outputs)
        else:
            yield path


def _is_kept(path: Path) -> bool:
    return path.name == ".gitignore" or path.suffix == ".dvc"


def _answers_left(models: set[str]) -> Iterator[Path]:
    """Yield the folders of answers, ``<model>-<digest>``, that belong to none of the models."""
    folder = SCRATCH / "answers"
    for path in sorted(folder.iterdir()) if folder.is_dir() else ():
        if path.name.rpartition("-")[0] not in models:
            yield path


def _models_of_grid() -> set[str]:
    """Return the slugs of all models and llms that any part of the grid has; a panel stands for its members too."""
    content = read_yaml(PARAMS_FILE, ParamsError)
    grid, models = content.get("grid") or {}, content.get("models") or {}
    parts: list[Mapping[str, Any]] = [part for part in grid.values() if isinstance(part, Mapping)]
    slugs = {slug for part in parts for kind in ("models", "llms") for slug in part.get(kind) or ()}
    return slugs.union(*((models.get(slug) or {}).get("members") or () for slug in slugs))


def _relative(path: Path) -> Path:
    """Return a path as it is seen from the project, if it is in the project."""
    here = Path.cwd()
    return path.relative_to(here) if path.is_relative_to(here) else path
