"""What is no file, in the place of one, is told at once; and what `cxprobe check` says of damaged files."""

import os
import random
import runpy
from pathlib import Path

import pytest
from formats import FORMATS, make_sound_project
from mutations import mutate
from typer.testing import CliRunner

from conftest import ROOT, change_params
from cxprobe.cli import app
from cxprobe.errors import CxprobeError
from cxprobe.project.params import load_params
from cxprobe.run.stage import Stage


def _circular(path: Path) -> None:
    path.symlink_to(path.name)


INSTEAD = {
    "a folder": Path.mkdir,
    "a pipe": os.mkfifo,
    "a link to nothing": lambda path: path.symlink_to("nowhere"),
    "a link to itself": _circular,
    "a device": lambda path: path.symlink_to("/dev/zero"),
}
OF_PROJECTS = ("params.yaml", "constructions/", "lexicon/", "prompts/")
READ_BY_CHECK = [name for name, one in FORMATS.items() if one.path.startswith(OF_PROJECTS)]
READ_BY_PATH = [name for name, one in FORMATS.items() if not one.path.startswith("corpus/")]  # a corpus is listed first


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    make_sound_project(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def check() -> tuple[int, list[str]]:
    """Return the exit code of `cxprobe check` and the faults that it printed."""
    done = CliRunner().invoke(app, ["check"])
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return done.exit_code, done.output.splitlines()[: -1 if done.exit_code else None]


@pytest.mark.parametrize("what", INSTEAD)
@pytest.mark.parametrize("name", READ_BY_PATH)
def test_what_is_no_file_is_refused_by_name_at_once(project, name, what):
    path = project / FORMATS[name].path
    path.unlink()
    INSTEAD[what](path)
    with pytest.raises(CxprobeError) as raised:
        FORMATS[name].read(project)
    assert str(raised.value).startswith(str(path))


def test_check_accepts_the_sound_files(project):
    assert check()[0] == 0


@pytest.mark.parametrize("count", range(20))
def test_check_prints_every_fault_of_damaged_files_as_a_line_with_its_file(project, count):
    names = random.Random(f"check-{count}").sample(READ_BY_CHECK, 3)
    for name in names:
        path = Path(FORMATS[name].path)
        path.write_bytes(mutate(path.read_bytes(), FORMATS[name].kind, f"check-{count}-{name}").content)
    code, lines = check()
    assert code in (0, 2)
    for line in lines if code else ():
        assert line.partition(":")[0].partition(",")[0] in {*(one.path for one in FORMATS.values())}, line
        assert line.isprintable()
        assert len(line) < 2_500


@pytest.mark.parametrize("instead", [None, *INSTEAD])
def test_a_stage_that_needs_labels_refuses_what_is_no_file_before_any_work(project, instead):
    path = Path("constructions/toy/labels.tsv")
    path.unlink()
    if instead:
        INSTEAD[instead](path)
    change_params(
        project, project / "params.yaml", lambda params: params["recognition"].update(constructions={"toy": ["mined"]})
    )
    params = load_params()
    script = runpy.run_path(str(ROOT / "pipelines" / "recognition" / "make.py"))
    with pytest.raises(CxprobeError) as raised:
        script["make_recognition"](Stage("make_recognition", "", params))
    assert str(raised.value).startswith(str(path))
    assert not Path("data").exists()


def test_check_survives_what_would_break_the_parser(project):
    """Fifty thousand brackets overflow the stack of ruamel's parser in C, and the process is gone."""
    Path("constructions/toy/items.yaml").write_text("a: " + "[" * 100_000 + "]" * 100_000)
    code, lines = check()
    assert code == 2
    assert "constructions/toy/items.yaml, line 1: is nested more than 100 deep; is a bracket left open?" in lines
