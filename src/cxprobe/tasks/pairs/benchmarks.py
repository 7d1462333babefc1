"""Pairs from files of others: BLiMP, and any file in the generic format.

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
from dataclasses import replace
from pathlib import Path

import pandas as pd

from cxprobe.errors import DataError
from cxprobe.files.reading import shown
from cxprobe.files.schema import SLUG_PATTERN
from cxprobe.files.texts import read_texts, require_texts
from cxprobe.models.scores import CONTEXT_SCORES
from cxprobe.models.texts import Pair, pairs_of
from cxprobe.results.rates import ALL
from cxprobe.stats import CLUSTER, cluster_columns
from cxprobe.tasks.pairs.params import Benchmark

BLIMP = ("sentence_good", "sentence_bad", "field", "linguistics_term", "UID", "pairID")
PHENOMENA = {"s-selection": "argument_structure"}
"""BLiMP's linguistics_term -> the phenomenon, where they differ: the paradigms animate_subject_passive and
animate_subject_trans have a term of their own, and are among the 9 of argument structure in Table 4 of Warstadt et al.
2020, whose phenomena are 12."""


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
    require_texts(table, [name for name in names if name == "item" or name.startswith(CLUSTER)], path)
    table = table.assign(context=table.get("context", ""), item=table.get("item", table["id"]))
    for side in ("good", "bad"):
        touching = (table["context"] != "") & ~table[side].str.startswith(" ")
        table[side] = table[side].mask(touching, " " + table[side])
    if not cluster_columns(table):
        table = table.assign(**{f"{CLUSTER}item": table["item"]})
    return _distinct(pairs_of(table), path)


def read_blimp(path: Path) -> list[Pair]:
    """Read a paradigm of BLiMP: ``<UID>.jsonl``, compressed or not.

    The pairs are reported under field, phenomenon (one of 12, see `PHENOMENA`) and paradigm (BLiMP's UID), each as a
    slug; so the one field that is spelt in two ways, with "_" and with "/", is spelt in one.

    Raises:
        DataError: See `read_generic`.

    Source:
        Warstadt et al. 2020, Table 4.
    """
    table = read_texts(path, BLIMP)
    ids, terms = table["UID"] + "-" + table["pairID"], table["linguistics_term"].replace(PHENOMENA)
    groups = {"field": table["field"], "phenomenon": terms, "paradigm": table["UID"]}
    pairs = pd.DataFrame(
        {
            **{"id": ids, "item": ids, "context": "", "good": table["sentence_good"], "bad": table["sentence_bad"]},
            **{column: names.map(slug_of) for column, names in groups.items()},
            f"{CLUSTER}pair": ids,
        }
    )
    return _distinct(pairs_of(pairs), path)


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
    """Read the files of a benchmark as pairs with the groups construction and, of several columns, group.

    Args:
        folder: Where its files are.
        benchmark: The parameters; by its first column pairs are reported like those of a construction.

    Raises:
        DataError: A file is damaged, the pairs cannot be evaluated as the parameters say, or the name of a group is no
            slug, or that of all groups; with its row.
    """
    places = {
        f"{path}, row {row}": pair
        for path in benchmark_files(folder, benchmark)
        for row, pair in enumerate(READERS[benchmark.format](path), start=1)
    }
    columns = dict.fromkeys(column for pair in places.values() for column in pair.groups)
    if lacking := [column for column in benchmark.by if column not in columns]:
        raise DataError(
            f"{folder}: by names {', '.join(lacking)}; the pairs can be reported by {', '.join(columns) or 'nothing'}"
        )
    pairs = [replace(pair, groups=_groups_of(pair, benchmark.by, place)) for place, pair in places.items()]
    if benchmark.score in CONTEXT_SCORES and (bare := [pair.id for pair in pairs if not pair.context]):
        raise DataError(
            f"{folder}: score is {benchmark.score}, which needs a context; {len(bare)} of {len(pairs)} pairs have "
            f"none, such as {bare[0]}; take another score"
        )
    return _distinct(pairs, folder)


def _groups_of(pair: Pair, by: Sequence[str], place: str) -> dict[str, str]:
    """Return the groups of a pair as results name them: they are parts of paths and of the names of metrics."""
    names = [pair.groups.get(column, "") for column in by]
    for column, name in zip(by, names, strict=True):
        if name == ALL or not re.fullmatch(SLUG_PATTERN, name):
            slug = slug_of(name)
            remedy = f"write {slug}" if slug not in ("", ALL) else "write a slug, such as agreement-1"
            raise DataError(
                f"{place}: {column} is {shown(name)}; a group has a slug, of lower-case letters, digits and hyphens, "
                f"other than {ALL}: {remedy}"
            )
    first, *others = names
    return {"construction": first, **({"group": ", ".join(others)} if others else {})}


def slug_of(name: str) -> str:
    """Return a name as a slug; "" if it has no letter a to z and no digit."""
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")


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
    "pairs": read_generic,
}
