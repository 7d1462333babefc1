import os
from pathlib import Path

import pytest

from conftest import commit, run
from cxprobe.project.params import load_params
from cxprobe.run.record import begin
from cxprobe.run.stage import Stage, md5_of

pytest_plugins = ["toy_stages"]

LOCK = "stages: {make_pairs: {outs: [{path: data/make_pairs, md5: %s.dir}]}}"


def lock(workspace: Path, md5: str, modified: int) -> None:
    (workspace / "dvc.lock").write_text(LOCK % md5)
    os.utime(workspace / "dvc.lock", (modified, modified))


def test_a_folder_has_the_md5_that_dvc_has_noted_and_one_that_no_stage_has_written_says_so(workspace):
    (workspace / "data" / "make_pairs" / "toy").mkdir(parents=True)
    assert md5_of(Path("data/make_pairs")) == "not in dvc.lock"
    lock(workspace, "c0ffee", modified=1)
    assert md5_of(Path("data/make_pairs")) == "c0ffee.dir"
    assert md5_of(Path("data/make_pairs/toy")) == "c0ffee.dir/toy"
    assert md5_of(Path("mlruns")) == "not in dvc.lock"
    lock(workspace, "decade", modified=2)
    assert md5_of(Path("data/make_pairs")) == "decade.dir"


def test_the_context_name_the_commit_and_whether_decisive_files_differ_from_it(workspace):
    assert (begin().commit, begin().dirty) == ("unknown", True)
    run(workspace, "git", "init", "--quiet")
    commit(workspace)
    head = run(workspace, "git", "rev-parse", "HEAD").stdout.strip()
    (workspace / "notes.txt").write_text("nothing that numbers follow from")
    assert (begin().commit, begin().dirty) == (head, False)
    (workspace / "src").mkdir()
    (workspace / "src" / "new.py").write_text("")
    assert begin().dirty


@pytest.fixture
def stage(workspace) -> Stage:
    return Stage("measure_pairs", "mlm", load_params())


def test_settings_are_the_seed_and_what_is_named_with_the_same_names_for_two_parts_of_a_section(stage):
    evaluating = stage.settings("pairs.evaluate")
    assert (evaluating["seed"], evaluating["pairs.evaluate.score"]) == ("2022", "per_token")
    generated, mined = (stage.settings(f"recognition.make.{source}") for source in ("generated", "mined"))
    assert generated.keys() == mined.keys()
    assert generated["recognition.make.train_per_label"] == "6"
