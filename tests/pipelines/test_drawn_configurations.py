"""A params.yaml is what people write: valid ones, drawn by a seed, run to the report, whatever they ask for.

CXPROBE_CONFIGURATIONS says how many; the seeds are 0, 1, 2 ...
"""

import os

import pytest
from drawn_project import draw_params, write_workshop
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
        change_params(folder, "{}", lambda content: content.update(draw_params(0, folder / "unused")))
        script("mine_sentences")(Stage("mine_sentences", "toys", load_params()))
    return folder


@pytest.mark.parametrize("seed", range(MANY))
def test_a_valid_configuration_runs_to_the_report(seed, workshop, tmp_path, monkeypatch):
    (tmp_path / "data").mkdir()
    for name in ("constructions", "lexicon", "models", "prompts", "published", "tiny", "data/mine_sentences"):
        (tmp_path / name).symlink_to(workshop / name)
    monkeypatch.chdir(tmp_path)
    change_params(tmp_path, "{}", lambda content: content.update(draw_params(seed, tmp_path)))
    params, faults = load_params(), FoundFaults()
    asked = [name for name in TASKS if not params.params_of(name).nothing_to_do]
    for name in asked:
        TASKS[name].check_params(params, faults)
        TASKS[name].check_shared_files(params, faults)
    assert faults.lines == []
    for name in asked:
        run("make", name, params)
        measure_and_evaluate(params, name)
    write_report(params)
    assert (tmp_path / "results/report/index.html").is_file()
