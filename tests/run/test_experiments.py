import pytest

from cxprobe.run.experiments import DESCRIPTIONS
from cxprobe.run.record import STAGES, line_of_work


def test_there_is_one_experiment_a_line_of_work_and_one_for_the_other_stages():
    assert list(DESCRIPTIONS) == ["recognition", "scenarios", "ways", "pairs", "prompts", "benchmarks", "stages"]
    lines = ("probes", "scenarios", "ways", "pairs", "replies", "answers", "benchmarks")
    assert {line_of_work(f"judge_{line}") for line in lines} | {STAGES} == set(DESCRIPTIONS)


@pytest.mark.parametrize("name", ["recognition", "scenarios", "pairs", "prompts", "benchmarks"])
def test_a_description_says_what_is_asked_and_what_the_headline_means(name):
    description = DESCRIPTIONS[name]
    assert description.startswith("**")
    assert all(f"`{metric}`" in description for metric in ("accuracy", "low", "high", "n"))
    assert all(f"({said})" in description for said in ("blind", "random weights", "shuffled weights"))
    assert "\n\n" in description
    assert "\n" not in description.replace("\n\n", "")
