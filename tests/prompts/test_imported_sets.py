"""Sets that files bring: what is asked about them goes the same way as the project's own items."""

import pytest
from reasoning_tables import HEADER, PLAIN, SECOND, with_options_of_the_first

from conftest import ROOT, write_toy_construction
from cxprobe.errors import ParamsError, PromptError
from cxprobe.files.schema import read_yaml, validate
from cxprobe.prompts.make import (
    build_choices,
    build_questions,
    item_table,
    load_material,
    material_files,
)
from cxprobe.prompts.params import MakePrompts
from cxprobe.prompts.wording import load_continuations, load_inference_prompts, load_reasoning_prompts
from cxprobe.run.params import Params

# Free-form hypotheses: people wrote one of each relation to a premise, in words of their own.
FREE_FORM = """CxN Type,Number,P/H/R,Annotation Targets - Gold Standard Relation
toy,1,premise,The king drew the cats.
,1,hypothesis,Somebody with a crown had a pencil in his hand.
,1,relation,1 (neutral)
,2,premise,The king drew the cats.
,2,hypothesis,There is a picture of cats that a king made.
,2,relation,0 (entailment)
,3,premise,The king drew the cats.
,3,hypothesis,Nobody ever made a picture of the cats.
,3,relation,2 (contradiction)
other,4,premise,It rained.
,4,hypothesis,The street was wet.
,4,relation,0 (entailment)
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with the toy construction and files of two imported sets, to work in."""
    write_toy_construction(tmp_path / "constructions")
    (tmp_path / "toy.tsv").write_text(PLAIN, newline="")
    (tmp_path / "free.csv").write_text(FREE_FORM)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def settings(**changes):
    plain = {
        "sets": ["templatic", "reasoning"],
        "files": {"free-form": "free.csv", "official": official()},
        "premises": None,
        "inference_prompts": ["short"],
        "reasoning_prompts": ["plain"],
        "chain_of_thought": [False],
        "option_orders": "paper",
        "shots": [{"number": 0, "sources": [], "of_the_construction": True}],
        "continuations": {"inference": ["question"], "reasoning": ["riddle"], "most_shots": 1},
    }
    return MakePrompts.model_validate(plain | changes)


def official(**changes):
    return {"format": "reasoning", "constructions": {"toy": "toy.tsv"}, "rows": None, "doubtful": "keep"} | changes


def built(own):
    material = load_material("toy", own, seed=1)
    prompts = load_inference_prompts(ROOT / "prompts"), load_reasoning_prompts(ROOT / "prompts")
    return material, build_questions("toy", material, *prompts, own, seed=1)


def test_imported_sets_are_asked_about_beside_our_own_by_their_own_names(folder):
    own = settings()
    material, questions = built(own)
    counts = questions.groupby(["kind", "set"])["item"].nunique().to_dict()
    assert counts == {
        ("inference", "free-form"): 3,
        ("inference", "templatic"): 6,
        ("reasoning", "official"): 16,
        ("reasoning", "reasoning"): 8,
    }
    items = item_table(material, questions)
    assert items.groupby(["kind", "set"]).size().to_dict() == counts
    assert items["drawn"].all()
    assert questions["id"].is_unique
    choices, _ = build_choices("toy", material, load_continuations(ROOT / "prompts"), own, seed=1)
    assert choices.groupby(["kind", "set"])["item"].nunique().to_dict() == counts
    free = questions[questions["set"] == "free-form"]
    assert set(free["gold"]) == set("012")
    assert (free[["template", "reading"]] == "").all(axis=None)
    assert free["cluster_premise"].nunique() == 1
    theirs = questions[questions["set"] == "official"]
    assert set(theirs["reading"]) == {""}
    assert theirs["cluster_premise"].nunique() == 2
    assert theirs["question"].str.contains("in May or in June|compared to June|in July or in August|to August").all()


def test_the_third_option_is_shown_in_our_own_words(folder):
    _, questions = built(settings())
    neither = load_reasoning_prompts(ROOT / "prompts").neither
    assert set(questions.loc[questions["kind"] == "reasoning", "option_c"]) == {neither}


def test_so_many_frames_of_each_set_are_drawn(folder):
    _, questions = built(settings(premises=1))
    reasoning = questions[questions["kind"] == "reasoning"]
    assert reasoning.groupby("set")["cluster_premise"].nunique().to_dict() == {"official": 1, "reasoning": 1}
    frames = set()
    for seed in range(6):
        material = load_material("toy", settings(), seed=seed)
        frames.add(next(item.frame_id for item in material.reasonings if item.set == "official"))
    assert len(frames) == 2  # the first is a draw


def test_repairs_have_the_name_of_the_set_and_of_the_construction(folder):
    (folder / "toy.tsv").write_text(PLAIN.replace("1\tRecency Bias", "1\tRecency"), newline="")
    material, _ = built(settings())
    assert {name: len(repairs) for name, repairs in material.repairs.items()} == {"free-form": 0, "official/toy": 1}


def test_doubtful_rows_are_left_out_where_that_is_asked_for(folder):
    (folder / "toy.tsv").write_text("\r\n".join([HEADER, *with_options_of_the_first(SECOND)]), newline="")
    sizes = {}
    for doubtful in ("keep", "leave_out"):
        _, questions = built(settings(files={"official": official(doubtful=doubtful)}))
        sizes[doubtful] = int((questions["set"] == "official").sum())
    assert sizes == {"keep": 8, "leave_out": 3}


def test_the_files_that_are_read_are_named_and_no_others(folder):
    files = {"official": official(rows="chosen.tsv"), "elsewhere": official(constructions={"other": "other.tsv"})}
    paths = [str(path) for path in material_files("toy", settings(files=files))]
    assert paths == ["constructions/toy/items.yaml", "toy.tsv", "chosen.tsv"]


def test_a_file_for_a_construction_that_there_is_not_is_refused(folder):
    own = settings(files={"official": official(constructions={"toi": "toy.tsv"})})
    message = (
        r"prompts\.make\.files\.official\.constructions: 'toi' is not a construction with items; did you mean 'toy'"
    )
    with pytest.raises(PromptError, match=message):
        load_material("toy", own, seed=1)


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        (official(format="reasonings"), "official.format: 'reasonings' is not allowed: input should be 'reasoning'"),
        (official(constructions={}), "official.constructions: {} is not allowed"),
        (official(doubtful="drop"), "official.doubtful: 'drop' is not allowed: input should be 'keep' or 'leave_out'"),
        (official(path="toy.tsv"), "official.path: unknown key (allowed: constructions, doubtful, format, rows)"),
        ({"format": "reasoning"}, "official.constructions: missing"),
        (7, "official: 7 is not allowed"),
    ],
)
def test_the_shape_of_a_file_is_told_by_the_parameters_and_never_guessed(entry, message):
    path = ROOT / "params.yaml"
    content = read_yaml(path, ParamsError)
    content["prompts"]["make"]["files"] = {"official": entry}
    with pytest.raises(ParamsError) as raised:
        validate(Params, content, path, ParamsError)
    assert f"prompts.make.files.{message}" in str(raised.value)
