import numpy as np
import pytest

from cxprobe.errors import ProbeError
from cxprobe.params import SearchRange, TuneProbes
from cxprobe.probing import tuning
from cxprobe.probing.tuning import tune_layers

RNG = np.random.default_rng(0)
LABELS = np.repeat([True, False], 60)
NOISE = RNG.normal(size=(120, 30))
VECTORS = np.stack([NOISE, NOISE + 0.4 * LABELS[:, None]]).astype(np.float32)
TEMPLATES = np.array([f"template {i // 4}" for i in range(120)], dtype=object)


def settings(**changes) -> TuneProbes:
    values = {"enabled": True, "trials": 6, "folds": 3, "C": SearchRange(low=1e-4, high=1e2), "jobs": 1}
    return TuneProbes(**values | {"l1_ratio": [0.0], "standardise": [False, True]} | changes)


def tune(storage, chosen, max_iter=1000):
    return tune_layers(
        VECTORS, np.arange(120), LABELS, TEMPLATES, chosen, max_iter=max_iter, seed=1, storage=storage, place="toy"
    )


def test_each_layer_gets_the_best_setting_of_its_trials(tmp_path):
    noise, signal = tune(tmp_path, settings())
    assert signal.accuracy > 0.75 > noise.accuracy
    assert (signal.trials, signal.not_converged) == (6, 0)
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


def test_sentences_of_one_template_stay_in_one_fold(tmp_path, monkeypatch):
    seen = []
    real = tuning._credits

    def spy(vectors, labels, train, held_out, *args, **kwargs):
        seen.append(set(TEMPLATES[train]) & set(TEMPLATES[held_out]))
        return real(vectors, labels, train, held_out, *args, **kwargs)

    monkeypatch.setattr(tuning, "_credits", spy)
    tune(tmp_path, settings(trials=1))
    assert seen == [set()] * 6


def test_settings_that_do_not_converge_are_counted_and_never_chosen(tmp_path):
    chosen = settings(trials=8, standardise=[False], C=SearchRange(low=1e-8, high=1e8))
    found = tune(tmp_path, chosen, max_iter=15)
    assert all(tuned.trials + tuned.not_converged == 8 for tuned in found)
    assert any(tuned.not_converged > 0 for tuned in found)
    assert all(tuned.trials > 0 and 0 <= tuned.accuracy <= 1 for tuned in found)


def test_no_setting_that_converges_is_an_error(tmp_path):
    with pytest.raises(ProbeError, match="toy, layer 0: none of 2 settings converged"):
        tune(tmp_path, settings(trials=2, standardise=[False], C=SearchRange(low=1e4, high=1e5)), max_iter=1)
