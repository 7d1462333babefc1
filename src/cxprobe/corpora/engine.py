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
from dataclasses import astuple, dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
from datasketch import MinHash, MinHashLSH
from datatrove.executor import LocalPipelineExecutor, SlurmPipelineExecutor
from threadpoolctl import threadpool_limits

from cxprobe.corpora.params import Duplicates, Engine, Mining
from cxprobe.corpora.pattern import Pattern, Wanted
from cxprobe.corpora.readers import CorpusFiles, Unreadable, read_blocks
from cxprobe.corpora.search import NOT_ANNOTATED, REJECTED, Matchers, load_matchers, pipeline_of, search
from cxprobe.errors import DataError
from cxprobe.files.code import computing_code
from cxprobe.files.reading import printable
from cxprobe.files.tables import read_table, write_table
from cxprobe.files.texts import write_table_as
from cxprobe.files.writing import digest_of_files, read_json, scratch_folder, write_json
from cxprobe.seeding import text_id

# The tables of a shard follow from these modules and those that they import: another one must not mine all again.
SHARD_MODULES = ("cxprobe.corpora.search", "cxprobe.tagging")
_loaded: dict[str, dict[str, Matchers]] = {}  # the folder of the last job -> its matchers
_TEXT, _NUMBER = pa.string(), pa.int64()
MATCHED = pa.list_(pa.list_(_NUMBER))
SLOTS = pa.list_(pa.struct({"slot": _TEXT, "start": _NUMBER, "end": _NUMBER, "word": _TEXT, "tag": _TEXT}))
# The columns of a shard's tables.
CANDIDATES = {"text": _TEXT, "url": _TEXT, "start": _NUMBER, "end": _NUMBER, "tags": _TEXT, "words": _NUMBER}
CANDIDATES |= {"marks": pa.list_(_NUMBER), "matched": MATCHED, "slots": SLOTS}
FAULTS = {"shard": _TEXT, "line": _NUMBER, "offset": _NUMBER, "fault": _TEXT}
_WORD = re.compile(r"\w+")


class _QuietExecutor(LocalPipelineExecutor):  # type: ignore[misc]
    """datatrove's executor of this machine; its tasks print errors alone, as it has it for all but the first worker."""

    def _run_for_rank(self, rank: int, local_rank: int = 0, node_rank: int = -1) -> Any:
        return super()._run_for_rank(rank, local_rank + 1, node_rank)


EXECUTORS = {"local": _QuietExecutor, "slurm": SlurmPipelineExecutor}


@dataclass(frozen=True)
class MiningJob:
    """The job of mining a corpus, which is sent to other processes and machines.

    Attributes:
        source: The corpus; each of its files is a task.
        longest_line: Bytes; a longer record is recorded as a fault.
        patterns: Construction -> its pattern.
        pipelines: Construction -> the pipeline of spaCy that tags, or parses.
        most_words: A longer sentence is not a candidate.
        output: The folder of the shards' tables.
    """

    source: CorpusFiles
    longest_line: int
    patterns: Mapping[str, Pattern] = field(repr=False)
    pipelines: Mapping[str, str]
    most_words: int
    output: str


def make_job(source: CorpusFiles, settings: Mining, patterns: Mapping[str, Pattern], scratch: Path) -> MiningJob:
    """Return the job of mining a corpus; its folder in ``scratch`` is named by everything that its output depends on.

    So a run that was killed continues where it stopped, and one with another pattern, pipeline or corpus, or with
    another version of the code that a shard runs, starts from the beginning.
    """
    names = {construction: pipeline_of(pattern, settings) for construction, pattern in patterns.items()}
    job = MiningJob(source, settings.longest_line, patterns, names, settings.most_words, output="")
    contents = []
    for folder in map(Path, sorted(set(names.values()))):
        files = (path for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
        contents.append(digest_of_files(folder, files))
    output = scratch_folder(scratch, astuple(job), contents, computing_code(*SHARD_MODULES))
    # Workers of a cluster run in folders of their own, where a relative path may lead to another pipeline.
    where = {one: str(Path(name).resolve()) if Path(name).is_dir() else name for one, name in names.items()}
    return replace(job, output=str(output.resolve()), pipelines=where)


def run_shards(job: MiningJob, engine: Engine) -> int:
    """Mine every shard that no earlier run has finished, and return their number.

    The markers of finished shards are beside their results in ``job.output``. Every shard is a task of its own, so
    neither the number of workers nor their order can change a result.

    Raises:
        DataError: A shard's storage failed, the engine cannot be used, or shards are not finished.
    """
    logs = str(Path(job.output) / "datatrove")
    pipeline, tasks = [partial(mine_shard, job=job)], len(job.source.shards)
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
        names = ", ".join(job.source.shards[rank] for rank in stays[:5])
        raise DataError(
            f"{len(stays)} of {tasks} shards were not finished, the first: {names}. Logs are in {logs}. Run the stage "
            "again: it goes on with what is left"
        )
    return len(left)


def table_path(job: MiningJob, rank: int, table: str, construction: str = "") -> Path:
    """Return the path of a shard's table: of a construction, or of the corpus (counts, faults)."""
    suffix = "json" if table == "counts" else "parquet"
    return Path(job.output) / ".".join(filter(None, (f"{rank:05d}", construction, table, suffix)))


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
        for records, unreadable in read_blocks(job.source, job.source.shards[rank], job.longest_line):
            size = sum(len(record.text.encode()) for record in records)
            counts[""] += Counter(faults=len(unreadable), documents=len(records), bytes_of_text=size)
            faults += unreadable
            for name, findings in search(records, _loaded[job.output], job.most_words).items():
                counts[name].update(findings.counts)
                candidates[name] += findings.candidates
    write_table(pd.DataFrame(faults, columns=[*FAULTS]), table_path(job, rank, "faults"), FAULTS)
    for name, rows in candidates.items():
        path = table_path(job, rank, "candidates", name)
        write_table(pd.DataFrame(rows, columns=[*CANDIDATES]), path, CANDIDATES)
    write_json(counts, table_path(job, rank, "counts"))
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


def collect(
    job: MiningJob, wanted: Mapping[str, Wanted], settings: Mining, corpus: str, output: Path
) -> dict[str, Any]:
    """Join the shards' tables, write those of each construction into its folder of ``output``, and remove the shards'.

    Writes ``faults.parquet``, and ``sentences.parquet`` of each construction: id, text, url, start, end, tags, matched
    (see `cxprobe.corpora.search.Found`), slots (the words that fill the slots of construction.yaml that the pattern
    names), and one column for each feature. ``sentences.tsv`` is for people and their tools, see `in_context`.

    Returns:
        ``counts``, those of the corpus, and ``found``: construction -> its ``steps`` and ``rejects`` (the most frequent
        reason first), numbers of documents and sentences.

    Raises:
        DataError: As of `check_faults`; or no sentence of a parsed corpus has the annotation that a pattern needs.
    """
    counts, faults = _counts(job, ""), _joined(job, "faults")
    write_table(faults, output / "faults.parquet", FAULTS)
    check_faults(counts, faults, corpus, settings.most_faults)
    found = {}
    for name, one in wanted.items():
        sentences, steps, rejects = _sentences(job, name, one, settings.duplicates)
        absent = [reason for reason in rejects if reason.startswith(NOT_ANNOTATED)]
        if absent and not steps.get("sentences_tagged"):
            raise DataError(
                f"corpora.{corpus}: the sentences that may have {name} are all {absent[0]}, which its pattern.yaml "
                "asks for; change the pattern, name another corpus, or mine files with the bare text (format: text)"
            )
        write_table(sentences, output / name / "sentences.parquet", {"matched": MATCHED, "slots": SLOTS})
        write_table_as(in_context(sentences), str(output / name / "sentences.tsv"))
        found[name] = {"steps": steps, "rejects": rejects}
    # Under another name first: what a kill leaves of it must not pass for finished shards.
    ended = Path(f"{job.output}.ended")
    shutil.rmtree(ended, ignore_errors=True)
    Path(job.output).rename(ended)
    shutil.rmtree(ended)
    return {"counts": dict(sorted(counts.items())), "found": found}


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


def _sentences(
    job: MiningJob, name: str, wanted: Wanted, settings: Duplicates
) -> tuple[pd.DataFrame, dict[str, int], dict[str, int]]:
    """Return the sentences of a construction, and numbers by step and by reason for a rejection.

    They depend neither on the order of the shards nor on who mined them. All candidates are kept in memory, with 3 kB
    or so for each.
    """
    candidates = _joined(job, "candidates", name).sort_values(["url", "start", "text"], ignore_index=True)
    duplicates = find_duplicates(candidates["text"].tolist(), **settings.model_dump())
    kept = candidates.drop(index=[*duplicates]).reset_index(drop=True)
    exact = sum(duplicates.values())
    rejects, steps = {"exact duplicate": exact, "near-duplicate": len(duplicates) - exact}, dict[str, int]()
    for step, number in _counts(job, name).items():
        (rejects if step.startswith(REJECTED) else steps)[step.removeprefix(REJECTED)] = number
    steps |= {"sentences": len(kept), "sequences": kept["tags"].nunique()}
    columns: dict[str, list[Any]] = {"id": [text_id("mined", text) for text in kept["text"]]}
    columns |= {name: kept[name].tolist() for name in ("text", "url", "start", "end", "tags", "matched")}
    columns["slots"] = [[slot for slot in slots if slot["slot"] in wanted.slots] for slots in kept["slots"]]
    for feature_name, feature in wanted.features.items():
        columns[feature_name] = [feature.of(*shape) for shape in zip(kept["words"], kept["marks"], strict=True)]
    table = pd.DataFrame(columns, dtype=object)  # the columns are the same if there are no candidates
    table = table.astype(dict.fromkeys(("start", "end", *wanted.features), "int64"))
    most_first = sorted(rejects.items(), key=lambda reject: (-reject[1], reject[0]))
    return table, dict(sorted(steps.items())), dict(most_first)


def _joined(job: MiningJob, table: str, construction: str = "") -> pd.DataFrame:
    tables = [read_table(table_path(job, rank, table, construction)) for rank in range(len(job.source.shards))]
    return pd.concat(tables, ignore_index=True)


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
        faults: Columns shard, line, offset, fault.
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
