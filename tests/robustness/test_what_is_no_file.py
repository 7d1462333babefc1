"""What a stage says of labels that are no file."""

import os
from pathlib import Path

import pytest
from stage_work import do_work

from conftest import change_params, write_toy_files
from cxprobe.errors import CxprobeError
from cxprobe.project.params import load_params

TOY = Path("constructions/toy")


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    write_toy_files(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("instead", [None, Path.mkdir, os.mkfifo])
def test_a_stage_that_needs_labels_refuses_what_is_no_file_before_any_work(project, instead):
    path = TOY / "labels.tsv"
    path.unlink()
    if instead:
        instead(path)
    change_params(
        project, project / "params.yaml", lambda params: params["recognition"].update(constructions={"toy": ["mined"]})
    )
    with pytest.raises(CxprobeError) as raised:
        do_work("make", "recognition", load_params())
    assert str(raised.value).startswith(str(path))
    assert not Path("data").exists()
