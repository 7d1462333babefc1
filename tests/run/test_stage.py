from pathlib import Path

import pytest

from cxprobe.project.params import load_params
from cxprobe.run.stage import Stage

pytest_plugins = ["toy_stages"]


@pytest.fixture
def stage(workspace) -> Stage:
    return Stage("measure_pairs", "mlm", load_params())


def test_settings_are_the_seed_and_what_is_named(stage):
    assert stage.settings("pairs.evaluate") == {
        "seed": "2022",
        "pairs.evaluate.scheme": "pll",
        "pairs.evaluate.score": "per_token",
        "pairs.evaluate.scores": '["per_token", "sum", "per_character", "given_context", "pmi"]',
    }


def test_settings_of_two_parts_of_a_section_have_the_same_names(stage):
    generated, mined = (stage.settings(f"recognition.make.{source}") for source in ("generated", "mined"))
    assert generated.keys() == mined.keys()
    assert generated["recognition.make.train_per_label"] == "6"


def test_a_used_file_is_an_input_with_its_md5(stage):
    assert stage.use(Path("input.txt")) == Path("input.txt")
    assert stage.inputs == {"input.txt": "5d41402abc4b2a76b9719d911017c592"}
