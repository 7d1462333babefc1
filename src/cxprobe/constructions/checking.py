"""The faults of files: what rules find, the linter of items that all tasks share, and all of them reported at once."""

import re
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from cxprobe.errors import CxprobeError
from cxprobe.files.reading import line_of, one_line
from cxprobe.text import faults_of_text

K = TypeVar("K", bound=Hashable)
T = TypeVar("T")
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


def normalised(text: str) -> str:
    """Return the words of a text in lower case, without punctuation."""
    return " ".join(re.sub(r"[^\w'’{}]+", " ", text.lower()).split())


def repeated(texts: Iterable[tuple[K, str]]) -> Iterator[tuple[K, K, str]]:
    """Yield each text that repeats an earlier one: its key, the earlier one's, and the text."""
    first: dict[str, K] = {}
    for key, text in texts:
        known = first.setdefault(normalised(text), key)
        if known != key:
            yield key, known, text


class Item(NamedTuple):
    """An item as it is shown, with its slots filled.

    Attributes:
        place: The way to its template, or to the item itself, from the top of its file.
        name: What messages call it, such as "variant A, the rival".
        texts: Its finished texts, such as its context with each answer; no two say the same.
        row: The way to the words that fill the template's slots; empty for an item without a template.
        answers: The right and the wrong word at each place where its answers differ.
        fault: What a rule of its task has found, "" for nothing.
    """

    place: Keys
    name: str
    texts: Sequence[str]
    row: Keys = ()
    answers: Sequence[tuple[str, str]] = ()
    fault: str = ""


def lint_items(items: Iterable[Item], *, are_distinct: bool = True, are_balanced: bool = False) -> Iterator[Fault]:
    """Find what is wrong with rendered items.

    Args:
        items: The items.
        are_distinct: Whether no two may have the same texts, in whatever order.
        are_balanced: Whether each word must be right as often as wrong, over all items, at each place of the answers;
            it is checked if nothing else is wrong.

    Yields:
        The first fault of each template: its own, what is wrong with a text (`faults_of_text`), or texts that are there
        twice. It stands at the row if one alone has a fault, and otherwise at the template.
    """
    known: dict[tuple[str, ...], Item] = {}
    found: dict[tuple[Keys, str], list[tuple[Keys, str]]] = {}  # of a template: rows with a fault, and the first one
    balance = Counter[tuple[int, str]]()  # place among the answers and word -> how much more often right than wrong
    for item in items:
        faults = [item.fault] if item.fault else []
        faults += (f"{text!r}: {what}" for text in item.texts for what in faults_of_text(text))
        twice = repeated(enumerate(item.texts))
        faults += (f"{text!r} says the same as another text of it; change one" for *_, text in twice)
        earlier = known.setdefault(tuple(sorted(map(normalised, item.texts))), item)
        if are_distinct and earlier is not item:
            where = ".".join(map(str, earlier.row or earlier.place))
            faults.append(f"{item.texts[0]!r} says the same as {earlier.name} ({where}); replace one of the two")
        if faults:
            found.setdefault((item.place, item.name), []).append((item.row or item.place, faults[0]))
        for place, (right, wrong) in enumerate(item.answers):
            balance[place, right] += 1
            balance[place, wrong] -= 1
    for (template, name), ((row, what), *others) in found.items():
        more = f" (so with {len(others)} more rows)" if others else ""
        yield Fault(template if others else row, f"{name}: {what}{more}")
    unequal = [
        f"'{word}' is {'right' if n > 0 else 'wrong'} {abs(n)} times more" for (_, word), n in balance.items() if n
    ]
    if are_balanced and unequal and not found:
        shown = ", ".join(unequal[:4]) + f" and {len(unequal) - 4} more words" * (len(unequal) > 4)
        yield Fault((), f"answers are not right as often as wrong: {shown}; add items in which the others are right")


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


def is_there(path: Path) -> bool:
    """Return whether a path exists, even as a broken link; its reader refuses anything but a file."""
    return path.exists() or path.is_symlink()
