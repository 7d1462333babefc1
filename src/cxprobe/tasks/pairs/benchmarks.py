"""Pairs from files of others: BLiMP, the paired-focus tables, and any file in the generic format.

**The generic format** is a table with a header: tab-separated (.tsv) without quoting, or one JSON object a line
(.jsonl), in UTF-8, either compressed (.gz) or not. It is also what ``pair_table`` makes. Columns:

    id         names the pair; every pair has its own
    good, bad  the right and the wrong text, or how each continues after the context
    context    what both begin with; empty or left out if there is nothing
    item       names what several pairs are about; left out, every pair is an item
    cluster_*  what the pair shares with others, for intervals; left out, every item is a cluster
    others     what the pair is reported under: construction, variant ...

Where there is a context, a space separates it from what follows, unless that begins with one.

Texts stay as they are in their files. Pairs with two equal members are kept: they tie under any model. What could mean
two things is refused with its row, and never read as one of them: a column or a key that is there twice, an empty cell
where a text or a name must be.
"""

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import product
from pathlib import Path

import pandas as pd

from cxprobe.errors import DataError
from cxprobe.files.reading import shown
from cxprobe.files.texts import read_texts, require_texts
from cxprobe.models.scores import CONTEXT_SCORES
from cxprobe.models.texts import Pair
from cxprobe.results.rates import ALL
from cxprobe.stats import CLUSTER
from cxprobe.tasks.pairs.params import Benchmark
from cxprobe.tasks.pairs.sources import PAIR_COLUMNS

BLIMP = ("sentence_good", "sentence_bad", "field", "linguistics_term", "UID", "pairID")
PHENOMENA = {"s-selection": "argument_structure"}
"""BLiMP's linguistics_term -> the phenomenon, where they differ: the paradigms animate_subject_passive and
animate_subject_trans have a term of their own, and are among the 9 of argument structure in Table 4 of Warstadt et al.
2020, whose phenomena are 12."""
PAIRED_FOCUS = ("Swapped_Condition", "Swapped_Stimulus", "Let-Alone", "Sentence", "Plain Verb", "Noun")
BLOCK = 8  # rows of the paired-focus tables that belong together: two conditions x two stimuli x construction, control
_MASK = "<MASK>"
_RESERVED = {
    *("model", "run", "group", "scheme", "score", "margin", "accuracy", "right", "wrong", "balanced", "times"),
    *("measure", "value", "chance", "gold", "chosen", "decides", "deciding", "way", "layer", "pair_item"),
}
_TAKEN = ("", ALL, "none", "na", "n/a", "#n/a", "<na>", "nan", "null")  # "", or what readers of CSV take for it
_LONGEST_NAME = 100  # bytes, of a folder
_UNSAFE = re.compile(r"[^\w.\- :]")  # becomes "_" in the name of a folder or a metric


def read_generic(path: Path) -> list[Pair]:
    """Read a file in the generic format.

    Raises:
        DataError: The file does not exist, is not such a table, or lacks a column; a column has no name; an id, a text,
            an item or a cluster is empty; or an id is there twice. The message has the row.
    """
    table = read_texts(path, ("id", "good", "bad"))
    names = [str(name) for name in table]
    if unnamed := [name for name in names if not name.removeprefix(CLUSTER).strip()]:
        raise DataError(f"{path}: a column has the name {unnamed[0]!r}; give it one that says what is in it")
    clusters = {name: name.removeprefix(CLUSTER) for name in names if name.startswith(CLUSTER)}
    require_texts(table, [name for name in ("item", *clusters) if name in names], path)
    groups = [name for name in names if name not in PAIR_COLUMNS and name not in clusters]
    pairs: list[Pair] = []
    for row in _rows(table):
        context, item = row.get("context", ""), row.get("item", row["id"])
        good, bad = row["good"], row["bad"]
        if context:
            good, bad = (text if text.startswith(" ") else " " + text for text in (good, bad))
        of_groups = {name: row[name] for name in groups}
        of_clusters = {clusters[name]: row[name] for name in clusters}
        pairs.append(Pair(row["id"], item, context, good, bad, of_groups, of_clusters or {"item": item}))
    return _distinct(pairs, path)


def read_blimp(path: Path) -> list[Pair]:
    """Read a paradigm of BLiMP: ``<UID>.jsonl``, compressed or not.

    The pairs are reported under field, phenomenon (one of 12, see `PHENOMENA`) and paradigm (BLiMP's UID); the one
    field that is spelt in two ways, with "_" and with "/", is spelt in one.

    Raises:
        DataError: See `read_generic`.

    Source:
        Warstadt et al. 2020, Table 4.
    """
    pairs = []
    for row in _rows(read_texts(path, BLIMP)):
        id_ = f"{row['UID']}-{row['pairID']}"
        groups = {
            "field": row["field"].replace("/", "_"),
            "phenomenon": PHENOMENA.get(row["linguistics_term"], row["linguistics_term"]),
            "paradigm": row["UID"],
        }
        pairs.append(Pair(id_, id_, "", row["sentence_good"], row["sentence_bad"], groups, {"pair": id_}))
    return _distinct(pairs, path)


def read_paired_focus(path: Path) -> list[Pair]:
    """Read a paired-focus table: ``<construction>.tsv``, compressed or not.

    Every row is a pair, "easier" against "harder" for the mask: the right one is what the construction
    says. The control row, which joins the two foci with "or", has the same word for comparison only. An item is such a
    row with its control. Sentences that occur more than once in the file are kept.

    Raises:
        DataError: See `read_generic`; a sentence does not have exactly one mask; or a block of rows is incomplete.

    Source:
        The repository WesScivetti/Meaning_Alone, Apache-2.0.
    """
    rows = _rows(read_texts(path, PAIRED_FOCUS))
    expected = Counter(product("01", repeat=3))
    pairs = []
    for start in range(0, len(rows), BLOCK):
        block = rows[start : start + BLOCK]
        if Counter(tuple(row[column] for column in PAIRED_FOCUS[:3]) for row in block) != expected:
            raise DataError(
                f"{path}, row {start + 1}: expected {BLOCK} rows with every condition, stimulus and row, 0 and 1 of "
                f"{', '.join(PAIRED_FOCUS[:3])}; add what is missing, and take out what is too many"
            )
        name = f"{path.name.split('.')[0]}-{start // BLOCK}"
        pairs += [_paired_focus(row, name, f"{path}, row {number}") for number, row in enumerate(block, start + 1)]
    return _distinct(pairs, path)


def _rows(table: pd.DataFrame) -> list[dict[str, str]]:
    return [dict(zip(table.columns, cells, strict=True)) for cells in table.itertuples(index=False)]


def _paired_focus(row: Mapping[str, str], block: str, where: str) -> Pair:
    condition, stimulus, is_construction = (row[column] for column in PAIRED_FOCUS[:3])
    before, _, after = row["Sentence"].partition(f" {_MASK}")
    if not after or _MASK in after:
        raise DataError(f"{where}: expected one {_MASK} between spaces in {shown(row['Sentence'])}; mend the sentence")
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


def benchmark_files(folder: Path, benchmark: Benchmark) -> list[Path]:
    """Return the files of a benchmark, sorted.

    Raises:
        DataError: No file matches.
    """
    try:
        paths = sorted(folder.glob(benchmark.files))
    except (NotImplementedError, ValueError) as fault:
        raise DataError(
            f"{folder}: {benchmark.files!r} names no files in this folder ({fault}); write it as *.jsonl.gz"
        ) from fault
    if not paths:
        raise DataError(
            f"{folder}: no file matches {benchmark.files}; `dvc import` fetches a benchmark's files (`dvc pull` those "
            "that were imported elsewhere); or take it out of pairs.benchmarks"
        )
    return paths


def read_benchmark(folder: Path, benchmark: Benchmark) -> list[Pair]:
    """Read the files of a benchmark.

    Args:
        folder: Where its files are.
        benchmark: The parameters.

    Raises:
        DataError: A file is damaged, the pairs cannot be evaluated as the parameters say, or a group has a name that
            means something else in results, or is that of another group there; with its row.
    """
    places = {
        f"{path}, row {row}": pair
        for path in benchmark_files(folder, benchmark)
        for row, pair in enumerate(READERS[benchmark.format](path), start=1)
    }
    pairs = [*places.values()]
    columns = dict.fromkeys(column for pair in pairs for column in pair.groups)
    if lacking := [column for column in benchmark.by if column not in columns]:
        raise DataError(
            f"{folder}: by names {', '.join(lacking)}; the pairs can be reported by {', '.join(columns) or 'nothing'}"
        )
    if reserved := [column for column in columns if column in _RESERVED]:
        raise DataError(
            f"{folder}: {', '.join(reserved)} is what tables of decisions call something else; rename the column"
        )
    _check_groups(places, benchmark.by)
    if benchmark.score in CONTEXT_SCORES and (bare := [pair.id for pair in pairs if not pair.context]):
        raise DataError(
            f"{folder}: score is {benchmark.score}, which needs a context; {len(bare)} of {len(pairs)} pairs have "
            f"none, such as {bare[0]}; take another score"
        )
    return _distinct(pairs, folder)


def _check_groups(places: Mapping[str, Pair], by: Sequence[str]) -> None:
    """Refuse groups that results could not tell apart: the first is part of paths, the others of a metric's name."""
    seen = set[tuple[str, ...]]()
    owners: dict[tuple[int, str], tuple[str, ...]] = {}
    for place, pair in places.items():
        values = tuple(pair.groups.get(column, "") for column in by)
        if values in seen:
            continue
        seen.add(values)
        for column, value in zip(by, values, strict=True):
            is_taken = value.strip().casefold() in _TAKEN
            if is_taken or value.startswith(".") or not value.isprintable() or len(value.encode()) > _LONGEST_NAME:
                raise DataError(
                    f"{place}: {column} is {shown(value)}, which results cannot call a group: give it a name of at "
                    f"most {_LONGEST_NAME} printable characters that neither begins with a point nor is one of "
                    f"{', '.join(_TAKEN[1:])}"
                )
        for number, parts in enumerate((values[:1], values[1:])):
            name = _UNSAFE.sub("_", ", ".join(parts)).strip().casefold()
            if (other := owners.setdefault((number, name), parts)) != parts:
                raise DataError(
                    f"{place}: the group {shown(', '.join(parts))} would be one with {shown(', '.join(other))} in "
                    "results; rename one of them"
                )


def _distinct(pairs: list[Pair], path: Path) -> list[Pair]:
    if not pairs:
        raise DataError(f"{path}: it contains no pairs")
    if twice := [id_ for id_, times in Counter(pair.id for pair in pairs).items() if times > 1]:
        raise DataError(
            f"{path}: the id {shown(twice[0])} occurs more than once ({len(twice)} such ids); give every pair its own"
        )
    return pairs


READERS: Mapping[str, Callable[[Path], list[Pair]]] = {
    "blimp": read_blimp,
    "paired_focus": read_paired_focus,
    "pairs": read_generic,
}
