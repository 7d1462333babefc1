"""What a finished run of a project has that can be exported, and the folder that an export is written to."""

from collections.abc import Mapping
from pathlib import Path

from cxprobe.errors import DataError
from cxprobe.files.writing import DATA, write_bytes
from cxprobe.project.params import Params


def check_new_folder(folder: Path) -> None:
    """Check that a folder has nothing in it, so that two exports are never mixed.

    Raises:
        DataError: The path is a file, or a folder that is not empty.
    """
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise DataError(f"{folder}: is there already; name a folder that does not exist or is empty")


def write_files(files: Mapping[str, bytes], folder: Path) -> None:
    """Write the files of an export: path inside the folder -> content."""
    for name, content in files.items():
        write_bytes(content, folder / name)


def why_not(params: Params, line: str) -> str:
    """Return why the data of a line of work cannot be exported, or "" if they can."""
    if not params.params_of(line).of_line.constructions:
        return f"{line}.constructions of params.yaml names none"
    made = DATA / f"make_{line}"
    return "" if made.is_dir() else f"{made} is missing, since `dvc repro make_{line}` has not run"
