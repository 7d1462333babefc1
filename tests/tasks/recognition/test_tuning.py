import numpy as np
import pandas as pd
import pytest

from cxprobe.errors import ProbeError
from cxprobe.files.arrays import Features
from cxprobe.probing import Fitting
from cxprobe.tasks.recognition import tuning
from cxprobe.tasks.recognition.params import SearchRange, Tune
from cxprobe.tasks.recognition.report import search_curves
from cxprobe.tasks.recognition.tuning import best_settings, can_be_searched, tune_subset

pytestmark = pytest.mark.pipeline

RNG = np.random.default_rng(0)
LABELS = np.repeat([True, False], 60)
NOISE = RNG.normal(size=(120, 30))
VECTORS = np.stack([NOISE, NOISE + 0.4 * LABELS[:, None]]).astype(np.float32)
TEMPLATES = np.array([f"template {i // 4}" for i in range(120)], dtype=object)
TEXTS = [f"text {number}" for number in range(120)]


def settings(**changes) -> Tune:
    values = {"trials": 6, "folds": 3, "C": SearchRange(low=1e-4, high=1e2)}
    return Tune(**values | {"standardise": [False, True]} | changes)


def subset(templates=TEMPLATES) -> pd.DataFrame:
    columns = {"feature": "length", "split": "train", "draw": 0, "label": np.where(LABELS, "positive", "negative")}
    return pd.DataFrame({**columns, "id": TEXTS, "text": TEXTS, "cluster_template": templates})


def tune(kept, chosen, max_iter=1000, progress=lambda _: None):
    fitting = Fitting(max_iter, 1, "toy")
    return tune_subset(subset(), Features(TEXTS, VECTORS), chosen, fitting, 1, kept, progress)


def best_of(trials: pd.DataFrame) -> pd.DataFrame:
    return best_settings(trials.assign(feature="length"))


def test_each_layer_gets_the_best_setting_of_its_trials(tmp_path):
    counted: list[int] = []
    trials = tune(tmp_path, settings(), progress=counted.append)
    noise, signal = best_of(trials).to_dict("records")
    assert signal["accuracy"] > 0.75 > noise["accuracy"]
    assert signal["accuracy"] == trials.loc[trials["layer"] == 1, "accuracy"].max()
    assert (signal["trials"], signal["not_converged"], signal["folds"]) == (6, 0, 3)
    assert 1e-4 <= signal["C"] <= 1e2
    assert counted == [6, 6]


def test_a_layer_whose_search_has_ended_is_not_searched_again(tmp_path, monkeypatch):
    whole = tune(tmp_path, settings())
    monkeypatch.setattr(tuning, "fit_and_predict", lambda *_: pytest.fail("a probe was fitted"))
    pd.testing.assert_frame_equal(tune(tmp_path, settings()), whole)


def test_settings_that_do_not_converge_are_counted_and_never_chosen(tmp_path):
    chosen = settings(trials=8, standardise=[False], C=SearchRange(low=1e-8, high=1e8))
    trials = tune(tmp_path, chosen, max_iter=15)
    best = best_of(trials)
    assert (best["trials"] + best["not_converged"] == 8).all()
    assert best["not_converged"].sum() > 0
    assert best["accuracy"].between(0, 1).all()
    assert (trials.loc[trials["state"] == "FAIL", "accuracy"] == -1).all()


def test_no_setting_that_converges_is_an_error(tmp_path):
    with pytest.raises(ProbeError, match="toy, layer 0: none of 2 settings converged"):
        tune(tmp_path, settings(trials=2, standardise=[False], C=SearchRange(low=1e4, high=1e5)), max_iter=1)


def test_a_label_with_one_template_cannot_be_searched():
    assert can_be_searched(subset())
    assert not can_be_searched(subset(np.where(LABELS, "same", TEMPLATES)))


def test_the_figure_of_a_search_has_a_logarithmic_axis_of_c_without_trials_that_failed():
    trials = pd.DataFrame({"feature": "length", "layer": 0, "C": [1e-3, 1e2, 1e4], "accuracy": [0.5, 0.75, -1.0]})
    (axes,) = search_curves(trials.assign(state=["COMPLETE", "COMPLETE", "FAIL"]), "toy").axes
    (curve,) = [line for line in axes.get_lines() if len(line.get_xdata()) == 2 and line.get_label() == "layer 0"]
    assert (axes.get_xscale(), axes.get_xlabel(), [*curve.get_xdata()]) == ("log", "C", [1e-3, 1e2])
