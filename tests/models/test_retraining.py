"""`python models/train.py` as a whole, with a toy corpus, toy models and a toy budget."""

import gzip
import itertools
import json
import shutil
import signal
import subprocess
from pathlib import Path

import pandas as pd
import pytest
import torch
from ruamel.yaml import YAML
from servers import wait_until
from transformers import AutoModelForCausalLM, AutoModelForMaskedLM

from conftest import ROOT, project_environment, run, save_tiny_bert

pytestmark = [pytest.mark.pipeline, pytest.mark.slow]
COMMAND = ("python", "models/train.py")
YAML_SAFE = YAML(typ="safe", pure=True)
YAML_SAFE.default_flow_style, YAML_SAFE.sort_base_mapping_type_on_output = False, False  # in the order of training
WORDS = "{comparatives: [[faster, slower]], names: [anna], others: [cat, dog]}"


@pytest.fixture(scope="module")
def retrained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project in which everything has been trained once."""
    folder = tmp_path_factory.mktemp("retrained") / "project"
    make_models_project(folder)
    run(folder, *COMMAND)
    return folder


def make_models_project(folder: Path) -> None:
    shutil.copytree(ROOT / "src", folder / "src", ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
    shutil.copytree(
        ROOT / "models" / "pretraining", folder / "models" / "pretraining", ignore=shutil.ignore_patterns("__pycache__")
    )
    shutil.copy(ROOT / "models" / "train.py", folder / "models" / "train.py")
    shutil.copy(ROOT / "models" / "lessons.yaml", folder / "models" / "lessons.yaml")
    (folder / "models" / "words.yaml").write_text(WORDS)
    save_tiny_bert(folder / "source", seed=0)
    write_toy_text(folder / "text")
    params = YAML_SAFE.load(ROOT / "models" / "params.yaml")
    params["corpus"] |= {"folder": "text", "held_out": ["toy/held-out#"]}
    for vocabulary in params["vocabularies"].values():
        vocabulary |= {"source": "source", "pieces": 100, "positions": 32}
    for training in params["models"].values():
        training |= {"steps": 40, "warm_up": 5, "batch_tokens": 256, "body_rate": 0.003, "head_rate": 0.01}
        training |= {"threads": 1, "resume_every": 5, "validate_every": 20}
    for name in ("taught-clm-chance", "taught-clm-agent"):
        del params["models"][name]
    params["models"]["taught-clm-first"]["accelerator"] = "cpu"
    params["models"]["taught-clm-first"]["architecture"] = {"width": 16, "layers": 1, "heads": 2}
    params["models"]["tiny-clm"] |= {"architecture": {"width": 16, "layers": 1, "heads": 2}, "checkpoints": [2, 9]}
    with (folder / "models" / "params.yaml").open("w") as file:
        YAML_SAFE.dump(params, file)


def write_toy_text(folder: Path) -> None:
    folder.mkdir()
    words = itertools.product(("red", "old", "green"), ("cat", "dog", "bird"), ("runs", "sings"), ("man", "girl"))
    texts = [f"The {a} {n} {v}. The {m} reads, and Anna sleeps." for a, n, v, m in words]
    for book in ("learnt", "held-out"):
        with gzip.open(folder / f"{book}.json.gz", "wt") as file:
            for number, text in enumerate(texts):
                file.write(json.dumps({"text": text, "url": f"toy/{book}#one/{number}"}) + "\n")


def load(model: type, folder: Path) -> torch.nn.Module:
    loaded, report = model.from_pretrained(folder, output_loading_info=True)
    assert not any(report[name] for name in ("missing_keys", "unexpected_keys", "mismatched_keys"))
    assert {weight.dtype for weight in loaded.parameters()} == {torch.float32}
    return loaded


def test_the_models_load_whole_and_in_float32_by_the_ordinary_names(retrained):
    models = retrained / "models" / "new"
    load(AutoModelForMaskedLM, models / "mini-mlm")
    assert load(AutoModelForCausalLM, models / "mini-clm").config.is_decoder
    checkpoints = sorted(path.name for path in (models / "tiny-clm").iterdir())
    assert checkpoints == ["step-000002", "step-000009", "step-000040"]
    for checkpoint in checkpoints:
        load(AutoModelForCausalLM, models / "tiny-clm" / checkpoint)


def test_they_have_learnt_the_toy_text(retrained):
    for name in ("mini-mlm", "mini-clm", "tiny-clm", "taught-clm"):
        table = pd.read_csv(retrained / "models" / "new" / f"{name}.perplexity.csv")
        *_, trained, untrained = table["perplexity"]
        assert table["checkpoint"].iloc[-1] == "untrained"
        assert trained < untrained / 2


def test_a_killed_training_goes_on_and_ends_as_if_it_had_not_been_killed(retrained, tmp_path):
    folder = tmp_path / "project"
    shutil.copytree(retrained, folder)
    (folder / "models" / "new" / "tiny-clm.made").unlink()
    process = subprocess.Popen(
        COMMAND, cwd=folder, env=project_environment(folder), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    wait_until(lambda: list(folder.glob("models/new/*.training/*/last.ckpt")), lambda: process.poll() is None)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert list(folder.glob("models/new/*.training/*/last.ckpt"))
    assert "resuming at step" in run(folder, *COMMAND).stdout
    for checkpoint in ("step-000002", "step-000009", "step-000040"):
        weights = Path("models/new/tiny-clm") / checkpoint / "model.safetensors"
        assert (folder / weights).read_bytes() == (retrained / weights).read_bytes()
