"""Recognition as stages, for a checkpoint, its twin and a panel of blind models: the same way for all of them."""

import importlib.util

import numpy as np
import pandas as pd
import pytest
from tiny_lms import save_lm

from conftest import ROOT
from cxprobe.errors import ParamsError
from cxprobe.files.arrays import read_features
from cxprobe.files.schema import read_yaml
from cxprobe.files.tables import read_table, write_table
from cxprobe.lm.params import ModelSpec, NgramFeatures, Panel, Rule, TagNgrams
from cxprobe.recognition.params import RecognitionStage
from cxprobe.run.stage import Outcome, Stage

SOURCES = ["generated", "mined", "marked"]
PANEL = Panel(
    kind="blind",
    members={
        "letters": NgramFeatures(kind="character_ngrams", lengths=[2, 4]),
        "words": NgramFeatures(kind="word_ngrams", lengths=[1, 1]),
        "tags": TagNgrams(
            kind="tag_ngrams", lengths=[1, 2], tagger=str(ROOT / "models/tagger/en_ewt_cxprobe"), sha256=None
        ),
        "places": Rule(kind="positions"),
    },
)
SLUGS = ["one", "one-random", *PANEL.members]
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
        made = made.assign(feature="length", draw=0, value=5, cluster_template=made["number"].mod(30).astype(str))
        out = folder / "data" / "make_recognition" / "toy" / source
        sentences = made[["id", "text", "cluster_template"]]
        if source == "marked":  # the words that tell
            sentences = sentences.assign(start=0, end=sentences["text"].str.index(" sings"))
        write_table(sentences, out / "sentences.parquet")
        write_table(made[["feature", "split", "draw", "value", "label", "id"]], out / "splits.parquet")
    save_lm(folder / "model", "bert")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_sentences(tmp_path)
    return tmp_path


@pytest.fixture(scope="module")
def judged_once(tmp_path_factory):
    """A folder in which all models were measured and judged, and what judging them came to."""
    folder = tmp_path_factory.mktemp("judged")
    write_sentences(folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        measured()
        return folder, run("judge")


def stage_of(name: str, item: str = "") -> Stage:
    params = RecognitionStage.model_validate(read_yaml(ROOT / "params.yaml", ParamsError))
    section, one = params.recognition, ModelSpec(name="model", revision=None, sha256=None, dtype="float32")
    changes = {
        "models": {"one": {}, "one-random": {}, "blind": {}},
        "constructions": {"toy": SOURCES},
        "probe": section.probe.model_copy(update={"max_iter": 5000}),
    }
    models = {"one": one, "one-random": one.model_copy(update={"weights": "random", "seed": 1}), "blind": PANEL}
    compute = params.compute.model_copy(update={"jobs": 1})
    update = {"models": models, "recognition": section.model_copy(update=changes), "compute": compute}
    return Stage(name, item, params.model_copy(update=update))


def run(step: str, item: str = "") -> Outcome:
    name = f"{step}_recognition"
    spec = importlib.util.spec_from_file_location(name, ROOT / "pipelines" / "recognition" / f"{step}.py")
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    return getattr(script, name)(stage_of(name, item))


def measured() -> None:
    for model in ("one", "one-random", "blind"):
        run("measure", model)


def test_all_models_are_judged_at_once_and_each_has_runs_of_its_own(judged_once):
    folder, judged = judged_once
    assert [(run.source, run.model) for run in judged.runs] == [(one, slug) for one in SOURCES for slug in SLUGS]
    assert {run.facts.kind for run in judged.runs if run.model in PANEL.members} == {"blind"}
    assert list(judged.headline) == SLUGS
    places = judged.headline["places"]
    assert [places[f"toy, {source}"]["accuracy"] for source in SOURCES] == [1.0, 1.0, 1.0]
    assert all(set(rate) == {"accuracy", "low", "high", "n"} for rate in places.values())
    assert judged.headline["words"]["toy, mined"]["accuracy"] == pytest.approx(0.5, abs=0.02)
    items = read_table(folder / "data" / "judge_recognition" / "toy" / "mined" / "items.parquet")
    assert items["model"].unique().tolist() == SLUGS
    own = {source: read_features(folder / "data/measure_recognition/one/toy" / source) for source in SOURCES}
    assert own["mined"].ids == own["marked"].ids
    np.testing.assert_array_equal(own["mined"].vectors, own["generated"].vectors)
    assert np.abs(own["mined"].vectors - own["marked"].vectors).max() > 0.01


def test_of_marked_sentences_blind_models_controls_and_cards_have_the_words_of_the_span_alone(folder):
    """The label stands in a word of mined sentences that is not in the span of the marked ones."""
    for source in SOURCES:
        path = folder / "data/make_recognition/toy" / source / "sentences.parquet"
        made = read_table(path)
        told = np.where(made["id"].str.contains("positive"), "well", "badly")
        same = made["text"].str.replace(r"^(the (\w+)|(\w+) the)", r"the \2\3", regex=True)
        made = made.assign(text=same + " " + told)
        write_table(made.assign(end=made["text"].str.index(" sings")) if source == "marked" else made, path)
    measured()
    judged = run("judge")
    for panel in PANEL.members:
        assert judged.headline[panel]["toy, mined"]["accuracy"] > (0.9 if panel in ("letters", "words") else 0)
        assert judged.headline[panel]["toy, marked"]["accuracy"] == pytest.approx(0.5, abs=0.02)
    folds = read_table(folder / "data/measure_recognition/one/toy/marked/folds.parquet")
    assert set(folds["cluster_word"]) == set(NAMES)
    words = run("report").tables["tables/card_words"]
    assert set(words.loc[words["source"] == "marked", "word"]) == {"the", *NAMES}


def test_the_report_holds_every_model_against_the_best_blind_one_and_its_twin(judged_once, monkeypatch):
    folder, judged = judged_once
    monkeypatch.chdir(folder)
    assert not judged.faults
    outcome = run("report")
    assert list(dict.fromkeys(outcome.tables["accuracy"]["model"])) == SLUGS
    compared = outcome.tables["tables/comparisons"]
    pairs = set(compared[["compares", "first"]].itertuples(index=False, name=None))
    assert pairs == {("best blind", "one"), ("twin", "one")}
    assert set(compared.loc[compared["compares"] == "twin", "second"]) == {"one-random"}
    assert (compared["n"] == 120).all()
    card = outcome.tables["tables/card"].set_index(["source", "model"])
    assert card["solved"].xs("mined").to_dict() == {"letters": True, "words": False, "tags": True, "places": True}
    for table in outcome.tables.values():
        write_table(table, folder / "out.csv")  # no cell is empty, no number is infinite
