"""models/dvc.yaml as a whole, with a toy corpus, toy models and a toy budget."""

import gzip
import itertools
import json
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest
import torch
from mlflow import MlflowClient
from ruamel.yaml import YAML
from transformers import AutoModelForCausalLM, AutoModelForMaskedLM, AutoTokenizer

from conftest import ROOT, commit, project_environment, run, save_tiny_bert
from cxprobe.files.tables import read_table
from cxprobe.files.writing import read_json

pytestmark = [pytest.mark.pipeline, pytest.mark.slow]
SCRIPTS = (
    "build_corpus.py",
    "build_ngrams.py",
    "trim_vocabulary.py",
    "pretrain.py",
    "evaluate_pretrained.py",
    "dvc.yaml",
)
YAML_SAFE = YAML(typ="safe", pure=True)
WORDS = "{comparatives: [[faster, slower]], names: [anna], others: [cat, dog]}"


@pytest.fixture(scope="module")
def retrained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project in which `dvc repro models/dvc.yaml` has run once."""
    folder = tmp_path_factory.mktemp("retrained") / "project"
    make_models_project(folder)
    run(folder, "dvc", "repro", "models/dvc.yaml")
    return folder


def make_models_project(folder: Path) -> None:
    shutil.copytree(ROOT / "src", folder / "src", ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
    for name in (*(f"models/{script}" for script in SCRIPTS), "models/.gitignore", ".dvcignore", "data/.gitignore"):
        (folder / name).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, folder / name)
    (folder / "models" / "words.yaml").write_text(WORDS)
    (folder / "models" / "sources.yaml").write_text("repositories: []")
    for model in ("mini-mlm", "mini-clm", "tiny-clm", "mini-ngrams"):
        (folder / "models" / model).mkdir()
        (folder / "models" / model / "README.md").write_text("A card.\n")
    save_tiny_bert(folder / "source", seed=0)
    write_toy_text(folder / "text")
    write_toy_blimp(folder / "blimp")
    params = YAML_SAFE.load(ROOT / "models" / "params.yaml")
    params["build_corpus"] = {"source": {"kind": "folder", "path": "text"}, "held_out": ["toy/held-out#"]}
    for vocabulary in params["trim_vocabulary"].values():
        vocabulary |= {"source": "source", "pieces": 100, "positions": 32}
    for training in params["pretrain"].values():
        training |= {"steps": 40, "warm_up": 5, "batch_tokens": 256, "body_rate": 0.003, "head_rate": 0.01}
        training |= {"threads": 1, "resume_every": 5, "validate_every": 20}
    params["pretrain"]["tiny-clm"] |= {"architecture": {"width": 16, "layers": 1, "heads": 2}, "checkpoints": [2, 9]}
    params["evaluate_pretrained"]["blimp"] = "blimp"
    with (folder / "models" / "params.yaml").open("w") as file:
        YAML_SAFE.dump(params, file)
    for command in (("git", "init", "--quiet"), ("dvc", "init", "--quiet")):
        run(folder, *command)
    commit(folder)


def write_toy_text(folder: Path) -> None:
    folder.mkdir()
    words = itertools.product(("red", "old", "green"), ("cat", "dog", "bird"), ("runs", "sings"), ("man", "girl"))
    texts = [f"The {a} {n} {v}. The {m} reads, and Anna sleeps." for a, n, v, m in words]
    for book in ("learnt", "held-out"):
        with gzip.open(folder / f"{book}.json.gz", "wt") as file:
            for number, text in enumerate(texts):
                file.write(json.dumps({"text": text, "url": f"toy/{book}#one/{number}"}) + "\n")


def write_toy_blimp(folder: Path) -> None:
    folder.mkdir()
    known = {"field": "syntax", "linguistics_term": "order", "UID": "toy_order"}
    with (folder / "toy_order.jsonl").open("w") as file:
        for number, noun in enumerate(("cat", "dog", "bird", "man", "girl")):
            texts = {"sentence_good": f"The {noun} runs.", "sentence_bad": f"Runs {noun} the."}
            file.write(json.dumps(known | texts | {"pairID": str(number)}) + "\n")


def load(model: type, folder: Path) -> torch.nn.Module:
    loaded, report = model.from_pretrained(folder, output_loading_info=True)
    assert not any(report[name] for name in ("missing_keys", "unexpected_keys", "mismatched_keys"))
    assert {weight.dtype for weight in loaded.parameters()} == {torch.float32}
    return loaded


def test_the_models_load_whole_and_in_float32_by_the_ordinary_names(retrained):
    models = retrained / "models"
    load(AutoModelForMaskedLM, models / "mini-mlm")
    assert load(AutoModelForCausalLM, models / "mini-clm").config.is_decoder
    checkpoints = sorted(path.name for path in (models / "tiny-clm").iterdir() if path.is_dir())
    assert checkpoints == ["step-000002", "step-000009", "step-000040"]
    for checkpoint in checkpoints:
        load(AutoModelForCausalLM, models / "tiny-clm" / checkpoint)
    assert all((models / name / "README.md").exists() for name in ("mini-mlm", "mini-clm", "tiny-clm"))


def test_a_causal_model_sees_nothing_that_follows_and_a_masked_one_does(retrained):
    for kind, name in ((AutoModelForCausalLM, "mini-clm"), (AutoModelForMaskedLM, "mini-mlm")):
        model = load(kind, retrained / "models" / name).eval()
        ids = torch.tensor([[2, 10, 11, 12, 13]])
        changed = ids.clone()
        changed[0, -1] = 20
        with torch.no_grad():
            same = torch.equal(model(ids).logits[0, :4], model(changed).logits[0, :4])
        assert same is (kind is AutoModelForCausalLM)


def test_they_have_learnt_the_toy_text(retrained):
    for name in ("mini-mlm", "mini-clm", "tiny-clm"):
        table = read_table(retrained / "results/evaluate_pretrained" / name / "perplexity.csv")
        perplexity = dict(zip(table["checkpoint"], table["perplexity"], strict=True))
        *_, trained, untrained = perplexity.values()
        assert trained < untrained / 2
        table = read_table(retrained / "results/evaluate_pretrained" / name / "blimp.csv")
        assert set(table["checkpoint"]) == set(perplexity)
        assert (table["n"] == 5).all()


def test_the_vocabulary_has_the_words_that_must_be_one_piece(retrained):
    tokenizer = AutoTokenizer.from_pretrained(retrained / "models/mini-mlm")
    assert tokenizer.tokenize("Faster, ‘slower’ Anna") == ["faster", ",", "'", "slower", "'", "anna"]


def test_the_curve_of_loss_against_tokens_is_tracked(retrained):
    client = MlflowClient(f"sqlite:///{retrained / 'mlruns' / 'mlflow.db'}")
    experiment = client.get_experiment_by_name("stages").experiment_id
    (found,) = client.search_runs([experiment], "params.stage = 'pretrain' and params.model = 'mini-clm'")
    curve = client.get_metric_history(found.info.run_id, "loss")
    assert [(point.step, point.value) for point in curve] == [
        tuple(row) for row in read_table(retrained / "results/pretrain/mini-clm/loss.csv").itertuples(index=False)
    ]
    assert found.data.metrics["validation_perplexity"] > 1
    assert found.data.params["pretrain.mini-clm.steps"] == "40"


def test_a_second_run_trains_nothing(retrained):
    assert "Running stage" not in run(retrained, "dvc", "repro", "models/dvc.yaml").stdout


def test_a_killed_training_goes_on_and_ends_as_if_it_had_not_been_killed(retrained, tmp_path):
    folder = tmp_path / "project"
    shutil.copytree(retrained, folder, ignore=shutil.ignore_patterns("mlruns", ".dvc"))
    command = ["python", "models/pretrain.py", "--model", "tiny-clm"]
    process = subprocess.Popen(
        command, cwd=folder, env=project_environment(folder), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    deadline = time.monotonic() + 60
    while not list(folder.glob("data/.scratch/pretrain-*/last.ckpt")) and time.monotonic() < deadline:
        time.sleep(0.001)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert list(folder.glob("data/.scratch/pretrain-*/last.ckpt"))
    done = run(folder, *command)
    assert "resuming at step" in done.stdout
    record = read_json(folder / "results/pretrain/tiny-clm/record.json")
    assert int(record["facts"]["resumed_at"]) > 0
    assert record["series"] == read_json(retrained / "results/pretrain/tiny-clm/record.json")["series"]
    for checkpoint in ("step-000002", "step-000040"):
        weights = Path("models/tiny-clm") / checkpoint / "model.safetensors"
        assert (folder / weights).read_bytes() == (retrained / weights).read_bytes()
