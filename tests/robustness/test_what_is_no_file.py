"""What `cxprobe check` and stages say of files that are damaged, or are no files at all."""

import os
import runpy
from pathlib import Path

import pytest
from typer.testing import CliRunner

from conftest import ROOT, change_params, write_toy_files
from cxprobe.cli import app
from cxprobe.errors import CxprobeError
from cxprobe.project.params import load_params
from cxprobe.run.stage import Stage

TOY = Path("constructions/toy")


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    write_toy_files(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def check() -> tuple[int, str]:
    """Return the exit code of `cxprobe check` and what it printed."""
    done = CliRunner().invoke(app, ["check"])
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return done.exit_code, done.output


def test_check_tells_every_damaged_file_on_a_line_of_its_own(project):
    assert check()[0] == 0
    damaged = {
        TOY / "items.yaml": b"a: [",
        TOY / "pairs.yaml": b"a: caf\xe9\n",
        TOY / "scenarios.yaml": "a: 1".encode("utf-16"),
        TOY / "grammars" / "train.cfg": b"S -> \n->",
        Path("prompts/inference.yaml"): b"a: 1\na: 2\n",
    }
    for path, content in damaged.items():
        path.write_bytes(content)
    Path("lexicon/people.yaml").unlink()
    Path("lexicon/people.yaml").mkdir()
    code, said = check()
    assert code == 2
    for path in (*damaged, Path("lexicon/people.yaml")):
        assert any(line.startswith((f"{path}:", f"{path},")) for line in said.splitlines()), f"{path}: {said}"


@pytest.mark.parametrize("instead", [None, Path.mkdir, os.mkfifo])
def test_a_stage_that_needs_labels_refuses_what_is_no_file_before_any_work(project, instead):
    path = TOY / "labels.tsv"
    path.unlink()
    if instead:
        instead(path)
    change_params(
        project, project / "params.yaml", lambda params: params["recognition"].update(constructions={"toy": ["mined"]})
    )
    script = runpy.run_path(str(ROOT / "pipelines" / "make" / "recognition.py"))
    with pytest.raises(CxprobeError) as raised:
        script["make_recognition"](Stage("make_recognition", "", load_params()))
    assert str(raised.value).startswith(str(path))
    assert not Path("data").exists()
