"""A corpus whose files can be read one by one."""

import ast
import errno
import hashlib
import json
import re
import stat
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from inspect import cleandoc
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Any, NamedTuple, TextIO, TypeVar

import pandas as pd
from datatrove.io import DataFolder, get_datafolder
from joblib import Parallel, cpu_count, delayed

from cxprobe.corpora.params import Corpus, FilesCorpus, InstalledCorpus
from cxprobe.errors import DataError
from cxprobe.files.writing import read_json, replacing, write_json


@dataclass(frozen=True)
class CorpusFiles:
    """A corpus that is ready to be read.

    Attributes:
        folder: Where it is: a local folder, or any that fsspec knows (s3://, hf://datasets/...).
        shards: Its files, sorted; paths relative to ``folder``.
        format: "jsonl", "parquet" or "text".
        text: The key (column) of a record's text.
        url: The key (column) of the name of its source.
        digest: SHA-256 of its records (installed packages), or of the names and sizes of its files.
    """

    folder: str
    shards: tuple[str, ...] = field(repr=False)
    format: str
    text: str
    url: str
    digest: str


FEWEST_WORDS = 4
FEWEST_WORDS_OPEN = 10  # of a sentence without a full stop, so that headings are not kept
# The share of characters of running text that are letters, digits, spaces or common punctuation.
LEAST_PLAIN = 0.9

_KEPT = "note|warning|tip|important|caution|attention|hint|seealso"
_FENCE = re.compile(r"^([ \t]*)(```|~~~).*?(?:^[ \t]*\2[^\n]*$|\Z)", re.M | re.S)
_DIRECTIVE = re.compile(
    rf"^([ \t]*)\.\. (?!{_KEPT})[^\n]*(?:\n\1[ \t]+[^\n]*|\n[ \t]*(?=\n))*",
    re.M,
)
_ADMONITION = re.compile(rf"^[ \t]*\.\. (?:{_KEPT})::[ \t]*", re.M)
_LITERAL = re.compile(r"::[ \t]*\n[ \t]*\n((?:[ \t]+[^\n]*\n?|[ \t]*\n)+)")
_DOCTEST = re.compile(r"^[ \t]*(?:>>>|In \[\d*\]:|\$ )[^\n]*(?:\n[ \t]*\S[^\n]*)*", re.M)
_PARAGRAPHS = re.compile(r"\n[ \t]*\n")
_BULLET = re.compile(r"^(?:[-*+•>]|\(?\d{1,2}[.)])\s+")
_PARAMETER = re.compile(r"^(?::[a-z]+ )?[*`]{0,3}\w[\w.*`]{0,40}\s*(?:\([^)]*\))?[*`]{0,3}\s*(?::|--|–)\s+")
_PARAMETER_LINE = re.compile(r"^(?::[a-z]+ \w|[*`]{0,3}\w[\w.*`]*\s*(?:\([^)]*\)[*`]{0,3}\s*:|\s:\s))")
_TYPE = re.compile(r"^(?:[\w.]+(?:\[[^\]]*\])?(?:, | or | \| )?){1,4}(?:, (?:optional|default\S*).*)?$")
_NOT_PROSE = re.compile(r"[{}|\\]|==|->|=>|[=+_~^-]{3}|</|^\W|^https?:")
_PLAIN = re.compile(r"[A-Za-z0-9 ,.;:'’“”\"()!?-]")
_MARKUP = (
    (re.compile(r":math:`\s*\\?(\w+)\s*`"), r"\1"),  # a single symbol reads like a word
    (re.compile(r":[a-zA-Z:+-]+:`~?([^`<]*?)(?:\s*<[^>`]*>)?`"), r"\1"),  # :class:`~package.Name`
    (re.compile(r"`([^`<]*?)\s*<[^>`]*>`_{0,2}"), r"\1"),  # `text <url>`_
    (re.compile(r"!?\[([^\]]*)\]\([^)]*\)"), r"\1"),  # [text](url)
    (re.compile(r"\s*\[[#\w]{1,12}\]_"), ""),  # [1]_
    (re.compile(r"`{1,2}([^`]*)`{1,2}_{0,2}"), r"\1"),
    (re.compile(r"\*{1,3}(\S(?:[^*]*\S)?)\*{1,3}"), r"\1"),
)


def prose(text: str) -> Iterator[str]:
    """Yield the paragraphs of running English in a docstring or a document in Markdown or reStructuredText.

    A paragraph is a run of lines of one indentation, without the name and the type that begin an item of a list of
    parameters. It is running English if it has `FEWEST_WORDS` words or more, ends as a sentence does (or is long), and
    has few signs that only code, tables and formulas have.
    """
    bare = cleandoc(text)
    for expression in (_FENCE, _DIRECTIVE, _DOCTEST):
        bare = expression.sub("\n", bare)
    bare = _LITERAL.sub(":\n\n", _ADMONITION.sub("", bare))
    for paragraph in _PARAGRAPHS.split(bare):
        for lines in _items(paragraph.splitlines()):
            sentence = _PARAMETER.sub("", _plain(" ".join(lines)))
            if _is_prose(sentence):
                yield sentence


def _items(lines: list[str]) -> Iterator[list[str]]:
    """Cut the lines of a paragraph where a list item begins or the indentation changes."""
    item: list[str] = []
    indentation = -1
    for line in lines:
        stripped = line.strip()
        bullet = _BULLET.match(stripped)
        text = stripped[bullet.end() :] if bullet else stripped
        margin = len(line) - len(line.lstrip()) + (bullet.end() if bullet else 0)
        if item and (bullet or margin != indentation or _PARAMETER_LINE.match(text)):
            yield item
            item = []
        indentation = margin
        item.append(text)
    if item:
        yield item


def _plain(text: str) -> str:
    for expression, replacement in _MARKUP:
        text = expression.sub(replacement, text)
    return " ".join(text.split())


def _is_prose(text: str) -> bool:
    words = text.count(" ") + 1
    return (
        words >= (FEWEST_WORDS if text[-1:] in ".!?:)" else FEWEST_WORDS_OPEN)
        and not _TYPE.match(text)
        and not _NOT_PROSE.search(text)
        and len(_PLAIN.findall(text)) >= LEAST_PLAIN * len(text)
    )


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


T = TypeVar("T")

# Which files of a folder are read if params.yaml does not say.
_PATTERNS = {"jsonl": "**/*.json*", "parquet": "**/*.parquet", "text": "**/*.txt*"}
_ANSWERS_WITHIN = 15.0  # seconds for one small question to a storage; its own library may try for minutes
_MODIFIED = ("mtime", "LastModified", "last_modified", "updated")  # as local files, S3 and others call the time


def list_corpus(corpus: Corpus) -> pd.DataFrame:
    """List what a corpus consists of, without reading it: if the list has changed, it must be mined again.

    Returns:
        Columns name, size (in bytes) and modified for files; name and version for installed packages.

    Raises:
        DataError: There are no files, one of them is no file, the storage is out of reach, or a package is not
            installed.
    """
    if isinstance(corpus, InstalledCorpus):
        packages = find_packages(Path(corpus.packages))
        return pd.DataFrame([(one.name, one.version) for one in packages], columns=["name", "version"])
    rows = [(shard, info["size"], _modified(info)) for shard, info in _files(corpus).items()]
    return pd.DataFrame(rows, columns=["name", "size", "modified"])


def open_corpus(corpus: Corpus, scratch: Path) -> CorpusFiles:
    """Return a corpus ready to be read; that of installed packages is written into a folder of ``scratch`` first.

    Raises:
        DataError: As of `list_corpus`.
    """
    if isinstance(corpus, InstalledCorpus):
        packages = find_packages(Path(corpus.packages))
        place = scratch / f"installed-{digest_of(packages)}-{corpus.shards}"
        written = write_installed_corpus(packages, place, corpus.shards)
        names = tuple(f"{number:03d}.jsonl" for number in range(corpus.shards))
        return CorpusFiles(str(place.resolve()), names, "jsonl", "text", "url", written.digest)
    files = _files(corpus)
    sizes = [(shard, info["size"]) for shard, info in files.items()]
    digest = hashlib.sha256(repr(sizes).encode()).hexdigest()
    return CorpusFiles(_place(corpus), tuple(files), corpus.format, corpus.text, corpus.url, digest)


def _files(corpus: FilesCorpus) -> dict[str, Mapping[str, Any]]:
    """Return the names of a corpus's files, sorted, each with what its storage says about it."""
    if not corpus.folder.strip():
        raise DataError("corpora: a folder is empty, which would be the project itself; name the corpus's folder")
    pattern = corpus.glob or _PATTERNS[corpus.format]
    try:
        folder = get_datafolder(_place(corpus))
        if not folder.is_local():
            _within(_ANSWERS_WITHIN, lambda: folder.fs.exists(folder.path))
        shards = sorted(folder.list_files(glob_pattern=pattern))
        files = {shard: _info(folder, shard) for shard in shards}
    except DataError:
        raise
    except Exception as fault:  # each storage raises what its own library does
        said = " ".join(str(fault).split())[:300]
        raise DataError(
            f"corpora: {corpus.folder} cannot be listed with the glob {pattern}: {type(fault).__name__}: {said}; look "
            "at its spelling, at the network and at your credentials, and run the stage again"
        ) from fault
    if not files:
        raise DataError(f"corpora: {corpus.folder} has no file like {pattern}; name another folder or glob")
    return files


def _info(folder: DataFolder, shard: str) -> Mapping[str, Any]:
    """Return what the storage says about a file, and refuse what is none: reading a pipe would never end."""
    place = f"corpora: {folder.path}/{shard}"
    if not shard.isprintable():
        raise DataError(f"corpora: the name of {place.partition(' ')[2]!r} cannot be written into a table; rename it")
    if folder.is_local():
        path = Path(folder.path, shard)
        try:
            mode = path.stat().st_mode
        except OSError as fault:
            if path.is_symlink() and fault.errno in (errno.ENOENT, errno.ELOOP):
                what = "in a circle" if fault.errno == errno.ELOOP else "to nothing"
                raise DataError(
                    f"{place} is a link {what} ({path.readlink()}); mend or remove it, or name another glob"
                ) from None
            raise
        if not stat.S_ISREG(mode):
            raise DataError(f"{place} is no file but a pipe, a device or the like; remove it, or name another glob")
    info: Mapping[str, Any] = folder.info(shard)
    return info


def _within(seconds: float, ask: Callable[[], T]) -> T:
    """Return what a function returns, and give up after some seconds.

    Raises:
        TimeoutError: It did not return; the thread in which it runs ends with the program.
    """
    answers: SimpleQueue[tuple[T, None] | tuple[None, Exception]] = SimpleQueue()

    def answer() -> None:
        try:
            answers.put((ask(), None))
        except Exception as fault:
            answers.put((None, fault))

    Thread(target=answer, daemon=True).start()
    try:
        found, fault = answers.get(timeout=seconds)
    except Empty:
        raise TimeoutError(f"no answer within {seconds:.0f} seconds") from None
    if fault is not None:
        raise fault
    return found  # type: ignore[return-value]


def _place(corpus: FilesCorpus) -> str:
    # A path of this machine must mean the same in the processes and on the machines that read it.
    return corpus.folder if "://" in corpus.folder else str(Path(corpus.folder).resolve())


def _modified(info: Mapping[str, Any]) -> str:
    """Return when a file was modified, or "unknown" where its storage does not say."""
    time = next((info[key] for key in _MODIFIED if info.get(key) is not None), "unknown")
    if isinstance(time, int | float):
        time = datetime.fromtimestamp(time, UTC)
    return time.isoformat(timespec="seconds") if isinstance(time, datetime) else str(time)
