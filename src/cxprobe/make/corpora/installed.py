"""A corpus that needs no download: the English prose of the docstrings and documentation of installed packages."""

import ast
import hashlib
import json
import re
import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path
from typing import NamedTuple, TextIO

from joblib import Parallel, cpu_count, delayed

from cxprobe.errors import DataError
from cxprobe.make.corpora.prose import prose
from cxprobe.storage import read_json, replacing, write_json

# A docstring is the first thing in its module, or follows a line that opens a block. Parsing 350 MB of Python with
# `ast` takes a minute, and this expression a few seconds; a test compares the two.
_DOCSTRING = re.compile(
    r"(?:\A(?:\s*(?:#[^\n]*)?\n)*|:[ \t]*(?:#[^\n]*)?\n(?:[ \t]*\n)*)[ \t]*"
    r"""([rRuU]?(?:\"\"\"(?:[^"\\]|\\.|"(?!""))*\"\"\"|'''(?:[^'\\]|\\.|'(?!''))*'''))""",
    re.S,
)
_LEGAL = re.compile(r"licen[cs]e|copying|notice|authors|third.?party", re.I)
_DOCUMENTS = (".md", ".rst", ".txt")
_FILES_AT_ONCE, _MOST_PROCESSES = 200, 8


class Written(NamedTuple):
    """The corpus as it was written: its records, and the SHA-256 of them all."""

    records: int
    digest: str


class Package(NamedTuple):
    """An installed package: its name in lower case, its version and its files.

    Reading the metadata takes long, so name and version are read once.
    """

    name: str
    version: str
    distribution: Distribution

    @property
    def source(self) -> str:
        """Name and version, such as "scikit-learn==1.9.1"."""
        return f"{self.name}=={self.version}"


def find_packages(names: Path) -> list[Package]:
    """Find the packages that a file names, sorted by name.

    Args:
        names: One name a line; what follows a # is a comment.

    Raises:
        DataError: The file does not exist or names nothing, or a package is not installed.
    """
    if not names.is_file():
        raise DataError(f"{names} does not exist; it must name the packages of the corpus, one a line")
    try:
        lines = names.read_text(encoding="utf-8-sig").splitlines()
    except UnicodeDecodeError as fault:
        raise DataError(
            f"{names}: byte {fault.start} is not UTF-8; save it as UTF-8, with the names of packages, one a line"
        ) from None
    wanted = [name for line in lines if (name := line.partition("#")[0].strip())]
    found = {name: _installed(name) for name in wanted}
    absent = [name for name, package in found.items() if package is None]
    if absent:
        raise DataError(
            f"{names} names packages that are not installed: {', '.join(absent)}. Their documentation is the corpus: "
            "install the pinned environment again (`rm .venv/installed; make repro`), or remove them from the file"
        )
    if not found:
        raise DataError(f"{names} names no package; it must name at least one, one a line")
    packages = {_name(package): package for package in found.values() if package is not None}
    return [Package(name, packages[name].version, packages[name]) for name in sorted(packages)]


def digest_of(packages: Sequence[Package]) -> str:
    """Return a name for the packages with their versions, and for the way they are read."""
    code = [Path(__file__).with_name(name).read_text(encoding="utf-8") for name in ("installed.py", "prose.py")]
    return hashlib.sha256("\n".join([*(package.source for package in packages), *code]).encode()).hexdigest()[:16]


def write_installed_corpus(packages: Sequence[Package], folder: Path, shards: int) -> Written:
    """Write the corpus as ``<folder>/<number>.jsonl``, unless an earlier run has done so.

    A record is one paragraph (text, url). A paragraph that several packages share is written once. The records are in
    the order of packages and files, and go to the shards in turn.
    """
    done = folder / "corpus.json"
    if not done.exists():
        folder.mkdir(parents=True, exist_ok=True)
        with ExitStack() as stack:
            partials = [stack.enter_context(replacing(folder / f"{shard:03d}.jsonl")) for shard in range(shards)]
            files = [stack.enter_context(partial.open("w", encoding="utf-8")) for partial in partials]
            written = _write_in_turn(installed_prose(packages), files)
        write_json(written._asdict(), done)
    return Written(**read_json(done))


def _write_in_turn(paragraphs: Iterable[tuple[str, str]], files: Sequence[TextIO]) -> Written:
    digest = hashlib.sha256()
    records = 0
    for records, (url, text) in enumerate(paragraphs, start=1):
        line = json.dumps({"text": text, "url": url}, ensure_ascii=False) + "\n"
        files[(records - 1) % len(files)].write(line)
        digest.update(line.encode())
    return Written(records, digest.hexdigest())


def installed_prose(packages: Sequence[Package]) -> Iterator[tuple[str, str]]:
    """Yield (url, paragraph) for all packages, in the order of their files, which several processes read."""
    files = [
        (f"{package.source}/{file}", path)
        for package in packages
        for file in sorted(map(str, package.distribution.files or []))
        if _is_read(file) and (path := Path(str(package.distribution.locate_file(file)))).is_file()
    ]
    parts = [files[start : start + _FILES_AT_ONCE] for start in range(0, len(files), _FILES_AT_ONCE)]
    read = Parallel(n_jobs=min(cpu_count(), _MOST_PROCESSES), return_as="generator")(
        delayed(_read_files)([path for _, path in part]) for part in parts
    )
    seen: set[bytes] = set()
    for part, paragraphs_of_files in zip(parts, read, strict=True):
        for (source, _), paragraphs in zip(part, paragraphs_of_files, strict=True):
            for number, paragraph in enumerate(paragraphs):
                key = hashlib.blake2b(paragraph.encode(), digest_size=8).digest()
                if key not in seen:
                    seen.add(key)
                    yield f"{source}#{number}", paragraph


def _read_files(paths: Sequence[Path]) -> list[list[str]]:
    return [list(file_prose(path)) for path in paths]


def file_prose(path: Path) -> Iterator[str]:
    """Yield the paragraphs of one file; none if it is not in UTF-8."""
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        return
    parts: Iterable[str] = docstrings(text) if path.suffix == ".py" else [_without_headers(text, path)]
    for part in parts:
        yield from prose(part)


def docstrings(source: str) -> Iterator[str]:
    """Yield the triple-quoted docstrings of a module's source, its classes and functions included."""
    if '"""' not in source and "'''" not in source:
        return
    for match in _DOCSTRING.finditer(source):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # such as "\d" in a docstring of somebody else
            try:
                yield str(ast.literal_eval(match[1]))
            except (SyntaxError, ValueError):
                continue


def _installed(name: str) -> Distribution | None:
    try:
        return distribution(name)
    except PackageNotFoundError:
        return None


def _name(package: Distribution) -> str:
    return str(package.metadata["Name"]).lower().replace("_", "-")


def _is_read(file: str) -> bool:
    name = file.rpartition("/")[2]
    if name == "METADATA" or file.endswith(".py"):
        return True
    return file.endswith(_DOCUMENTS) and not _LEGAL.search(file) and ".dist-info/" not in file


def _without_headers(text: str, path: Path) -> str:
    """Return a package's long description without the headers of its METADATA."""
    return text.partition("\n\n")[2] if path.name == "METADATA" else text
