"""Probes of minimal pairs, against a logistic regression by hand."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

from cxprobe.files.arrays import Features
from cxprobe.probing import Fitting, Regularisation
from cxprobe.tasks.pairs.probing import probe_pairs

FITTING = Fitting(1000, 0, "pairs of toy")
PLAIN = Regularisation(1.0, False)


def pairs(frames=8):
    rows = [(f"pair {k}", f"the cat {k} runs", f"the cat {k} sings", f"frame {k % frames}") for k in range(24)]
    return pd.DataFrame(rows, columns=["id", "good", "bad", "cluster_frame"])


def features(table, seed=0):
    rng, texts = np.random.default_rng(seed), [*table["bad"], *table["good"]]
    vectors = rng.normal(size=(2, len(texts), 4)).astype(np.float32)
    vectors[1, len(table) :, 0] += 4.0  # the right texts, which layer 1 knows
    return Features(texts, vectors)


def predict(folder, table, vectors=None, how=PLAIN, folds=4):
    vectors = features(table) if vectors is None else vectors
    return probe_pairs(table, vectors, how, FITTING, folds=folds, jobs=1, kept=folder)


def rates(found):
    return found.assign(right=found["probability"] > 0.5).groupby("layer")["right"].mean()


def test_a_pair_is_predicted_by_a_probe_that_has_not_seen_its_frame(tmp_path):
    table = pairs(frames=2)
    vectors = features(table)
    found = predict(tmp_path, table, vectors, folds=2)
    good, bad = vectors.vectors[1, len(table) :], vectors.vectors[1, : len(table)]
    for frame in ("frame 0", "frame 1"):
        held_out = (table["cluster_frame"] == frame).to_numpy()
        train = (good - bad)[~held_out]
        probe = LogisticRegression(max_iter=1000, fit_intercept=False)
        probe.fit(np.concatenate([train, -train]), np.repeat([True, False], len(train)))
        expected = probe.predict_proba((good - bad)[held_out])[:, 1]
        own = found[(found["layer"] == 1) & found["id"].isin(table["id"][held_out])]
        np.testing.assert_allclose(own["probability"], expected, atol=1e-4)


def test_words_that_give_the_right_text_away_are_seen_by_the_probe_on_counts(tmp_path):
    table = pairs()
    assert rates(predict(tmp_path, table))[-1] == 1.0
    same = table.assign(bad=[" ".join(reversed(text.split())) for text in table["good"]])
    found = predict(tmp_path, same)
    assert set(found.loc[found["layer"] == -1, "probability"]) == {0.5}


def test_what_was_predicted_before_is_read_unless_texts_vectors_or_settings_are_others(tmp_path, monkeypatch):
    table = pairs()
    first = predict(tmp_path, table)
    monkeypatch.setattr("cxprobe.probing.fit_and_predict", lambda *_: pytest.fail("a probe was trained again"))
    again = predict(tmp_path, table)
    pd.testing.assert_frame_equal(again, first)
    other = table.assign(cluster_frame=table["cluster_frame"].replace("frame 0", "frame 1"))
    for own, vectors, how in (
        (other, features(table), PLAIN),
        (table, features(table, seed=1), PLAIN),
        (table, features(table), Regularisation(2.0, False)),
    ):
        with pytest.raises(pytest.fail.Exception):
            predict(tmp_path, own, vectors, how)
