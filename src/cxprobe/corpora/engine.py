"""Mining: the shards of a corpus, each a task -> tables of candidates and faults -> the sentences of each construction.

A sentence is there once, with its features.
"""

import os

os.environ.setdefault("LOGURU_LEVEL", "ERROR")  # of datatrove's messages, which would print each task's pipeline

import re
import shutil
import subprocess
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd
import pyarrow as pa
from datasketch import MinHash, MinHashLSH
from datatrove.executor import LocalPipelineExecutor, SlurmPipelineExecutor
from threadpoolctl import threadpool_limits

from cxprobe.corpora.params import Corpus, Duplicates, Mining
from cxprobe.corpora.pattern import Pattern, Wanted
from cxprobe.corpora.readers import Unreadable, absolute, read_blocks
from cxprobe.corpora.search import REJECTED, Matchers, load_matchers, pipeline_of, search
from cxprobe.errors import DataError
from cxprobe.files.reading import printable
from cxprobe.files.tables import read_table, write_table
from cxprobe.files.texts import write_table_as
from cxprobe.files.writing import read_json, write_json
from cxprobe.seeding import text_id

_loaded: dict[Path, dict[str, Matchers]] = {}  # the folder of the last job -> its matchers
CANDIDATES = ("text", "url", "start", "end", "tags", "words", "marks", "matched", "slots")  # columns, of a shard
FAULTS = 1000  # of a corpus, which are kept; all are counted
_WORD = re.compile(r"\w+")


class _QuietExecutor(LocalPipelineExecutor):  # type: ignore[misc]
    """datatrove's executor of this machine; its tasks print errors alone, as it has it for all but the first worker."""

    def _run_for_rank(self, rank: int, local_rank: int = 0, node_rank: int = -1) -> Any:
        return super()._run_for_rank(rank, local_rank + 1, node_rank)


EXECUTORS = {"local": _QuietExecutor, "slurm": SlurmPipelineExecutor}


class MiningJob(NamedTuple):
    """The job of mining a corpus, which is sent to other processes and machines.

    Attributes:
        corpus: The corpus.
        shards: The names of its files, each of which is a task.
        patterns: Construction -> its pattern.
        pipelines: Construction -> the pipeline of spaCy that tags, or parses.
        settings: The section mining.
        output: The folder of the shards' tables.
    """

    corpus: Corpus
    shards: Sequence[str]
    patterns: Mapping[str, Pattern]
    pipelines: Mapping[str, str]
    settings: Mining
    output: Path

    def candidates_of(self, rank: int, construction: str) -> Path:
        """Return the table of a shard's candidates of a construction."""
        return self.output / f"{rank:05d}.{construction}.parquet"

    def counts_of(self, rank: int) -> Path:
        """Return the file of a shard's counts and faults."""
        return self.output / f"{rank:05d}.json"


def make_job(
    corpus: Corpus, shards: Sequence[str], settings: Mining, patterns: Mapping[str, Pattern], output: Path
) -> MiningJob:
    """Return the job of mining the files of a corpus, in which all paths are absolute.

    Workers of a cluster run in folders of their own, where a relative path may lead to another pipeline. Finished
    shards in ``output`` are not mined again, so its name must tell apart what its content depends on.
    """
    names = {construction: pipeline_of(pattern, settings) for construction, pattern in patterns.items()}
    where = {one: str(Path(name).resolve()) if Path(name).is_dir() else name for one, name in names.items()}
    corpus = corpus.model_copy(update={"folder": absolute(corpus.folder)})
    return MiningJob(corpus, shards, patterns, where, settings, output.resolve())


def run_shards(job: MiningJob) -> int:
    """Mine every shard that no earlier run has finished, and return their number.

    The markers of finished shards are beside their results in ``job.output``. Every shard is a task of its own, so
    neither the number of workers nor their order can change a result.

    Raises:
        DataError: A shard's storage failed, the engine cannot be used, or shards are not finished.
    """
    engine, logs = job.settings.engine, str(job.output / "datatrove")
    pipeline, tasks = [partial(mine_shard, job=job)], len(job.shards)
    os.environ["SBATCH_WAIT"] = "1"  # sbatch then returns when its jobs have ended
    try:
        executor: Any = EXECUTORS[engine.kind](
            pipeline=pipeline, tasks=tasks, logging_dir=logs, skip_completed=True, **engine.arguments
        )
    except TypeError as fault:
        raise DataError(f"mining.engine.arguments: {fault}") from None
    left = executor.get_incomplete_ranks()
    try:
        executor.run()
    except (FileNotFoundError, subprocess.CalledProcessError) as fault:
        raise DataError(f"mining.engine: {engine.kind} failed: {fault}; mend it, and run the stage again") from fault
    if stays := executor.get_incomplete_ranks():
        raise DataError(
            f"{len(stays)} of {tasks} shards were not finished, the first: {job.shards[stays[0]]}. Logs are in {logs}. "
            "Run the stage again: it goes on with what is left"
        )
    return len(left)


def mine_shard(_data: object, rank: int, _world_size: int, job: MiningJob) -> Iterator[Any]:
    """Mine one shard; datatrove calls this with the number of the task."""
    pa.set_cpu_count(1)  # one process per shard: more threads would only take the other shards' cores
    counts = {"": Counter(shards=1), **{name: Counter() for name in job.patterns}}  # "" is the corpus
    if job.output not in _loaded:  # once per process, not once per shard
        _loaded.clear()
        _loaded[job.output] = load_matchers(job.patterns, job.pipelines)
    faults = list[Unreadable]()
    candidates: dict[str, list[dict[str, Any]]] = {name: [] for name in job.patterns}
    with threadpool_limits(1):
        for records, unreadable in read_blocks(job.corpus, job.shards[rank], job.settings.longest_line):
            size = sum(len(record.text.encode()) for record in records)
            counts[""] += Counter(faults=len(unreadable), documents=len(records), bytes_of_text=size)
            faults = [*faults, *unreadable][:FAULTS]
            for name, findings in search(records, _loaded[job.output], job.settings.most_words).items():
                counts[name].update(findings.counts)
                candidates[name] += findings.candidates
    for name, rows in candidates.items():
        write_table(pd.DataFrame(rows, columns=[*CANDIDATES]), job.candidates_of(rank, name))
    write_json({"counts": counts, "faults": [fault._asdict() for fault in faults]}, job.counts_of(rank))
    return iter(())


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


def collect(job: MiningJob, wanted: Mapping[str, Wanted], name: str, output: Path) -> dict[str, Any]:
    """Join the shards' tables, write those of each construction into its folder of ``output``, and remove the shards'.

    Writes ``sentences.parquet`` of each construction: id, text, url, start, end, tags, matched (see
    `cxprobe.corpora.search.Found`), slots (the words that fill the slots of construction.yaml that the pattern
    names), and one column for each feature. ``sentences.tsv`` is for people and their tools, see `in_context`.

    Args:
        job: A job whose shards are finished.
        wanted: Construction -> what is written of it.
        name: The corpus's key in params.yaml, for messages.
        output: Where the folders of constructions are.

    Returns:
        ``counts``, those of the corpus; ``faults``, the first of them; and ``found``: construction -> its ``steps`` and
        ``rejects`` (the most frequent reason first), numbers of documents and sentences.

    Raises:
        DataError: See `check_faults`.
    """
    parts = [read_json(job.counts_of(rank)) for rank in range(len(job.shards))]
    counts: dict[str, Counter[str]] = {of: Counter() for of in ("", *wanted)}  # "" is the corpus
    for of, total in counts.items():
        for part in parts:
            total.update(part["counts"][of])
    faults = [fault for part in parts for fault in part["faults"]][:FAULTS]
    check_faults(counts[""], faults, name, job.settings.most_faults)
    found = {}
    for construction, one in wanted.items():
        tables = [read_table(job.candidates_of(rank, construction)) for rank in range(len(job.shards))]
        sentences, rejects = _sentences(pd.concat(tables, ignore_index=True), one, job.settings.duplicates)
        steps = {"sentences": len(sentences), "sequences": sentences["tags"].nunique()}
        for step, number in counts[construction].items():
            (rejects if step.startswith(REJECTED) else steps)[step.removeprefix(REJECTED)] = number
        write_table(sentences, output / construction / "sentences.parquet")
        write_table_as(in_context(sentences), str(output / construction / "sentences.tsv"))
        most_first = sorted(rejects.items(), key=lambda reject: (-reject[1], reject[0]))
        found[construction] = {"steps": dict(sorted(steps.items())), "rejects": dict(most_first)}
    # Under another name first: what a kill leaves of it must not pass for finished shards.
    ended = job.output.with_suffix(".ended")
    shutil.rmtree(ended, ignore_errors=True)
    job.output.rename(ended)
    shutil.rmtree(ended)
    return {"counts": dict(sorted(counts[""].items())), "faults": faults, "found": found}


def in_context(sentences: pd.DataFrame) -> pd.DataFrame:
    """Return mined sentences as a concordance: id, left, match and right, text, slots, url, start and end.

    A match goes from the first matched character to the last. Slots are as "verb=sneezed". A run of white space is one
    space, and other characters that do not print are shown as codes, see `cxprobe.files.reading.printable`.
    """
    rows = []
    columns = ["id", "text", "url", "start", "end", "matched", "slots"]
    for id_, text, url, start, end, matched, slots in sentences[columns].to_numpy(object):
        ends = [int(place) for span in matched for place in span] or [0, len(text)]
        first, last = min(ends), max(ends)
        named = " ".join(f"{slot['slot']}={slot['word']}" for slot in slots)
        parts = (text[:first], text[first:last], text[last:], text, named, url)
        rows.append((id_, *(printable(re.sub(r"[\0\s]+", " ", part)) for part in parts), start, end))
    return pd.DataFrame(rows, columns=["id", "left", "match", "right", "text", "slots", "url", "start", "end"])


def _sentences(candidates: pd.DataFrame, wanted: Wanted, settings: Duplicates) -> tuple[pd.DataFrame, dict[str, int]]:
    """Return the sentences of a construction, and the numbers of duplicates.

    They depend neither on the order of the shards nor on who mined them. All candidates are kept in memory, with 3 kB
    or so for each.
    """
    candidates = candidates.sort_values(["url", "start", "text"], ignore_index=True)
    duplicates = find_duplicates(candidates["text"].tolist(), **settings.model_dump())
    kept = candidates.drop(index=[*duplicates]).reset_index(drop=True)
    exact = sum(duplicates.values())
    columns: dict[str, list[Any]] = {"id": [text_id("mined", text) for text in kept["text"]]}
    columns |= {name: kept[name].tolist() for name in ("text", "url", "start", "end", "tags", "matched")}
    columns["slots"] = [[slot for slot in slots if slot["slot"] in wanted.slots] for slots in kept["slots"]]
    for name, feature in wanted.features.items():
        columns[name] = [feature.of(*shape) for shape in zip(kept["words"], kept["marks"], strict=True)]
    table = pd.DataFrame(columns, dtype=object)  # the columns are the same if there are no candidates
    table = table.astype(dict.fromkeys(("start", "end", *wanted.features), "int64"))
    return table, {"exact duplicate": exact, "near-duplicate": len(duplicates) - exact}


def check_faults(
    counts: Mapping[str, int], faults: Sequence[Mapping[str, Any]], corpus: str, most_faults: float
) -> None:
    """Refuse a corpus of which little can be read: its settings are wrong.

    Args:
        counts: The numbers of its shards, documents and faults.
        faults: The first of them: shard, line and fault.
        corpus: The corpus's key in params.yaml, for messages.
        most_faults: The largest share of faults among documents and faults that is accepted, in [0, 1].

    Raises:
        DataError: No document could be read, or the share of faults is larger. The message shows the first fault.
    """
    number, documents = counts["faults"], counts["documents"]
    if not documents or number > most_faults * (documents + number):
        first = [f"; the first: {fault['shard']}, line {fault['line']}: {fault['fault']}" for fault in faults[:1]]
        raise DataError(
            f"corpora.{corpus}: {number:,} faults beside {documents:,} documents in {counts['shards']} files, and "
            f"mining.most_faults is {most_faults:g}{''.join(first)}; compare format, text and glob with the files, "
            "mend them, or raise the limit"
        )
