import json
import os
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pytest
import spacy
from datatrove.executor import SlurmPipelineExecutor
from fsspec.implementations.memory import MemoryFile, MemoryFileSystem
from small_corpora import ADJECTIVES, CC, corpus_of, job_of, mine, settings_of, write_corpus

from cxprobe.corpora import engine
from cxprobe.corpora.engine import collect, in_context, run_shards
from cxprobe.corpora.params import Engine
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
