"""dvc.yaml is code: its stages, scripts, parameters and dependencies must say the same as the scripts themselves."""

import re
from itertools import chain
from pathlib import Path
from typing import get_args

import pytest
from imports import reached, shortest
from ruamel.yaml import YAML

from conftest import ROOT
from cxprobe.run.params import Params

STAGES = YAML(typ="safe").load(ROOT / "dvc.yaml")["stages"]
# What passes values through and makes no numbers: mending it must not run a stage again.
PLUMBING = {"cli", "errors", "params", "progress", "records", "schema", "stages", "tracking"}
# The verb of a stage's name says its kind.
VERBS = {
    "make": {"generate", "list", "mine", "label", "build", "write"},
    "measure": {"extract", "fit", "score", "fill", "ask"},
    "judge": {"judge"},
    "report": {"report"},
}
KINDS = list(VERBS)


def definition(name: str) -> dict:
    """Return what a stage does, with or without the items that it does it for."""
    return STAGES[name].get("do", STAGES[name])


def kind_of(name: str) -> str:
    return next(kind for kind, verbs in VERBS.items() if name.split("_")[0] in verbs)


def script_of(name: str) -> str:
    return f"pipelines/{kind_of(name)}/{name}.py"


def outputs(name: str) -> list[str]:
    """Return the paths of all that a stage writes; those with settings of their own are mappings of one key."""
    stage = definition(name)
    written = [out for kind in ("outs", "metrics", "plots") for out in stage.get(kind, [])]
    return [out if isinstance(out, str) else next(iter(out)) for out in written]


@pytest.mark.parametrize("name", STAGES)
def test_a_stage_depends_on_exactly_the_code_that_its_script_reaches(name):
    script = script_of(name)
    needed = shortest(reached(ROOT / script, PLUMBING)) | {script}
    code = {dep for dep in definition(name)["deps"] if dep.startswith(("src/", "pipelines/"))}
    assert code == needed, "\n".join(sorted(f"- {path}" for path in needed))


@pytest.mark.parametrize("name", STAGES)
def test_a_stage_runs_the_script_of_its_name_in_the_folder_of_its_kind(name):
    assert definition(name)["cmd"].split()[:2] == ["python", script_of(name)]


def test_stages_stand_in_the_order_make_measure_judge_report():
    kinds = [KINDS.index(kind_of(name)) for name in STAGES]
    assert kinds == sorted(kinds)


@pytest.mark.parametrize("name", STAGES)
def test_a_stage_depends_on_data_of_kinds_above_its_own(name):
    for dep in definition(name)["deps"]:
        if match := re.match(r"(?:data|results)/([a-z]+)_", dep):
            maker = kind_of(match[1])
            comes_last = name == "report"
            same_kind = (kind_of(name) in ("make", "measure") or comes_last) and maker == kind_of(name)
            assert KINDS.index(maker) < KINDS.index(kind_of(name)) or same_kind, dep


@pytest.mark.parametrize("name", STAGES)
def test_a_stage_writes_into_folders_of_its_name(name):
    for out in outputs(name):
        assert Path(out).parts[0] in ("data", "results")
        assert Path(out).parts[1].removesuffix(".csv") == name


def test_every_script_is_run_by_a_stage():
    found = {str(path.relative_to(ROOT)) for path in (ROOT / "pipelines").rglob("*.py")}
    assert found == {script_of(name) for name in STAGES}


# A section that has not the name of its stage.
STAGE_OF = {"tune_probes": "fit_probes"}
# Where a stage runs, and what it refuses, is not what it computes.
WHERE = {"accelerator", "devices", "engine", "jobs", "most_faults", "num_nodes", "strategy"}


def sections() -> dict[str, type]:
    """Return the sections of params.yaml that hold the parameters of a stage, with their models."""
    found = {}
    for name, field in Params.model_fields.items():
        models = [one for one in (field.annotation, *get_args(field.annotation)) if hasattr(one, "model_fields")]
        if models and (name in STAGE_OF or any(name.startswith(f"{verb}_") for verb in chain(*VERBS.values()))):
            found[name] = models[0]
    return found


@pytest.mark.parametrize("section", sections())
def test_every_parameter_that_decides_on_numbers_is_tracked_and_no_other(section):
    leaves = {f"{section}.{name}" for name in sections()[section].model_fields if name not in WHERE}
    tracked = {
        name for name in definition(STAGE_OF.get(section, section))["params"] if re.match(rf"{section}(\.|$)", name)
    }
    assert tracked in ({section}, leaves)


def test_parameters_that_a_stage_tracks_exist():
    for name in STAGES:
        for parameter in definition(name).get("params", []):
            section, _, leaf = parameter.partition(".")
            assert section in Params.model_fields
            if section in sections() and leaf:
                assert leaf in sections()[section].model_fields, (name, parameter)


# What decides on how raw answers are judged and drawn; a measuring stage must not know it.
JUDGING = ("judge_", "report_", "series", "lines", "published")


@pytest.mark.parametrize("name", [name for name in STAGES if kind_of(name) in ("make", "measure")])
def test_what_only_judges_or_reports_runs_no_measuring_stage(name):
    stage = definition(name)
    assert not [one for one in [*stage.get("params", []), *stage["deps"]] if one.startswith(JUDGING)]
    assert not [dep for dep in stage["deps"] if "/judge" in dep or "/report" in dep]


def test_only_judging_stages_have_metrics():
    assert {name for name in STAGES if "metrics" in definition(name)} == {
        name for name in STAGES if kind_of(name) == "judge"
    }


def test_no_uncached_output_switches_the_run_cache_off():
    for name in STAGES:
        outs = definition(name)["outs"]
        assert not [out for out in outs if isinstance(out, dict) and not next(iter(out.values())).get("cache", True)]
