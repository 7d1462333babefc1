from dataclasses import replace

import pytest

from cxprobe.stages import Stage
from toy_stages import judged_run, load_toy_params

pytest_plugins = ["tracked_workspace"]


@pytest.fixture
def judged(workspace):
    return judged_run(Stage("judge_pairs", {"model": "tiny"}, load_toy_params()))


def test_a_run_may_have_forty_metrics_and_series_together(judged):
    replace(judged, metrics={f"metric {number}": 0.5 for number in range(39)})
    with pytest.raises(ValueError, match=r"the run of tiny on toy, written has 41 metrics and series, at most 40 are"):
        replace(judged, metrics={f"metric {number}": 0.5 for number in range(40)})


@pytest.mark.parametrize("part", ["model", "construction", "source"])
def test_a_run_names_model_construction_and_source(judged, part):
    with pytest.raises(ValueError, match="must not be empty; say 'all' for all of them"):
        replace(judged, **{part: ""})
