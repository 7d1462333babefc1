"""Collect the faults of files, so that those of all files are reported at once."""

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from cxprobe.constructions.faults import Fault, with_lines
from cxprobe.errors import CxprobeError
from cxprobe.files.reading import one_line
from cxprobe.files.schema import suggest

T = TypeVar("T")


class FoundFaults:
    """The faults that were found so far.

    Attributes:
        lines: One line a fault; each begins with its file.
        notes: Remarks on unusual content that is not a fault; one line each.
    """

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.notes: list[str] = []

    def attempt(self, read: Callable[..., T], *values: Any, prefix: str = "", **options: Any) -> T | None:
        """Return the result of a function, or None if it reports faults, which are kept with a prefix."""
        try:
            return read(*values, **options)
        except CxprobeError as fault:
            self.lines += [one_line(prefix + line) for line in str(fault).split("\n")]
            return None

    def lint(self, path: Path, faults: Iterable[Fault]) -> None:
        """Keep the faults of rules in a file, with their lines."""
        self.lines += map(one_line, with_lines(path, faults))

    def read(self, path: Path, load: Callable[[], T], lint: Callable[[T], Iterable[Fault]] = lambda _: ()) -> T | None:
        """Return the content of a file, whose items are checked; None if it is not there or has faults."""
        content = self.attempt(load) if is_there(path) else None
        if content is not None:
            self.lint(path, lint(content))
        return content

    def require(self, key: str, name: str, path: Path) -> None:
        """Report a construction of params.yaml whose file is missing."""
        if not is_there(path):
            self.lines.append(
                f"params.yaml: {key}: {name} needs {path}, and there is no such file; write it, or take {name} out"
            )

    def check_prompts(
        self, path: Path, load: Callable[[], T], *, needed: bool, named: Mapping[str, tuple[str, str]]
    ) -> T | None:
        """Read a file of prompts, and check that it has those that params.yaml names.

        Args:
            path: The file.
            load: Reads it.
            needed: Whether params.yaml needs it; another one is read if it is there.
            named: Key of params.yaml -> the section of the file that must have the prompt, and its name.

        Returns:
            Its content; None if it has faults or nothing needs it.
        """
        content = self.attempt(load) if needed or is_there(path) else None
        if content is None:
            return None
        for key, (section, name) in named.items():
            known = list(getattr(content, section))
            if name not in known:
                self.lines.append(f"params.yaml: {key}: {path.stem} has no prompt '{name}'{suggest(name, known)}")
        return content


def is_there(path: Path) -> bool:
    """Return whether a path exists, even as a broken link; its reader refuses anything but a file."""
    return path.exists() or path.is_symlink()
