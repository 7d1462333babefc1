"""Every preset is checked as it is, and runs from end to end with tiny models in the places of the real ones."""

import pytest
from command_line import call
from preset_project import READ, cut_down, leave_out_constructions, save_tiny_models, write_imports
from ruamel.yaml import YAML
from stage_work import measure_and_evaluate, run, write_report

from conftest import ROOT, change_params
from cxprobe.cli.init import create_project, preset_names, preset_text
from cxprobe.files.tables import read_table
from cxprobe.project.params import load_params
from cxprobe.results.params import task_members
from cxprobe.tasks.registry import TASKS

OF_OWN_ITEMS = {"hypothesis-by-template", "hypothesis-tags-by-template"}
OF_REASONING = {"facts-only", "first-referent", "last-referent", "unmentioned-referent"}
OF_CONTEXTS = {"second-sentence-alone"}
PRESETS = preset_names(ROOT / "presets")
OF_PAPERS = {"weissweiler2022", "scivetti2025", "oba2026"}  # checked by tests/docs/test_papers.py


@pytest.fixture
def preset(request, tmp_path, monkeypatch):
    """The content of a preset, which is the params.yaml of the current folder, with the files that it imports."""
    for name in ("constructions", *READ):
        (tmp_path / name).symlink_to(ROOT / name)
    (tmp_path / "params.yaml").write_text(preset_text(request.param, ROOT / "presets"))
    content = YAML(typ="safe").load(tmp_path / "params.yaml")
    write_imports(tmp_path, content)
    monkeypatch.chdir(tmp_path)
    return content


@pytest.mark.pipeline
@pytest.mark.parametrize("preset", sorted({*PRESETS} - OF_PAPERS), indirect=True)
def test_a_preset_has_no_fault_once_its_files_are_imported(preset, monkeypatch):
    leave_out_constructions(monkeypatch)
    code, output = call("check")
    assert (code, "have no fault" in output) == (0, True), output


@pytest.mark.slow
@pytest.mark.parametrize("preset", PRESETS, indirect=True)
def test_a_preset_runs_from_end_to_end_with_tiny_models(preset, tmp_path):
    run_to_the_end(tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("name", PRESETS)
def test_a_project_that_init_makes_runs_from_end_to_end_with_tiny_models(name, tmp_path, monkeypatch):
    folder = tmp_path / "study"
    create_project(folder, name)
    write_imports(folder, YAML(typ="safe").load(folder / "params.yaml"))
    monkeypatch.chdir(folder)
    run_to_the_end(folder)


def run_to_the_end(folder):
    """Run all stages of the project in a folder, which is the working directory, with tiny models."""
    change_params(folder, folder / "params.yaml", cut_down)
    params = load_params()
    asked = [name for name in TASKS if getattr(params, name).constructions]
    assert asked
    for name in asked:
        run("make", name, params)
    save_tiny_models(YAML(typ="safe").load(folder / "params.yaml"))
    for name in asked:
        measure_and_evaluate(params, name)
        members = task_members(params.params_of(name))
        # Some baselines answer a kind of items alone, which not every preset has.
        rates = read_table(folder / "data" / f"evaluate_{name}" / "rates.parquet")
        assert {member.slug for member in members} - {*rates["model"]} <= OF_OWN_ITEMS | OF_REASONING | OF_CONTEXTS
        assert rates.loc[rates["measure"] == "accuracy", "value"].between(0, 1).all()
    write_report(params)
