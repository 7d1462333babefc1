"""models/dvc.yaml is code too, and stays apart from the pipeline of the project."""

from pathlib import Path

from ruamel.yaml import YAML
from test_dvc_yaml import STAGES, definition

from conftest import ROOT, run

READ = YAML(typ="safe", pure=True)
MODEL_STAGES = READ.load(ROOT / "models" / "dvc.yaml")["stages"]
PARAMS = READ.load(ROOT / "models" / "params.yaml")
BODIES = {name: stage.get("do", stage) for name, stage in MODEL_STAGES.items()}


def test_every_stage_has_its_script_and_works_in_the_projects_folder():
    for name, stage in BODIES.items():
        assert stage["cmd"].startswith(f"python models/{name}.py")
        assert stage["wdir"] == ".."
        assert f"models/{name}.py" in stage["deps"]


def test_what_a_stage_depends_on_exists():
    for stage in BODIES.values():
        for dep in stage["deps"]:
            assert dep.startswith(("models/corpus", "${", "models/${")) or (ROOT / dep).exists(), dep


def test_nothing_is_in_dvcs_cache():
    for stage in BODIES.values():
        for kind in ("outs", "metrics", "plots"):
            assert all(next(iter(out.values()))["cache"] is False for out in stage.get(kind, []))


def test_the_pipeline_of_the_project_depends_on_nothing_that_is_made_here():
    # A dependency on an output of another dvc.yaml would make `dvc repro` train.
    made = {next(iter(out)) for stage in BODIES.values() for out in stage["outs"]}
    made = {out.replace("${key}", key) for out in made for key in (*PARAMS["pretrain"], *PARAMS["trim_vocabulary"])}
    taken = {Path(dep) for name in STAGES for dep in definition(name)["deps"]}
    assert not [dep for dep in taken if any(dep == Path(out) or Path(out) in dep.parents for out in made)]


def test_dvc_finds_the_stages_and_a_run_of_the_project_leaves_them_alone():
    listed = run(ROOT, "dvc", "stage", "list", "--name-only", "models/dvc.yaml").stdout.split()
    assert {name.rpartition(":")[2] for name in listed} >= {"pretrain@mini-mlm", "pretrain@mini-clm"}
    assert "models/" not in run(ROOT, "dvc", "stage", "list", "--name-only").stdout
