import numpy as np
import pandas as pd
import pytest

from cxprobe.errors import ProbeError
from cxprobe.files.arrays import Features
from cxprobe.probing import Fitting
from cxprobe.tasks.recognition.evaluate import search_curves
from cxprobe.tasks.recognition.params import SearchRange, Tune
from cxprobe.tasks.recognition.probes import tune_subset

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


def tune(chosen, max_iter=1000, progress=lambda _: None):
    columns = {"label": np.where(LABELS, "positive", "negative"), "text": TEXTS, "cluster_template": TEMPLATES}
    fitting = Fitting(max_iter, 1, "toy")
    return tune_subset(pd.DataFrame(columns), Features(TEXTS, VECTORS), chosen, fitting, 1, progress)


def test_each_layer_is_searched_in_the_space_by_accuracy_on_held_out_sentences():
    counted: list[int] = []
    trials = tune(settings(), progress=counted.append)
    noise, signal = trials.groupby("layer")["accuracy"].max()
    assert signal > 0.75 > noise
    assert trials.groupby("layer")["number"].agg(list).tolist() == [[*range(6)]] * 2
    assert trials["C"].between(1e-4, 1e2).all()
    assert set(trials["standardise"]) == {False, True}
    assert counted == [6, 6]


def test_settings_that_do_not_converge_have_no_accuracy():
    trials = tune(settings(trials=8, standardise=[False], C=SearchRange(low=1e-8, high=1e8)), max_iter=15)
    assert len(trials) == 16
    assert 0 < trials["accuracy"].isna().sum() < 16
    assert trials["accuracy"].dropna().between(0, 1).all()


def test_no_setting_that_converges_is_an_error():
    with pytest.raises(ProbeError, match="toy, layer 0: none of 2 settings converged"):
        tune(settings(trials=2, standardise=[False], C=SearchRange(low=1e4, high=1e5)), max_iter=1)


def test_the_figure_of_a_search_has_a_logarithmic_axis_of_c_without_trials_that_failed():
    accuracies = [0.5, 0.75, np.nan]
    trials = pd.DataFrame({"feature": "length", "layer": 0, "C": [1e-3, 1e2, 1e4], "accuracy": accuracies})
    (axes,) = search_curves(trials, trials[1:2], "toy").axes
    (curve,) = [line for line in axes.get_lines() if len(line.get_xdata()) == 2 and line.get_label() == "layer 0"]
    assert (axes.get_xscale(), axes.get_xlabel(), [*curve.get_xdata()]) == ("log", "C", [1e-3, 1e2])
