"""The tables of all shards -> the candidates of a corpus, each sentence once, with its features."""

import re
import shutil
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd
from datasketch import MinHash, MinHashLSH

from cxprobe.corpora.engine import MATCHED, SCHEMAS, SLOTS, MiningJob, table_path
from cxprobe.corpora.params import Duplicates, Mining
from cxprobe.corpora.pattern import Wanted
from cxprobe.corpora.search import NOT_ANNOTATED, REJECTED
from cxprobe.errors import DataError
from cxprobe.files.tables import join_tables, read_table, write_table
from cxprobe.files.texts import write_table_as
from cxprobe.files.writing import read_json
from cxprobe.seeding import text_id

_WORD = re.compile(r"\w+")


class Collected(NamedTuple):
    """The sentences that were mined for a construction.

    Attributes:
        sentences: Columns id, text, url, start, end, tags, matched (see `cxprobe.corpora.search.Found`), slots (the
            words that fill the slots of construction.yaml that the pattern names), and one for each feature.
        counts: Step -> the number of documents or sentences that it let through.
        rejects: Reason -> the number of sentences, the most frequent reason first.
    """

    sentences: pd.DataFrame
    counts: Counter[str]
    rejects: dict[str, int]


def find_duplicates(texts: Sequence[str], *, shingle: int, permutations: int, threshold: float) -> dict[int, bool]:
    """Return the duplicates: position of a sentence that repeats an earlier one -> whether all words are the same.

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
    seen = set[str]()
    kept: dict[int, MinHash] = {}
    duplicates: dict[int, bool] = {}
    for position, text in enumerate(texts):
        words = _WORD.findall(text.lower())
        key = " ".join(words)
        if key in seen:
            duplicates[position] = True
            continue
        seen.add(key)
        minhash = empty.copy()
        last = max(1, len(words) - shingle + 1)
        minhash.update_batch([" ".join(words[start : start + shingle]).encode() for start in range(last)])
        if any(kept[other].jaccard(minhash) >= threshold for other in index.query(minhash)):
            duplicates[position] = False
        else:
            kept[position] = minhash
            index.insert(position, minhash)
    return duplicates


def collect_all(
    job: MiningJob, wanted: Mapping[str, Wanted], settings: Mining, corpus: str, output: Path
) -> dict[str, Any]:
    """Join the shards' tables, write those of each construction into its folder of ``output``, and remove the shards'.

    Returns:
        ``counts``, those of the corpus, and ``found``: construction -> its ``steps`` and ``rejects``, numbers of
        documents and sentences.

    Raises:
        DataError: As of `check_faults` and `check_annotated`.
    """
    counts, faults = collect_corpus(job, output)
    check_faults(counts, faults, corpus, settings.most_faults)
    found = {}
    for name, one in wanted.items():
        of_it = collect(job, name, one, settings.duplicates)
        check_annotated(of_it, corpus, name)
        write_table(of_it.sentences, output / name / "sentences.parquet", {"matched": MATCHED, "slots": SLOTS})
        # For people and their tools; a cell of a .tsv has neither tabs nor line breaks.
        hits = of_it.sentences[["id", "text", "url"]].replace(r"[\0\s]+", " ", regex=True)
        write_table_as(hits, str(output / name / "sentences.tsv"))
        made = {"sentences": len(of_it.sentences), "sequences": of_it.sentences["tags"].nunique()}
        found[name] = {"steps": dict(sorted((of_it.counts | made).items())), "rejects": of_it.rejects}
    # Under another name first: what a kill leaves of it must not pass for finished shards.
    ended = Path(f"{job.output}.ended")
    shutil.rmtree(ended, ignore_errors=True)
    Path(job.output).rename(ended)
    shutil.rmtree(ended)
    return {"counts": dict(sorted(counts.items())), "found": found}


def collect_corpus(job: MiningJob, output: Path) -> tuple[Counter[str], pd.DataFrame]:
    """Return the counts of a corpus and its faults, of which ``faults.parquet`` is written in ``output``.

    Returns:
        The numbers of shards, documents, bytes of text and faults; and columns shard, line, offset, fault.
    """
    parts = [table_path(job, rank, "faults") for rank in range(len(job.source.shards))]
    join_tables(parts, output / "faults.parquet", SCHEMAS["faults"])
    return _counts(job, ""), read_table(output / "faults.parquet")


def collect(job: MiningJob, name: str, wanted: Wanted, settings: Duplicates) -> Collected:
    """Join the shards' tables of a construction. The result depends neither on their order nor on who mined them.

    The candidates are kept in memory, with 3 kB or so for each.
    """
    tables = [read_table(table_path(job, rank, "candidates", name)) for rank in range(len(job.source.shards))]
    candidates = pd.concat(tables, ignore_index=True).sort_values(["url", "start", "text"], ignore_index=True)
    duplicates = find_duplicates(candidates["text"].tolist(), **settings.model_dump())
    kept = candidates.drop(index=[*duplicates]).reset_index(drop=True)
    exact = sum(duplicates.values())
    counts = _counts(job, name)
    rejected = {"exact duplicate": exact, "near-duplicate": len(duplicates) - exact}
    for step in [step for step in counts if step.startswith(REJECTED)]:
        rejected[step.removeprefix(REJECTED)] = counts.pop(step)
    most_first = sorted(rejected.items(), key=lambda reject: (-reject[1], reject[0]))
    columns: dict[str, list[Any]] = {"id": [text_id("mined", text) for text in kept["text"]]}
    columns |= {name: kept[name].tolist() for name in ("text", "url", "start", "end", "tags", "matched")}
    columns["slots"] = [[slot for slot in slots if slot["slot"] in wanted.slots] for slots in kept["slots"]]
    for feature_name, feature in wanted.features.items():
        columns[feature_name] = [feature.of(*shape) for shape in zip(kept["words"], kept["marks"], strict=True)]
    table = pd.DataFrame(columns, dtype=object)  # the columns are the same if there are no candidates
    table = table.astype(dict.fromkeys(("start", "end", *wanted.features), "int64"))
    return Collected(table, counts, dict(most_first))


def _counts(job: MiningJob, name: str) -> Counter[str]:
    """Return the sums over all shards of the counts of a construction, or, under "", of the corpus."""
    counts: Counter[str] = Counter()
    for rank in range(len(job.source.shards)):
        counts.update(read_json(table_path(job, rank, "counts"))[name])
    return counts


def check_faults(counts: Mapping[str, int], faults: pd.DataFrame, corpus: str, most_faults: float) -> None:
    """Refuse a corpus of which little can be read: its settings are wrong.

    Args:
        counts: The numbers of its shards, documents and faults.
        faults: See `collect_corpus`.
        corpus: The corpus's key in params.yaml, for messages.
        most_faults: The largest share of faults among documents and faults that is accepted, in [0, 1].

    Raises:
        DataError: No document could be read, or the share of faults is larger. The message shows the first fault.
    """
    first = ""
    for shard, line, _, fault in faults.head(1).itertuples(index=False, name=None):
        first = f"; the first fault: {shard}, line {line}: {fault}"
    if not counts["documents"]:
        raise DataError(
            f"corpora.{corpus}: none of its {counts['shards']} files has a document that can be read{first}; "
            "compare format, text and glob with the files, mend them, and run the stage again"
        )
    if counts["faults"] > most_faults * (counts["documents"] + counts["faults"]):
        raise DataError(
            f"corpora.{corpus}: {counts['faults']:,} faults beside {counts['documents']:,} documents are more than "
            f"mining.most_faults ({most_faults:g}) allows{first}; mend the corpus or its settings, or raise the limit"
        )


def check_annotated(found: Collected, corpus: str, construction: str) -> None:
    """Raise DataError if no sentence of a parsed corpus has the annotation that the pattern needs."""
    absent = [reason for reason in found.rejects if reason.startswith(NOT_ANNOTATED)]
    if absent and not found.counts["sentences_tagged"]:
        raise DataError(
            f"corpora.{corpus}: the sentences that may have {construction} are all {absent[0]}, which its pattern.yaml "
            "asks for; change the pattern, name another corpus, or mine files with the bare text (format: text)"
        )
