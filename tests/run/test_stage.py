from dataclasses import replace
from pathlib import Path

import pytest
from toy_stages import BLIND, FACTS, TWIN, judged_run

from cxprobe.errors import DataError
from cxprobe.lm.params import Member, ModelSpec, Rule
from cxprobe.run.params import load_params
from cxprobe.run.stage import Stage

pytest_plugins = ["toy_stages"]


@pytest.fixture
def stage(workspace) -> Stage:
    return Stage("score_pairs", "mlm", load_params())


def test_the_folders_of_a_stage_are_named_by_its_item(stage):
    assert (stage.data, stage.results) == (Path("data/score_pairs/mlm"), Path("results/score_pairs/mlm"))
    assert replace(stage, name="judge_pairs", item="").data == Path("data/judge_pairs")
    assert stage.line == "pairs"


def test_settings_are_the_seed_and_what_is_named(stage):
    assert stage.settings("pairs.judge") == {
        "seed": "2022",
        "pairs.judge.scheme": "pll",
        "pairs.judge.score": "per_token",
        "pairs.judge.scores": '["per_token", "sum", "per_character", "given_context", "pmi"]',
    }


def test_settings_of_two_parts_of_a_section_have_the_same_names(stage):
    generated, mined = (stage.settings(f"recognition.make.{source}") for source in ("generated", "mined"))
    assert generated.keys() == mined.keys()
    assert generated["recognition.make.train_per_label"] == "6"


def test_a_used_file_is_an_input_with_its_md5(stage):
    assert stage.use(Path("input.txt")) == Path("input.txt")
    assert stage.inputs == {"input.txt": "5d41402abc4b2a76b9719d911017c592"}


def test_an_input_that_is_missing_says_what_makes_it(stage):
    with pytest.raises(DataError, match=r"data/gone\.parquet is missing; `dvc repro` makes it, `dvc pull` fetches it"):
        stage.use(Path("data/gone.parquet"))


@pytest.mark.parametrize("path", ["constructions/toy/labels.tsv", "lexicon/people.yaml", "data/benchmarks/blimp"])
def test_an_input_that_people_write_or_bring_says_that_they_have_to(stage, path):
    with pytest.raises(DataError, match=rf"{path} is missing; write it, or take what needs it out of params\.yaml"):
        stage.use(Path(path))


def test_a_run_may_have_forty_metrics_and_series_together(stage):
    run = judged_run(stage)
    replace(run, metrics={f"metric {number}": 0.5 for number in range(39)})
    with pytest.raises(ValueError, match=r"the run of mlm on toy, own has 41 metrics and series, at most 40 are"):
        replace(run, metrics={f"metric {number}": 0.5 for number in range(40)})


def test_a_run_is_labelled_as_its_model_is_in_figures(stage):
    spec = {"name": "models/tiny", "revision": None, "sha256": None, "dtype": "float32"}
    trained, twin = ModelSpec(**spec), ModelSpec(**spec, weights="random", seed=1)
    for facts, member in (
        (FACTS, Member("mlm", trained, "mlm")),
        (TWIN, Member("mlm", twin, "mlm")),
        (BLIND, Member("mlm", Rule(kind="shorter"), "blind-pairs")),
    ):
        assert judged_run(stage, facts=facts).label == member.label


@pytest.mark.parametrize("part", ["model", "construction", "source"])
def test_a_run_names_model_construction_and_source(stage, part):
    with pytest.raises(ValueError, match="must not be empty; say 'all' for all of them"):
        replace(judged_run(stage), **{part: ""})
