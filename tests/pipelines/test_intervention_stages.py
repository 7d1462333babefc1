"""Interventions as stages: what is kept and counted, and the tables, runs and figures that follow."""

import shutil

import pytest
from stage_work import do_work

from conftest import ROOT, TOY_PROJECT, save_tiny_clm, save_tiny_mlm, write_toy_construction
from cxprobe.files.tables import read_table
from cxprobe.models.params import ModelSpec
from cxprobe.project.params import load_params
from cxprobe.results.params import Everything
from cxprobe.run.stage import Outcome
from cxprobe.tasks.interventions.figures import heat_maps

MODELS = ("clm", "mlm")


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    folder = tmp_path_factory.mktemp("interventions")
    write_toy_construction(folder / "constructions")
    shutil.copytree(TOY_PROJECT / "lexicon", folder / "lexicon")
    shutil.copytree(ROOT / "published", folder / "published")
    save_tiny_clm(folder / "models" / "clm")
    save_tiny_mlm(folder / "models" / "mlm")
    return folder


@pytest.fixture
def folder(saved, tmp_path, monkeypatch):
    shutil.copytree(saved, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(step: str, item: str = "") -> Outcome | None:
    params = load_params(ROOT / "params.yaml", ROOT / "constructions")
    section = params.interventions
    make = section.make.model_copy(update={"train": 8, "test": 8, "learn": None, "regions": "all"})
    measure = section.measure.model_copy(update={"layers": None, "steps": 2, "draws": 2})
    changed = {
        "models": dict.fromkeys(MODELS, Everything()),
        "constructions": ["toy"],
        "make": make,
        "measure": measure,
    }
    models = {name: ModelSpec(name=f"models/{name}", revision=None, sha256=None, dtype="float32") for name in MODELS}
    params = params.model_copy(update={"models": models, "interventions": section.model_copy(update=changed)})
    return do_work(step, "interventions", params.params_of("interventions"), item)


def test_models_of_both_kinds_are_measured_and_evaluated(folder):
    run("make")
    for name in MODELS:
        assert run("measure", name).counts["items"] == 16 + 8  # and neutral sentences
    measured = {name: read_table(folder / f"data/measure_interventions/{name}/effects.parquet") for name in MODELS}
    assert list(dict.fromkeys(measured["clm"]["region"])) == ["animal", "verb"]
    assert list(dict.fromkeys(measured["mlm"]["region"])) == ["animal", "verb", "answer"]
    evaluated = run("evaluate")
    assert not evaluated.faults
    assert {(one.model, one.construction) for one in evaluated.runs} == {(name, "toy") for name in MODELS}
    assert [step for step, _ in evaluated.runs[0].series["effect.by_layer.das"]] == [1, 2]
    rates = read_table(folder / "data/evaluate_interventions/rates.parquet")
    deciding = rates[rates["decides"]]
    assert {(row.model, row.measure) for row in deciding.itertuples()} == {
        (name, measure) for name in MODELS for measure in ("accuracy", "changed", "readable", "selectivity")
    }
    assert (deciding.loc[deciding["measure"] == "changed", "verdict"] != "").all()
    assert deciding["control"].isna().all()  # the toy has no control
    assert {"pythia-1b", *MODELS} <= set(evaluated.tables["tables/beside_published"]["model"])
    labels = {name: name.upper() for name in MODELS}
    assert set(heat_maps(rates, labels)) == {f"toy_{name}" for name in MODELS}


def test_layers_are_kept_and_not_measured_again(folder, monkeypatch):
    run("make")
    counts = run("measure", "clm").counts
    monkeypatch.setattr("cxprobe.tasks.interventions.layers.measure_layer", None)
    assert run("measure", "clm").counts == counts
