"""The only module of the exports that writes."""

from collections.abc import Mapping
from pathlib import Path

from cxprobe.errors import DataError
from cxprobe.files.writing import write_bytes


def require_new_folder(folder: Path) -> None:
    """Refuse a folder that has something in it, so that two exports are never mixed.

    Raises:
        DataError: The path is a file, or a folder that is not empty.
    """
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise DataError(f"{folder}: is there already; name a folder that does not exist or is empty")


def write_files(files: Mapping[str, bytes], folder: Path) -> None:
    """Write the files of an export.

    Args:
        files: Path inside the folder -> content.
        folder: Where they go.
    """
    for name, content in files.items():
        write_bytes(content, folder / name)
