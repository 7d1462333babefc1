from pathlib import Path

import pytest

from conftest import ROOT, change_params
from cxprobe.errors import ParamsError
from cxprobe.params import load_params


def load_changed(folder: Path, change) -> None:
    change_params(folder, ROOT / "presets" / "embedded.yaml", change)
    load_params(folder / "params.yaml", ROOT / "constructions")


def unpinned() -> dict:
    place = {"folder": "hf://datasets/allenai/c4", "glob": "en/*.json.gz"}
    return {"kind": "files", "format": "jsonl", "text": "text", "url": "url"} | place


def shots(*sources: str) -> dict:
    return {"number": 1, "sources": list(sources), "of_the_construction": True}


ALIKE = "ask_llms: shots has 1 of ['templatic'] more than once; results are told apart by number and sources alone"


@pytest.mark.parametrize("preset", ["embedded", "paper"])
def test_every_preset_is_complete(preset):
    load_params(ROOT / "presets" / f"{preset}.yaml", ROOT / "constructions")


def test_all_faults_are_told_at_once_each_with_its_place(tmp_path):
    def spoil(params):
        params["grid"]["probes"]["models"] = ["minilm", "minilmm"]
        params["grid"]["sentences"]["constructions"].append("let-alnoe")
        params["fit_probes"]["c"] = params["fit_probes"].pop("C")
        params["tune_probes"]["folds"] = 1

    with pytest.raises(ParamsError) as raised:
        load_changed(tmp_path, spoil)
    message = str(raised.value)
    assert "grid.probes.models[1]: 'minilmm' is not in models; did you mean 'minilm'?" in message
    assert "grid.sentences.constructions[1]: 'let-alnoe' is not in constructions/" in message
    assert "fit_probes.C: missing" in message
    assert "fit_probes.c: unknown key" in message
    assert "tune_probes.folds: 1 is not allowed: input should be greater than or equal to 2" in message
    assert len(message.splitlines()) == 5


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda p: p["build_splits"]["generate_sentences"].update(test_per_label=999),
            "build_splits draws 999 sentences",
        ),
        (lambda p: p["grid"]["probes"].update(models=["minilm", "minilm"]), "'minilm' stands here more than once"),
        (lambda p: p["tune_probes"]["C"].update(low=1000.0), "low (1000.0) must be below high (100.0)"),
        (lambda p: p["grid"]["probes"].update(models=[]), "at least 1 item"),
        (lambda p: p["grid"]["labels"].update(constructions=[]), "has ['comparative-correlative'], labels.constr"),
        (lambda p: p["grid"]["mining"].update(constructions=["let-alone"]), "mining.constructions has not; add them"),
        (lambda p: p["grid"]["probes"].update(sources=["mine_sentences"]), "grid.probes.sources[0]: 'mine_sentences'"),
        (
            lambda p: p["mine_sentences"]["corpus"].update(glob=None),
            "mine_sentences.corpus.installed.glob: unknown key",
        ),
        (lambda p: p["mine_sentences"]["engine"].update(kind="grid"), "mine_sentences.engine"),
        (lambda p: p["mine_sentences"].update(corpus=unpinned()), "names no revision"),
        (lambda p: p["models"].update({"bad.slug": p["models"]["minilm"]}), "bad.slug"),
        (lambda p: p.update(models=None), "input should be a valid dictionary"),
        (
            lambda p: p["ask_llms"].update(inference_prompts=["short", "short"]),
            "ask_llms.inference_prompts: 'short' stands",
        ),
        (lambda p: p["ask_llms"].update(chain_of_thought=[True, True]), "ask_llms.chain_of_thought: True stands here"),
        (lambda p: p["answer_likelihoods"].update(reasoning_prompts=["riddle"] * 2), "'riddle' stands here more than"),
        (lambda p: p["ask_llms"]["shots"].append(p["ask_llms"]["shots"][1] | {"of_the_construction": False}), ALIKE),
        (lambda p: p["ask_llms"]["shots"].append(shots("b", "a", "b")), "ask_llms.shots[2].sources: 'b' stands here"),
        (
            lambda p: p["ask_llms"].update(shots=[shots("a", "b"), shots("b", "a")]),
            "shots has 1 of ['a', 'b'] more than",
        ),
        (lambda p: p["grid"]["prompts"].update(llms=["mokc"]), "'mokc' is not in llms; did you mean 'mock'?"),
    ],
)
def test_what_contradicts_itself_is_refused(tmp_path, change, message):
    with pytest.raises(ParamsError) as raised:
        load_changed(tmp_path, change)
    assert message in str(raised.value)


def test_a_key_that_stands_twice_is_refused(tmp_path):
    (tmp_path / "params.yaml").write_text("seed: 1\nseed: 2\n")
    with pytest.raises(ParamsError, match='found duplicate key "seed"'):
        load_params(tmp_path / "params.yaml")


def test_a_probe_without_sentences_is_refused(tmp_path):
    for name in ("one", "other"):
        (tmp_path / "constructions" / name).mkdir(parents=True)
        (tmp_path / "constructions" / name / "construction.yaml").touch()

    def change(params):
        params["grid"]["sentences"]["constructions"] = ["one"]
        params["grid"]["mining"]["constructions"] = ["one"]
        params["grid"]["pairs"]["constructions"] = ["one"]
        params["grid"]["labels"]["constructions"] = []
        params["grid"]["scenarios"]["constructions"] = ["one"]
        params["grid"]["prompts"]["constructions"] = ["one"]
        params["grid"]["probes"]["constructions"] = ["other"]

    change_params(tmp_path, ROOT / "presets" / "embedded.yaml", change)
    with pytest.raises(ParamsError, match=r"probes.constructions has \['other'\]"):
        load_params(tmp_path / "params.yaml", tmp_path / "constructions")


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(ParamsError, match=r"nowhere\.yaml: there is no such file"):
        load_params(tmp_path / "nowhere.yaml")
