"""What is asked in words and by likelihood, as stages: made, scored and evaluated, imported sets among it."""

import shutil

import pandas as pd
import pytest
from ruamel.yaml import YAML
from stage_work import do_work
from tiny_lms import save_lm

from conftest import RECORDED, ROOT, save_tiny_clm, write_toy_construction
from cxprobe.errors import DataError, PromptError
from cxprobe.files.tables import read_table, write_table
from cxprobe.models.language_models import write_model_facts
from cxprobe.models.params import BaselineSet, Classifier, ModelSpec, Rule
from cxprobe.results.params import Everything
from cxprobe.run.record import ModelFacts
from cxprobe.run.stage import Outcome
from cxprobe.tasks.prompts.evaluate import UNDRAWN
from cxprobe.tasks.prompts.params import AskedOf, PromptsStage

REASONING = """Ex Num\tType\tText\tOutput\tOriginal Text\tOption A\tOption B\tOption C\tTarget
7\tBase\tThe older, the calmer. Bo is older than Al. Who is calmer?\t?\t\tAl\tBo\tnot enough info\tB
7\tShort Calibration\tBo is older than Al. Who is calmer?.\t?\t\tAl\tBo\tnot enough info\tC
"""
FREE_FORM = """CxN Type\tNumber\tP/H/R\tAnnotation Targets
toy\t1\tpremise\tThe king drew his cats.
\t1\thypothesis\tThe cats were asleep.
\t1\trelation\t1 (neutral)
\t2\tpremise\tThe king drew his cats.
\t2\thypothesis\tThe king made a picture.
\t2\trelation\t0 (entailment)
"""
MAKE = {
    "files": {"free-form": "data/benchmarks/free.tsv", "official": {"toy": "data/benchmarks/reasoning.tsv"}},
    "inference_prompts": ["paper-2", "paper-3", "paper-1"],
    "reasoning_prompts": ["paper-2", "paper-4"],
    "premises": None,
    "option_orders": "paper",
}
BASELINES = BaselineSet(
    kind="baselines",
    members={
        "hypothesis-only": Classifier(kind="hypothesis_only", folds_by="premise", folds=2),
        "first-referent": Rule(kind="first_referent"),
    },
)


def run(step: str, item: str = "", dtype: str = "float32", sets: list[str] | None = None) -> Outcome:
    """Run a stage's work in the current folder, with the toy construction, a model and baselines."""
    return do_work(step, "prompts", params_of_prompts(dtype, sets), item)


def params_of_prompts(dtype: str = "float32", sets: list[str] | None = None) -> PromptsStage:
    """Return the parameters of the stages."""
    params = PromptsStage.model_validate(YAML(typ="safe").load(RECORDED))
    make = type(params.prompts.make).model_validate(params.prompts.make.model_dump() | MAKE)
    part = AskedOf(sets=sets, shots=[0], chain_of_thought=None)
    asked = {
        "models": dict.fromkeys(("m", "baselines"), Everything()),
        "llms": {"mock": part},
        "constructions": ["toy"],
        "make": make,
    }
    models = {"m": ModelSpec(name="model", revision=None, sha256=None, dtype=dtype), "baselines": BASELINES}
    return params.model_copy(update={"models": models, "prompts": params.prompts.model_copy(update=asked)})


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with the toy construction, the project's prompts, published results and files to import."""
    folder = tmp_path_factory.mktemp("project")
    write_toy_construction(folder / "constructions")
    for name in ("prompts", "published"):
        shutil.copytree(ROOT / name, folder / name)
    (folder / "data/benchmarks").mkdir(parents=True)
    (folder / "data/benchmarks/reasoning.tsv").write_text(REASONING)
    (folder / "data/benchmarks/free.tsv").write_text(FREE_FORM)
    save_tiny_clm(folder / "model")
    return folder


@pytest.fixture(scope="module")
def outcomes(folder):
    """What all stages return, where the model in words is right with one prompt and never with the others."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        outcomes = {"make": run("make")}
        outcomes |= {item: run("measure", item) for item in ("m", "baselines")}
        questions = read_table(folder / "data/make_prompts/toy/questions.parquet").query("shots == 0")  # it is asked
        is_right = questions["prompt"].isin(["paper-3"]) | (
            (questions["kind"] == "reasoning") & (questions["prompt"] == "paper-2")
        )
        replies = pd.DataFrame({"id": questions["id"], "reply": questions["gold"].where(is_right, "?")})
        write_table(replies.assign(failed=False, error=""), folder / "data/ask_prompts/mock/replies.parquet")
        write_model_facts(ModelFacts("mockllm/model", "instructed", None, ""), folder / "data/ask_prompts/mock")
        return outcomes | {"evaluate": run("evaluate")}


def test_every_set_is_counted(folder, outcomes):
    made = outcomes["make"]
    questions = made.tables["questions"]
    assert set(questions["set"]) == {"templatic", "challenge", "reasoning", "free-form", "official"}
    tables = [read_table(folder / f"data/make_prompts/toy/{stem}.parquet") for stem in ("questions", "choices")]
    assert questions["questions"].sum() == made.counts["questions"] == sum(map(len, tables))


def test_models_are_evaluated_on_the_same_items_and_by_the_same_names(folder, outcomes):
    responses = read_table(folder / "data/evaluate_prompts/responses.parquet")
    asked = responses[responses["asked"] != UNDRAWN].groupby("model")["item"].agg(set)
    assert asked["m"] == asked["mock"]
    assert asked["hypothesis-only"] | asked["first-referent"] < asked["m"]  # sets of one premise teach nothing
    evaluated = outcomes["evaluate"]
    runs = {(one.model, one.source): one for one in evaluated.runs if one.construction == "all"}
    assert {source for model, source in runs if model == "m"} == {source for model, source in runs if model == "mock"}
    assert runs["mock", "templatic"].metrics["unparsed.all_settings"] > 0
    assert [shots for shots, _ in runs["m", "templatic"].series["accuracy.by_shots"]] == [0, 1]
    assert not evaluated.faults


def test_real_models_are_compared_with_baselines(outcomes):
    tables = outcomes["evaluate"].tables
    assert set(tables["rates"]["model"]) == {"m", "mock", *BASELINES.members}
    assert set(tables["comparisons"]["first"]) == {"m", "mock"}
    baselines, sets = tables["tables/baselines"], ("templatic", "challenge", "reasoning", "free-form", "official")
    assert set(baselines["model"]) == set(BASELINES.members)
    assert set(baselines["dataset"]) <= {f"toy, {name}" for name in sets}  # one row whatever the setting
    assert (baselines.groupby("dataset")["chance"].nunique() == 1).all()


def test_a_model_for_which_no_question_is_left_is_refused(folder, outcomes, monkeypatch):
    monkeypatch.chdir(folder)
    with pytest.raises(PromptError, match=r"prompts\.llms\.mock: no question is left for this model; change its sets"):
        run("ask", "mock", sets=["absent"])


def test_texts_that_do_not_fit_are_refused_and_nothing_is_written(folder, outcomes, tmp_path, monkeypatch):
    for name in ("constructions", "data"):
        shutil.copytree(folder / name, tmp_path / name)
    shutil.rmtree(tmp_path / "data/measure_prompts/m")
    save_lm(tmp_path / "model", "gpt2")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(DataError, match=r"of \d+ questions are too long for the model, which takes 64 tokens"):
        run("measure", "m")
    assert not (tmp_path / "data/measure_prompts/m").exists()
    shutil.rmtree(tmp_path / "model")
    save_tiny_clm(tmp_path / "model")
    assert run("measure", "m", "bfloat16").counts["unknown"] == 0
