from pathlib import Path

import pytest
from ruamel.yaml import YAML
from typer.testing import CliRunner

from conftest import run
from cxprobe.cli import app
from cxprobe.run.leftovers import find_leftovers, remove_leftovers, size_of

pytestmark = pytest.mark.pipeline

DVC_YAML = """\
stages:
  score_pairs:
    matrix:
      model: ${pairs.models}
    cmd:
      - mkdir -p data/score_pairs results/score_pairs
      - echo ${item.model} | tee data/score_pairs/${item.model} > results/score_pairs/${item.model}
    outs:
      - data/score_pairs/${item.model}
      - results/score_pairs/${item.model}
"""
PARAMS = """\
recognition: {{models: []}}
scenarios: {{models: []}}
pairs: {{models: {models}}}
prompts: {{llms: [mock]}}
"""
LEFT = {"data/score_pairs/gone", "results/score_pairs/gone"}


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """A project of DVC in which two models were scored, before one of them left params.yaml."""
    folder = tmp_path_factory.mktemp("pruning")
    (folder / "dvc.yaml").write_text(DVC_YAML)
    (folder / "params.yaml").write_text(PARAMS.format(models="[kept, gone]"))
    run(folder, "dvc", "init", "--no-scm", "--quiet")
    run(folder, "dvc", "repro", "--quiet")
    (folder / "params.yaml").write_text(PARAMS.format(models="[kept]"))
    return folder


@pytest.fixture
def project(finished, tmp_path, monkeypatch):
    """A copy of the project, as the working directory."""
    run(finished, "cp", "-r", ".", str(tmp_path / "project"))
    monkeypatch.chdir(tmp_path / "project")
    return tmp_path / "project"


def write(path: str) -> None:
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    Path(path).write_text("content\n")


def files() -> set[str]:
    return {str(path) for folder in ("data", "results") for path in Path(folder).rglob("*") if path.is_file()}


def locked(lock="dvc.lock") -> list[str]:
    return list(YAML(typ="safe").load(Path(lock))["stages"])


def test_a_project_in_which_all_is_named_has_nothing_left_over(project):
    (project / "params.yaml").write_text(PARAMS.format(models="[kept, gone]"))
    found = find_leftovers()
    assert (found.entries, found.paths) == ([], [])
    assert "nothing is left over" in CliRunner().invoke(app, ["prune"]).stdout


def test_what_a_model_leaves_that_has_left_params_yaml_is_found(project):
    found = find_leftovers()
    assert found.entries == ["score_pairs@gone"]
    assert {str(path) for path in found.paths} == LEFT


def test_without_yes_nothing_is_removed(project):
    before, lock = files(), Path("dvc.lock").read_bytes()
    shown = CliRunner().invoke(app, ["prune"]).stdout
    assert shown.splitlines() == [
        "dvc.lock: 1 entries of stages that dvc.yaml does not have",
        "  score_pairs@gone",
        "data/score_pairs/gone  5 bytes",
        "results/score_pairs/gone  5 bytes",
        "nothing was removed; `cxprobe prune --yes` removes all of this, 10 bytes",
    ]
    assert (files(), Path("dvc.lock").read_bytes()) == (before, lock)


def test_with_yes_everything_that_is_listed_is_removed_and_the_rest_stays(project):
    before = files()
    assert CliRunner().invoke(app, ["prune", "--yes"]).exit_code == 0
    assert files() == before - LEFT
    assert locked() == ["score_pairs@kept"]
    assert "up to date" in run(project, "dvc", "status").stdout
    assert find_leftovers().paths == []


def test_the_entries_that_stay_in_the_lock_file_are_as_dvc_wrote_them(project):
    before = Path("dvc.lock").read_text()
    remove_leftovers(find_leftovers())
    after = Path("dvc.lock").read_text()
    assert before.startswith(after)  # the entry that is gone was the last one
    run(project, "dvc", "repro", "--quiet")
    assert Path("dvc.lock").read_text() == after


def test_a_stage_that_is_gone_leaves_its_whole_folder(project):
    write("data/build_splits/toy/sentences.parquet")
    write("results/build_splits/toy/run.json")
    assert {str(path) for path in find_leftovers().paths} - LEFT == {"data/build_splits", "results/build_splits"}


def test_what_people_bring_and_what_git_needs_is_never_removed(project):
    kept = [
        "data/benchmarks/blimp/island.jsonl",
        "data/.scratch/mine_sentences/shard.parquet",
        "data/.gitignore",
        "results/.gitignore",
        "data/mine_sentences/.gitignore",
    ]
    for path in [*kept, "data/mine_sentences/toy/old.parquet"]:
        write(path)
    assert {str(path) for path in find_leftovers().paths} - LEFT == {"data/mine_sentences/toy"}
    remove_leftovers(find_leftovers())
    assert all(Path(path).is_file() for path in kept)


def test_what_a_dvc_file_brings_is_no_leftover(project):
    for name in ("corpus.txt", "old.txt"):
        write(f"data/imports/{name}")
    run(project, "dvc", "add", "--quiet", "data/imports/corpus.txt")
    assert {str(path) for path in find_leftovers().paths} - LEFT == {"data/imports/old.txt"}


def test_answers_of_a_model_that_is_in_no_line_of_work_are_removed(project):
    for model in ("gone", "kept", "mock", "kept-2"):
        write(f"data/.scratch/answers/{model}-0123456789abcdef/0.answers")
    found = find_leftovers()
    assert [path.name.rpartition("-")[0] for path in found.paths if ".scratch" in path.parts] == ["gone", "kept-2"]
    remove_leftovers(found)
    assert len(list(Path("data/.scratch/answers").iterdir())) == 2


def test_answers_of_a_model_of_a_panel_stay_as_long_as_the_panel_is_named(project):
    panel = "models: {rules: {kind: blind, members: {alone: {kind: continuation_alone}}}, kept: {name: x}}\n"
    for model in ("alone", "gone"):
        write(f"data/.scratch/answers/{model}-0123456789abcdef/0.answers")
    for models, left in (("[kept, rules]", ["gone"]), ("[kept]", ["alone", "gone"])):
        (project / "params.yaml").write_text(PARAMS.format(models=models) + panel)
        assert [path.name.rpartition("-")[0] for path in find_leftovers().paths if ".scratch" in path.parts] == left


def test_a_link_is_removed_and_not_what_it_leads_to(project):
    write("elsewhere/features.npy")
    Path("data/measure_recognition").symlink_to(Path("elsewhere").resolve())
    assert size_of(Path("data/measure_recognition")) < 1000
    remove_leftovers(find_leftovers())
    assert not Path("data/measure_recognition").exists()
    assert Path("elsewhere/features.npy").is_file()


def test_a_dvc_yaml_with_a_fault_is_told_in_dvcs_words_and_removes_nothing(project):
    Path("dvc.yaml").write_text("stages: {score_pairs: {cmdd: ls}}\n")
    before = files()
    ended = CliRunner().invoke(app, ["prune", "--yes"])
    assert ended.exit_code == 2
    assert files() == before
