import numpy as np
import optuna
import pandas as pd
import pytest
from optuna.distributions import CategoricalDistribution, FloatDistribution
from optuna.importance import FanovaImportanceEvaluator, get_param_importances
from optuna.trial import TrialState, create_trial

from cxprobe.constructions.sentences import LABELS
from cxprobe.files.arrays import Features
from cxprobe.probing import Fitting, Regularisation
from cxprobe.recognition.measure import ProbedSource
from cxprobe.recognition.params import SearchRange, TuneProbes
from cxprobe.recognition.tuning import (
    Search,
    Tuned,
    count_searches,
    not_searched,
    parameter_importances,
    search_all,
    search_figures,
    settings_table,
    trial_records,
    trials_table,
    write_study,
)

SPACE = {
    "C": FloatDistribution(1e-4, 1e2, log=True),
    "l1_ratio": CategoricalDistribution([0.0]),
    "standardise": CategoricalDistribution([False, True]),
}
ACCURACIES = (0.5, None, 0.8, 0.6)  # of the trials; None did not converge


def tuned(accuracies=ACCURACIES) -> Tuned:
    trials = tuple(
        create_trial(
            state=TrialState.FAIL if accuracy is None else TrialState.COMPLETE,
            value=accuracy,
            params={"C": 10.0 ** (number - 2), "l1_ratio": 0.0, "standardise": number % 2 == 1},
            distributions=SPACE,
        )
        for number, accuracy in enumerate(accuracies)
    )
    best = max((trial for trial in trials if trial.value is not None), key=lambda trial: trial.value)
    for trial in trials:
        trial.datetime_start = trial.datetime_complete = trials[0].datetime_start
    return Tuned(Regularisation(**best.params), best.value, 3, trials)


@pytest.fixture
def searches():
    flat = tuned((0.5, 0.5))
    return {Search("generated", "length", 0): tuned(), Search("mined", "all_sentences", 1): flat}


def test_the_best_setting_of_each_search_is_a_row(searches):
    assert settings_table(searches).to_dict("records")[0] == {
        "source": "generated",
        "feature": "length",
        "layer": 0,
        "C": 1.0,
        "l1_ratio": 0.0,
        "standardise": False,
        "accuracy": 0.8,
        "folds": 3,
        "trials": 3,
        "not_converged": 1,
    }


def test_without_a_search_there_are_columns_and_no_rows():
    assert settings_table({}).columns.tolist() == settings_table({Search("mined", "f", 0): tuned()}).columns.tolist()
    assert trials_table({}).empty


def test_every_trial_is_a_row_and_one_that_failed_has_no_accuracy(searches):
    trials = trials_table(searches)
    assert trials["number"].tolist() == [0, 1, 2, 3, 0, 1]
    assert trials["accuracy"].tolist() == [0.5, -1.0, 0.8, 0.6, 0.5, 0.5]
    assert trials["state"].tolist() == ["COMPLETE", "FAIL", *["COMPLETE"] * 4]
    assert trials["standardise"].tolist()[:4] == [False, True, False, True]


def test_every_trial_is_a_run_with_its_probe_and_setting(searches):
    records = trial_records(trials_table(searches))
    assert [record.name for record in records][:2] == ["generated length 0 0", "generated length 0 1"]
    assert [record.status for record in records][:2] == ["FINISHED", "FAILED"]
    assert [record.metrics for record in records][:2] == [{"accuracy": 0.5}, {}]
    assert records[0].params == {
        "source": "generated",
        "feature": "length",
        "layer": "0",
        "C": "0.01",
        "l1_ratio": "0.0",
        "standardise": "False",
    }


def test_optuna_reads_the_studies_of_the_database(searches, tmp_path):
    write_study(searches, tmp_path / "study.db")
    storage = f"sqlite:///{tmp_path / 'study.db'}"
    assert sorted(optuna.get_all_study_names(storage)) == ["generated length 0", "mined all_sentences 1"]
    study = optuna.load_study(study_name="generated length 0", storage=storage)
    assert study.best_params == {"C": 1.0, "l1_ratio": 0.0, "standardise": False}
    assert [trial.value for trial in study.trials] == list(ACCURACIES)


def test_the_same_searches_give_the_same_file(searches, tmp_path):
    for name in ("one", "two"):
        write_study(searches, tmp_path / name)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


def test_importances_are_those_of_optuna_and_follow_from_the_seed(searches):
    found = parameter_importances(searches, seed=3)
    study = optuna.create_study(direction="maximize")
    study.add_trials(tuned().trials)
    expected = get_param_importances(study, evaluator=FanovaImportanceEvaluator(seed=3))
    own = found[found["source"] == "generated"].set_index("parameter")["importance"]
    assert own.to_dict() == pytest.approx(expected)
    assert own.sum() == pytest.approx(1)
    pd.testing.assert_frame_equal(found, parameter_importances(searches, seed=3))


def test_where_all_settings_are_equally_accurate_nothing_is_important(searches):
    assert set(parameter_importances(searches, seed=3)["source"]) == {"generated"}


def test_the_figures_show_the_highest_accuracy_so_far_and_each_parameter_by_layer(searches):
    figures = search_figures(trials_table(searches), parameter_importances(searches, seed=3), "toy")
    assert list(figures) == ["optimisation_history", "parameter_importance"]
    panels = {axes.get_title(): axes for axes in figures["optimisation_history"].axes if axes.get_title()}
    assert list(panels) == ["length, generated", "all sentences, mined"]
    (line,) = panels["length, generated"].get_lines()
    assert line.get_xydata().tolist() == [[0, 0.5], [2, 0.8], [3, 0.8]]  # the trial that failed has no point
    (panel,) = figures["parameter_importance"].axes
    assert [line.get_label() for line in panel.get_lines()] == ["C", "l1_ratio", "standardise"]


def test_figures_without_any_importance_say_why():
    flat = {Search("mined", "length", 0): tuned((0.5, 0.5))}
    figures = search_figures(trials_table(flat), parameter_importances(flat, seed=3), "toy")
    assert figures["parameter_importance"].texts[-1].get_text() == "all settings are equally accurate"


def source(rows: pd.DataFrame) -> ProbedSource:
    ids = [f"s{number}" for number in range(len(rows))]
    vectors = np.random.default_rng(0).normal(size=(2, len(rows), 3)).astype(np.float32)
    named = rows.assign(feature="length", split="train", draw=0, id=ids)
    return ProbedSource(named, Features(ids, vectors), ("digest",))


def test_few_templates_have_fewer_folds_and_where_there_is_one_the_defaults_are_used_and_named(tmp_path):
    def of(templates: int) -> ProbedSource:
        names = [f"t{number}" for number in range(templates)] * 2
        return source(
            pd.DataFrame({"label": LABELS[:1] * templates + LABELS[1:] * templates, "cluster_template": names})
        )

    sources = {"generated": of(8), "balanced": of(2), "mined": of(1)}  # the last one has two sentences
    settings = TuneProbes(
        enabled=True,
        trials=2,
        folds=5,
        C=SearchRange(low=1e-4, high=1e2),
        l1_ratio=[0.0],
        standardise=[False],
        jobs=1,
    )
    counted: list[int] = []
    found = search_all(sources, settings, Fitting(1000, 1, "toy"), scratch=tmp_path, progress=counted.append)
    assert list(found) == [Search(name, "length", layer) for name in ("generated", "balanced") for layer in range(2)]
    assert settings_table(found)["folds"].tolist() == [5, 5, 2, 2]
    assert count_searches(sources) == len(found)
    assert sum(counted) == settings.trials * len(found)
    (left_out,) = not_searched(sources).to_dict("records")
    reason = left_out.pop("reason")
    assert left_out == {"source": "mined", "feature": "length", "positive": 1, "negative": 1}
    assert "two templates of each label, so the settings of fit_probes are used" in reason


def test_where_everything_is_searched_nothing_is_named():
    assert not_searched({}).columns.tolist() == ["source", "feature", "positive", "negative", "reason"]
    assert not_searched({}).empty
