"""What a rule finds, and how it is told."""

from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from cxprobe.reading import line_of

Keys = tuple[str | int, ...]


class Fault(NamedTuple):
    """Something in a file that breaks a rule.

    Attributes:
        keys: The way to it from the top of the file.
        what: What is wrong, the value, and what to do.
    """

    keys: Keys
    what: str

    def below(self, *keys: str | int) -> "Fault":
        """Return the fault with the way to it from further up."""
        return Fault((*keys, *self.keys), self.what)


def with_lines(path: Path, faults: Iterable[Fault]) -> list[str]:
    """Return each fault once, as a line with its file and its place there, in the order of the file.

    Args:
        path: The file that they are in; it can be read as YAML.
        faults: The faults.
    """
    numbered = sorted((line_of(path, *fault.keys), fault.what) for fault in set(faults))
    return [f"{path}, line {line}: {what}" for line, what in numbered]
