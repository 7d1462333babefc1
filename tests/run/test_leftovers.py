from pathlib import Path

import pytest
from ruamel.yaml import YAML
from typer.testing import CliRunner

from conftest import run
from cxprobe.cli import app
from cxprobe.run.leftovers import find_leftovers, remove_leftovers

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


def test_a_project_in_which_all_is_named_has_nothing_left_over(project):
    (project / "params.yaml").write_text(PARAMS.format(models="[kept, gone]"))
    assert find_leftovers() == {}
    assert "nothing is left over" in CliRunner().invoke(app, ["prune"]).stdout


def test_without_yes_a_stage_that_is_gone_is_listed_with_its_outputs_and_nothing_is_removed(project):
    before, lock = files(), Path("dvc.lock").read_bytes()
    assert CliRunner().invoke(app, ["prune"]).stdout.splitlines() == [
        "score_pairs@gone: data/score_pairs/gone, results/score_pairs/gone",
        "nothing was removed; `cxprobe prune --yes` removes all of this",
    ]
    assert (files(), Path("dvc.lock").read_bytes()) == (before, lock)


def test_with_yes_what_is_listed_is_removed_and_the_rest_stays_as_it_was(project):
    write("data/benchmarks/blimp/island.jsonl")
    before, lock = files(), Path("dvc.lock").read_text()
    assert CliRunner().invoke(app, ["prune", "--yes"]).exit_code == 0
    assert files() == before - LEFT
    assert lock.startswith(Path("dvc.lock").read_text())  # the entry that is gone was the last one
    assert "up to date" in run(project, "dvc", "status").stdout
    assert find_leftovers() == {}


def test_outputs_that_another_stage_has_or_that_are_no_data_stay(project):
    content = YAML(typ="safe").load(Path("dvc.lock"))
    [kept, params] = ({"path": path, "md5": "abc", "size": 1} for path in ("data/score_pairs", "data/../params.yaml"))
    content["stages"]["old"] = {"cmd": "true", "outs": [kept, params]}
    YAML().dump(content, Path("dvc.lock"))
    before = files()
    assert find_leftovers()["old"] == []
    remove_leftovers({"old": []})
    assert files() == before
    assert "old" not in Path("dvc.lock").read_text()


def test_a_link_is_removed_and_not_what_it_leads_to(project):
    Path("data/score_pairs/gone").unlink()
    write("elsewhere/features.npy")
    Path("data/score_pairs/gone").symlink_to(Path("elsewhere").resolve())
    remove_leftovers(find_leftovers())
    assert not Path("data/score_pairs/gone").is_symlink()
    assert Path("elsewhere/features.npy").is_file()


def test_a_dvc_yaml_with_a_fault_is_told_in_dvcs_words_and_removes_nothing(project):
    Path("dvc.yaml").write_text("stages: {score_pairs: {cmdd: ls}}\n")
    before = files()
    ended = CliRunner().invoke(app, ["prune", "--yes"])
    assert ended.exit_code == 2
    assert files() == before
