"""Small stages of every kind for the tests, with parameters of their own."""

from dataclasses import replace
from pathlib import Path

import pandas as pd
from matplotlib.figure import Figure

from cxprobe.files.schema import Closed
from cxprobe.lm.params import ModelFacts
from cxprobe.run.record import Trial
from cxprobe.run.stage import JudgedRun, Outcome, Stage

FACTS = ModelFacts(name="models/tiny", kind="masked", parameters=1234, weights="sha256 abc")
BLIND = ModelFacts(name="the shorter one", kind="blind", parameters=None, weights="", state="none")
TWIN = replace(FACTS, weights="random, seed 1, of sha256 abc", state="random")


class Subsets(Closed):
    per_label: int


class BuildWords(Closed):
    mined: Subsets
    generated: Subsets


class FitProbes(Closed):
    C: float
    jobs: int
    names: list[str]
    revision: str | None


class ModelSpec(Closed):
    name: str
    dtype: str


class ToyParams(Closed):
    seed: int
    models: dict[str, ModelSpec]
    build_words: BuildWords
    fit_probes: FitProbes


def load_toy_params() -> ToyParams:
    return ToyParams.model_validate(
        {
            "seed": 7,
            "models": {"tiny": {"name": "models/tiny", "dtype": "float32"}},
            "build_words": {"mined": {"per_label": 3}, "generated": {"per_label": 5}},
            "fit_probes": {"C": 1.0, "jobs": 2, "names": ["a", "b"], "revision": None},
        }
    )


def figure() -> Figure:
    drawn = Figure()
    drawn.subplots().plot([1, 2])
    return drawn


def fit_probes(stage: Stage[ToyParams]) -> Outcome:
    """A stage that measures, with a search."""
    stage.use(Path("input.txt"))
    return Outcome(
        counts={"probes": 1_234_567, "accuracy": 1 / 3},
        series={"loss": [(0, 0.5), (1, 0.25)]},
        tables={"settings": pd.DataFrame({"layer": [0], "C": [1 / 3]})},
        figures={"figures/history": figure()},
        facts={"weights": "sha256 abc"},
        trials=[
            Trial("layer 0, trial 0", {"accuracy": 0.75}, {"C": "0.1"}, "FINISHED"),
            Trial("layer 0, trial 1", {}, {"C": "9.0"}, "FAILED"),
        ],
    )


def judged_run(
    stage: Stage[ToyParams],
    construction: str = "toy",
    model: str = "tiny",
    source: str = "written",
    facts: ModelFacts = FACTS,
) -> JudgedRun:
    return JudgedRun(
        model=model,
        facts=facts,
        construction=construction,
        source=source,
        dataset=stage.use(Path("input.txt")),
        items=4,
        metrics={"accuracy": 2 / 3, "low": 0.5, "high": 0.75, "n": 4},
        series={"by_shots.challenge": [(0, 0.5), (5, 2 / 3)]},
        settings=stage.settings("fit_probes"),
        tables={"accuracy_by_order": pd.DataFrame({"order": ["original"], "accuracy": [2 / 3]})},
        figures={"accuracy": figure()},
    )


def judge_pairs(stage: Stage[ToyParams]) -> Outcome:
    """A stage that judges two constructions."""
    runs = [judged_run(stage, name) for name in ("toy", "all")]
    return Outcome(headline={"meaning": {"accuracy": 2 / 3, "n": 4}}, runs=runs)


def judge_panel(stage: Stage[ToyParams]) -> Outcome:
    """A stage that judges two blind models on two constructions."""
    models = ("shorter", "first-mentioned")
    runs = [judged_run(stage, name, model, facts=BLIND) for model in models for name in ("toy", "all")]
    return Outcome(headline={model: {"accuracy": 0.5, "n": 4} for model in models}, runs=runs)


def report_pairs(stage: Stage[ToyParams]) -> Outcome:
    """A stage that reports, with a run for a series of models."""
    return Outcome(
        tables={"accuracy": pd.DataFrame({"model": ["tiny"]}), "tables/words": pd.DataFrame({"a": [1]})},
        figures={"figures/accuracy": figure()},
        runs=[judged_run(stage, model="tinies", source="series")],
    )
