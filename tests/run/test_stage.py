from pathlib import Path

import pytest
from toy_stages import load_toy_params

from cxprobe.errors import DataError
from cxprobe.files.schema import Closed
from cxprobe.lm.params import Model
from cxprobe.run.stage import Stage

pytest_plugins = ["tracked_workspace"]

ITEM = {"model": "tiny", "construction": "toy"}


def stage(name="fit_probes", item=ITEM, of=None) -> Stage:
    return Stage(name, item, load_toy_params(), of)


def test_the_folders_of_a_stage_are_named_by_its_item():
    assert stage().data == Path("data/fit_probes/tiny/toy")
    assert stage().results == Path("results/fit_probes/tiny/toy")
    assert stage(item={}).data == Path("data/fit_probes")


def test_an_argument_may_be_no_part_of_the_folders():
    mining = stage("mine_sentences", {"construction": "toy", "corpus": "books"}, of=("construction",))
    assert mining.data == Path("data/mine_sentences/toy")
    assert mining.results == Path("results/mine_sentences/toy")
    assert mining.item["corpus"] == "books"


def test_settings_are_what_decides_on_the_numbers():
    assert stage().settings("fit_probes") == {
        "seed": "7",
        "fit_probes.C": "1.0",
        "fit_probes.names": '["a", "b"]',
        "fit_probes.revision": "null",
    }


def test_settings_of_two_parts_of_a_section_have_the_same_names():
    assert stage().settings("build_words.mined") == {"seed": "7", "build_words.per_label": "3"}
    assert stage().settings("build_words.generated") == {"seed": "7", "build_words.per_label": "5"}


def test_where_the_work_runs_is_kept_apart_from_the_settings():
    assert stage().placement() == {"fit_probes.jobs": "2"}
    assert stage("score_pairs").placement() == {}


def test_the_entry_of_a_model_has_the_same_parameter_names_for_every_model():
    own = stage().own_settings()
    assert (own["model.name"], own["model.dtype"]) == ("models/tiny", "float32")
    assert own["fit_probes.C"] == "1.0"
    assert not any(name.startswith("build_words") for name in own)


def test_the_settings_of_a_measuring_run_say_that_a_model_is_a_twin_or_a_panel():
    class Models(Closed):
        models: dict[str, Model]

    tiny = {"name": "models/tiny", "revision": None, "sha256": None, "dtype": "float32"}
    panel = {"kind": "blind", "members": {"short": {"kind": "shorter"}}}
    models = {"trained": tiny, "twin": tiny | {"weights": "random", "seed": 3}, "rules": panel}
    params = Models.model_validate({"models": models})
    own = {slug: Stage("score_pairs", {"model": slug}, params).own_settings() for slug in models}
    assert (own["trained"]["model.weights"], own["trained"]["model.seed"]) == ("trained", "null")
    assert (own["twin"]["model.weights"], own["twin"]["model.seed"]) == ("random", "3")
    assert own["rules"] == {"model.kind": "blind", "model.members.short.kind": "shorter"}


def test_a_used_file_is_an_input_with_its_md5(workspace):
    used = stage()
    assert used.use(Path("input.txt")) == Path("input.txt")
    assert used.inputs == {"input.txt": "5d41402abc4b2a76b9719d911017c592"}


def test_an_input_that_is_missing_says_what_makes_it(workspace):
    with pytest.raises(DataError, match=r"data/gone\.parquet is missing; `dvc repro` makes it, `dvc pull` fetches it"):
        stage().use(Path("data/gone.parquet"))


@pytest.mark.parametrize("path", ["constructions/toy/labels.tsv", "lexicon/people.yaml", "data/raw/blimp"])
def test_an_input_that_people_write_or_bring_says_that_they_have_to(workspace, path):
    with pytest.raises(DataError, match=rf"{path} is missing; write it, or take what needs it out of `grid`"):
        stage().use(Path(path))
