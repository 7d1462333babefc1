"""Files that appear whole or not at all, and the folders that hold them."""

import errno
import hashlib
import json
import os
import platform
import re
import shutil
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from cxprobe.errors import CxprobeError, DataError, errors_behind, missing_extra

DATA = Path("data")
RESULTS = Path("results")
SCRATCH = DATA / ".scratch"
_TEMPORARY = ".partial"


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
    """Return the name of the machine, or of the container on it, within which the numbers of processes are unique."""
    return re.sub(r"[^A-Za-z0-9]+", "_", platform.node()[:60])


def this_process() -> str:
    """Return the name of this process among all that write into the project: letters, digits, ``_`` and one ``-``."""
    return f"{this_machine()}-{os.getpid()}"


def has_ended(process: str) -> bool:
    """Return whether a name of `this_process` is that of a process of this machine which has ended."""
    machine, _, number = process.rpartition("-")
    if machine == this_machine():
        try:
            os.kill(int(number), 0)  # which sends nothing
        except OSError as fault:  # of another user's process it is a PermissionError
            return isinstance(fault, ProcessLookupError)
    return False


class DiskFullError(DataError, OSError):
    """A file could not be written because a disk is full, or a file larger than the user may write."""


# Messages of the operating system, SQLite and NumPy about a full disk; some libraries pass on the words alone.
_FULL = re.compile(
    r"No space left on device|Disk quota exceeded|File too large|database or disk is full|\d+ requested and \d+ writ",
    re.IGNORECASE,
)


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Give a temporary path beside ``path`` to write a file or folder to, and rename it once the block ends well.

    If an exception ends the block, nothing stays; if the process is killed inside it, a ``.partial`` file stays, and
    never half an output. The name has the machine and the process in it, so several processes may write one file at the
    same time: the last one's stays, whole. `remove_left_behind` removes what killed processes have left.

    Raises:
        DiskFullError: The disk is full.
    """
    partial = path.with_name(f"{path.name}.{this_process()}{_TEMPORARY}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        yield partial
        if partial.is_file():
            with partial.open("rb") as file:
                os.fsync(file.fileno())  # a name must not outlive a power cut without its content
        partial.replace(path)
    except BaseException as fault:
        _remove(partial)  # it would take the space that a smaller file could have
        message = full_disk(fault)
        if message is None or isinstance(fault, DiskFullError):
            raise
        raise DiskFullError(f"{path}: {message}") from fault


def remove_left_behind(folder: Path) -> None:
    """Remove the temporary files and folders below a folder whose processes, of this machine, were killed."""
    for inside, folders, names in os.walk(folder):  # unlike `rglob`, it goes on where others remove folders meanwhile
        for path in (Path(inside, name) for name in [*folders, *names]):
            if path.suffix == _TEMPORARY and has_ended(path.stem.rpartition(".")[2]):
                _remove(path)


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def full_disk(fault: BaseException) -> str | None:
    """Return the message if an error, or one that led to it, is about a full disk; None if none is."""
    messages = [str(one) for one in errors_behind(fault) if _FULL.search(str(one))]
    advice = "free some space (`dvc gc --workspace`), or move the folder, and run the stage again"
    return f"the disk is full ({messages[-1]}); {advice}" if messages else None


def user_message(fault: Exception) -> str | None:
    """Return the message about an error that the user can mend; None of another.

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


def write_json(content: Mapping[str, Any], path: Path) -> None:
    """Write a mapping as JSON, keys in their order; NaN and infinity are refused.

    Floating-point numbers are rounded by `significant`, and paths become texts.
    """
    write_bytes(f"{json.dumps(rounded(content), indent=2, ensure_ascii=False)}\n".encode(), path)


def rounded(content: Mapping[str, Any]) -> dict[str, Any]:
    """Return a mapping as `write_json` writes it and `read_json` reads it."""
    exact = json.dumps(content, default=_plain, allow_nan=False)
    known: dict[str, Any] = json.loads(exact, parse_float=lambda number: significant(float(number)))
    return known


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return dict(value)
    return value.as_posix() if isinstance(value, Path) else value.item()


def write_bytes(content: bytes, path: Path) -> None:
    """Write a file whole or not at all."""
    with replacing(path) as partial:
        partial.write_bytes(content)


def read_json(path: Path) -> dict[str, Any]:
    """Read a mapping that `write_json` wrote.

    Raises:
        DataError: The file is damaged.
    """
    try:
        content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as fault:
        raise damaged(path, fault) from fault
    return content


def damaged(path: Path, why: object) -> DataError:
    """Return the error that a file which the project wrote cannot be read."""
    return DataError(f"{path} is damaged ({why}); docs/howto/team.md says how to find what else is, and how to mend it")


def significant(number: float) -> float:
    """Round a number to four significant digits; a whole number stays as it is.

    Makes of processor sum floating-point numbers in other orders: their results differ in the sixth digit, and results
    that are in git must not differ between them. Negative zero becomes zero, for the same reason.
    """
    return number + 0.0 if number.is_integer() else float(f"{number:.4g}")


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
    """Return the SHA-256 of what ``sha256sum`` prints for files of a folder, a line each, sorted by their paths."""
    named = sorted((path.relative_to(folder).as_posix(), path) for path in files)
    return hashlib.sha256("".join(f"{digest(path)}  {name}\n" for name, path in named).encode()).hexdigest()
