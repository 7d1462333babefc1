"""Judging all models of each line: a model that fails leaves the others judged, and a line of failures has no run."""

import importlib.util
from dataclasses import asdict
from pathlib import Path

import pandas as pd
import pytest

from conftest import ROOT
from cxprobe.errors import DataError
from cxprobe.files.tables import write_table
from cxprobe.files.writing import write_json
from cxprobe.models.params import Member, ModelSpec
from cxprobe.project.params import load_params
from cxprobe.results.members import evaluate_members
from cxprobe.run.record import ModelFacts
from cxprobe.run.stage import Stage
from cxprobe.tasks.registry import TASKS

SPEC = {"name": "models/x", "revision": None, "sha256": None, "dtype": "float32"}
MODELS = {
    "sound": ModelSpec(**SPEC),
    "other-state": ModelSpec(**SPEC, weights="random", seed=1),  # model.json says that it is trained
    "without-facts": ModelSpec(**SPEC),
    "refused": ModelSpec(**SPEC),
    "not-asked": ModelSpec(**SPEC),
}


@pytest.fixture(params=list(TASKS))
def line(request, tmp_path, monkeypatch) -> str:
    """Each task, in an empty folder that has what the project's own stages make constructions from."""
    for name in ("constructions", "lexicon", "models", "prompts", "published"):
        (tmp_path / name).symlink_to(ROOT / name)
    monkeypatch.chdir(tmp_path)
    return request.param


def stage_of(line: str, **section: object) -> Stage:
    """Return a stage of a line whose models are those above."""
    params = load_params(ROOT / "params.yaml", ROOT / "constructions")
    asked = {"models": {slug: {} for slug in MODELS}} | ({"llms": {}} if hasattr(getattr(params, line), "llms") else {})
    changed = getattr(params, line).model_copy(update=asked | section)
    whole = params.model_copy(update={"models": MODELS, line: changed})
    return Stage(f"evaluate_{line}", "", whole.params_of(line))


def test_a_model_that_fails_is_in_neither_facts_nor_judged_and_the_others_are(line):
    for slug in MODELS:
        folder = Path("data") / f"measure_{line}" / slug
        folder.mkdir(parents=True)
        if slug != "without-facts":
            write_json(asdict(ModelFacts("models/x", "masked", 1, "none")), folder / "model.json")

    def judge(member: Member, folder: Path) -> str | None:
        if member.slug == "refused":
            raise DataError(f"{folder}: no")
        return None if member.slug == "not-asked" else f"{member.slug} in {folder.name}"

    judging = evaluate_members(stage_of(line), judge)
    assert judging.judged == {"sound": "sound in sound"}
    assert set(judging.facts) == set(judging.members) == {"sound"}
    assert set(judging.faults) == {"other-state", "without-facts", "refused"}
    assert (
        "weights of other-state are 'trained', and params.yaml that they are 'random'" in judging.faults["other-state"]
    )
    assert "model.json is missing" in judging.faults["without-facts"]


def write_made(line: str) -> None:
    """Write what the judging script of a line reads of the items before it looks at any model."""
    names, row = getattr(stage_of(line).params, line).constructions, {"id": "1", "item": "1"}
    pair = row | {"context": "", "good": "It is.", "bad": "Is it.", "tests": "form", "words": "real", "variant": "A"}
    for name in names:
        made = Path("data") / f"make_{line}"
        if line == "interventions":
            of_item = row | {"construction": name, "tests": "meaning", "control": ""}
            write_table(pd.DataFrame([of_item]), made / "items.parquet")
        if line == "pairs":
            write_table(pd.DataFrame([pair | {"construction": name}]), made / f"{name}.parquet")
        for stem in ("items", "texts") if line == "scenarios" else ("questions", "choices", "answers", "items"):
            write_table(pd.DataFrame([row]), made / name / f"{stem}.parquet")


def test_where_every_model_fails_each_has_its_fault_and_there_is_no_run(line):
    write_made(line)
    step = "evaluate"
    spec = importlib.util.spec_from_file_location(f"{step}_{line}", ROOT / "pipelines" / step / f"{line}.py")
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    outcome = getattr(script, f"{step}_{line}")(stage_of(line, **({"probe_models": {}} if line == "pairs" else {})))
    assert set(outcome.faults) == set(MODELS)
    assert all("is missing; `dvc repro` makes it" in fault for fault in outcome.faults.values())
    assert (list(outcome.runs), dict(outcome.headline)) == ([], {})
