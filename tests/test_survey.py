"""A few items of each construction, asked in one process."""

import shutil

import pytest

import cxprobe
from conftest import ROOT
from cxprobe import survey
from cxprobe.constructions.construction import PEOPLE_FILE, load_people
from cxprobe.errors import CxprobeError
from cxprobe.results.rates import divided_by


@pytest.fixture(scope="module")
def lm():
    return cxprobe.load("mini-clm", device="cpu")


@pytest.fixture(scope="module")
def rates(lm):
    return cxprobe.Survey([lm], ["conative"], frames=2).measure()


def test_the_rates_are_those_of_the_same_pairs_compared_one_by_one(lm, rates):
    pairs = cxprobe.minimal_pairs("conative-form", pairs_per_condition=2 * survey.ITEMS_OF_FORM, seed=2022)
    whole = divided_by(rates[(rates["construction"] == "conative-form") & (rates["measure"] == "accuracy")])
    accuracies = whole.set_index("model")
    found = accuracies.loc[lm.name]
    assert found["value"] == lm.compare(pairs).accuracy.value
    assert found["n"] == len(pairs)
    best = accuracies["value"].drop(lm.name).max()
    assert found["difference"] == pytest.approx(found["value"] - best)


def test_the_frames_on_which_the_wording_is_tried_are_others_and_have_no_verdict(lm, rates):
    tried = cxprobe.Survey(lm, ["conative"], frames=2, tried=True).measure()
    of_both = [
        table.query("measure == 'contrast' and condition == 'construction' and wording == ''")["value"]
        for table in (rates, tried)
    ]
    assert of_both[0].item() != of_both[1].item()
    assert set(tried["verdict"]) == {""}


def test_a_verdict_takes_all_constructions_and_frames_enough(lm, rates, tmp_path, monkeypatch):
    """So the same numbers never have two verdicts: Holm counts all constructions, whichever are asked about."""
    assert set(rates["verdict"]) == {""}
    shutil.copytree(ROOT / "constructions" / "conative", tmp_path / "constructions" / "conative")
    shutil.copy(ROOT / PEOPLE_FILE, tmp_path)
    every = cxprobe.Survey(lm, frames=2, folder=tmp_path / "constructions").measure()
    verdicts = every[(every["verdict"] != "") & (every["model"] == lm.name)]
    assert set(verdicts["task"]) == {"pairs"}
    monkeypatch.setattr(survey, "FEWEST_FRAMES", 2)
    many = cxprobe.Survey(lm, "conative", frames=2, folder=tmp_path / "constructions").measure()
    assert (many.loc[many["condition"] == "construction", "verdict"] != "").any()


def test_constructions_without_items_models_that_are_there_twice_and_one_frame_are_refused(lm):
    for models, names, frames, said in (
        ([lm], ["conativ"], 2, "did you mean 'conative'"),
        ([lm, lm], ["conative"], 2, "is there twice"),
        ([lm], ["conative"], 1, "two frames at least"),
        ([lm], [], 2, "there is no construction"),
        ([], ["conative"], 2, "there is no model"),
    ):
        with pytest.raises(CxprobeError, match=said):
            cxprobe.Survey(models, names, frames=frames)


def test_a_construction_that_is_a_form_alone_has_no_contrast():
    pairs = survey.survey_pairs(["npi-licensing"], ROOT / "constructions", load_people(ROOT / PEOPLE_FILE), 2)
    assert set(pairs.form["tests"]) == {"form"}
    assert pairs.contrasts.empty


def test_a_form_whose_variants_do_not_show_all_fillers_has_as_many_items_as_frames():
    people = load_people(ROOT / PEOPLE_FILE)
    form = survey.survey_pairs(["let-alone"], ROOT / "constructions", people, 16).form
    assert form.groupby("variant").size().tolist() == [62] * 4
    assert not form.duplicated(["variant", "good", "bad"]).any()


def test_every_baseline_decides_each_pair_once():
    pairs = cxprobe.minimal_pairs("conative-form", pairs_per_condition=2)
    assert set(cxprobe.baselines_on(pairs)["n"]) == {len(pairs)}
