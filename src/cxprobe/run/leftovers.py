"""What params.yaml does not name any more: entries of dvc.lock, data, results and answers that no stage has."""

import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from dvc.exceptions import DvcException
from dvc.repo import Repo
from dvc.stage import PipelineStage
from dvc.utils.serialize import modify_yaml

from cxprobe.errors import DataError, ParamsError
from cxprobe.files.schema import read_yaml
from cxprobe.files.writing import DATA, RESULTS, SCRATCH
from cxprobe.project.params import LINES, PARAMS_FILE

LOCK = Path("dvc.lock")
_NEVER = (DATA / "benchmarks", SCRATCH)  # what people bring, and what the next run goes on from


@dataclass(frozen=True)
class Leftovers:
    """What `find_leftovers` has found.

    Attributes:
        entries: Entries of dvc.lock of stages that dvc.yaml does not have.
        paths: Files and folders that are not an output of a stage, and answers of models that no line of work names.
    """

    entries: Sequence[str]
    paths: Sequence[Path]


def find_leftovers() -> Leftovers:
    """Find what no stage of the project in the working directory has any more; nothing is changed.

    DVC itself resolves dvc.yaml. Files that `dvc import` brings (``*.dvc``), ``.gitignore``, data/benchmarks and
    data/.scratch are never found, apart from answers of models that no line of work names.

    Raises:
        DataError: DVC cannot read the project; the message is DVC's.
        ParamsError: params.yaml cannot be read.
    """
    try:
        with Repo() as repo:
            outputs = {Path(out.fs_path) for out in repo.index.outs if out.is_in_repo}
            stages = {stage.name for stage in repo.index.stages if isinstance(stage, PipelineStage)}
    except DvcException as fault:
        raise DataError(f"DVC cannot read the project: {fault}") from fault
    locked = read_yaml(LOCK, DataError).get("stages") or {} if LOCK.is_file() else {}
    here = Path.cwd()
    relative = {output.relative_to(here) if output.is_relative_to(here) else output for output in outputs}
    paths = [path for folder in (DATA, RESULTS) if folder.is_dir() for path in _unknown_paths(folder, relative)]
    return Leftovers([name for name in locked if name not in stages], [*paths, *_unknown_answers()])


def remove_leftovers(leftovers: Leftovers) -> None:
    """Remove what was found, for good; DVC's cache keeps its own copies of outputs until ``dvc gc``."""
    if leftovers.entries:
        with modify_yaml(str(LOCK)) as content:
            for name in leftovers.entries:
                del content["stages"][name]
    for path in leftovers.paths:
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()


def size_of(path: Path) -> int:
    """Return the size in bytes of a file, or of all files of a folder."""
    files = path.rglob("*") if path.is_dir() and not path.is_symlink() else [path]
    return sum(file.lstat().st_size for file in files if file == path or not file.is_dir())


def _unknown_paths(folder: Path, outputs: set[Path]) -> Iterator[Path]:
    """Yield what is in a folder and is neither an output, nor above one, nor kept."""
    above = {parent for output in outputs for parent in output.parents}
    for path in sorted(folder.iterdir()):
        if path in outputs or path in _NEVER or _is_kept(path):
            continue
        if path.is_dir() and (path in above or any(map(_is_kept, path.rglob("*")))):
            yield from _unknown_paths(path, outputs)
        else:
            yield path


def _is_kept(path: Path) -> bool:
    return path.name == ".gitignore" or path.suffix == ".dvc"


def _unknown_answers() -> Iterator[Path]:
    """Yield the folders of answers, ``<model>-<digest>``, of models that no line of work names."""
    content = read_yaml(PARAMS_FILE, ParamsError)
    models, named = content.get("models") or {}, set[str]()
    for slug in (slug for line in LINES for kind in ("models", "llms") for slug in content[line].get(kind) or ()):
        entry = models.get(slug) or {}
        named |= {slug, *(entry.get("members") or ()), *(entry.get("checkpoints") or ())}
    folder = SCRATCH / "answers"
    for path in sorted(folder.iterdir()) if folder.is_dir() else ():
        if path.name.rpartition("-")[0] not in named:
            yield path
