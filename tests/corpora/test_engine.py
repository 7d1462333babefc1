import json
import shutil
import subprocess
import sys
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pandas as pd
import psutil
import pyarrow as pa
import pyarrow.parquet
import pytest
import spacy
from fsspec.implementations.memory import MemoryFile, MemoryFileSystem
from servers import wait_until
from small_corpora import ADJECTIVES, CC, corpus_of, job_of, mine, settings_of, write_corpus

from conftest import ROOT
from cxprobe.corpora import engine as engine_module
from cxprobe.corpora.collecting import collect, collect_corpus
from cxprobe.corpora.engine import count_finished, run_shards
from cxprobe.errors import DataError
from cxprobe.files.tables import read_table


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    folder = tmp_path_factory.mktemp("corpus") / "files"
    write_corpus(folder)
    return corpus_of(folder)


@pytest.fixture(scope="module")
def one_run(corpus, toy_tagger, tmp_path_factory):
    folder = tmp_path_factory.mktemp("one-run")
    return folder, *mine(corpus, settings_of(toy_tagger), folder / "scratch", folder / "out")[1:]


def test_each_sentence_is_a_row_with_its_features(one_run):
    _, found, _ = one_run
    table = found.sentences
    assert table.columns.tolist()[:7] == ["id", "text", "url", "start", "end", "tags", "slots"]
    assert table["id"].is_unique
    first = table.iloc[0]
    assert first["text"].split(" ")[first["second_start"]] == "the"
    assert first["distance"] == first["second_start"] - first["first_start"]
    assert (table["length"] == [len(text.split(" ")) for text in table["text"]]).all()
    assert table["url"].is_monotonic_increasing


def test_what_is_broken_is_counted_and_named(one_run):
    folder, found, read = one_run
    faults = read_table(folder / "out/faults.parquet")
    assert read.counts["faults"] == len(faults) == len(read.faults) == 5
    assert faults["shard"].tolist() == [*(f"{n}.json.gz" for n in range(4)), "damaged.json.gz"]
    assert faults["line"].tolist()[:4] == [4] * 4
    rejects = read_table(folder / "out/rejects.parquet")
    assert (
        found.counts["candidates"]
        == len(found.sentences) + found.rejects.set_index("reason")["sentences"].filter(like="duplicate").sum()
    )
    assert len(rejects) == found.rejects.loc[~found.rejects["reason"].str.contains("duplicate"), "sentences"].sum()


@pytest.mark.pipeline
def test_the_number_of_workers_changes_nothing(one_run, corpus, toy_tagger, tmp_path):
    _, other, _ = mine(corpus, settings_of(toy_tagger, workers=2), tmp_path / "scratch", tmp_path / "out")
    pd.testing.assert_frame_equal(one_run[1].sentences, other.sentences)
    assert one_run[1].counts == other.counts
    assert (one_run[0] / "out/rejects.parquet").read_bytes() == (tmp_path / "out/rejects.parquet").read_bytes()


def test_a_worker_in_another_folder_reads_the_tagger_that_the_parameters_name(
    one_run, corpus, toy_tagger, tmp_path, monkeypatch
):
    monkeypatch.chdir(toy_tagger.parent)
    wanted, job = job_of(corpus, settings_of(Path(toy_tagger.name)), tmp_path / "scratch")
    spacy.blank("en").to_disk(tmp_path / toy_tagger.name)  # one of the same name, which tags nothing
    monkeypatch.chdir(tmp_path)  # a worker on another machine may run in any folder
    run_shards(job, settings_of(toy_tagger).engine)
    found = collect(job, CC, wanted[CC], settings_of(toy_tagger).duplicates, tmp_path / "out")
    pd.testing.assert_frame_equal(one_run[1].sentences, found.sentences)


def test_a_finished_shard_is_not_mined_again_and_each_of_the_others_is_reported(corpus, toy_tagger, tmp_path):
    settings = settings_of(toy_tagger)
    _, job = job_of(corpus, settings, tmp_path / "scratch")
    reported: list[int] = []
    assert run_shards(job, settings.engine, reported.append) == sum(reported) == 5
    (Path(job.output) / "datatrove" / "completions" / "00002").unlink()
    before = {path.name: path.stat().st_mtime_ns for path in Path(job.output).glob("*.parquet")}
    assert count_finished(job, settings.engine) == 4
    reported.clear()
    assert run_shards(job, settings.engine, reported.append) == sum(reported) == 1
    after = {path.name: path.stat().st_mtime_ns for path in Path(job.output).glob("*.parquet")}
    assert {name[:5] for name in before if before[name] != after[name]} == {"00002"}


def start_mining(corpus, tagger: Path, folder: Path, workers: int = 1) -> subprocess.Popen:
    """Mine in a process of its own, into the scratch folder of ``folder``."""
    script = folder / "run.py"
    script.write_text(
        "if __name__ == '__main__':\n"  # the workers read this script as well, and need none of it
        "    import sys\n"
        f"    sys.path[:0] = {[str(ROOT / 'tests'), str(ROOT / 'tests/support')]!r}\n"
        "    from pathlib import Path\n"
        "    from small_corpora import corpus_of, job_of, run_shards, settings_of\n"
        f"    settings = settings_of({str(tagger)!r}, workers={workers})\n"
        f"    _, job = job_of(corpus_of({corpus.folder!r}), settings, Path('scratch'))\n"
        "    run_shards(job, settings.engine)\n"
    )
    return subprocess.Popen([sys.executable, str(script)], cwd=folder, stderr=subprocess.PIPE, text=True)


@pytest.mark.pipeline
def test_a_run_that_was_killed_ends_like_one_that_was_not(one_run, corpus, toy_tagger, tmp_path):
    process = start_mining(corpus, toy_tagger, tmp_path)
    wait_until(lambda: list(tmp_path.glob("scratch/*/datatrove/completions/*")), lambda: process.poll() is None)
    process.kill()
    process.communicate()
    run, found, _ = mine(corpus, settings_of(toy_tagger), tmp_path / "scratch", tmp_path / "out")
    assert run < 5
    pd.testing.assert_frame_equal(one_run[1].sentences, found.sentences)
    assert (one_run[0] / "out/faults.parquet").read_bytes() == (tmp_path / "out/faults.parquet").read_bytes()


@pytest.mark.pipeline
@pytest.mark.parametrize("ended", ["worker", "stage"])
def test_no_process_waits_for_one_that_the_system_ended(corpus, one_run, toy_tagger, tmp_path, ended):
    """A pool whose process was ended says so, and a pool whose stage was ended does not stay behind."""
    process = start_mining(corpus, toy_tagger, tmp_path, workers=2)
    workers = workers_of(process)
    (workers[0] if ended == "worker" else process).kill()
    said = process.communicate()[1]
    assert process.returncode
    assert ("fewer engine.workers than 2" in said) == (ended == "worker")
    psutil.wait_procs(workers)
    _, found, _ = mine(corpus, settings_of(toy_tagger), tmp_path / "scratch", tmp_path / "out")
    pd.testing.assert_frame_equal(one_run[1].sentences, found.sentences)


def workers_of(process: subprocess.Popen) -> list[psutil.Process]:
    """Wait until a stage has two workers, which its fork server has started, and return them."""

    def both() -> list[psutil.Process]:
        with suppress(psutil.NoSuchProcess):  # a child that has ended since it was listed
            workers = [worker for child in psutil.Process(process.pid).children() for worker in child.children()]
            return workers if len(workers) == 2 else []
        return []

    return wait_until(both, as_long_as=lambda: process.poll() is None)


def test_a_shard_that_cannot_be_opened_is_a_fault_like_any_other(corpus, toy_tagger, tmp_path):
    settings = settings_of(toy_tagger)
    wanted, job = job_of(corpus, settings, tmp_path / "scratch")
    source = replace(job.source, shards=(*job.source.shards[:1], "gone.json.gz"))
    gone = replace(job, source=source, output=str(tmp_path / "elsewhere"))
    run_shards(gone, settings.engine)
    read = collect_corpus(gone, tmp_path / "out")
    assert read.counts["faults"] == 2
    assert read.faults["fault"].iloc[1].startswith("cannot be opened")
    assert len(collect(gone, CC, wanted[CC], settings.duplicates, tmp_path / "out").sentences)


def test_several_constructions_are_mined_as_each_alone(one_run, corpus, toy_tagger, tmp_path):
    settings = settings_of(toy_tagger)
    wanted, job = job_of(corpus, settings, tmp_path / "scratch", [CC, "let-alone"])
    run_shards(job, settings.engine)
    for name, one in wanted.items():
        found = collect(job, name, one, settings.duplicates, tmp_path / name)
        if name == CC:
            pd.testing.assert_frame_equal(one_run[1].sentences, found.sentences)
            assert one_run[1].counts == found.counts
        else:
            assert found.sentences.empty
    assert (one_run[0] / "out/rejects.parquet").read_bytes() == (tmp_path / CC / "rejects.parquet").read_bytes()
    assert collect_corpus(job, tmp_path).counts == one_run[2].counts


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
def test_a_storage_that_fails_leaves_its_shard_for_the_next_run(
    toy_tagger, tmp_path, monkeypatch, capfd, suffix, call, fault
):
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
        with pytest.raises(DataError, match=rf"^0\.{suffix} was not read .* reset by peer\. Run the stage again"):
            mine(corpus, settings, tmp_path / "scratch", tmp_path / "out")
    assert "Traceback" not in capfd.readouterr().err
    run, found, read = mine(corpus, settings, tmp_path / "scratch", tmp_path / "out")
    assert run == 2
    assert sorted(found.sentences["text"]) == sorted(sentences)
    assert read.faults.empty


@pytest.mark.parametrize(("module", "is_kept"), [("collecting", True), ("search", False), ("segmentation", False)])
def test_finished_shards_are_kept_unless_the_code_that_a_shard_runs_changes(
    corpus, toy_tagger, tmp_path, monkeypatch, module, is_kept
):
    before = job_of(corpus, settings_of(toy_tagger), tmp_path)[1].output
    copies = tuple(tmp_path / path.name for path in engine_module.SHARD_MODULES)
    for path, copy in zip(engine_module.SHARD_MODULES, copies, strict=True):
        copy.write_bytes(path.read_bytes())
    monkeypatch.setattr(engine_module, "SHARD_MODULES", copies)
    with (tmp_path / f"{module}.py").open("a") as file:
        file.write("# a comment\n")
    assert (job_of(corpus, settings_of(toy_tagger), tmp_path)[1].output == before) == is_kept


def test_another_setting_or_tagger_begins_anew_and_another_engine_does_not(corpus, toy_tagger, tmp_path):
    settings = settings_of(toy_tagger)
    shutil.copytree(toy_tagger, tmp_path / "other")
    (tmp_path / "other" / "note.txt").write_text("retrained")
    changed = (
        settings,
        settings_of(toy_tagger, workers=2),
        settings.model_copy(update={"most_words": 7}),
        settings_of(tmp_path / "other"),
    )
    outputs = [Path(job_of(corpus, other, tmp_path)[1].output).name for other in changed]
    assert outputs[0] == outputs[1]
    assert len(set(outputs)) == 3
