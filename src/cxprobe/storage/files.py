"""Files that appear whole or not at all, and the folders that hold them."""

import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

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


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Give a temporary path beside ``path`` to write to, and rename it to ``path`` once the block ends well.

    If the process is killed inside the block, a ``.partial`` file stays, and never half an output.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f"{path.name}.partial")
    yield partial
    with partial.open("rb") as written:
        os.fsync(written.fileno())  # a name must not outlive a power cut without its content
    partial.replace(path)


def write_json(content: Mapping[str, Any], path: Path) -> None:
    """Write a mapping as JSON, keys in their order; NaN and infinity are refused.

    Floating-point numbers are rounded by `significant`.
    """
    with replacing(path) as partial:
        text = json.dumps(_rounded(content), indent=2, ensure_ascii=False, allow_nan=False)
        partial.write_text(text + "\n", encoding="utf-8")


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


def _rounded(content: Any) -> Any:
    """Return nested mappings and lists with every floating-point number rounded; NumPy's numbers become Python's."""
    match content:
        case Mapping():
            return {key: _rounded(value) for key, value in content.items()}
        case list() | tuple():
            return [_rounded(value) for value in content]
        case np.generic():
            return _rounded(content.item())
        case float():
            return significant(content)
    return content
