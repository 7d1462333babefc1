"""What a stage says of labels that are no file."""

import os
from pathlib import Path

import pytest
from stage_work import do_work
from whole_project import change

from cxprobe.errors import CxprobeError
from cxprobe.project.params import load_params

TOY = Path("constructions/toy")


@pytest.mark.parametrize("instead", [None, Path.mkdir, os.mkfifo])
def test_a_stage_that_needs_labels_refuses_what_is_no_file_before_any_work(toy_project, instead):
    path = TOY / "labels.tsv"
    path.unlink()
    if instead:
        instead(path)
    change(toy_project, lambda params: params["recognition"].update(constructions={"toy": ["mined"]}))
    with pytest.raises(CxprobeError) as raised:
        do_work("make", "recognition", load_params())
    assert str(raised.value).startswith(str(path))
    assert not Path("data").exists()
