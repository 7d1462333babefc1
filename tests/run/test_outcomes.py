from dataclasses import replace

import pytest
from toy_stages import BLIND, FACTS, judged_run, load_toy_params

from cxprobe.lm.params import Member, ModelSpec, Rule
from cxprobe.run.stage import Stage

pytest_plugins = ["tracked_workspace"]


@pytest.fixture
def judged(workspace):
    return judged_run(Stage("judge_pairs", {"model": "tiny"}, load_toy_params()))


def test_a_run_may_have_forty_metrics_and_series_together(judged):
    replace(judged, metrics={f"metric {number}": 0.5 for number in range(39)})
    with pytest.raises(ValueError, match=r"the run of tiny on toy, written has 41 metrics and series, at most 40 are"):
        replace(judged, metrics={f"metric {number}": 0.5 for number in range(40)})


@pytest.mark.parametrize("weights", ["trained", "random", "shuffled"])
def test_a_run_is_labelled_as_its_model_is_in_figures(judged, weights):
    seed = None if weights == "trained" else 1
    spec = ModelSpec(name="models/tiny", revision=None, sha256=None, dtype="float32", weights=weights, seed=seed)
    own = replace(judged, facts=replace(FACTS, state=weights))
    assert own.label == Member("tiny", spec, "tiny").label
    assert ("weights" in own.label) == (weights != "trained")


def test_a_run_of_a_blind_model_is_labelled_as_blind(judged):
    member = Member("tiny", Rule(kind="shorter"), "blind-pairs")
    assert replace(judged, facts=BLIND).label == member.label == "tiny (blind)"


@pytest.mark.parametrize("part", ["model", "construction", "source"])
def test_a_run_names_model_construction_and_source(judged, part):
    with pytest.raises(ValueError, match="must not be empty; say 'all' for all of them"):
        replace(judged, **{part: ""})
