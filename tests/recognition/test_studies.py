import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array

from cxprobe.files.arrays import Features
from cxprobe.files.tables import read_table
from cxprobe.lm.params import Member, Rule
from cxprobe.probing import Fitting, Regularisation
from cxprobe.recognition.measure import ProbedSource
from cxprobe.recognition.params import Controls, FitProbes, SearchRange, TuneProbes
from cxprobe.recognition.tuning import Search, Study, Tuned, search_all

SETTINGS = TuneProbes(
    enabled=True,
    trials=3,
    folds=2,
    C=SearchRange(low=1e-3, high=1e1),
    l1_ratio=[0.0],
    standardise=[False, True],
    jobs=1,
)
MEMBER = Member("places", Rule(kind="positions"), "blind")


def source(templates: int) -> ProbedSource:
    """Sentences as counts, whose labels the first column tells, with so many templates of each label."""
    labels = np.tile(["positive", "negative"], 20)
    ids = [f"s{number}" for number in range(40)]
    named = [f"{label} {number // 2 % templates}" for number, label in enumerate(labels)]
    rows = pd.DataFrame(
        {"feature": "length", "split": "train", "draw": 0, "value": 1, "label": labels, "id": ids, "text": "the"}
    )
    counts = np.column_stack([labels == "positive", np.random.default_rng(0).integers(0, 3, (40, 5))])
    features = Features(ids, (csr_array(counts.astype(np.float32)),))
    return ProbedSource(rows.assign(cluster_template=named), features, ("content",))


@pytest.fixture
def study(tmp_path):
    sources = {"generated": source(5), "mined": source(1)}
    searches = search_all(sources, SETTINGS, Fitting(1000, 0, "toy"), scratch=tmp_path / "scratch")
    return Study(MEMBER, "toy", sources, searches, seed=1)


def test_counts_are_searched_as_vectors_are(study, tmp_path):
    study.write(tmp_path / "out")
    settings = read_table(tmp_path / "out" / "tuning" / "settings.parquet")
    assert settings[["source", "feature", "layer"]].to_numpy().tolist() == [["generated", "length", 0]]
    assert settings["accuracy"].tolist() == [1.0]
    assert sorted(path.name for path in (tmp_path / "out" / "tuning").iterdir()) == [
        "settings.parquet",
        "study.db",
        "trials.parquet",
    ]
    assert study.counts == {"tuned_probes": 1, "not_tuned_for_lack_of_data": 1, "not_converged": 0}


def test_what_a_study_shows_stands_in_the_folder_of_its_model(study):
    assert set(study.tables()) == {
        "places/tuning/settings",
        "places/tuning/parameter_importance",
        "places/tuning/not_searched",
    }
    assert study.tables()["places/tuning/not_searched"]["source"].tolist() == ["mined"]
    assert set(study.figures()) == {"places/tuning/optimisation_history", "places/tuning/parameter_importance"}
    assert study.figures()["places/tuning/optimisation_history"].get_suptitle() == "places (blind), toy"
    assert [trial.name for trial in study.trials()] == [f"places generated length 0 {number}" for number in range(3)]


def test_nothing_is_shown_where_nothing_was_to_be_searched(tmp_path):
    study = Study(MEMBER, "toy", {}, {}, seed=1)
    study.write(tmp_path)
    assert list(tmp_path.iterdir()) == []
    assert (study.tables(), study.figures(), study.trials()) == ({}, {}, [])
    assert study.counts == {}


def test_found_settings_go_to_their_layers_and_those_of_the_stage_stand_in_where_none_was_searched_for():
    controls = Controls(folds=None, control_task=False, code_length=False)
    usual = FitProbes(C=1.0, l1_ratio=0.0, standardise=False, max_iter=1000, controls=controls, jobs=1)
    found = {1: Regularisation(0.1, 0.0, True), 0: Regularisation(10.0, 0.5, False)}
    searches = {Search("mined", "length", layer): Tuned(one, 1.0, 2, ()) for layer, one in found.items()}
    study = Study(MEMBER, "toy", {}, searches, seed=1)
    assert study.regularisation("mined", "length", 2, usual) == [found[0], found[1]]
    assert study.regularisation("mined", "distance", 2, usual) == [Regularisation(1.0, 0.0, False)] * 2
