"""A params.yaml is what people write: configurations drawn by a seed run to the report, whatever they ask for.

CXPROBE_CONFIGURATIONS says how many; the seeds are 0, 1, 2 ...
"""

import os
import runpy

import pytest
from drawn_project import draw_params, write_workshop
from stage_work import do_work

from conftest import ROOT, change_params
from cxprobe.constructions.checking import FoundFaults
from cxprobe.project.params import Params, load_params
from cxprobe.run.results import write_results
from cxprobe.run.stage import Stage
from cxprobe.tasks.registry import TASKS

pytestmark = pytest.mark.pipeline

MANY = int(os.environ.get("CXPROBE_CONFIGURATIONS", "20"))
SCRIPTS = {name: runpy.run_path(str(ROOT / "pipelines" / f"{name}.py"))[name] for name in ("mine_sentences", "report")}


@pytest.fixture(scope="module")
def workshop(tmp_path_factory):
    """A folder with what all configurations share, in which the toy corpus was mined."""
    folder = tmp_path_factory.mktemp("workshop")
    write_workshop(folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        draw = draw_params(0, folder / "unused")
        change_params(folder, "{}", lambda content: content.update(draw))
        SCRIPTS["mine_sentences"](Stage("mine_sentences", "toys", load_params()))
    return folder


@pytest.mark.parametrize("seed", range(MANY))
def test_a_valid_configuration_runs_to_the_report(seed, workshop, tmp_path, monkeypatch):
    for name in ("constructions", "lexicon", "models", "prompts", "published", "tiny"):
        (tmp_path / name).symlink_to(workshop / name)
    (tmp_path / "data").mkdir()
    (tmp_path / "data/mine_sentences").symlink_to(workshop / "data/mine_sentences")
    monkeypatch.chdir(tmp_path)
    drawn = draw_params(seed, tmp_path)
    change_params(tmp_path, "{}", lambda content: content.update(drawn))
    params = load_params()
    faults = FoundFaults()
    for task in TASKS.values():
        task.check_params(params, faults)
    assert faults.lines == []
    for task in TASKS:
        section = getattr(params, task)
        if params.params_of(task).nothing_to_do:
            continue
        run(params, task, "make")
        for step, entries in (("measure", section.models), ("ask", getattr(section, "llms", ()))):
            for entry in entries:
                run(params, task, step, entry)
        run(params, task, "evaluate")
    stage = Stage("report", "", params)
    write_results(stage, SCRIPTS["report"](stage))
    assert (tmp_path / "results/report/index.html").is_file()


def run(params: Params, task: str, step: str, item: str = "") -> None:
    """Run a stage's work in this process and write its results."""
    outcome = do_work(step, task, params, item)
    assert outcome is not None
    assert not outcome.faults
    write_results(Stage(f"{step}_{task}", item, params), outcome)
