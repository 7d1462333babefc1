import shutil
import subprocess
from pathlib import Path

import pytest
from dvc.repo import Repo
from dvc.utils.serialize import load_yaml
from ruamel.yaml import YAML
from stage_work import MEASURING, has_step

from conftest import ROOT
from cxprobe.cli.init import preset_names, preset_text
from cxprobe.errors import ParamsError
from cxprobe.models.checkpoints import PACKAGED
from cxprobe.models.params import ModelSpec
from cxprobe.project.bundled import bundled_paths
from cxprobe.project.params import load_params
from cxprobe.tasks.registry import TASKS

PRESETS = ROOT / "presets"
BASE = """\
# What base.yaml says about itself.
seed: 1                      # of every draw

# ---- pairs
pairs:
  models: []                 # which
  make: {pairs_per_condition: 2, pseudowords: null}
  score:
    token_budget: 7
    schemes: [pll]           # of masked models
models: {}
"""
SMALL = """\
pairs:
  models: [one]
  score:
    schemes: [pll_word_l2r]
models:
  one: &one {name: models/one}
  one-random: {<<: *one, seed: 1}
"""


@pytest.fixture
def presets(tmp_path: Path) -> Path:
    for name, text in {"base": BASE, "small": SMALL, "large": "extends: [small]\nseed: 2\nmodels: {}\n"}.items():
        (tmp_path / f"{name}.yaml").write_text(text)
    return tmp_path


def test_a_preset_changes_what_it_names_and_keeps_the_rest_with_its_comments(presets):
    text = preset_text("small", presets)
    assert YAML(typ="safe").load(text) == {
        "seed": 1,
        "pairs": {
            "models": ["one"],
            "make": {"pairs_per_condition": 2, "pseudowords": None},
            "score": {"token_budget": 7, "schemes": ["pll_word_l2r"]},
        },
        "models": {"one": {"name": "models/one"}, "one-random": {"name": "models/one", "seed": 1}},
    }
    assert "# of every draw" in text
    assert "# of masked models" in text
    assert "says about itself" not in text
    assert "\n\n# ---- pairs\n" in text


def test_a_preset_may_begin_with_others_and_empty_their_mappings(presets):
    content = YAML(typ="safe").load(preset_text("large", presets))
    assert (content["seed"], content["pairs"]["models"], content["models"]) == (2, ["one"], {})


def test_the_committed_params_are_the_quick_preset():
    assert (ROOT / "params.yaml").read_text() == preset_text("quick", PRESETS)


def test_a_model_of_a_package_is_the_same_by_its_short_name_and_in_the_preset():
    models = YAML(typ="safe").load(preset_text("further", PRESETS))["models"]
    named = {slug: ModelSpec.model_validate(models[slug]) for slug in PACKAGED}
    assert {slug: spec.model_copy(update={"about": PACKAGED[slug].about}) for slug, spec in named.items()} == PACKAGED


PARTS = [(name, part) for name in preset_names(PRESETS) for part in load_yaml(PRESETS / f"{name}.yaml").get("only", {})]


@pytest.mark.parametrize(("name", "part"), PARTS)
def test_a_part_of_a_preset_asks_for_less_of_the_same(name, part, tmp_path):
    whole, less = (YAML(typ="safe").load(preset_text(name, PRESETS, only)) for only in ("", part))
    (tmp_path / "params.yaml").write_text(preset_text(name, PRESETS, part))
    later = part == "figure-4"  # its checkpoints must be converted first, so their names are still empty
    assert bool(faults_of_part(tmp_path / "params.yaml")) == later
    assert "only" not in {*whole, *less}
    for line in ("recognition", "scenarios", "pairs", "prompts"):
        named = {*whole[line]["models"], *whole[line].get("llms", [])}
        asked = {*less[line]["models"], *less[line].get("llms", [])}
        assert asked <= named or later
        assert {*less[line].get("benchmarks", {})} <= {*whole[line].get("benchmarks", {})}


def faults_of_part(path: Path) -> list[str]:
    try:
        load_params(path, ROOT / "constructions")
    except ParamsError as fault:
        return str(fault).split("\n")
    return []


@pytest.fixture(scope="module")
def carried() -> dict[str, set[Path]]:
    """What a clone and a project of `cxprobe init` begin with: files, and the folders that they are in."""
    tracked = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    # A project has the package from elsewhere: its dvc.yaml names no source.
    files = {"a clone": map(Path, tracked.splitlines()), "a project": [*bundled_paths(ROOT), Path("src/cxprobe")]}
    return {name: {part for path in paths for part in (path, *path.parents)} for name, paths in files.items()}


@pytest.mark.parametrize("name", preset_names(PRESETS))
def test_the_plan_of_a_preset_has_every_stage_and_every_input_is_there_or_made_by_another(
    name, carried, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    shutil.copy(ROOT / "dvc.yaml", tmp_path)
    text = preset_text(name, PRESETS)
    (tmp_path / "params.yaml").write_text(text)
    with Repo.init(tmp_path, no_scm=True) as repo:
        stages = repo.index.stages
        made = {Path(out.fs_path).relative_to(tmp_path) for stage in stages for out in stage.outs}
        needed = {Path(dep.fs_path).relative_to(tmp_path) for stage in stages for dep in stage.deps if dep.def_path}
        planned = {stage.addressing for stage in stages}
    sections = {task: YAML(typ="safe").load(text)[task] for task in TASKS}
    once = {f"{step}_{task}" for task in TASKS for step in ("make", "evaluate")}
    items = {
        f"{step}_{task}@{item}"
        for task in TASKS
        for step, key in MEASURING.items()
        if has_step(task, step)
        for item in sections[task].get(key, ())
    }
    assert once | items | {"list_code", "list_files", "write_corpora", "report"} <= planned
    made |= {folder for path in made for folder in path.parents}
    below_made = {path for path in needed for folder in path.parents if folder in made and len(folder.parts) > 1}
    for found in carried.values():
        assert not sorted(needed - found - made - below_made)
