import pytest

from conftest import ROOT
from cxprobe.files.schema import faults_of
from cxprobe.run.params import Report, load_params


def test_the_parameters_say_when_a_data_set_is_solved_without_the_construction():
    assert load_params(ROOT / "params.yaml", ROOT / "constructions").report.limit == 0.6


@pytest.mark.parametrize(("limit", "bound"), [(0.5, "greater than 0.5"), (1.01, "less than or equal to 1")])
def test_a_limit_is_above_chance_and_an_accuracy(limit, bound):
    assert faults_of(Report, {"limit": limit}) == [f"limit: {limit} is not allowed: input should be {bound}"]
