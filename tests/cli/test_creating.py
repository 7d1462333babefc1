"""`create_project` makes a folder in which DVC finds everything, and `upgrade_project` replaces what is cxprobe's."""

import shutil
import subprocess
from contextlib import chdir
from pathlib import Path

import pytest
from dvc.repo import Repo
from ruamel.yaml import YAML

from conftest import ROOT, commit, run
from cxprobe.cli import project as creating
from cxprobe.cli.project import absent_extras, create_project, upgrade_project
from cxprobe.errors import ProjectError
from cxprobe.run.params import load_params
from cxprobe.run.presets import preset_text
from cxprobe.run.project import installed_version

pytestmark = pytest.mark.pipeline


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A project with the smallest preset. Never change it: take `project`, a copy."""
    folder = tmp_path_factory.mktemp("made") / "study"
    create_project(folder, "pairs")
    return folder


@pytest.fixture
def project(made, tmp_path):
    shutil.copytree(made, tmp_path / "study")
    return tmp_path / "study"


def status_of(folder: Path) -> dict:
    """Return what DVC would run, and why."""
    with chdir(folder), Repo() as repo:
        return repo.status()


def test_a_project_has_what_its_preset_asks_for(made):
    assert (made / "params.yaml").read_text() == preset_text("pairs", ROOT / "presets")
    assert load_params(made / "params.yaml", made / "constructions")
    assert sorted(path.name for path in (made / "models").iterdir()) == [
        "LICENSE-APACHE-2.0.txt",
        "mini-clm",
        "mini-mlm",
        "mini-ngrams",
        "tagger",
    ]
    assert not (made / "src").exists()
    assert not (made / "constructions" / "README.md").exists()
    assert (made / "cxprobe.version").read_text() == f"{installed_version()}\n"
    readme = (made / "README.md").read_text()
    assert readme.startswith("# study\n")
    assert "preset `pairs`" in readme
    assert "<" not in readme.replace("<stage>", "")


def test_a_model_comes_with_its_card_and_no_other(tmp_path):
    create_project(tmp_path / "study", "weissweiler2022")
    found = {path.relative_to(tmp_path / "study").as_posix() for path in (tmp_path / "study" / "models").rglob("*")}
    assert {"models/tagger/README.md", "models/tagger/en_ewt_cxprobe/config.cfg"} <= found
    assert not [path for path in found if "mini-mlm" in path or "tiny-clm" in path or "step-" in path]


def test_dvc_resolves_every_stage_and_every_file_that_a_stage_needs_from_the_start_is_there(made):
    status = status_of(made)
    lines = ("recognition", "scenarios", "pairs", "prompts")
    once = {f"{step}_{line}" for step in ("make", "judge", "report") for line in lines}
    assert set(status) == {"list_code", *once, "report", "score_pairs@mini-clm", "score_pairs@mini-mlm"}
    absent = [
        path
        for reasons in status.values()
        for reason in reasons
        if isinstance(reason, dict)
        for path, state in reason.get("changed deps", {}).items()
        if state == "deleted" and not path.startswith("data/")
    ]
    assert absent == []


def test_git_and_dvc_begin_where_there_is_no_repository_and_ignore_what_they_should(made):
    assert (made / ".git").is_dir()
    assert "analytics = false" in (made / ".dvc" / "config").read_text()
    ignored = ["data/make_pairs", "results/report_pairs/tables", "mlruns/mlflow.db"]
    asked = [*ignored, "params.yaml", "constructions", "cxprobe.version"]
    assert run(made, "git", "check-ignore", *asked).stdout.split() == ignored


def test_a_project_inside_of_a_repository_uses_it(tmp_path):
    run(tmp_path, "git", "init", "--quiet")
    create_project(tmp_path / "study", "pairs")
    assert not (tmp_path / "study" / ".git").exists()
    assert "make_pairs" in status_of(tmp_path / "study")


def test_a_repository_that_was_just_made_becomes_the_project(tmp_path):
    run(tmp_path, "git", "init", "--quiet")
    create_project(tmp_path, "pairs")
    assert (tmp_path / "params.yaml").is_file()


@pytest.mark.parametrize("name", ["notes.txt", ".env"])
def test_a_folder_that_is_not_empty_is_left_alone(tmp_path, name):
    (tmp_path / name).write_text("mine")
    with pytest.raises(ProjectError, match=f"is not empty .*{name}"):
        create_project(tmp_path, "pairs")
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_a_file_an_unknown_preset_and_an_absent_git_are_refused_before_anything_is_written(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("mine")
    with pytest.raises(ProjectError, match="is a file"):
        create_project(tmp_path / "file", "pairs")
    with pytest.raises(ProjectError, match="did you mean 'pairs'"):
        create_project(tmp_path / "new", "pair")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ProjectError, match="git is not installed"):
        create_project(tmp_path / "new", "pairs")
    assert not (tmp_path / "new").exists()


def test_the_embedded_corpus_names_the_packages_that_are_installed(project):
    file = project / "corpora" / "documentation.txt"
    own = [line for line in (ROOT / "corpora" / "documentation.txt").read_text().splitlines() if line[:1] != "#"]
    file.write_text("\n".join(["# a comment", *own[:3], "no-such-package"]) + "\n")
    creating._keep_installed(file)
    text = file.read_text()
    assert f"{len([line for line in text.splitlines() if line[:1] != '#'])} of 4" in text
    assert "no-such-package" not in text


def test_extras_that_params_yaml_needs_and_that_are_absent_are_told(project, monkeypatch):
    monkeypatch.setattr(creating, "find_spec", lambda name: None)
    assert absent_extras(project) == []
    shutil.copy(ROOT / "params.yaml", project / "params.yaml")
    assert absent_extras(project) == ["minilm", "prompting"]


def test_an_upgrade_replaces_what_is_cxprobes_and_leaves_what_is_the_teams(project):
    mine = ("params.yaml", "constructions/let-alone/pairs.yaml", "README.md")
    for name in (*mine, "pipelines/pairs/make.py", "dvc.yaml"):
        with (project / name).open("a") as file:
            file.write("\n# of an older version\n")
    (project / "cxprobe.version").write_text("cxprobe 0.0.1, code 0\n")
    commit(project)
    upgrade_project(project)
    changed = run(project, "git", "diff", "--name-only").stdout.split()
    assert sorted(changed) == ["cxprobe.version", "dvc.yaml", "pipelines/pairs/make.py"]
    assert (project / "cxprobe.version").read_text() == f"{installed_version()}\n"
    assert YAML(typ="safe").load(project / "dvc.yaml")["stages"]


def test_an_upgrade_waits_until_git_can_show_what_it_does(project):
    commit(project)
    with (project / "dvc.yaml").open("a") as file:
        file.write("# mine\n")
    before = (project / "dvc.yaml").read_text()
    with pytest.raises(ProjectError, match=r"commit .* first"):
        upgrade_project(project)
    assert (project / "dvc.yaml").read_text() == before


def test_only_a_project_that_was_made_is_upgraded(tmp_path):
    with pytest.raises(ProjectError, match="has not made this project"):
        upgrade_project(tmp_path)


def test_a_folder_that_cannot_be_written_is_told(tmp_path, monkeypatch):
    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device", "study/params.yaml")

    monkeypatch.setattr(creating.shutil, "copyfile", full)
    with pytest.raises(ProjectError, match="cannot be written: No space left on device"):
        create_project(tmp_path / "study", "pairs")


def test_what_was_made_does_not_depend_on_the_folder_of_the_repository(made):
    done = subprocess.run(["grep", "-rIl", str(ROOT), str(made)], capture_output=True, text=True, check=False)
    assert done.stdout == ""
    assert not [path for path in Path(made).rglob("*") if path.is_symlink()]
