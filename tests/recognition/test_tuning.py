import numpy as np
import pandas as pd
import pytest

from cxprobe.errors import ProbeError
from cxprobe.files.arrays import Features
from cxprobe.probing import Fitting, ProbeRows
from cxprobe.recognition import tuning
from cxprobe.recognition.measure import ProbedSource
from cxprobe.recognition.params import SearchRange, TuneProbes
from cxprobe.recognition.tuning import tune_layers, tune_subset

pytestmark = pytest.mark.pipeline

RNG = np.random.default_rng(0)
LABELS = np.repeat([True, False], 60)
NOISE = RNG.normal(size=(120, 30))
VECTORS = np.stack([NOISE, NOISE + 0.4 * LABELS[:, None]]).astype(np.float32)
ROWS = ProbeRows(np.arange(120), LABELS, np.arange(0))
TEMPLATES = np.array([f"template {i // 4}" for i in range(120)], dtype=object)


def settings(**changes) -> TuneProbes:
    values = {"enabled": True, "trials": 6, "folds": 3, "C": SearchRange(low=1e-4, high=1e2), "jobs": 1}
    return TuneProbes(**values | {"l1_ratio": [0.0], "standardise": [False, True]} | changes)


def tune(storage, chosen, max_iter=1000):
    return tune_layers(VECTORS, ROWS, TEMPLATES, chosen, Fitting(max_iter, 1, "toy"), storage=storage)


def test_each_layer_gets_the_best_setting_of_its_trials(tmp_path):
    noise, signal = tune(tmp_path, settings())
    assert signal.accuracy > 0.75 > noise.accuracy
    assert signal.complete == len(signal.trials) == 6
    assert 1e-4 <= signal.regularisation.C <= 1e2


def test_the_number_of_jobs_does_not_change_the_result(tmp_path):
    assert tune(tmp_path / "one", settings(jobs=1)) == tune(tmp_path / "two", settings(jobs=2))


def test_a_search_that_was_cut_off_ends_as_one_that_was_not(tmp_path, monkeypatch):
    whole = tune(tmp_path / "whole", settings())
    tune(tmp_path / "cut", settings(trials=2))
    calls = []
    real = tuning.fit_and_predict
    monkeypatch.setattr(tuning, "fit_and_predict", lambda *a, **k: calls.append(1) or real(*a, **k))
    assert tune(tmp_path / "cut", settings()) == whole
    assert len(calls) == 2 * 4 * 3  # layers x remaining trials x folds: finished trials are not run again


def test_fewer_trials_than_an_earlier_run_has_made_give_what_they_would_alone(tmp_path):
    alone = tune(tmp_path / "alone", settings(trials=3))
    tune(tmp_path / "more", settings(trials=6))
    assert tune(tmp_path / "more", settings(trials=3)) == alone


def test_the_trials_of_a_layer_are_counted_when_it_is_finished(tmp_path):
    counted: list[int] = []
    fitting = Fitting(1000, 1, "toy")
    tune_layers(VECTORS, ROWS, TEMPLATES, settings(trials=2), fitting, storage=tmp_path, progress=counted.append)
    assert counted == [2, 2]


def source() -> ProbedSource:
    rows = pd.DataFrame(
        {
            "feature": "length",
            "split": "train",
            "draw": 0,
            "label": np.where(LABELS, "positive", "negative"),
            "id": [f"s{number}" for number in range(120)],
            "cluster_template": TEMPLATES,
        }
    )
    return ProbedSource(rows, Features(rows["id"].tolist(), VECTORS), ("digest",))


def subset_of(scratch, chosen):
    data = source()
    return tune_subset(data.rows, data, chosen, Fitting(1000, 1, "toy"), scratch=scratch)


def test_a_search_that_is_repeated_evaluates_nothing_twice(tmp_path, monkeypatch):
    first = subset_of(tmp_path, settings(trials=2))
    assert first == tune(tmp_path / "alone", settings(trials=2))
    calls = []
    real = tuning.fit_and_predict
    monkeypatch.setattr(tuning, "fit_and_predict", lambda *a, **k: calls.append(1) or real(*a, **k))
    assert subset_of(tmp_path, settings(trials=2)) == first
    assert calls == []
    subset_of(tmp_path, settings(trials=3))
    assert len(calls) == 2 * 1 * 3  # layers x additional trials x folds


def test_a_search_in_another_space_replaces_the_trials_of_the_one_before(tmp_path):
    subset_of(tmp_path, settings(trials=2))
    (before,) = tmp_path.iterdir()
    subset_of(tmp_path, settings(trials=2, folds=2))
    (after,) = tmp_path.iterdir()
    assert before != after


def test_sentences_of_one_template_stay_in_one_fold(tmp_path, monkeypatch):
    seen = []
    real = tuning._credits

    def spy(vectors, labels, cut, *others):
        train, held_out = cut
        seen.append(set(TEMPLATES[train]) & set(TEMPLATES[held_out]))
        return real(vectors, labels, cut, *others)

    monkeypatch.setattr(tuning, "_credits", spy)
    tune(tmp_path, settings(trials=1))
    assert seen == [set()] * 6


def test_settings_that_do_not_converge_are_counted_and_never_chosen(tmp_path):
    chosen = settings(trials=8, standardise=[False], C=SearchRange(low=1e-8, high=1e8))
    found = tune(tmp_path, chosen, max_iter=15)
    assert all(len(tuned.trials) == 8 for tuned in found)
    assert any(tuned.complete < 8 for tuned in found)
    assert all(tuned.complete > 0 and 0 <= tuned.accuracy <= 1 for tuned in found)


def test_no_setting_that_converges_is_an_error(tmp_path):
    with pytest.raises(ProbeError, match="toy, layer 0: none of 2 settings converged"):
        tune(tmp_path, settings(trials=2, standardise=[False], C=SearchRange(low=1e4, high=1e5)), max_iter=1)


def test_there_are_fewer_folds_where_a_label_has_few_templates(tmp_path):
    few = np.array([f"template {i // 30}" for i in range(120)], dtype=object)
    found = tune_layers(VECTORS, ROWS, few, settings(trials=1, folds=5), Fitting(1000, 1, "toy"), storage=tmp_path)
    assert [tuned.folds for tuned in found] == [2, 2]


def test_a_label_with_one_template_cannot_be_searched(tmp_path):
    one = np.where(LABELS, "same", TEMPLATES)
    with pytest.raises(ProbeError, match="toy, layer 0: no folds can be made, since a label has fewer than two"):
        tune_layers(VECTORS, ROWS, one, settings(), Fitting(1000, 1, "toy"), storage=tmp_path)


def test_the_first_training_draw_is_searched_alone(tmp_path):
    data = source()
    other = data.rows.assign(draw=1, label=data.rows["label"].to_numpy()[::-1])
    both = pd.concat([data.rows, other], ignore_index=True)
    found = tune_subset(both, data, settings(trials=2), Fitting(1000, 1, "toy"), scratch=tmp_path / "both")
    assert found == subset_of(tmp_path / "first", settings(trials=2))
