"""Recognition as stages, for a checkpoint, its twin and a panel of blind models: the same way for all of them."""

import importlib.util

import numpy as np
import pandas as pd
import pytest
from tiny_lms import save_lm

from conftest import ROOT
from cxprobe.files.tables import read_table, write_table
from cxprobe.lm.facts import read_model_facts
from cxprobe.lm.params import ModelSpec, NgramFeatures, Panel, Rule
from cxprobe.run.params import load_params
from cxprobe.run.stage import Outcome, Stage

SOURCES = ["generated", "mined"]
PANEL = Panel(
    kind="blind",
    members={
        "letters": NgramFeatures(kind="character_ngrams", lengths=[2, 4]),
        "words": NgramFeatures(kind="word_ngrams", lengths=[1, 1]),
        "places": Rule(kind="positions"),
    },
)
MEMBERS = list(PANEL.members)
NAMES = ("dog", "fox", "king", "horse", "bird", "girl")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with sentences in which "the" stands before the noun or after it: places and letters tell, words not."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    for source in SOURCES:
        rows = []
        for split in ("train", "test"):
            for number in range(60):
                noun, other = rng.choice(NAMES, size=2)
                for label, first in (("positive", f"the {noun}"), ("negative", f"{noun} the")):
                    rows.append((f"{split}-{label}-{number}", f"{first} sings so {other} runs", split, label, number))
        made = pd.DataFrame(rows, columns=["id", "text", "split", "label", "number"])
        made = made.assign(feature="length", draw=0, value=5, cluster_template=made["number"].mod(30).astype(str))
        out = tmp_path / "data" / "build_recognition" / "toy" / source
        write_table(made[["id", "text", "cluster_template"]], out / "sentences.parquet")
        write_table(made[["feature", "split", "draw", "value", "label", "id"]], out / "splits.parquet")
    save_lm(tmp_path / "model", "bert")
    return tmp_path


def stage_of(name: str, tuned: bool = False, **item: str) -> Stage:
    params = load_params(ROOT / "presets" / "embedded.yaml", ROOT / "constructions")
    grid = {"models": ["one", "one-random", "blind"], "constructions": {"toy": SOURCES}}
    one = ModelSpec(name="model", revision=None, sha256=None, dtype="float32")
    jobs = {"jobs": 1, "max_iter": 5000}
    changes = {
        "models": {"one": one, "one-random": one.model_copy(update={"weights": "random", "seed": 1}), "blind": PANEL},
        "grid": params.grid.model_copy(update={"recognition": params.grid.recognition.model_copy(update=grid)}),
        "fit_probes": params.fit_probes.model_copy(update=jobs),
        "tune_probes": params.tune_probes.model_copy(update={"jobs": 1, "enabled": tuned, "trials": 2, "folds": 2}),
    }
    return Stage(name, item, params.model_copy(update=changes))


def run(kind: str, name: str, tuned: bool = False, **item: str) -> Outcome:
    spec = importlib.util.spec_from_file_location(name, ROOT / "pipelines" / kind / f"{name}.py")
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    return getattr(script, name)(stage_of(name, tuned, **item))


def measured(model: str, tuned: bool = False) -> Outcome:
    """Run all measuring stages of a model and return the outcome of fit_probes."""
    item = {"model": model, "construction": "toy"}
    run("measure", "extract_features", **item)
    return run("measure", "fit_probes", tuned, **item)


def test_each_member_of_a_panel_has_folders_and_runs_of_its_own(folder):
    measured("blind")
    judged = run("judge", "judge_probes", model="blind")
    for slug in MEMBERS:
        for stage in ("extract_features", "fit_probes"):
            assert read_model_facts(folder / "data" / stage / "blind" / "toy" / slug).state == "none"
        probes = read_table(folder / "data" / "fit_probes" / "blind" / "toy" / slug / "mined" / "probes.parquet")
        assert set(probes["layer"]) == {0}
        assert (folder / "data" / "judge_probes" / "blind" / slug / "toy" / "mined" / "items.parquet").is_file()
    assert [(run.model, run.source) for run in judged.runs] == [(slug, one) for slug in MEMBERS for one in SOURCES]
    assert {run.facts.kind for run in judged.runs} == {"blind"}
    for rates in judged.headline.values():
        assert set(rates) == set(MEMBERS)
        assert list(rates.values()) == sorted(rates.values(), reverse=True)
        assert rates["places"] == 1.0
        assert rates["words"] == pytest.approx(0.5, abs=0.02)


def test_runs_of_blind_models_and_of_checkpoints_have_the_same_names(folder):
    found = {}
    for model in ("one", "blind"):
        measured(model)
        first, *_ = run("judge", "judge_probes", model=model).runs
        found[model] = (
            list(first.metrics),
            list(first.series),
            list(first.settings),
            list(first.tables),
            list(first.figures),
        )
    assert found["one"] == found["blind"]


def test_probes_of_counts_are_tuned_as_those_of_vectors_are(folder):
    outcome = measured("blind", tuned=True)
    assert outcome.counts["tuned_probes"] == len(MEMBERS) * len(SOURCES)
    assert {f"{slug}/tuning/settings" for slug in MEMBERS} <= set(outcome.tables)
    assert f"{MEMBERS[0]}/tuning/optimisation_history" in outcome.figures
    assert len({trial.name for trial in outcome.trials}) == len(outcome.trials) == 2 * len(MEMBERS) * len(SOURCES)
    settings = read_table(folder / "data" / "fit_probes" / "blind" / "toy" / "places" / "tuning" / "settings.parquet")
    assert settings["source"].tolist() == SOURCES


def test_the_report_holds_every_model_against_the_best_blind_one_and_its_twin(folder):
    for model in ("one", "one-random", "blind"):
        measured(model)
        run("judge", "judge_probes", model=model)
    outcome = run("report", "report_recognition")
    assert list(dict.fromkeys(outcome.tables["accuracy"]["model"])) == ["one", "one-random", *MEMBERS]
    compared = outcome.tables["tables/comparisons"]
    pairs = set(compared[["compares", "first"]].itertuples(index=False, name=None))
    assert pairs == {("best blind", "one"), ("twin", "one")}
    assert set(compared.loc[compared["compares"] == "twin", "second"]) == {"one-random"}
    assert (compared["n"] == 120).all()
    card = outcome.tables["tables/card"].set_index(["source", "model"])
    assert card["solved"].xs("mined").to_dict() == {"letters": True, "words": False, "places": True}
    assert set(outcome.figures) == {"figures/recognition_toy", "figures/cards_toy"}
    for table in outcome.tables.values():
        write_table(table, folder / "out.csv")  # no cell is empty, no number is infinite
    labels = [text.get_text() for text in outcome.figures["figures/recognition_toy"].legends[0].get_texts()]
    assert {"one", "one-random (random weights)", "places (blind)", "best blind (in its style)"} <= set(labels)
