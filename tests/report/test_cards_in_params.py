import pytest

from conftest import ROOT
from cxprobe.files.schema import faults_of
from cxprobe.run.params import Report, load_params


@pytest.mark.parametrize("preset", ["embedded", "pairs", "paper"])
def test_every_preset_says_when_a_data_set_is_solved_without_the_construction(preset):
    assert load_params(ROOT / "presets" / f"{preset}.yaml", ROOT / "constructions").cards.limit == 0.6


@pytest.mark.parametrize(("limit", "bound"), [(0.5, "greater than 0.5"), (1.01, "less than or equal to 1")])
def test_a_limit_is_above_chance_and_an_accuracy(limit, bound):
    assert faults_of(Report, {"limit": limit}) == [f"limit: {limit} is not allowed: input should be {bound}"]
