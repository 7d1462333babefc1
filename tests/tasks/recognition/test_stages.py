"""Recognition as stages, for a checkpoint, its chance control and a set of baselines: the same way for all of them."""

import numpy as np
import pandas as pd
import pytest
from drawn_project import empty_params
from stage_work import do_work, measure
from tiny_lms import save_lm

from conftest import ROOT, change_params
from cxprobe.cli.init import preset_text
from cxprobe.files.tables import read_features, read_table, write_table
from cxprobe.project.params import load_params
from cxprobe.results.rates import divided_by
from cxprobe.results.schema import facet_columns
from cxprobe.run.params import read_params
from cxprobe.tasks.recognition.evaluate import MOST_TRIALS
from cxprobe.tasks.recognition.params import RecognitionStage

SOURCES = ["generated", "mined"]
TAGGER = str(ROOT / "models/tagger/en_ewt_cxprobe")
SPEC = {"name": "model", "revision": None, "sha256": None, "dtype": "float32"}
PANEL = {
    "letters": {"kind": "character_ngrams", "lengths": [2, 4]},
    "words": {"kind": "word_ngrams", "lengths": [1, 1]},
    "tags": {"kind": "tag_ngrams", "lengths": [1, 2], "tagger": TAGGER, "sha256": None},
    "places": {"kind": "positions"},
}
ENTRIES = {"baseline": {"kind": "baselines", "members": PANEL}, "one": SPEC}
ENTRIES |= {"one-random": SPEC | {"weights": "random", "seed": 1}}
PROBED = ["one", "one-random"]
NAMES = ("dog", "fox", "king", "horse", "bird", "girl")


def write_sentences(folder):
    """Write sentences in which "the" stands before the noun or after it: places and letters tell, words not."""
    for source in SOURCES:
        rng, rows = np.random.default_rng(0), []
        for split in ("train", "test"):
            for number in range(60):
                noun, other = rng.choice(NAMES, size=2)
                for label, first in (("positive", f"the {noun}"), ("negative", f"{noun} the")):
                    rows.append((f"{split}-{label}-{number}", f"{first} sings so {other} runs", split, label, number))
        made = pd.DataFrame(rows, columns=["id", "text", "split", "label", "number"])
        made = made.assign(feature="length", value=5, cluster_template=made["number"].mod(30).astype(str))
        out = folder / "data" / "make_recognition" / "toy" / source
        write_table(made[["id", "text", "cluster_template"]], out / "sentences.parquet")
        write_table(made[["feature", "split", "value", "label", "id"]], out / "splits.parquet")
    save_lm(folder / "model", "bert")
    described = folder / "constructions" / "toy" / "construction.yaml"
    described.parent.mkdir(parents=True)
    described.write_text("{name: toy, gloss: a toy, slots: {N: a noun}, positive: the first, sources: [this test]}\n")


@pytest.fixture(scope="module")
def evaluated_once(tmp_path_factory):
    """A folder in which all models were measured and evaluated, and the outcome."""
    folder = tmp_path_factory.mktemp("evaluated")
    write_sentences(folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        change_params(folder, "{}", configure)
        params = load_params()
        for model in ENTRIES:
            measure("recognition", params, model)
        return folder, do_work("evaluate", "recognition", params, "")


def configure(params: dict) -> None:
    params |= empty_params()
    params["models"] = ENTRIES
    params["recognition"] |= {"models": {entry: {} for entry in ENTRIES}, "constructions": {"toy": SOURCES}}
    params["recognition"]["probe"]["max_iter"] = 5000


def test_all_models_are_evaluated_at_once_and_each_has_runs_of_its_own(evaluated_once):
    folder, outcome = evaluated_once
    assert [run.model for run in outcome.runs] == [*sorted(PANEL), *PROBED]
    probes = {(run.model, part.part["source"]): part for run in outcome.runs for part in run.children}
    assert set(probes) == {(slug, one) for slug in PROBED for one in SOURCES}
    assert {run.facts.kind for run in outcome.runs if run.model in PANEL} == {"baseline"}
    colours = [run.tags["mlflow.runColor"] for run in outcome.runs if "mlflow.runColor" in run.tags]
    assert len(colours) == len({*colours}) == len(PROBED)
    assert {model: [*of_it] for model, of_it in outcome.headline.items()} == {slug: ["form", "n"] for slug in PROBED}
    metrics = {run.model: run.metrics for run in outcome.runs}
    assert [metrics["places"][f"recognition/toy {source}"] for source in SOURCES] == [100, 100]
    assert metrics["words"]["recognition/toy mined"] == pytest.approx(50, abs=2)
    assert {"accuracy", "probe_selectivity", "accuracy/by_layer"} <= {*probes["one", "mined"].metrics} | {
        *probes["one", "mined"].series
    }
    own = {source: read_features(folder / "data/embed_recognition/one/toy" / source) for source in SOURCES}
    np.testing.assert_array_equal(own["mined"].vectors, own["generated"].vectors)


def divisions(rates: pd.DataFrame) -> set[tuple[str, ...]]:
    """Return by which columns of facets rates are divided."""
    names = sorted(facet_columns(rates))
    return {tuple(name for name in names if row[name] != "") for row in rates[names].to_dict("records")}


def test_every_model_stands_beside_the_best_baseline_and_its_random_weights_control(evaluated_once):
    folder, outcome = evaluated_once
    assert not outcome.faults
    compared = outcome.tables["comparisons"]
    pairs = set(compared[["compares", "first"]].itertuples(index=False, name=None))
    assert pairs == {("best baseline", "one"), ("best baseline", "one-random"), ("random weights", "one")}
    assert set(compared.loc[compared["compares"] == "random weights", "second"]) == {"one-random"}
    assert (compared["n"] == 120).all()
    rates = read_table(folder / "data/evaluate_recognition/rates.parquet")
    in_parquet_alone = {("feature", "layer"), ("feature", "feature_value", "layer")}
    in_git = {(), ("layer",), ("feature",)}
    assert divisions(rates) == in_git | in_parquet_alone
    assert divisions(outcome.tables["rates"]) == in_git
    (one,) = (run for run in outcome.runs if run.model == "one")
    probes = {part.part["source"]: part for part in one.children}["generated"]
    by_layer = divided_by(rates, "layer")
    layers = by_layer.query("model == 'one' and source == 'generated' and measure == 'accuracy'")
    assert probes.series["accuracy/by_layer"] == list(enumerate(layers["value"]))
    assert [*probes.figures] == ["1_overview", "accuracy_per_value"]


@pytest.mark.pipeline
def test_a_search_has_the_rates_of_the_default_and_the_best_setting_and_at_most_twenty_trials(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("constructions", "models"):
        (tmp_path / name).symlink_to(ROOT / name)
    preset = preset_text("tuned", ROOT / "presets")
    assert "trials: 8" in preset
    (tmp_path / "params.yaml").write_text(preset.replace("trials: 8", "trials: 6"))
    params = read_params(RecognitionStage)
    do_work("make", "recognition", params)
    measure("recognition", params, "mini-mlm")
    [part] = [part for run in do_work("evaluate", "recognition", params).runs for part in run.children]
    assert {"settings", "tuned", "trials"} <= {*part.tables}
    together = part.tables["settings"].query("feature == ''").set_index("setting")["accuracy"]
    assert {name: part.metrics[f"search/{name}"] for name in ("default", "best")} == together.to_dict()
    assert part.metrics["search/best"] == pytest.approx(part.metrics["accuracy"])
    assert 1 < len(part.trials) <= MOST_TRIALS
    best = part.tables["tuned"]
    for found in best[best["layer"] == best["layer"].nunique() // 2].to_dict("records"):
        tried = [one for one in part.trials if one.params["feature"] == found["feature"]]
        assert max(one.metrics["accuracy"] for one in tried) == pytest.approx(found["accuracy"])
        assert f"C={found['C']:.2g} · {found['feature']}" in {one.name for one in tried}
