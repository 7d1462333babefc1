"""A params.yaml is what people write: valid ones, drawn by a seed, run to the report, whatever they ask for.

CXPROBE_CONFIGURATIONS says how many; the seeds are 0, 1, 2 ...
"""

import os

import pytest
from drawn_project import draw_params, empty_params, write_workshop
from stage_work import measure_and_evaluate, run, script, write_report

from conftest import change_params
from cxprobe.constructions.checking import FoundFaults
from cxprobe.project.params import load_params
from cxprobe.run.stage import Stage
from cxprobe.tasks.registry import TASKS

pytestmark = pytest.mark.pipeline

MANY = int(os.environ.get("CXPROBE_CONFIGURATIONS", "20"))


@pytest.fixture(scope="module")
def workshop(tmp_path_factory):
    """A folder with what all configurations share, in which the toy corpus was mined."""
    folder = tmp_path_factory.mktemp("workshop")
    write_workshop(folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        change_params(folder, "{}", lambda content: content.update(empty_params()))
        script("mine_sentences")(Stage("mine_sentences", "toys", load_params()))
    return folder


@pytest.fixture
def folder(workshop, tmp_path, monkeypatch):
    """A folder with what all configurations share, which is the working directory."""
    (tmp_path / "data").mkdir()
    for name in ("constructions", "lexicon", "models", "prompts", "published", "tiny", "data/mine_sentences"):
        (tmp_path / name).symlink_to(workshop / name)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("seed", range(MANY))
def test_a_valid_configuration_runs_to_the_report(seed, folder):
    run_to_the_report(folder, draw_params(seed, folder))


def test_pairs_of_form_alone_run_to_the_report_with_the_checkpoints_of_a_training(folder):
    content = empty_params()
    content["pairs"] |= {"models": {"series": {}}, "constructions": ["subject-verb-agreement"]}
    run_to_the_report(folder, content)


def run_to_the_report(folder, content):
    """Write a params.yaml in which `cxprobe check` finds no fault, and run all stages."""
    change_params(folder, "{}", lambda params: params.update(content))
    params, faults = load_params(), FoundFaults()
    asked = [name for name in TASKS if not params.params_of(name).nothing_to_do]
    for name in asked:
        TASKS[name].check(params, faults)
    assert faults.lines == []
    for name in asked:
        run("make", name, params)
        measure_and_evaluate(params, name)
    write_report(params)
    assert (folder / "results/report/index.html").is_file()
