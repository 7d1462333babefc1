"""Evaluation of all models of each task: a fault of one leaves the others, and a task of faults has no run."""

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
def task(request, tmp_path, monkeypatch) -> str:
    """Each task, in an empty folder that has what the project's own stages make constructions from."""
    for name in ("constructions", "lexicon", "models", "prompts", "published"):
        (tmp_path / name).symlink_to(ROOT / name)
    monkeypatch.chdir(tmp_path)
    return request.param


def stage_of(task: str, **section: object) -> Stage:
    """Return a stage of a task whose models are those above."""
    params = load_params(ROOT / "params.yaml", ROOT / "constructions")
    asked = {"models": {slug: {} for slug in MODELS}} | ({"llms": {}} if hasattr(getattr(params, task), "llms") else {})
    changed = getattr(params, task).model_copy(update=asked | section)
    whole = params.model_copy(update={"models": MODELS, task: changed})
    return Stage(f"evaluate_{task}", "", whole.params_of(task))


def test_a_model_that_fails_has_neither_facts_nor_responses_and_the_others_have(task):
    for slug in MODELS:
        folder = Path("data") / f"measure_{task}" / slug
        folder.mkdir(parents=True)
        if slug != "without-facts":
            write_json(asdict(ModelFacts("models/x", "masked", 1, "none")), folder / "model.json")

    def responses_of(member: Member, folder: Path) -> str | None:
        if member.slug == "refused":
            raise DataError(f"{folder}: no")
        return None if member.slug == "not-asked" else f"{member.slug} in {folder.name}"

    evaluated = evaluate_members(stage_of(task), responses_of)
    assert evaluated.responses == {"sound": "sound in sound"}
    assert set(evaluated.facts) == set(evaluated.members) == {"sound"}
    assert set(evaluated.faults) == {"other-state", "without-facts", "refused"}
    fault = "weights of other-state are 'trained', and params.yaml that they are 'random'"
    assert fault in evaluated.faults["other-state"]
    assert "model.json is missing" in evaluated.faults["without-facts"]


def write_made(task: str) -> None:
    """Write what the evaluating script of a task reads of the items before it looks at any model."""
    names, row = getattr(stage_of(task).params, task).constructions, {"id": "1", "item": "1"}
    pair = row | {"context": "", "good": "It is.", "bad": "Is it.", "tests": "form", "words": "real", "variant": "A"}
    pair["control"] = ""
    for name in names:
        made = Path("data") / f"make_{task}"
        if task == "interventions":
            of_item = row | {"construction": name, "tests": "meaning", "control": ""}
            write_table(pd.DataFrame([of_item]), made / "items.parquet")
        if task == "pairs":
            write_table(pd.DataFrame([pair | {"construction": name}]), made / f"{name}.parquet")
        for stem in ("items", "texts") if task == "scenarios" else ("questions", "choices", "answers", "items"):
            write_table(pd.DataFrame([row]), made / name / f"{stem}.parquet")


def test_where_every_model_fails_each_has_its_fault_and_there_is_no_run(task):
    write_made(task)
    spec = importlib.util.spec_from_file_location(f"evaluate_{task}", ROOT / "pipelines" / "evaluate" / f"{task}.py")
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    outcome = getattr(script, f"evaluate_{task}")(
        stage_of(task, **({"probe_models": {}, "contrasts": []} if task == "pairs" else {}))
    )
    assert set(outcome.faults) == set(MODELS)
    assert all("is missing; `dvc repro` makes it" in fault for fault in outcome.faults.values())
    assert (list(outcome.runs), dict(outcome.headline)) == ([], {})
