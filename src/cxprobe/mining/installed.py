"""The embedded corpus: the English prose of the docstrings and documentation of the installed packages."""

import ast
import hashlib
import json
import re
import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from importlib.metadata import Distribution, distributions
from pathlib import Path
from typing import NamedTuple, TextIO

from cxprobe.mining.prose import prose
from cxprobe.storage import read_json, replacing, write_json

# The project itself, whose own sentences are not to be mined, and what makes an environment rather than fills it.
LEFT_OUT = frozenset({"cxprobe", "pip", "setuptools", "wheel", "distribute"})
# A docstring stands at the head of its module or behind a line that opens a block. Parsing 350 MB of Python with
# `ast` takes a minute, and this a few seconds; a test holds the two against each other.
_DOCSTRING = re.compile(
    r"(?:\A(?:\s*(?:#[^\n]*)?\n)*|:[ \t]*(?:#[^\n]*)?\n(?:[ \t]*\n)*)[ \t]*"
    r"""([rRuU]?(?:\"\"\"(?:[^"\\]|\\.|"(?!""))*\"\"\"|'''(?:[^'\\]|\\.|'(?!''))*'''))""",
    re.S,
)
_LEGAL = re.compile(r"licen[cs]e|copying|notice|authors|third.?party", re.I)
_DOCUMENTS = (".md", ".rst", ".txt")


class Written(NamedTuple):
    """The corpus as it was written: its records, and the SHA-256 of them all."""

    records: int
    digest: str


def environment_digest() -> str:
    """Return a name for the installed packages and for the way they are read."""
    code = [Path(__file__).with_name(name).read_text(encoding="utf-8") for name in ("installed.py", "prose.py")]
    return hashlib.sha256("\n".join([*(source for source, _ in _packages()), *code]).encode()).hexdigest()[:16]


def write_installed_corpus(folder: Path, shards: int) -> Written:
    """Write the corpus as ``<folder>/<number>.jsonl``, unless an earlier run has done so.

    A record is one paragraph (text, url). Paragraphs that several packages share stand there once. The records come in
    the order of packages and files, and are dealt out to the shards by turns.
    """
    done = folder / "corpus.json"
    if not done.exists():
        folder.mkdir(parents=True, exist_ok=True)
        with ExitStack() as stack:
            partials = [stack.enter_context(replacing(folder / f"{shard:03d}.jsonl")) for shard in range(shards)]
            files = [stack.enter_context(partial.open("w", encoding="utf-8")) for partial in partials]
            written = _deal_out(installed_prose(), files)
        write_json(written._asdict(), done)
    return Written(**read_json(done))


def _deal_out(paragraphs: Iterable[tuple[str, str]], files: Sequence[TextIO]) -> Written:
    digest = hashlib.sha256()
    records = 0
    for records, (url, text) in enumerate(paragraphs, start=1):
        line = json.dumps({"text": text, "url": url}, ensure_ascii=False) + "\n"
        files[(records - 1) % len(files)].write(line)
        digest.update(line.encode())
    return Written(records, digest.hexdigest())


def installed_prose() -> Iterator[tuple[str, str]]:
    """Yield (url, paragraph) for all installed packages, in the order of their names and files."""
    seen: set[bytes] = set()
    for source, package in _packages():
        for file in sorted(map(str, package.files or [])):
            path = Path(str(package.locate_file(file)))
            if not (_is_read(file) and path.is_file()):
                continue
            for number, paragraph in enumerate(file_prose(path)):
                key = hashlib.blake2b(paragraph.encode(), digest_size=8).digest()
                if key not in seen:
                    seen.add(key)
                    yield f"{source}/{file}#{number}", paragraph


def file_prose(path: Path) -> Iterator[str]:
    """Yield the paragraphs of one file; a file that is not in UTF-8 has none."""
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
            warnings.simplefilter("ignore")  # "\d" in a docstring is no fault of ours
            try:
                yield str(ast.literal_eval(match[1]))
            except (SyntaxError, ValueError):
                continue


def _packages() -> list[tuple[str, Distribution]]:
    """Return name==version and the package, sorted; reading the metadata takes long, so each is read once."""
    found = {_name(package): package for package in distributions()}
    return [(f"{name}=={found[name].version}", found[name]) for name in sorted(found.keys() - LEFT_OUT)]


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
