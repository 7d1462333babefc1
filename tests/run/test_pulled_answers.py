"""A colleague who has pulled measures only what is new: in a clone with DVC's data and no store of answers."""

import shutil
import sys

import pytest

from conftest import change_params, commit, make_project, run
from cxprobe.files.writing import SCRATCH

pytestmark = pytest.mark.slow

MEASURED = [
    ("measure/pairs", "measure_pairs", "clm"),
    ("measure/pairs", "measure_pairs", "mlm"),
    ("probe/pairs", "probe_pairs", "mlm"),
    ("measure/prompts", "measure_prompts", "clm"),
    ("measure/scenarios", "measure_scenarios", "mlm"),
    ("measure/recognition", "measure_recognition", "one"),
]
WITHOUT_WEIGHTS = """
import runpy, sys, transformers
transformers.PreTrainedModel.from_pretrained = None
sys.argv[1:] = sys.argv[2:]
runpy.run_path(f"pipelines/{sys.orig_argv[-2]}.py", run_name="__main__")
"""


def test_what_was_pulled_needs_no_weights_and_what_is_new_is_all_that_is_left(tmp_path):
    project = tmp_path / "project"
    make_project(project)
    run(project, "dvc", "repro", *(f"{stage}@{model}" for _, stage, model in MEASURED))
    run(project, "dvc", "remote", "add", "--default", "team", str(tmp_path / "remote"))
    run(project, "dvc", "push")
    commit(project)
    run(tmp_path, "git", "clone", "--quiet", str(project), "clone")
    clone = tmp_path / "clone"
    shutil.copytree(project / "models", clone / "models", dirs_exist_ok=True)  # what git ignores of them
    run(clone, "dvc", "pull", "--allow-missing")  # no other stage has run
    assert not (clone / SCRATCH / "answers").exists()
    for script, stage, model in MEASURED:
        shutil.rmtree(clone / "data" / stage / model)  # as DVC does before a stage runs
        run(clone, sys.executable, "-c", WITHOUT_WEIGHTS, script, model)
        assert run(clone, "dvc", "diff", "--targets", f"data/{stage}/{model}").stdout == ""
    shutil.rmtree(clone / SCRATCH)
    more = {"meaning": 6, "form": 4, "control": 1}
    change_params(clone, clone / "params.yaml", lambda params: params["pairs"]["make"].update(pairs_per_condition=more))
    run(clone, "dvc", "repro", "make_pairs")
    run(clone, "dvc", "repro", "measure_pairs@clm")
