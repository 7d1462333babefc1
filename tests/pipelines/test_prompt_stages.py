"""What is asked, as stages: made and evaluated, and what is refused."""

import pytest
from stage_work import do_work
from whole_project import runs

from cxprobe.errors import PromptError
from cxprobe.files.tables import read_table
from cxprobe.project.params import load_params
from cxprobe.tasks.prompts.params import AskedOf

pytestmark = pytest.mark.pipeline

BASELINES = {"hypothesis-only", "first-referent"}


def test_models_are_evaluated_on_the_same_items_and_compared_with_baselines(finished_project):
    responses = read_table(finished_project / "data/evaluate_prompts/responses.parquet")
    asked = responses.groupby("model")["item"].agg(set)
    assert asked["hypothesis-only"] | asked["first-referent"] <= asked["mock"]
    parts = runs(finished_project, "prompts", "params.model = 'mock' and tags.role = 'part'")
    assert {one.data.params["shots"] for one in parts} == {"0", "1"}
    results = finished_project / "results/evaluate_prompts"
    assert set(read_table(results / "rates.csv")["model"]) == {"mock", *BASELINES}
    assert set(read_table(results / "comparisons.csv")["first"]) == {"mock"}


def test_a_model_for_which_no_question_is_left_is_refused(project, monkeypatch):
    monkeypatch.chdir(project)
    params = load_params()
    asked = {"mock": AskedOf(sets=["absent"], shots=[0], chain_of_thought=None)}
    section = params.prompts.model_copy(update={"llms": asked})
    with pytest.raises(PromptError, match=r"prompts\.llms\.mock: no question is left for this model; change its sets"):
        do_work("ask", "prompts", params.model_copy(update={"prompts": section}), "mock")
