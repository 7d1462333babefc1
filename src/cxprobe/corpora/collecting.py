"""The tables of all shards -> the candidates of a corpus, each sentence once, with its features."""

import re
import shutil
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd
from datasketch import MinHash, MinHashLSH

from cxprobe.corpora.engine import SCHEMAS, SLOTS, MiningJob, table_path
from cxprobe.corpora.params import Duplicates, Mining
from cxprobe.corpora.pattern import Wanted
from cxprobe.corpora.search import NOT_ANNOTATED
from cxprobe.errors import DataError
from cxprobe.files.tables import join_tables, read_table, write_table
from cxprobe.files.writing import read_json
from cxprobe.seeding import text_id

FAULTS_SHOWN = 1000  # rows of the table for readers; faults.parquet has all of them
_WORD = re.compile(r"\w+")


class Twin(NamedTuple):
    """A sentence that is removed, and the one that is kept instead; both are positions in the list."""

    position: int
    stays: int
    exact: bool


class Collected(NamedTuple):
    """What was mined for a construction.

    Attributes:
        sentences: Columns id, text, url, start, end, tags, slots (what fills the slots of construction.yaml that the
            pattern names), and one for each feature.
        counts: How many documents and sentences each step has let through.
        rejects: Reason -> how many sentences, the most frequent reason first.
    """

    sentences: pd.DataFrame
    counts: Counter[str]
    rejects: dict[str, int]


class ReadingReport(NamedTuple):
    """What was read of a corpus.

    Attributes:
        counts: The number of shards, documents, bytes of text and faults.
        faults: Columns shard, line, offset, fault: the first `FAULTS_SHOWN` of what could not be read.
    """

    counts: Counter[str]
    faults: pd.DataFrame


def find_duplicates(texts: Sequence[str], *, shingle: int, permutations: int, threshold: float) -> list[Twin]:
    """Find the sentences that repeat an earlier one.

    Exact means the same words, whatever their case and punctuation. Near means an estimated Jaccard similarity of
    the sets of ``shingle`` words in a row of ``threshold`` or more with a sentence that is kept; all such pairs are
    found. The first of the list is kept, so the order of the texts must not change.

    Source:
        Broder 1997 (MinHash) and Manku, Jain & Das Sarma 2007, §3 (bands as pigeonholes), as datasketch has them; its
        permutations are seeded.
    """
    # Two sentences are alike if so many values are equal. With one band more than they may have unequal values, they
    # have all values of some band in common, so that none is missed.
    alike = next(count for count in range(permutations + 1) if count / permutations >= threshold)
    bands = max(2, permutations - alike + 1)
    index = MinHashLSH(num_perm=permutations, params=(bands, permutations // bands))
    empty = MinHash(num_perm=permutations, seed=1)
    seen: dict[str, int] = {}  # words -> the sentence that stays
    kept: dict[int, MinHash] = {}
    twins = []
    for position, text in enumerate(texts):
        words = _WORD.findall(text.lower())
        key = " ".join(words)
        if key in seen:
            twins.append(Twin(position, seen[key], exact=True))
            continue
        minhash = empty.copy()
        last = max(1, len(words) - shingle + 1)
        minhash.update_batch([" ".join(words[start : start + shingle]).encode() for start in range(last)])
        similar = [other for other in index.query(minhash) if kept[other].jaccard(minhash) >= threshold]
        seen[key] = min(similar, default=position)
        if similar:
            twins.append(Twin(position, seen[key], exact=False))
        else:
            kept[position] = minhash
            index.insert(position, minhash)
    return twins


def collect_all(
    job: MiningJob, wanted: Mapping[str, Wanted], settings: Mining, corpus: str, output: Path
) -> dict[str, Any]:
    """Join the shards' tables, write those of each construction into its folder of ``output``, and remove the shards'.

    Returns:
        The ``counts`` of the corpus, and what was ``found``: construction -> its ``steps`` and ``rejects``, numbers of
        documents and sentences.

    Raises:
        DataError: As of `check_most_faults` and `check_annotated`.
    """
    read = collect_corpus(job, output)
    check_most_faults(read, corpus, settings.most_faults)
    found = {}
    for name, one in wanted.items():
        of_it = collect(job, name, one, settings.duplicates, output / name)
        check_annotated(of_it, corpus, name)
        write_table(of_it.sentences, output / name / "sentences.parquet", {"slots": SLOTS})
        made = {"sentences": len(of_it.sentences), "sequences": of_it.sentences["tags"].nunique()}
        found[name] = {"steps": dict(sorted((of_it.counts | made).items())), "rejects": of_it.rejects}
    # Under another name first: what a kill leaves of it must not pass for finished shards.
    ended = Path(f"{job.output}.ended")
    shutil.rmtree(ended, ignore_errors=True)
    Path(job.output).rename(ended)
    shutil.rmtree(ended)
    return {"counts": dict(sorted(read.counts.items())), "found": found}


def collect_corpus(job: MiningJob, output: Path) -> ReadingReport:
    """Join what the shards say of the corpus; ``faults.parquet`` in ``output`` has each broken line."""
    ranks = range(len(job.source.shards))
    parts = [table_path(job, rank, "faults") for rank in ranks]
    join_tables(parts, output / "faults.parquet", SCHEMAS["faults"])
    return ReadingReport(_counts(job, ""), read_table(output / "faults.parquet").head(FAULTS_SHOWN))


def collect(job: MiningJob, name: str, wanted: Wanted, settings: Duplicates, output: Path) -> Collected:
    """Join the shards' tables of a construction. The result depends neither on their order nor on who mined them.

    In the folder ``output``, ``rejects.parquet`` (every sentence that was rejected, with its place and the reason) is
    written. Only the candidates are kept in memory, with 3 kB or so for each.
    """
    ranks = range(len(job.source.shards))
    rejects = [table_path(job, rank, "rejects", name) for rank in ranks]
    join_tables(rejects, output / "rejects.parquet", SCHEMAS["rejects"])
    tables = [read_table(table_path(job, rank, "candidates", name)) for rank in ranks]
    candidates = pd.concat(tables, ignore_index=True).sort_values(["url", "start", "text"], ignore_index=True)
    twins = find_duplicates(candidates["text"].tolist(), **settings.model_dump())
    kept = candidates.drop(index=[twin.position for twin in twins]).reset_index(drop=True)
    exact = sum(twin.exact for twin in twins)
    counts, rejected = Counter[str](), {"exact duplicate": exact, "near-duplicate": len(twins) - exact}
    for what, n in _counts(job, name).items():
        step, _, why = what.partition(": ")
        if step == "rejected":
            rejected[why] = n
        else:
            counts[what] = n
    most_first = sorted(rejected, key=lambda why: (-rejected[why], why))
    return Collected(_with_features(kept, wanted), counts, {why: rejected[why] for why in most_first})


def _counts(job: MiningJob, name: str) -> Counter[str]:
    """Return the sums over all shards of what was counted of a construction, or, under "", of the corpus."""
    counts: Counter[str] = Counter()
    for rank in range(len(job.source.shards)):
        counts.update(read_json(table_path(job, rank, "counts"))[name])
    return counts


def check_most_faults(read: ReadingReport, corpus: str, most_faults: float) -> None:
    """Check that enough of the corpus could be read: where little could, its settings are wrong.

    Args:
        read: What was read.
        corpus: The corpus's key in params.yaml, for messages.
        most_faults: The largest share of faults among documents and faults that is accepted, in [0, 1].

    Raises:
        DataError: No document could be read, or the share of faults is larger. The message shows the first fault.
    """
    documents, faults = read.counts["documents"], read.counts["faults"]
    first = ""
    for shard, line, _, fault in read.faults.head(1).itertuples(index=False, name=None):
        first = f"; the first fault: {shard}, line {line}: {fault}"
    if not documents:
        raise DataError(
            f"corpora.{corpus}: none of its {read.counts['shards']} files has a document that can be read{first}; "
            "compare format, text and glob with the files, mend them, and run the stage again"
        )
    if faults > most_faults * (documents + faults):
        raise DataError(
            f"corpora.{corpus}: {faults:,} faults beside {documents:,} documents are more than "
            f"mining.most_faults ({most_faults:g}) allows{first}; mend the corpus or its settings, or raise "
            "the limit if so much may be missing"
        )


def check_annotated(found: Collected, corpus: str, construction: str) -> None:
    """Check that some sentence of a parsed corpus has what the pattern asks for.

    Args:
        found: What was mined for the construction.
        corpus: The corpus's key in params.yaml, for messages.
        construction: The construction.

    Raises:
        DataError: No sentence has; the message says what is absent.
    """
    absent = [reason for reason in found.rejects if reason.startswith(NOT_ANNOTATED)]
    if absent and not found.counts["sentences_tagged"]:
        raise DataError(
            f"corpora.{corpus}: the sentences that may have {construction} are all {absent[0]}, which its pattern.yaml "
            "asks for; change the pattern, name another corpus, or mine files with the bare text (format: text)"
        )


def _with_features(candidates: pd.DataFrame, wanted: Wanted) -> pd.DataFrame:
    columns: dict[str, list[Any]] = {"id": [text_id("mined", text) for text in candidates["text"]]}
    columns |= {name: candidates[name].tolist() for name in ("text", "url", "start", "end", "tags")}
    columns["slots"] = [[slot for slot in slots if slot["slot"] in wanted.slots] for slots in candidates["slots"]]
    for name, feature in wanted.features.items():
        columns[name] = [feature.of(*shape) for shape in zip(candidates["words"], candidates["marks"], strict=True)]
    table = pd.DataFrame(columns, dtype=object)  # the columns are the same if there are no candidates
    return table.astype(dict.fromkeys(("start", "end", *wanted.features), "int64"))
