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

Texts stay as they are in their files. Pairs with two equal members are kept: they tie under any model.
"""

import csv
import gzip
import io
import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Literal

from cxprobe.english import capitalise_first
from cxprobe.errors import DataError
from cxprobe.params import Benchmark
from cxprobe.records import CLUSTER, Pair
from cxprobe.seeding import generator_for

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


def read_pairs(path: Path) -> list[Pair]:
    """Read a file in the generic format.

    Raises:
        DataError: The file does not exist, is not such a table, lacks a column, or has an empty id, an empty text or a
            repeated id; the message has the line.
    """
    pairs = [_generic(row, f"{path}, line {number}") for number, row in _rows(path, ("id", "good", "bad"))]
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
            raise DataError(f"{path}, line {block[0][0]}: expected {BLOCK} rows with every condition, stimulus and row")
        pairs += [_paired_focus(row, f"{_stem(path)}-{start // BLOCK}", f"{path}, line {line}") for line, row in block]
    return _distinct(pairs, path)


def _paired_focus(row: Mapping[str, str], block: str, place: str) -> Pair:
    condition, stimulus, is_construction = (row[column] for column in PAIRED_FOCUS[:3])
    before, _, after = row["Sentence"].partition(f" {MASK}")
    if not after or MASK in after:
        raise DataError(f"{place}: expected one {MASK} after a space in {row['Sentence']!r}")
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
            raise DataError(f"{path}, line {line}: expected {row['aann']!r} once in {row['sentence']!r}")
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
    paths = sorted(folder.glob(benchmark.files))
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


def count_identical(pairs: Sequence[Pair]) -> int:
    """Return how many pairs have two members that are the same: they tie under any model."""
    return sum(pair.good == pair.bad for pair in pairs)


def _generic(row: Mapping[str, str], place: str) -> Pair:
    empty = [column for column in ("id", "good", "bad") if not row[column].strip()]
    if empty:
        raise DataError(f"{place}: {', '.join(empty)} is empty; every pair needs an id and two texts")
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
            f"{path}: the id '{twice[0]}' occurs more than once ({len(twice)} such ids); give every pair its own"
        )
    return pairs


def _rows(path: Path, required: Sequence[str]) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield the rows of a .tsv, .csv or .jsonl file as text, each with the line that it ends on, from 1."""
    if not path.is_file():
        raise DataError(f"{path} does not exist")
    text = _text(path)
    match path.with_name(path.name.removesuffix(".gz")).suffix:
        case ".jsonl":
            yield from _objects(text, path, required)
        case ".tsv":
            yield from _cells(text, path, required, delimiter="\t", quoting=csv.QUOTE_NONE)
        case ".csv":
            yield from _cells(text, path, required, delimiter=",", quoting=csv.QUOTE_MINIMAL)
        case other:
            raise DataError(f"{path}: '{other}' is not a format of pairs (allowed: .tsv, .csv, .jsonl, each also .gz)")


def _text(path: Path) -> str:
    try:
        with gzip.open(path, "rb") if path.suffix == ".gz" else path.open("rb") as file:
            return file.read().decode("utf-8-sig")
    except (gzip.BadGzipFile, EOFError, UnicodeDecodeError) as fault:
        raise DataError(f"{path}: cannot be read as UTF-8 text: {fault}") from fault


def _objects(text: str, path: Path, required: Sequence[str]) -> Iterator[tuple[int, dict[str, str]]]:
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except json.JSONDecodeError as fault:
            raise DataError(f"{path}, line {number}: not valid JSON: {fault}") from fault
        if not isinstance(row, dict):
            raise DataError(f"{path}, line {number}: expected a JSON object, found {type(row).__name__}")
        _check_columns(row, required, f"{path}, line {number}")
        yield number, {name: _as_text(value) for name, value in row.items()}


def _as_text(value: object) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value)


def _cells(
    text: str, path: Path, required: Sequence[str], delimiter: str, quoting: Literal[0, 3]
) -> Iterator[tuple[int, dict[str, str]]]:
    table = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, quoting=quoting)
    header: list[str] | None = None
    for cells in table:
        place = f"{path}, line {table.line_num}"
        if header is None:
            header = cells
            _check_columns(header, required, place)
        elif cells:
            if len(cells) != len(header):
                raise DataError(f"{place}: expected {len(header)} cells, found {len(cells)}")
            yield table.line_num, dict(zip(header, cells, strict=True))


def _check_columns(names: Sequence[str] | Mapping[str, object], required: Sequence[str], place: str) -> None:
    lacking = [name for name in required if name not in names]
    if lacking:
        raise DataError(f"{place}: {', '.join(lacking)} is missing; the columns there are {', '.join(names)}")


def _stem(path: Path) -> str:
    return path.name.split(".")[0]


READERS: Mapping[str, Callable[[Path], list[Pair]]] = {
    "blimp": read_blimp,
    "paired_focus": read_paired_focus,
    "aann": read_aann,
    "pairs": read_pairs,
}
