import shutil
from pathlib import Path

import pytest
from imports import PACKAGE, reached
from test_engine import corpus_of, job_of, settings_of, write_corpus

from cxprobe.corpora import engine as jobs

MINING = PACKAGE / "make" / "mining"


@pytest.fixture
def corpus(tmp_path):
    write_corpus(tmp_path / "files", shards=1)
    return corpus_of(tmp_path / "files")


def test_the_modules_that_decide_are_those_that_a_shard_runs():
    own = {path.stem for path in reached(MINING / "shards.py") if path.parent == MINING}
    assert {*own, "shards"} == set(jobs.SHARD_MODULES)


@pytest.mark.parametrize(("module", "is_kept"), [("engine", True), ("collecting", True), ("matching", False)])
def test_finished_shards_are_kept_unless_the_code_that_a_shard_runs_changes(
    corpus, toy_tagger, tmp_path, monkeypatch, module, is_kept
):
    copy = tmp_path / "mining"
    shutil.copytree(MINING, copy)
    monkeypatch.setattr(jobs, "__file__", str(copy / "jobs.py"))
    before = job_of(corpus, settings_of(toy_tagger), tmp_path)[1].output
    with (copy / f"{module}.py").open("a") as file:
        file.write("# a comment\n")
    assert (job_of(corpus, settings_of(toy_tagger), tmp_path)[1].output == before) == is_kept


def test_another_setting_or_tagger_begins_anew_and_another_engine_does_not(corpus, toy_tagger, tmp_path):
    settings = settings_of(toy_tagger)
    shutil.copytree(toy_tagger, tmp_path / "other")
    (tmp_path / "other" / "note.txt").write_text("retrained")
    outputs = [
        Path(job_of(corpus, one, tmp_path)[1].output).name
        for one in (
            settings,
            settings_of(toy_tagger, workers=2),
            settings.model_copy(update={"most_words": 7}),
            settings_of(tmp_path / "other"),
        )
    ]
    assert outputs[0] == outputs[1]
    assert len(set(outputs)) == 3
