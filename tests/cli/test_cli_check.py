"""`cxprobe check`: every fault of every file at once, in a project's folder without models."""

import shutil

import pytest
from command_line import call
from whole_project import change

from conftest import save_toy_tagger
from cxprobe.project.params import schema_text

NO_FAULT = "params.yaml and the files of constructions/, lexicon/ and prompts/ have no fault"


@pytest.fixture
def folder(toy_project):
    """A project's folder with all that `cxprobe check` reads."""
    change(toy_project, lambda params: params["recognition"]["constructions"].update(toy=["generated", "mined"]))
    return toy_project


def replace(file, old, new):
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new))


def check():
    """Return what is said of faults, without what is written and what is left to do."""
    code, output = call("check")
    others = ("is written anew", "makes its items", "a verdict takes 16, so write more")
    return code, [line for line in output.splitlines() if not line.endswith(others)]


def test_check_lists_the_names_of_models_that_are_still_to_be_written(folder):
    change(folder, lambda params: params["models"].update(later=params["models"]["clm"] | {"name": ""}))
    code, lines = check()
    assert code == 0
    assert lines[1:2] == ["params.yaml: models.later.name: is empty; write it before a task names this model"]


def test_check_notes_that_a_search_over_regularisation_decides_in_the_place_of_the_setting(folder):
    search = {"trials": 2, "folds": 2, "C": {"low": 0.1, "high": 1}, "standardise": [True]}
    change(folder, lambda params: params["recognition"].update(tune=search))
    code, lines = check()
    assert code == 0
    assert any("recognition.tune searches C" in line for line in lines)


@pytest.fixture
def tagger(folder):
    """The tagger that params.yaml names."""
    save_toy_tagger(folder / "models/tagger/en_ewt_cxprobe")


@pytest.mark.usefixtures("tagger")
def test_the_files_of_one_construction_are_checked_without_the_others(folder):
    replace(folder / "constructions/toy/grammars/train.cfg", "NOUN ->", "NUON ->")
    (folder / "constructions/other").mkdir()
    assert call("check", "toy")[0] == 2
    code, output = call("check", "other")
    assert code == 2  # it has no construction.yaml
    assert "grammars" not in output
    assert "did you mean 'toy'" in call("check", "toi")[1]
    replace(folder / "constructions/toy/grammars/train.cfg", "NUON ->", "NOUN ->")
    said = call("check", "toy")[1]
    assert said.startswith("constructions/toy has no fault\n")
    assert "\ncontrast, after the construction: " in said  # an item of each kind


@pytest.mark.usefixtures("tagger")
def test_the_pattern_of_one_construction_is_tried_with_its_sentences(folder):
    pattern = folder / "constructions/toy/pattern.yaml"
    replace(pattern, "must_match: [", 'must_match: ["The cat, the dog.", ')
    code, output = call("check", "toy")
    assert code == 2
    assert "constructions/toy/pattern.yaml: must_match: 'The cat, the dog.' is not found" in output
    replace(pattern, "{TAG: JJ}", "{TGA: JJ}")
    code, output = call("check", "toy")
    assert code == 2
    assert "constructions/toy/pattern.yaml, parts[0].patterns: " in output


def test_faults_of_all_kinds_of_files_are_told_at_once_sorted_by_file(folder):
    toy = folder / "constructions" / "toy"
    change(folder, lambda params: params["compute"].update(jobs=0))
    replace(folder / "lexicon" / "people.yaml", "Ida, Mia", "Ida, Ann")
    (folder / "prompts" / "reasoning.yaml").write_bytes(b"a: caf\xe9\n")  # not UTF-8
    replace(toy / "construction.yaml", "  length: {", "  label: {")
    replace(toy / "pattern.yaml", "must_match:", "mustmatch:")
    replace(toy / "labels.tsv", "\tnegative\t", "\tnegatve\t")
    replace(toy / "pairs.yaml", "gift: an egg", 'gift: ""')
    replace(toy / "scenarios.yaml", "base: S1", "base: S9")
    replace(toy / "items.yaml", "{OBJ} {OBJ:was}", "{OJB} {OBJ:was}")
    code, lines = check()
    assert code == 2
    *faults, count = lines
    assert count == f"{len(faults)} faults"
    files = [fault.split(":")[0].split(",")[0] for fault in faults]
    assert files == sorted(files)
    assert list(dict.fromkeys(files)) == [
        "constructions/toy/construction.yaml",
        *(f"constructions/toy/{name}" for name in ("items.yaml", "labels.tsv", "pairs.yaml")),
        *(f"constructions/toy/{name}" for name in ("pattern.yaml", "scenarios.yaml")),
        *("lexicon/people.yaml", "params.yaml", "prompts/reasoning.yaml"),
    ]
    assert not (folder / "params.schema.json").exists()  # nothing is written where there is a fault


def test_items_that_can_be_read_and_do_not_hold_are_told_with_their_lines(folder):
    toy = folder / "constructions" / "toy"
    replace(folder / "lexicon" / "people.yaml", "the cook", "the queen")
    replace(toy / "pairs.yaml", "{N1} {verb} {N2} {gift}", "{N1} {verb} his {N2} {gift}")
    replace(toy / "scenarios.yaml", "{NOUN2} is", "{NOUN2} is not {ADJ2} and is")
    replace(toy / "items.yaml", "{R1} is taller than", "{R1} is older than")
    code, lines = check()
    assert code == 2
    toy = "constructions/toy"
    places = {"items.yaml": [22], "pairs.yaml": [9, 14], "scenarios.yaml": [21]}
    told = [f"{toy}/{name}, line {line}" for name, of_file in places.items() for line in of_file]
    assert [line.partition(":")[0] for line in lines] == [*told, "lexicon/people.yaml, line 7", "5 faults"]


def test_a_tagger_that_is_not_there_is_told_where_something_is_mined(folder):
    code, lines = check()
    assert (code, lines[0]) == (0, NO_FAULT)
    change(folder, lambda params: params["mining"].update(tagger="no_such_pipeline", parser="nor_this"))
    assert "mining.parser: there is no folder nor_this, which" in check()[1][0]
    assert "mining.tagger: there is no folder no_such_pipeline, which" in check()[1][1]
    change(folder, lambda params: params["mining"].update(tagger="spacy"))  # installed, so that DVC sees no change
    assert "mining.tagger: there is no folder spacy, which" in check()[1][1]


def test_all_constructions_are_checked_whatever_the_grid_names(folder):
    shutil.copytree(folder / "constructions" / "toy", folder / "constructions" / "other")
    replace(folder / "constructions" / "other" / "scenarios.yaml", "base: S1", "base: S9")
    (folder / "constructions" / "empty").mkdir()
    code, lines = check()
    assert code == 2
    files = {line.partition(":")[0] for line in lines}
    assert {"constructions/empty/construction.yaml", "constructions/other/scenarios.yaml"} <= files


def test_all_files_to_import_are_told_at_once(folder):
    def ask(params):
        params["prompts"]["make"]["files"] = {"one": "data/benchmarks/one.tsv", "two": "data/benchmarks/two.tsv"}
        params["prompts"]["make"]["shots"][1]["sources"] = ["data/benchmarks/shots.csv"]

    change(folder, ask)
    code, lines = check()
    assert code == 2
    assert [line.split(";")[0] for line in lines[:-1]] == [
        f"data/benchmarks/{file}: there is no such file" for file in ("one.tsv", "shots.csv", "two.tsv")
    ]


def test_the_schema_is_written_where_it_changed(folder):
    assert call("check")[1].splitlines()[2] == "params.schema.json is written anew"
    assert (folder / "params.schema.json").read_text() == schema_text()
    assert "written anew" not in call("check")[1]
