"""dvc.yaml is code: its stages, scripts, parameters and dependencies must say the same as the scripts themselves."""

import re
import subprocess
from fnmatch import fnmatch
from pathlib import Path

import pytest
from dvc.repo import Repo
from dvc.stage import PipelineStage
from ruamel.yaml import YAML

from conftest import ROOT
from cxprobe.files.code import STEPS
from cxprobe.project.params import whole_params
from cxprobe.tasks.registry import TASKS

PACKAGE = ROOT / "src" / "cxprobe"
STAGES = YAML(typ="safe").load(ROOT / "dvc.yaml")["stages"]


def definition(name: str) -> dict:
    """Return what a stage does, with or without the items that it does it for."""
    return STAGES[name].get("do", STAGES[name])


def script_of(name: str) -> str:
    """Return the arguments of pipelines/run: a script, or a step and a task."""
    return name.replace("_", " ", 1) if name.partition("_")[2] in TASKS else name


def outputs(name: str) -> list[str]:
    """Return the paths of all that a stage writes; those with settings of their own are mappings of one key."""
    written = [out for kind in ("outs", "metrics", "plots") for out in definition(name).get(kind, [])]
    return [out if isinstance(out, str) else next(iter(out)) for out in written]


# Its script lies beside the lists of packages that it reads, and not in pipelines/.
DEMO = "write_corpora"


@pytest.mark.parametrize("name", sorted(STAGES.keys() - {DEMO}))
def test_a_stage_runs_its_script_and_depends_on_the_code_that_it_reaches(name):
    assert definition(name)["cmd"] == f"sh pipelines/run {script_of(name)}"
    assert (ROOT / "pipelines" / f"{script_of(name).split()[0]}.py").is_file()
    code = [dep for dep in definition(name)["deps"] if dep.startswith(("src", "pipelines", "data/list_code"))]
    if name == "list_code":
        assert code == ["pipelines", "src/cxprobe"]
    else:
        assert code == [f"data/list_code/{script_of(name).replace(' ', '/')}.txt"]


def test_every_script_is_run_by_a_stage():
    found = {path.stem for path in ROOT.glob("pipelines/*.py")}
    assert found == {script_of(name).split()[0] for name in STAGES if name != DEMO}


def test_every_step_of_every_task_has_a_stage():
    modules = {(path.stem, path.parent.name) for step in STEPS for path in PACKAGE.glob(f"tasks/*/{step}.py")}
    assert modules == {tuple(name.split("_", 1)) for name in STAGES if name.partition("_")[2] in TASKS}


@pytest.mark.parametrize("name", STAGES)
def test_a_stage_reads_only_its_own_line_of_work_and_writes_into_folders_of_its_name(name):
    line = name.rpartition("_")[2]
    for out in outputs(name):
        assert Path(out).parts[:2] in (("data", name), ("results", name)) or out == f"results/metrics/{line}"
    others = [f"_{other}" for other in TASKS if other != line]
    if line in TASKS:
        assert not [dep for dep in definition(name)["deps"] if dep.endswith(tuple(others))]


def test_make_repro_runs_each_line_by_itself_with_its_own_stages():
    said = subprocess.run(["make", "--dry-run", "repro"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    patterns = re.findall(r"--single-item --glob '(\S+)'", said)
    assert sorted(patterns) == sorted(["*_corpora*", "mine_sentences*", *(f"*_{line}*" for line in TASKS)])
    # DVC waits for its lock, and ends where another process of it reads an output that a stage makes: list_code's.
    assert len(patterns) == said.count("--wait-for-lock")
    for name in STAGES:
        fitting = [pattern for pattern in patterns if fnmatch(name, pattern)]
        assert len(fitting) == (name.rpartition("_")[2] in {*TASKS, "corpora", "sentences"})


@pytest.mark.parametrize("content", [None, "", "{}"])
def test_make_repro_says_what_to_do_where_a_kill_has_emptied_the_locks_of_dvc(content, tmp_path):
    assert "unlocked" in re.findall("^repro: (.*)$", (ROOT / "Makefile").read_text(), re.MULTILINE)[0]
    if content is not None:
        (tmp_path / ".dvc/tmp").mkdir(parents=True)
        (tmp_path / ".dvc/tmp/rwlock").write_text(content)
    done = subprocess.run(["make", "-f", ROOT / "Makefile", "unlocked"], cwd=tmp_path, capture_output=True, text=True)
    assert (done.returncode == 0, "rm .dvc/tmp/rwlock" in done.stderr) == (content != "", content == "")


@pytest.mark.parametrize("name", [name for name in STAGES if not name.startswith(("evaluate", "report"))])
def test_what_only_evaluates_or_reports_runs_no_other_stage(name):
    stage = definition(name)
    later = re.compile(r"(data|results)/(evaluate|report)|published$")
    assert not [dep for dep in stage["deps"] if later.match(dep)]
    params = stage.get("params", [])
    assert not [one for one in params if one in TASKS or one.endswith(".evaluate") or one.startswith("report")]


@pytest.mark.parametrize("name", STAGES)
def test_parameters_that_a_stage_tracks_exist_and_how_it_computes_is_not_tracked(name):
    for parameter in definition(name).get("params", []):
        assert not parameter.startswith(("compute.devices", "compute.jobs", "mining.engine"))
        model = whole_params()
        for key in parameter.split("."):
            if key.startswith("${"):
                break
            assert key in model.model_fields, parameter
            model = model.model_fields[key].annotation
            if not hasattr(model, "model_fields"):
                break


def test_adding_a_model_runs_no_stage_of_another_one():
    for name in STAGES:
        if "matrix" in STAGES[name]:
            assert not [one for one in definition(name)["params"] if one.endswith((".models", ".llms"))]
            assert not set(TASKS) & set(definition(name)["params"])


def test_the_lock_has_no_stage_that_dvc_yaml_lacks():
    with Repo(ROOT) as repo:
        stages = {stage.name for stage in repo.index.stages if isinstance(stage, PipelineStage)}
    dead = YAML(typ="safe").load(ROOT / "dvc.lock")["stages"].keys() - stages
    assert not dead, "take these entries out of dvc.lock, with their outputs below data/ and results/"


def test_only_evaluating_stages_have_metrics_and_no_number_is_in_git():
    evaluating = {name for name in STAGES if "metrics" in definition(name)}
    assert evaluating == {name for name in STAGES if name.startswith("evaluate_")}
    assert {name.partition("_")[2] for name in evaluating} == {*TASKS}
    for name in STAGES:
        outs = [*definition(name)["outs"], *definition(name).get("metrics", ()), *definition(name).get("plots", ())]
        kept = [kept for out in outs if isinstance(out, dict) for kept in out.values()]
        assert all(how.get("cache", True) for how in kept)


def test_dvc_leaves_what_mining_has_found_so_that_a_new_construction_alone_is_mined():
    [found] = [
        out for out in definition("mine_sentences")["outs"] if "mine_sentences" in str(out) and "data" in str(out)
    ]
    assert [*found.values()] == [{"persist": True}]
