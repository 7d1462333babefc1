"""How often each stage runs under some parameters, as DVC itself expands dvc.yaml."""

import shutil

import pytest
from dvc.repo import Repo
from ruamel.yaml import YAML

from conftest import ROOT, run
from cxprobe.errors import DataError
from cxprobe.planning.stages import stage_items

PIPELINE = YAML(typ="safe").load(ROOT / "dvc.yaml")
PRESETS = sorted(path.stem for path in (ROOT / "presets").glob("*.yaml"))


@pytest.fixture(scope="module")
def workspace(tmp_path_factory):
    """A folder with dvc.yaml under DVC."""
    folder = tmp_path_factory.mktemp("workspace")
    shutil.copy(ROOT / "dvc.yaml", folder)
    run(folder, "dvc", "init", "--quiet", "--no-scm")
    return folder


def addresses(params: dict) -> list[str]:
    found = stage_items(PIPELINE, params)
    return [f"{one.stage}@{item}" if item else one.stage for one in found for item in one.items]


@pytest.mark.parametrize("preset", PRESETS)
def test_every_preset_has_the_stages_that_dvc_makes_of_it(workspace, preset):
    shutil.copy(ROOT / "presets" / f"{preset}.yaml", workspace / "params.yaml")
    with Repo(str(workspace)) as repo:
        expected = {stage.name for stage in repo.index.stages}
    assert set(addresses(YAML(typ="safe").load(workspace / "params.yaml"))) == expected


def test_kinds_are_those_of_the_scripts():
    kinds = {one.stage: one.kind for one in stage_items(PIPELINE, YAML(typ="safe").load(ROOT / "params.yaml"))}
    assert kinds["build_pairs"] == "make"
    assert kinds["score_pairs"] == "measure"
    assert kinds["judge_pairs"] == "judge"
    assert kinds["report_pairs"] == "report"


def test_a_stage_without_items_runs_once_and_one_over_nothing_never():
    pipeline = {
        "stages": {
            "once": {"cmd": "python pipelines/make/once.py"},
            "never": {"matrix": {"of": "${grid.none}"}, "cmd": "python pipelines/make/never.py"},
            "crossed": {
                "matrix": {"a": "${grid.two}", "b": "${grid.map}"},
                "cmd": "python pipelines/measure/crossed.py",
            },
        }
    }
    found = stage_items(pipeline, {"grid": {"none": [], "two": ["x", "y"], "map": {"p": 1, "q": 2}}})
    assert [(one.stage, one.items) for one in found] == [("once", ("",)), ("crossed", ("x-p", "x-q", "y-p", "y-q"))]


@pytest.mark.parametrize(
    ("reference", "message"),
    [
        ("${grid.absent}", "the parameters have no grid.absent"),
        ("${grid.number}", "is 3; a list or a mapping is needed"),
        ("two ${grid.number}", "is no reference to parameters"),
    ],
)
def test_a_reference_that_leads_nowhere_is_told_with_its_place(reference, message):
    pipeline = {"stages": {"one": {"matrix": {"of": reference}, "cmd": "python pipelines/make/one.py"}}}
    with pytest.raises(DataError, match=r"dvc\.yaml: stages\.one\.matrix\.of: .*") as fault:
        stage_items(pipeline, {"grid": {"number": 3}})
    assert message in str(fault.value)
