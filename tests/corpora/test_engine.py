import json
import os
import random
import re
import signal
from contextlib import nullcontext
from functools import partial
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pytest
import spacy
from datasketch import MinHash
from datatrove.executor import SlurmPipelineExecutor
from fsspec.implementations.memory import MemoryFile, MemoryFileSystem
from small_corpora import ADJECTIVES, CC, corpus_of, job_of, mine, settings_of, write_corpus

from cxprobe.corpora import engine
from cxprobe.corpora.engine import check_faults, collect, find_duplicates, in_context, run_shards
from cxprobe.corpora.params import Engine
from cxprobe.corpora.readers import list_corpus
from cxprobe.errors import DataError
from cxprobe.files.tables import read_table
from cxprobe.files.texts import read_texts


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    folder = tmp_path_factory.mktemp("corpus") / "files"
    write_corpus(folder)
    return corpus_of(folder)


@pytest.fixture(scope="module")
def one_run(corpus, toy_tagger, tmp_path_factory):
    folder = tmp_path_factory.mktemp("one-run")
    return folder, *mine(corpus, settings_of(toy_tagger), folder / "scratch", folder / "out")


def test_each_sentence_is_a_row_with_its_features(one_run):
    _, table, *_ = one_run
    assert table.columns.tolist()[:8] == ["id", "text", "url", "start", "end", "tags", "matched", "slots"]
    assert table["id"].is_unique
    first = table.iloc[0]
    assert first["text"].split(" ")[first["second_start"]] == "the"
    assert [first["text"][start:end] for start, end in first["matched"]][::2] == ["The", "the"]
    assert first["distance"] == first["second_start"] - first["first_start"]
    assert (table["length"] == [len(text.split(" ")) for text in table["text"]]).all()
    assert table["url"].is_monotonic_increasing


def test_people_read_each_match_in_its_context_with_its_place_and_slots_and_without_control_characters(one_run):
    folder, table, *_ = one_run
    [written] = folder.glob("out/*/sentences.tsv")
    hits = read_texts(written)
    assert hits["match"].str.startswith("The").all()
    assert (hits["left"] + hits["match"] + hits["right"] == hits["text"]).all()
    assert hits[["start", "end"]].astype(int).equals(table[["start", "end"]])
    odd = table.head(1).assign(text="a\x1b[2J\u202e b", matched=[[(0, 1)]], slots=[[{"slot": "N", "word": "a"}]])
    [hit] = in_context(odd).to_dict("records")
    assert (hit["left"], hit["match"], hit["right"], hit["slots"]) == ("", "a", "\\x1b[2J\\u202e b", "N=a")


def test_what_is_broken_is_counted_and_named(one_run):
    _, table, found, counts, faults = one_run
    assert counts["faults"] == len(faults) == 4
    places = [(fault["shard"], fault["line"]) for fault in faults]
    assert places == [(f"{n}.json.gz", 4) for n in range(4)]
    steps, rejects = found["steps"], found["rejects"]
    twins = rejects["exact duplicate"] + rejects["near-duplicate"]
    assert steps["candidates"] == steps["sentences"] + twins == len(table) + twins
    assert steps["sentences_that_pass"] == steps["candidates"] + sum(rejects.values()) - twins


@pytest.mark.pipeline
def test_the_number_of_workers_changes_nothing(one_run, corpus, toy_tagger, tmp_path):
    table, *numbers = mine(corpus, settings_of(toy_tagger, workers=2), tmp_path / "scratch", tmp_path / "out")
    pd.testing.assert_frame_equal(one_run[1], table)
    assert [*one_run[2:]] == numbers


def test_a_worker_in_another_folder_reads_the_tagger_that_the_parameters_name(
    one_run, corpus, toy_tagger, tmp_path, monkeypatch
):
    monkeypatch.chdir(toy_tagger.parent)
    wanted, job = job_of(corpus, settings_of(Path(toy_tagger.name)), tmp_path / "scratch")
    spacy.blank("en").to_disk(tmp_path / toy_tagger.name)  # one of the same name, which tags nothing
    monkeypatch.chdir(tmp_path)  # a worker on another machine may run in any folder
    run_shards(job)
    collect(job, wanted, "books", tmp_path / "out")
    pd.testing.assert_frame_equal(one_run[1], read_table(tmp_path / "out" / CC / "sentences.parquet"))


def test_a_finished_shard_is_not_mined_again(corpus, toy_tagger, tmp_path):
    _, job = job_of(corpus, settings_of(toy_tagger), tmp_path / "scratch")
    assert run_shards(job) == 4
    (job.output / "datatrove" / "completions" / "00002").unlink()
    before = {path.name: path.stat().st_mtime_ns for path in job.output.glob("*.parquet")}
    assert run_shards(job) == 1
    after = {path.name: path.stat().st_mtime_ns for path in job.output.glob("*.parquet")}
    assert {name[:5] for name in before if before[name] != after[name]} == {"00002"}


def test_shards_that_were_being_removed_pass_for_no_finished_ones(corpus, toy_tagger, tmp_path, monkeypatch):
    wanted, job = job_of(corpus, settings_of(toy_tagger), tmp_path / "scratch")
    run_shards(job)
    with monkeypatch.context() as killed, pytest.raises(KeyboardInterrupt):
        killed.setattr(engine.shutil, "rmtree", kill_before_the_last)
        collect(job, wanted, "books", tmp_path / "out")
    assert run_shards(job) == 4


def kill_before_the_last(folder, **_):
    if folder.exists():
        raise KeyboardInterrupt


def with_engine(kind, arguments, corpus, tagger, folder):
    settings = settings_of(tagger).model_copy(update={"engine": Engine(kind=kind, arguments=arguments)})
    return job_of(corpus, settings, folder)[1]


def test_the_arguments_of_an_engine_arrive_and_what_is_not_finished_is_told(corpus, toy_tagger, tmp_path, monkeypatch):
    started = []

    class Waiting(SlurmPipelineExecutor):
        def run(self):
            started.append((self, os.environ["SBATCH_WAIT"]))

    monkeypatch.setitem(engine.EXECUTORS, "slurm", Waiting)
    arguments = {"time": "01:00:00", "partition": "cpu", "workers": 3, "sbatch_args": {"account": "cx"}}
    with pytest.raises(DataError, match=r"4 of 4 shards were not finished, the first: 0\.json\.gz\. "):
        run_shards(with_engine("slurm", arguments, corpus, toy_tagger, tmp_path))
    ((executor, waits),) = started
    asked = executor.get_sbatch_args(executor.tasks)
    assert [asked[name] for name in ("time", "partition", "array", "account")] == ["01:00:00", "cpu", "0-3%3", "cx"]
    assert waits == "1"


@pytest.mark.parametrize("arguments", [{"wrokers": 2}, {"tasks": 2}])
def test_unknown_arguments_of_an_engine_and_those_that_mining_sets_are_refused(corpus, toy_tagger, tmp_path, arguments):
    with pytest.raises(DataError, match=rf"mining\.engine\.arguments: .*argument '{next(iter(arguments))}'"):
        run_shards(with_engine("local", arguments, corpus, toy_tagger, tmp_path))


def write_shard(path: Path, texts: list[str]) -> None:
    if path.suffix == ".parquet":
        pa.parquet.write_table(pa.table({"text": texts}), path)
    else:
        with pa.output_stream(path) as file:  # compressed as its name says
            file.write("\n".join(json.dumps({"text": text}) for text in texts).encode())


class ClientError(Exception):
    """As botocore's, which are no OSError."""


@pytest.mark.parametrize("suffix", ["json", "json.gz", "json.bz2", "json.zst", "json.lz4", "parquet"])
@pytest.mark.parametrize(("call", "fault"), [("open", ClientError), ("read", ConnectionResetError)])
def test_a_storage_that_fails_leaves_its_shard_for_the_next_run(toy_tagger, tmp_path, monkeypatch, suffix, call, fault):
    storage, folder = MemoryFileSystem(), f"memory://{tmp_path.name}"
    sentences = [f"The {one} it was, the {other} it became." for one in ADJECTIVES for other in ADJECTIVES]
    for shard in range(2):
        path = tmp_path / f"{shard}.{suffix}"
        write_shard(path, sentences[shard::2])
        storage.pipe(f"{folder}/{path.name}", path.read_bytes())
    corpus, settings = corpus_of(folder, "parquet" if suffix == "parquet" else "jsonl"), settings_of(toy_tagger)

    def fail(*_, **__):
        raise fault("reset by peer")

    with monkeypatch.context() as broken:
        broken.setattr(*{"open": (MemoryFileSystem, "_open"), "read": (MemoryFile, "read")}[call], fail, raising=False)
        with pytest.raises(
            DataError, match=rf"^0\.{suffix} was not read .*{fault.__name__}: reset by peer; .* run the stage again"
        ):
            mine(corpus, settings, tmp_path / "scratch", tmp_path / "out")
    assert run_shards(job_of(corpus, settings, tmp_path / "scratch")[1]) == 2
    table, _, counts, _ = mine(corpus, settings, tmp_path / "scratch", tmp_path / "out")
    assert sorted(table["text"]) == sorted(sentences)
    assert "faults" not in counts


FAULT = {"shard": "part-0.jsonl", "line": 1, "fault": "no text under the key 'txt'; its keys are text, url"}


@pytest.mark.parametrize(("faults", "refused"), [(0, False), (10, False), (11, True), (90, True), (100, True)])
def test_more_faults_than_the_limit_are_refused(faults, refused):
    message = rf"corpora\.c4: {faults} faults beside {100 - faults} documents .*most_faults is 0\.1; the first: part-0"
    with pytest.raises(DataError, match=message) if refused else nullcontext():
        check_faults({"documents": 100 - faults, "faults": faults, "shards": 3}, [FAULT], "c4", 0.1)


def compared_one_by_one(texts, permutations, threshold):
    """Yield the position of each duplicate, and whether it is exact, by comparing each text with all that stay."""
    staying = list[MinHash]()
    seen = set[tuple[str, ...]]()
    for position, text in enumerate(texts):
        words = tuple(re.findall(r"\w+", text.lower()))
        minhash = MinHash(num_perm=permutations, seed=1)
        minhash.update_batch([" ".join(words[n : n + 3]).encode() for n in range(max(1, len(words) - 2))])
        if words in seen:
            yield position, True
        elif any(known.jaccard(minhash) >= threshold for known in staying):
            yield position, False
        else:
            staying.append(minhash)
        seen.add(words)


@pytest.mark.parametrize(("permutations", "threshold"), [(128, 0.7), (128, 0.3), (64, 0.9), (100, 0.55), (16, 1.0)])
def test_no_near_duplicate_is_missed(permutations, threshold):
    draw = random.Random(1)
    words = [f"w{number}" for number in range(30)]
    texts = []
    for _ in range(40):
        sentence = draw.choices(words, k=draw.randint(1, 40))
        for changes in range(4):
            texts.append(" ".join(sentence))
            for place in draw.choices(range(len(sentence)), k=changes):
                sentence[place] = draw.choice(words)
            sentence.append(draw.choice(words))
    draw.shuffle(texts)
    expected = dict(compared_one_by_one(texts, permutations, threshold))
    assert [*expected.values()].count(False) > 5
    assert find_duplicates(texts, shingle=3, permutations=permutations, threshold=threshold) == expected


pytestmark = pytest.mark.pipeline

SENTENCE = "The taller it was, the older it became."


def mine_files(tagger: Path, folder: Path, longest_line: int = 10_000, **texts: str):
    """Mine files as the stage does, from the listing to the refusal."""
    (folder / "corpus").mkdir()
    for name, content in texts.items():
        (folder / "corpus" / f"{name}.json").write_text(content)
    settings = settings_of(tagger).model_copy(update={"longest_line": longest_line, "most_words": 10**6})
    return mine(corpus_of(folder / "corpus"), settings, folder / "scratch", folder / "out")


def test_an_empty_file_among_others_is_no_fault(toy_tagger, tmp_path):
    table, _, counts, _ = mine_files(toy_tagger, tmp_path, a="", b=json.dumps({"text": SENTENCE, "url": "u"}))
    assert (counts["documents"], "faults" in counts, len(table)) == (1, False, 1)


def test_a_construction_without_a_candidate_has_an_empty_table_with_all_columns(toy_tagger, tmp_path):
    table, *_ = mine_files(toy_tagger, tmp_path, a='{"text": "Nobody came.", "url": "u"}')
    assert (len(table), [*table][-3:]) == (0, ["first_start", "second_start", "distance"])


@pytest.fixture
def at_most_a_minute():
    """The test fails after a minute, also in a system call that hangs."""
    signal.signal(signal.SIGALRM, lambda *_: pytest.fail("it takes more than a minute"))
    signal.alarm(60)
    yield
    signal.alarm(0)


@pytest.mark.pipeline
@pytest.mark.parametrize("tail", ["x" * 3_900_000, " word" * 780_000, "(" * 12_000, "'s" * 450])
def test_a_text_without_a_full_stop_is_rejected_and_the_rest_is_mined(toy_tagger, tmp_path, at_most_a_minute, tail):
    """A longest text that spaCy takes is no shortest time: its tokeniser needs hours for a megabyte of brackets."""
    lines = [json.dumps({"text": text, "url": "u"}) for text in (f"{SENTENCE.removesuffix('.')}{tail}", SENTENCE)]
    table, found, *_ = mine_files(toy_tagger, tmp_path, longest_line=20_000_000, a="\n".join(lines))
    assert SENTENCE in set(table["text"])
    if len(tail) > 1000 and not tail.startswith(" "):
        assert found["rejects"]["too long"] == 1


@pytest.mark.parametrize("put", [os.mkfifo, partial(os.symlink, "nowhere")])
def test_what_is_no_file_is_refused_before_anything_is_read(tmp_path, at_most_a_minute, put):
    (tmp_path / "a.json").write_text("")
    put(tmp_path / "b.json")
    with pytest.raises(DataError, match=r"corpora: .*b\.json is no file but a pipe, "):
        list_corpus(corpus_of(tmp_path))


FAULTS = [
    ("nosuch://bucket/books", "ValueError: Protocol not known: nosuch"),
    ("http://127.0.0.1:9/books", "Cannot connect to host 127"),
]


@pytest.mark.parametrize(("folder", "said"), FAULTS)
def test_a_storage_that_is_out_of_reach_is_refused(at_most_a_minute, folder, said):
    with pytest.raises(DataError, match=f"corpora: .*{said}"):
        list_corpus(corpus_of(folder))
