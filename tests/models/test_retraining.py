"""`python models/train.py` as a whole, with a toy corpus, toy models and a toy budget."""

import gzip
import itertools
import json
import shutil
from pathlib import Path

import pandas as pd
import pytest
from ruamel.yaml import YAML
from transformers import AutoModelForCausalLM, AutoModelForMaskedLM

from conftest import ROOT, run, save_tiny_bert

pytestmark = [pytest.mark.pipeline, pytest.mark.slow]
YAML_SAFE = YAML(typ="safe", pure=True)
YAML_SAFE.default_flow_style, YAML_SAFE.sort_base_mapping_type_on_output = False, False  # in the order of training
WORDS = "{comparatives: [[faster, slower]], names: [anna], others: [cat, dog]}"


@pytest.fixture
def retrained(tmp_path: Path) -> Path:
    """The models of a project in which everything has been trained once."""
    for name in ("src", "models/pretraining"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
    for name in ("train.py", "lessons.yaml"):
        shutil.copy(ROOT / "models" / name, tmp_path / "models")
    (tmp_path / "models" / "words.yaml").write_text(WORDS)
    save_tiny_bert(tmp_path / "source", seed=0)
    (tmp_path / "text").mkdir()
    words = itertools.product(("red", "old", "green"), ("cat", "dog", "bird"), ("runs", "sings"), ("man", "girl"))
    texts = [f"The {a} {n} {v}. The {m} reads, and Anna sleeps." for a, n, v, m in words]
    for book in ("learnt", "held-out"):
        lines = [json.dumps({"text": text, "url": f"toy/{book}#one/{n}"}) + "\n" for n, text in enumerate(texts)]
        (tmp_path / "text" / f"{book}.json.gz").write_bytes(gzip.compress("".join(lines).encode()))
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
    with (tmp_path / "models" / "params.yaml").open("w") as file:
        YAML_SAFE.dump(params, file)
    run(tmp_path, "python", "models/train.py")
    return tmp_path / "models" / "new"


def test_every_model_is_trained_on_the_toy_text_and_loads_by_the_ordinary_names(retrained):
    for name in ("mini-mlm", "mini-clm", "tiny-clm", "taught-clm"):
        table = pd.read_csv(retrained / f"{name}.perplexity.csv")
        *_, trained, untrained = table["perplexity"]
        assert table["checkpoint"].iloc[-1] == "untrained"
        assert trained < 0.7 * untrained
    AutoModelForMaskedLM.from_pretrained(retrained / "mini-mlm")
    for checkpoint in (2, 9, 40):
        AutoModelForCausalLM.from_pretrained(retrained / "tiny-clm" / f"step-{checkpoint:06}")
