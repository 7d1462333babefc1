"""Pairs from files of others: BLiMP, the paired-focus tables, AANN, and any file in the generic format.

**The generic format** is a table with a header: tab-separated (.tsv) without quoting, or one JSON object a line
(.jsonl), in UTF-8, either compressed (.gz) or not. It is also what `pair_table` makes. Columns:

    id         names the pair; every pair has its own
    good, bad  the right and the wrong text, or how each continues after the context
    context    what both begin with; empty or left out if there is nothing
    item       names what several pairs are about; left out, every pair is an item
    cluster_*  what the pair shares with others, for intervals; left out, every item is a cluster
    others     what the pair is reported under: construction, variant ...

Where there is a context, a space separates it from what follows, unless that begins with one.

Texts stay as they are in their files. Pairs with two equal members are kept: they tie under any model. What could mean
two things is refused with its line, and never read as one of them: a column or a key that is there twice, a text that
is no string, an empty cell where a text or a name must be.
"""

import csv
import gzip
import io
import json
import math
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Literal

from cxprobe.english import capitalise_first
from cxprobe.errors import DataError
from cxprobe.files.reading import decode, shown
from cxprobe.lm.texts import Pair
from cxprobe.pairs.params import Benchmark
from cxprobe.seeding import generator_for
from cxprobe.stats import CLUSTER

FIXED = ("id", "item", "context", "good", "bad")
BLIMP = ("sentence_good", "sentence_bad", "field", "linguistics_term", "UID", "pairID")
PAIRED_FOCUS = (
    "Swapped_Condition",
    "Swapped_Stimulus",
    "Let-Alone",
    "Sentence",
    "Plain Verb",
    "Noun",
    "Pronoun",
    "Modal",
)
BLOCK = 8  # rows of the paired-focus tables that belong together: two conditions x two stimuli x construction, control
MASK = "<MASK>"
CORRUPTIONS = ("order_swap", "no_article", "no_modifier", "no_numeral")
AANN = ("idx", "sentence", "aann", *CORRUPTIONS)
TEXTS = ("sentence_good", "sentence_bad", "context", "good", "bad")  # what models read; in JSON, strings and no others
LONGEST = 131_072  # characters of a cell: csv's own limit, which a quote that is left open soon passes


def read_pairs(path: Path) -> list[Pair]:
    """Read a file in the generic format.

    Raises:
        DataError: The file does not exist, is not such a table, or lacks a column; a row has other columns than the
            first; a column has no name; an id, a text, an item or a cluster is empty; or an id is there twice. The
            message has the line.
    """
    pairs: list[Pair] = []
    for number, row in _rows(path, ("id", "good", "bad")):
        pair = _generic(row, f"{path}, line {number}")
        if pairs and (pair.groups.keys() != pairs[0].groups.keys() or pair.clusters.keys() != pairs[0].clusters.keys()):
            raise DataError(
                f"{path}, line {number}: the columns {', '.join(row)} are not those of the first row; give every row "
                "the same, with null where there is nothing"
            )
        pairs.append(pair)
    return _distinct(pairs, path)


def read_blimp(path: Path) -> list[Pair]:
    """Read a paradigm of BLiMP: ``<UID>.jsonl``, compressed or not.

    The pairs are reported under field, phenomenon (BLiMP's linguistics_term) and paradigm (its UID); the one field that
    is spelt in two ways, with "_" and with "/", is spelt in one.

    Raises:
        DataError: See `read_pairs`.

    Source:
        Warstadt et al. 2020.
    """
    pairs = []
    for _, row in _rows(path, BLIMP):
        id_ = f"{row['UID']}-{row['pairID']}"
        groups = {
            "field": row["field"].replace("/", "_"),
            "phenomenon": row["linguistics_term"],
            "paradigm": row["UID"],
        }
        pairs.append(Pair(id_, id_, "", row["sentence_good"], row["sentence_bad"], groups, {"pair": id_}))
    return _distinct(pairs, path)


def read_paired_focus(path: Path) -> list[Pair]:
    """Read a paired-focus table: ``<construction>.tsv``, compressed or not.

    Every row is a pair, "easier" against "harder" in the place of the mask: the right one is what the construction
    says. The control row, which joins the two foci with "or", has the same word for comparison only. An item is such a
    row with its control. Sentences that occur more than once in the file are kept.

    Raises:
        DataError: See `read_pairs`; a sentence does not have exactly one mask; or a block of rows is incomplete.

    Source:
        The repository WesScivetti/Meaning_Alone, Apache-2.0.
    """
    rows = list(_rows(path, PAIRED_FOCUS))
    expected = Counter((str(a), str(b), str(c)) for a in (0, 1) for b in (0, 1) for c in (0, 1))
    pairs = []
    for start in range(0, len(rows), BLOCK):
        block = rows[start : start + BLOCK]
        if Counter((row[PAIRED_FOCUS[0]], row[PAIRED_FOCUS[1]], row[PAIRED_FOCUS[2]]) for _, row in block) != expected:
            raise DataError(
                f"{path}, line {block[0][0]}: expected {BLOCK} rows with every condition, stimulus and row, 0 and 1 of "
                f"{', '.join(PAIRED_FOCUS[:3])}; add what is missing, and take out what is too many"
            )
        pairs += [
            _paired_focus(row, f"{path.name.split('.')[0]}-{start // BLOCK}", f"{path}, line {line}")
            for line, row in block
        ]
    return _distinct(pairs, path)


def _paired_focus(row: Mapping[str, str], block: str, place: str) -> Pair:
    condition, stimulus, is_construction = (row[column] for column in PAIRED_FOCUS[:3])
    before, _, after = row["Sentence"].partition(f" {MASK}")
    if not after or MASK in after:
        raise DataError(f"{place}: expected one {MASK} between spaces in {shown(row['Sentence'])}; mend the sentence")
    good, bad = ("easier", "harder") if condition == stimulus else ("harder", "easier")
    kind = "construction" if is_construction == "1" else "control"
    item = f"{block}-{condition}{stimulus}"
    return Pair(
        id=f"{item}-{kind}",
        item=item,
        context=before,
        good=f" {good}{after}",
        bad=f" {bad}{after}",
        groups={"row": kind, "swapped_condition": condition, "swapped_stimulus": stimulus},
        clusters={"verb": row["Plain Verb"], "noun": row["Noun"]},
    )


def read_aann(path: Path) -> list[Pair]:
    """Read AANN's ``aanns_corruption.csv``, compressed or not: each sentence against its four corruptions.

    The corruptions begin with a small letter in the file; where the phrase begins the sentence they get a capital.
    The column default_ann ("three beautiful days") is well-formed, so that it makes no pair.

    Raises:
        DataError: See `read_pairs`; or the phrase does not occur exactly once in its sentence.

    Source:
        Misra & Mahowald 2024; the repository kanishkamisra/aannalysis, MIT.
    """
    pairs = []
    for line, row in _rows(path, AANN):
        before, _, after = row["sentence"].partition(row["aann"])
        if row["sentence"].count(row["aann"]) != 1:
            raise DataError(
                f"{path}, line {line}: expected {shown(row['aann'])} once in {shown(row['sentence'])}; mend the one or "
                "the other"
            )
        context = before.removesuffix(" ")
        gap = before[len(context) :]
        noun = row["aann"].split()[-1]
        for corruption in CORRUPTIONS:
            wrong = row[corruption] if context else capitalise_first(row[corruption])
            pairs.append(
                Pair(
                    id=f"{row['idx']}-{corruption}",
                    item=row["idx"],
                    context=context,
                    good=f"{gap}{row['aann']}{after}",
                    bad=f"{gap}{wrong}{after}",
                    groups={"corruption": corruption},
                    clusters={"noun": noun, "frame": f"{before}...{after}"},
                )
            )
    return _distinct(pairs, path)


def read_benchmark(folder: Path, benchmark: Benchmark, seed: int) -> list[Pair]:
    """Read the files of a benchmark, or a seeded draw of each.

    Args:
        folder: Where they are.
        benchmark: Which files, in which format, and how many items of each.
        seed: The project's seed.

    Raises:
        DataError: No file matches, or see `read_pairs`.
    """
    try:
        paths = sorted(folder.glob(benchmark.files))
    except (NotImplementedError, ValueError) as fault:
        raise DataError(
            f"{folder}: {benchmark.files!r} names no files in this folder ({fault}); write it as *.jsonl.gz"
        ) from fault
    if not paths:
        raise DataError(f"{folder}: no file matches {benchmark.files}; `dvc import` fetches a benchmark's files")
    pairs = [pair for path in paths for pair in _drawn(READERS[benchmark.format](path), benchmark, seed, path.name)]
    return _distinct(pairs, folder)


def _drawn(pairs: list[Pair], benchmark: Benchmark, seed: int, name: str) -> list[Pair]:
    """Return the pairs of as many items as are asked for, in the order of the file."""
    items = list(dict.fromkeys(pair.item for pair in pairs))
    if benchmark.pairs_per_file is None or benchmark.pairs_per_file >= len(items):
        return pairs
    places = generator_for(seed, "benchmark", name).permutation(len(items))[: benchmark.pairs_per_file]
    chosen = {items[place] for place in places}
    return [pair for pair in pairs if pair.item in chosen]


def _generic(row: Mapping[str, str], place: str) -> Pair:
    if unnamed := [name for name in row if not name.removeprefix(CLUSTER).strip()]:
        raise DataError(f"{place}: a column has the name {unnamed[0]!r}; give it one that says what is in it")
    named = ("item", *(name for name in row if name.startswith(CLUSTER)))
    _check_filled(row, [name for name in named if name in row], place)
    context = row.get("context", "")
    good, bad = (
        f" {row[side]}" if context and not row[side].startswith(" ") else row[side] for side in ("good", "bad")
    )
    clusters = {name.removeprefix(CLUSTER): value for name, value in row.items() if name.startswith(CLUSTER)}
    groups = {name: value for name, value in row.items() if name not in FIXED and not name.startswith(CLUSTER)}
    item = row.get("item", row["id"])
    return Pair(row["id"], item, context, good, bad, groups, clusters or {"item": item})


def _distinct(pairs: list[Pair], path: Path) -> list[Pair]:
    if not pairs:
        raise DataError(f"{path}: it contains no pairs")
    twice = [id_ for id_, times in Counter(pair.id for pair in pairs).items() if times > 1]
    if twice:
        raise DataError(
            f"{path}: the id {shown(twice[0])} occurs more than once ({len(twice)} such ids); give every pair its own"
        )
    return pairs


def _rows(path: Path, required: Sequence[str]) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield the rows of a .tsv, .csv or .jsonl file as text, each with the line that it ends on, from 1.

    Every row has the required columns, and something in each of them.
    """
    match path.with_name(path.name.removesuffix(".gz")).suffix:
        case ".jsonl":
            rows = _objects(_text(path), path, required)
        case ".tsv":
            rows = _cells(_text(path), path, required, delimiter="\t", quoting=csv.QUOTE_NONE)
        case ".csv":
            rows = _cells(_text(path), path, required, delimiter=",", quoting=csv.QUOTE_MINIMAL)
        case other:
            raise DataError(f"{path}: '{other}' is not a format of pairs (allowed: .tsv, .csv, .jsonl, each also .gz)")
    for number, row in rows:
        _check_filled(row, required, f"{path}, line {number}")
        yield number, row


def _text(path: Path) -> str:
    if not path.exists():
        raise DataError(f"{path} does not exist")
    if not path.is_file():
        raise DataError(f"{path} is no file; a benchmark is read from files")
    try:
        with gzip.open(path, "rb") if path.suffix == ".gz" else path.open("rb") as file:
            return decode(file.read(), path, DataError)
    except (OSError, EOFError, zlib.error) as fault:
        raise DataError(f"{path}: cannot be read: {fault}; fetch or write the file again") from fault


def _objects(text: str, path: Path, required: Sequence[str]) -> Iterator[tuple[int, dict[str, str]]]:
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        place = f"{path}, line {number}"
        try:
            row = json.loads(line, object_pairs_hook=_without_repetition, parse_float=_finite, parse_constant=_finite)
        except RecursionError as fault:
            raise DataError(f"{place}: is nested too deeply; write a flat object a line") from fault
        except ValueError as fault:  # JSONDecodeError, a number with too many digits, a key twice
            what = str(fault).partition("; use sys.")[0]  # not how to allow longer numbers
            raise DataError(f"{place}: not valid JSON: {what}") from fault
        if not isinstance(row, dict):
            raise DataError(f"{place}: expected a JSON object, found {type(row).__name__}")
        _check_columns(row, required, place)
        yield number, {_sound(name, name, place): _as_text(value, name, required, place) for name, value in row.items()}


def _without_repetition(members: list[tuple[str, object]]) -> dict[str, object]:
    twice = [name for name, times in Counter(name for name, _ in members).items() if times > 1]
    if twice:
        raise ValueError(f"the key {shown(twice[0])} is there twice; keep one")
    return dict(members)


def _finite(text: str) -> float:
    """Return a number; Python also reads NaN and Infinity, and makes infinity of what is too large."""
    if not math.isfinite(number := float(text)):
        raise ValueError(f"{shown(text)} is not a number of JSON that is finite; write one, or null")
    return number


def _as_text(value: object, name: str, required: Sequence[str], place: str) -> str:
    """Return a value of JSON as text; null is empty. What models read must be a string; a name may be a number."""
    if value is None:
        return ""
    if isinstance(value, str):
        return _sound(value, name, place)
    is_name = isinstance(value, int) and not isinstance(value, bool)
    if name in TEXTS or (name in required and not is_name):
        wanted = "a string" if name in TEXTS else "a string or a whole number"
        raise DataError(f"{place}: {name} is {shown(value)}; write {wanted}")
    return _sound(json.dumps(value), name, place)


def _sound(text: str, name: str, place: str) -> str:
    """Return a text as it is, if it can be written as UTF-8, is not absurdly long, and has no NUL."""
    if len(text) > LONGEST:
        raise DataError(f"{place}: {shown(name)} has {len(text):,} characters; at most {LONGEST:,} are allowed")
    if "\0" in text or any("\ud800" <= one <= "\udfff" for one in text):
        what = "a NUL" if "\0" in text else "half a surrogate pair"
        raise DataError(f"{place}: {shown(name)} is {shown(text)}, which has {what}; write text that is valid UTF-8")
    return text


def _cells(
    text: str, path: Path, required: Sequence[str], delimiter: str, quoting: Literal[0, 3]
) -> Iterator[tuple[int, dict[str, str]]]:
    table = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, quoting=quoting, strict=True)
    header: list[str] | None = None
    while True:
        try:
            cells = next(table)
        except StopIteration:
            return
        except csv.Error as fault:
            raise DataError(
                f"{path}, line {table.line_num}: {fault}; is a quote left open, or an end of line missing?"
            ) from fault
        place = f"{path}, line {table.line_num}"
        if header is None:
            header = cells
            _check_columns(header, required, place)
        elif cells:
            if len(cells) != len(header):
                raise DataError(f"{place}: expected {len(header)} cells, found {len(cells)}")
            yield table.line_num, dict(zip(header, cells, strict=True))


def _check_columns(names: Sequence[str] | Mapping[str, object], required: Sequence[str], place: str) -> None:
    if twice := [name for name, times in Counter(list(names)).items() if times > 1]:
        raise DataError(f"{place}: the column {shown(twice[0])} is there twice; keep one, or rename the other")
    lacking = [name for name in required if name not in names]
    if lacking:
        raise DataError(f"{place}: {', '.join(lacking)} is missing; the columns there are {', '.join(names)}")


def _check_filled(row: Mapping[str, str], columns: Sequence[str], place: str) -> None:
    if empty := [column for column in columns if not row[column].strip()]:
        raise DataError(f"{place}: {', '.join(empty)} is empty; give it a value, or take the row out")


READERS: Mapping[str, Callable[[Path], list[Pair]]] = {
    "blimp": read_blimp,
    "paired_focus": read_paired_focus,
    "aann": read_aann,
    "pairs": read_pairs,
}
