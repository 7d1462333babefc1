import numpy as np
import pandas as pd
import pytest

from cxprobe.measure.probing import Fitting, Regularisation, read_sources, recognise, regularisation_by_layer
from cxprobe.measure.probing import recognition as recognition_module
from cxprobe.params import FitProbes
from cxprobe.stats import credit
from cxprobe.storage import write_array, write_table

SETTINGS = FitProbes(C=1.0, l1_ratio=0.0, standardise=False, max_iter=1000, jobs=1)
RIDGES = [Regularisation(1.0, 0.0, False)] * 2


@pytest.fixture
def source(tmp_path):
    """Sentences of two features, whose labels the second layer tells and the first does not."""
    rng = np.random.default_rng(0)
    labels = np.tile(["positive", "negative"], 60)
    ids = np.array([f"s{number}" for number in range(120)])
    rows = pd.DataFrame({"split": np.repeat(["train", "test"], 60), "value": 7, "label": labels, "id": ids})
    splits = pd.concat([rows.assign(feature=feature) for feature in ("length", "distance")])
    sentences = pd.DataFrame({"id": ids, "text": "the same words", "cluster_template": ids, "tags": "NN"})
    order = rng.permutation(120)
    signal = (labels == "positive")[order][:, None] + rng.normal(scale=0.2, size=(120, 4))
    write_table(splits, tmp_path / "sentences" / "mined" / "splits.parquet")
    write_table(sentences, tmp_path / "sentences" / "mined" / "sentences.parquet")
    vectors = np.stack([rng.normal(size=(120, 4)), signal]).astype(np.float32)
    write_array(vectors, tmp_path / "features" / "mined" / "features.npy", ids[order].tolist())
    write_table(pd.DataFrame({"id": ids[order]}), tmp_path / "features" / "mined" / "ids.parquet")
    return read_sources(["mined"], tmp_path / "sentences", tmp_path / "features")["mined"]


def test_a_source_has_its_subsets_with_texts_and_clusters(source):
    subsets = dict(source.subsets())
    assert list(subsets) == ["length", "distance"]
    columns = ["split", "value", "label", "id", "feature", "text", "cluster_template"]
    assert subsets["length"].columns.tolist() == columns
    assert (source.layers, source.probes) == (2, 4)


def once(source, scratch, settings=SETTINGS, regularisation=RIDGES, feature="length", seed=0):
    """Return predictions and the number of probes that were counted."""
    counted: list[int] = []
    subset, fitting = dict(source.subsets())[feature], Fitting(settings.max_iter, seed, "toy")
    found = recognise(subset, source, regularisation, settings, fitting, scratch=scratch, progress=counted.append)
    return found, sum(counted)


def test_every_test_sentence_is_judged_by_every_layer_and_every_control(source, tmp_path):
    (probes, controls), counted = once(source, tmp_path / "scratch")
    assert probes.columns.tolist() == ["value", "label", "id", "feature", "cluster_template", "layer", "probability"]
    assert probes.groupby("layer")["id"].agg(set).tolist() == [{f"s{number}" for number in range(60, 120)}] * 2
    right = credit(probes["probability"].to_numpy(), (probes["label"] == "positive").to_numpy())
    accuracy = pd.Series(right).groupby(probes["layer"].to_numpy()).mean()
    assert accuracy[1] > 0.95 > 0.8 > accuracy[0]
    assert controls.groupby("control").size().to_dict() == {"majority": 60, "bag_of_words": 60}
    assert counted == 2


def test_a_run_that_was_killed_does_not_train_finished_probes_again(source, tmp_path, monkeypatch):
    first, trained = once(source, tmp_path / "scratch")
    monkeypatch.setattr(recognition_module, "probe_layers", lambda *_, **__: pytest.fail("trained again"))
    again, counted = once(source, tmp_path / "scratch", SETTINGS.model_copy(update={"jobs": 2}))
    assert trained == counted == 2
    for one, other in zip(first, again, strict=True):
        pd.testing.assert_frame_equal(one.reset_index(drop=True), other)


@pytest.mark.parametrize("changed", ["settings", "regularisation", "feature", "seed"])
def test_predictions_are_kept_for_the_same_work_alone(source, tmp_path, monkeypatch, changed):
    once(source, tmp_path / "scratch")
    other = {
        "settings": SETTINGS.model_copy(update={"max_iter": 999}),
        "regularisation": [Regularisation(0.5, 0.0, False)] * 2,
        "feature": "distance",
        "seed": 1,
    }
    trained = []
    real = recognition_module.probe_layers
    monkeypatch.setattr(recognition_module, "probe_layers", lambda *a, **k: trained.append(1) or real(*a, **k))
    once(source, tmp_path / "scratch", **{changed: other[changed]})
    assert trained == [1]


def test_half_written_predictions_do_not_count_as_finished(source, tmp_path):
    first, _ = once(source, tmp_path / "scratch")
    (controls,) = (tmp_path / "scratch").glob("*/controls.parquet")
    controls.unlink()
    again, _ = once(source, tmp_path / "scratch")
    pd.testing.assert_frame_equal(first.controls, again.controls)
    assert controls.exists()


def test_tuned_settings_go_to_their_layers_and_those_of_the_stage_stand_in_for_them():
    tuned = pd.DataFrame({"layer": [1, 0], "C": [0.1, 10.0], "l1_ratio": [0.0, 0.5], "standardise": [True, False]})
    assert regularisation_by_layer(SETTINGS, tuned, 2) == [
        Regularisation(10.0, 0.5, False),
        Regularisation(0.1, 0.0, True),
    ]
    assert regularisation_by_layer(SETTINGS, tuned[:0], 2) == RIDGES
