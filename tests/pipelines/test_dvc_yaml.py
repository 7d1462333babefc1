"""dvc.yaml is code: its stages, scripts, sections and dependencies must say the same as the scripts themselves."""

from pathlib import Path
from typing import get_args

import pytest
from ruamel.yaml import YAML

from conftest import ROOT
from cxprobe.params import BuildSplits, Params, Source
from test_house import PACKAGE, ROOMS, imports

STAGES = YAML(typ="safe").load(ROOT / "dvc.yaml")["stages"]
# What passes values through and makes no numbers: mending it must not re-run hours of extraction.
PLUMBING = {"errors", "mining_params", "params", "prompting_params", "schema", "stage", "tracking"}


def outputs(stage: dict) -> list[str]:
    """Return the paths of all that a stage writes; those with settings of their own are mappings of one key."""
    written = [out for kind in ("outs", "metrics", "plots") for out in stage.get(kind, [])]
    return [out if isinstance(out, str) else next(iter(out)) for out in written]


def closure(script: Path) -> set[str]:
    """Return the modules and rooms that a script needs, directly or through others."""
    found: set[str] = set()
    pending = imports(script)
    while pending:
        name = pending.pop()
        if name in found | PLUMBING:
            continue
        found.add(name)
        files = (PACKAGE / name).glob("*.py") if name in ROOMS else [PACKAGE / f"{name}.py"]
        pending |= {needed for file in files for needed in imports(file)}
    return found


@pytest.mark.parametrize("stage", STAGES)
def test_a_stage_depends_on_its_script_and_on_exactly_the_modules_that_make_its_numbers(stage):
    script = f"pipelines/{stage}.py"
    needed = {f"src/cxprobe/{name}" if name in ROOMS else f"src/cxprobe/{name}.py" for name in closure(ROOT / script)}
    declared = {dep for dep in STAGES[stage]["deps"] if dep.startswith(("src/", "pipelines/"))}
    assert declared == needed | {script}


@pytest.mark.parametrize("stage", STAGES)
def test_one_word_per_step(stage):
    assert STAGES[stage]["cmd"].startswith(f"python pipelines/{stage}.py")
    outs = outputs(STAGES[stage])
    assert {Path(out).parts[1] for out in outs} == {stage}
    assert all(Path(out).parts[0] in ("data", "results") for out in outs)


def test_every_script_is_a_stage_in_the_order_of_the_flow():
    assert {path.stem for path in (ROOT / "pipelines").glob("*.py")} == set(STAGES)
    made: set[str] = set()
    for stage in STAGES.values():
        taken = {Path(dep).parts[1] for dep in stage["deps"] if dep.startswith(("data/", "results/"))}
        assert taken - {"${item.source}", "raw"} <= made  # raw: what people bring
        assert "${item.source}" not in taken or set(get_args(Source)) <= made
        made |= {Path(out).parts[1] for out in outputs(stage)}


# Where a stage runs is not what it computes.
WHERE = {"accelerator", "device", "devices", "engine", "jobs", "num_nodes", "strategy"}


@pytest.mark.parametrize("stage", [stage for stage in STAGES if stage in Params.model_fields])
def test_a_stage_tracks_every_parameter_of_its_section_that_decides_on_numbers(stage):
    leaves = {f"{stage}.{name}" for name in Params.model_fields[stage].annotation.model_fields if name not in WHERE}
    tracked = set(STAGES[stage]["params"])
    assert {name for name in tracked if name.startswith(stage)} in ({stage}, leaves, {f"{stage}.${{item.source}}"})


def test_the_subsets_of_every_source_have_their_size():
    assert set(BuildSplits.model_fields) == set(get_args(Source))


def test_parameters_that_a_stage_tracks_exist():
    for stage in STAGES.values():
        for name in stage.get("params", []):
            section, _, leaf = name.partition(".")
            if section in STAGES and leaf and not leaf.startswith("${item."):
                assert leaf in Params.model_fields[section].annotation.model_fields
            assert section in Params.model_fields


def test_no_uncached_output_switches_the_run_cache_off():
    for name, stage in STAGES.items():
        assert not [
            out for out in stage["outs"] if isinstance(out, dict) and not next(iter(out.values())).get("cache", True)
        ], name
