"""Files that appear whole or not at all, and the folders that hold them."""

import errno
import hashlib
import json
import os
import platform
import re
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from cxprobe.errors import CxprobeError, DataError, missing_extra

DATA = Path("data")
RESULTS = Path("results")
SCRATCH = DATA / ".scratch"


def project_folder() -> Path:
    """Return the folder of the project, absolute: the working directory, except in a DVC experiment.

    A DVC experiment may run in a temporary workspace below ``.dvc/tmp/exps`` of the project. What must outlive it, such
    as the tracking store, belongs into the project itself.
    """
    for folder in Path.cwd().parents:
        if folder.parts[-3:] == (".dvc", "tmp", "exps"):
            return folder.parents[2]
    return Path.cwd()


def this_machine() -> str:
    """Return the name of what the numbers of processes count on: a machine, or a container on it."""
    try:
        numbers = Path("/proc/self/ns/pid").stat().st_ino  # containers may share the name of their machine
    except OSError:  # not on Linux
        numbers = 0
    return re.sub(r"[^A-Za-z0-9.]+", "_", f"{platform.node()[:60]}.{numbers}")


class DiskFullError(DataError, OSError):
    """A file could not be written because a disk is full; the message says which and how much is needed."""


# What is said when there is no space. NumPy forgets the number of the error, and says how much it has written.
_FULL = {
    errno.ENOSPC: "the disk is full",
    errno.EDQUOT: "your share of the disk (quota) is used up",
    errno.EFBIG: "the file is larger than the disk or `ulimit -f` allows",
}
_FULL_IN_WORDS = re.compile(r"\d+ requested and \d+ written|No space left on device|database or disk is full", re.I)


@contextmanager
def replacing(path: Path, size: int | None = None) -> Iterator[Path]:
    """Give a temporary path beside ``path`` to write to, and rename it to ``path`` once the block ends well.

    If an exception ends the block, nothing stays; if the process is killed inside it, a ``.partial`` file stays, and
    never half an output. The name has the machine and the process in it, so several processes may write one file at the
    same time: the last one's stays, whole. `remove_left_behind` removes what killed processes have left.

    Args:
        path: The file.
        size: The bytes that it will have, if they are known: for the message about a full disk.

    Raises:
        DiskFullError: The disk is full.
    """
    partial = path.with_name(f"{path.name}.{this_machine()}-{os.getpid()}.partial")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        yield partial
        with partial.open("rb") as file:
            os.fsync(file.fileno())  # a name must not outlive a power cut without its content
        partial.replace(path)
    except BaseException as fault:
        written = partial.stat().st_size if partial.is_file() else 0
        partial.unlink(missing_ok=True)  # it would take the space that a smaller file could have
        cause = None if isinstance(fault, DiskFullError) else _full_disk_cause(fault)
        if cause is None:
            raise
        needed = f"more than {written:,} bytes" if size is None else f"{size:,} bytes"
        raise DiskFullError(
            f"{path}: {_reason(cause)}: the file needs {needed}; {_free_space(path)}; {_ADVICE}"
        ) from fault


def remove_left_behind(folder: Path) -> None:
    """Remove the temporary files of `replacing` below a folder whose processes, of this machine, were killed."""
    import psutil  # of the extra pipeline

    own = re.compile(rf".*\.{re.escape(this_machine())}-(\d+)\.partial")
    for inside, _, names in os.walk(folder):  # unlike `rglob`, it goes on where others remove folders meanwhile
        for name in names:
            if (match := own.fullmatch(name)) and not psutil.pid_exists(int(match[1])):
                Path(inside, name).unlink(missing_ok=True)


def reserve(partial: Path, size: int) -> None:
    """Make a file of zeros that has its space on the disk, so that writing into it cannot fail half-way.

    Raises:
        OSError: There is no space.
    """
    with partial.open("wb") as file:
        try:
            os.posix_fallocate(file.fileno(), 0, size)
        except (AttributeError, OSError) as fault:  # macOS does not have it, and some file systems cannot do it
            if isinstance(fault, OSError) and fault.errno not in (errno.EINVAL, errno.EOPNOTSUPP, errno.ENOSYS):
                raise
            file.truncate(size)


def full_disk(fault: BaseException) -> str | None:
    """Return what to say if an error, or one that led to it, is about a full disk; None if none is.

    It is for errors from elsewhere than `replacing`, such as of a library that writes files of its own: all disks that
    the project writes to are named with what is free on them.
    """
    cause = _full_disk_cause(fault)
    if cause is None:
        return None
    name = getattr(cause, "filename", None)
    paths = [Path(str(name))] if name else [DATA, RESULTS, project_folder() / "mlruns", Path(tempfile.gettempdir())]
    free = sorted({_free_space(path) for path in paths})
    return f"{_reason(cause)}{f' ({name})' if name else ''}: {'; '.join(free)}; {_ADVICE}"


def mendable(fault: Exception) -> str | None:
    """Return what to say of an error that the user can mend; None of another.

    These are the faults that cxprobe reports, packages of extras that are not installed, full disks, and files and
    folders that this user may not write or read.
    """
    if isinstance(fault, CxprobeError):
        return str(fault)
    if isinstance(fault, ImportError):
        return missing_extra(fault)
    if message := full_disk(fault):
        return message
    if not isinstance(fault, OSError) or fault.errno not in (errno.EACCES, errno.EPERM, errno.EROFS):
        return None
    name, what = fault.filename or "a file of the project", os.strerror(fault.errno).lower()
    return f"{name}: {what}; give your user the right to read and write there, or move the folder"


_ADVICE = "free some space (`dvc gc --workspace`, `cxprobe prune`), or move the folder, and run the stage again"


def _full_disk_cause(fault: BaseException) -> BaseException | None:
    """Return the first error that is about space: this one, or one that led to it."""
    seen: set[int] = set()
    cause: BaseException | None = fault
    while cause is not None and id(cause) not in seen:
        if _reason(cause):
            return cause
        seen.add(id(cause))
        cause = cause.__cause__ or cause.__context__
    return None


def _reason(fault: BaseException) -> str | None:
    """Return which limit an error is about, if it is about one of space."""
    if isinstance(fault, OSError) and fault.errno in _FULL:
        return _FULL[fault.errno]
    return _FULL[errno.ENOSPC] if _FULL_IN_WORDS.search(str(fault)) else None


def _free_space(path: Path) -> str:
    """Return how much is free on the disk of a path, which need not exist."""
    there = next(folder for folder in (path.absolute(), *path.absolute().parents) if folder.exists())
    disk = next(folder for folder in (there, *there.parents) if folder.is_mount())
    usage, counts = shutil.disk_usage(there), os.statvfs(there)
    files = "" if counts.f_favail or not counts.f_files else ", and no more files can be made on it"
    return f"{usage.free:,} of {usage.total:,} bytes are free on {disk}{files}"


def write_json(content: Mapping[str, Any], path: Path) -> None:
    """Write a mapping as JSON, keys in their order; NaN and infinity are refused.

    Floating-point numbers are rounded by `significant`, and paths become texts.
    """
    text = json.dumps(_rounded(content), indent=2, ensure_ascii=False, allow_nan=False)
    write_bytes(f"{text}\n".encode(), path)


def write_bytes(content: bytes, path: Path) -> None:
    """Write a file whole or not at all."""
    with replacing(path, len(content)) as partial:
        partial.write_bytes(content)


def read_json(path: Path) -> dict[str, Any]:
    """Read a mapping that `write_json` wrote."""
    content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return content


def significant(number: float) -> float:
    """Round a number to six significant digits.

    More differ between makes of processor, whose sums of floating-point numbers run in other orders. Negative zero
    becomes zero, for the same reason.
    """
    return float(f"{number:.6g}") + 0.0


def scratch_folder(parent: Path, *parts: object) -> Path:
    """Return the folder that holds a part of a stage's work until it is complete.

    Its name is a digest of everything that the work depends on, so a run that was killed continues where it stopped,
    and a run with other settings starts from the beginning.

    Args:
        parent: The folder of the stage.
        parts: Everything that the work depends on; their ``repr`` tells them apart.
    """
    return parent / hashlib.sha256(repr(parts).encode()).hexdigest()[:16]


def digest(path: Path, algorithm: str = "sha256") -> str:
    """Return a file's digest, as `hashlib` names the algorithm."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, algorithm).hexdigest()


def digest_of_files(folder: Path, files: Iterable[Path]) -> str:
    """Return the SHA-256 of what `sha256sum` prints for files of a folder, a line each, sorted by their paths in it."""
    named = sorted((path.relative_to(folder).as_posix(), path) for path in files)
    return hashlib.sha256("".join(f"{digest(path)}  {name}\n" for name, path in named).encode()).hexdigest()


def _rounded(content: Any) -> Any:
    """Return nested mappings and lists as JSON has them, with every floating-point number rounded."""
    match content:
        case Mapping():
            return {key: _rounded(value) for key, value in content.items()}
        case list() | tuple():
            return [_rounded(value) for value in content]
        case np.generic():
            return _rounded(content.item())
        case Path():
            return content.as_posix()
        case float():
            return significant(content)
    return content
