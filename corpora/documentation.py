"""write_corpora: the English prose in the documentation of installed packages -> the embedded corpora.

A corpus has the packages of corpora/<name>.txt, one a line, and constraints.txt pins their versions. It is written as
jsonl (text, url) into data/write_corpora/<name>, if mining.constructions of params.yaml names it. Which packages were
read, and in which versions, is in results/write_corpora/packages.csv.
"""

import ast
import hashlib
import json
import re
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from inspect import cleandoc
from pathlib import Path

import pandas as pd
from joblib import Parallel, cpu_count, delayed

from cxprobe.errors import DataError
from cxprobe.files.writing import write_bytes
from cxprobe.run.mining import CorporaParams
from cxprobe.run.running import run_stage
from cxprobe.run.stage import Outcome, Stage

SHARDS = 8
FEWEST_WORDS = 4
FEWEST_WORDS_OPEN = 10  # of a sentence without a full stop, so that headings are not kept
# The share of characters of running text that are letters, digits, spaces or common punctuation.
LEAST_PLAIN = 0.9

_KEPT = "note|warning|tip|important|caution|attention|hint|seealso"
_FENCE = re.compile(r"^([ \t]*)(```|~~~).*?(?:^[ \t]*\2[^\n]*$|\Z)", re.M | re.S)
_DIRECTIVE = re.compile(rf"^([ \t]*)\.\. (?!{_KEPT})[^\n]*(?:\n\1[ \t]+[^\n]*|\n[ \t]*(?=\n))*", re.M)
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


def find_packages(names: Path) -> dict[str, Distribution]:
    """Return "name==version" -> each package that a file names, sorted.

    Args:
        names: One name a line; what follows a # is a comment.

    Raises:
        DataError: The file names nothing, or a package is not installed.
    """
    packages: dict[tuple[str, str], Distribution] = {}
    absent = []
    for line in names.read_text(encoding="utf-8").splitlines():
        wanted = line.partition("#")[0].strip()
        if not wanted:
            continue
        try:
            package = distribution(wanted)
        except PackageNotFoundError:
            absent.append(wanted)
            continue
        name = str(package.metadata["Name"]).lower().replace("_", "-")
        packages[name, package.version] = package
    if absent:
        raise DataError(
            f"{names} names packages that are not installed: {', '.join(absent)}. Their documentation is the corpus: "
            "install the pinned environment again (`rm .venv/installed; make repro`), or remove them from the file"
        )
    if not packages:
        raise DataError(f"{names} names no package; it must name at least one, one a line")
    return {"==".join(key): packages[key] for key in sorted(packages)}


def write_corpus(packages: Mapping[str, Distribution], folder: Path) -> None:
    """Write the paragraphs of packages into ``folder``, in the order of packages and files, to each shard in turn."""
    shards: list[list[str]] = [[] for _ in range(SHARDS)]
    for number, (url, text) in enumerate(installed_prose(packages)):
        shards[number % SHARDS].append(json.dumps({"text": text, "url": url}, ensure_ascii=False) + "\n")
    for number, lines in enumerate(shards):
        write_bytes("".join(lines).encode(), folder / f"{number:03d}.jsonl")


def installed_prose(packages: Mapping[str, Distribution]) -> Iterator[tuple[str, str]]:
    """Yield (url, paragraph), each paragraph once, in the order of the files, which several processes read."""
    files = [
        (f"{source}/{file}", path)
        for source, package in packages.items()
        for file in sorted(map(str, package.files or []))
        if _is_read(file) and (path := Path(str(package.locate_file(file)))).is_file()
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
    if path.name == "METADATA":
        text = text.partition("\n\n")[2]  # what follows the headers: the package's long description
    parts: Iterable[str] = docstrings(text) if path.suffix == ".py" else [text]
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


def _is_read(file: str) -> bool:
    name = file.rpartition("/")[2]
    if name == "METADATA" or file.endswith(".py"):
        return True
    return file.endswith(_DOCUMENTS) and not _LEGAL.search(file) and ".dist-info/" not in file


def write_corpora(stage: Stage[CorporaParams]) -> Outcome:
    """Write the corpora that params.yaml mines; the packages of others need not be there."""
    read: list[dict[str, str]] = []
    for names in sorted(Path("corpora").glob("*.txt")):
        if stage.params.mining.mined_in(names.stem):
            packages = find_packages(stage.use(names))
            write_corpus(packages, stage.data / names.stem)
            for name, _, version in (package.partition("==") for package in packages):
                read.append({"corpus": names.stem, "package": name, "version": version})
    return Outcome(tables={"packages": pd.DataFrame(read, columns=["corpus", "package", "version"])})


if __name__ == "__main__":
    run_stage(write_corpora, CorporaParams)
