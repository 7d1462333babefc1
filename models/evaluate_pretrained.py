"""evaluate_pretrained: a trained model -> its perplexity and its accuracy on BLiMP, beside its untrained twin's."""

import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray
from transformers import AutoConfig, AutoTokenizer, BertForMaskedLM, BertLMHeadModel, LlamaForCausalLM

from cxprobe.likelihood import causal_token_scores, decide, pll_token_scores, total
from cxprobe.mining import sentences
from cxprobe.models import load_causal_lm, load_masked_lm
from cxprobe.params import ModelSpec
from cxprobe.pretraining import (
    Pair,
    PretrainingParams,
    Segments,
    cut_segments,
    encode_records,
    load_pretraining_params,
    perplexity,
    read_blimp,
    read_corpus,
    save_model,
)
from cxprobe.seeding import generator_for, seed_for
from cxprobe.stage import Outcome, Stage, run_stage_with
from cxprobe.stats import estimate_rate

UNTRAINED = "untrained"
COLUMNS = ["checkpoint", "phenomenon", "paradigm", "n", "accuracy", "low", "high"]


def evaluate_pretrained(stage: Stage[PretrainingParams]) -> Outcome:
    name = stage.item["model"]
    settings, training = stage.params.evaluate_pretrained, stage.params.of_model(name)
    torch.set_num_threads(training.threads)
    torch.manual_seed(seed_for(stage.params.seed, name, "untrained"))
    folder = Path("models") / name
    checkpoints = sorted(folder.glob("step-*")) or [folder]
    text = _validation_text(stage, checkpoints[0])
    pairs = _pairs(settings.blimp, settings.pairs)
    perplexities: list[dict[str, Any]] = []
    tables = [pd.DataFrame(columns=COLUMNS)]
    with tempfile.TemporaryDirectory() as scratch:
        _save_untrained(checkpoints[0], Path(scratch) / UNTRAINED)
        for path in [*checkpoints, Path(scratch) / UNTRAINED]:
            load = load_masked_lm if training.objective == "masked" else load_causal_lm
            model = load(name, ModelSpec(name=str(path), revision=None, sha256=None, dtype="float32"))
            number = perplexity(model.model, model.tokenizer, training, text, stage.params.seed)
            label = path.name if path.name != name else "trained"
            perplexities.append({"checkpoint": label, "perplexity": number})
            print(f"{label}: perplexity {number:.1f}", flush=True)
            if pairs:
                tables.append(_blimp(label, pairs, _scorer(model, training.objective, settings.token_budget)))
    blimp = pd.concat(tables)
    overall = blimp[blimp["phenomenon"] == "all"]
    metrics = {
        "perplexity": {row["checkpoint"]: row["perplexity"] for row in perplexities},
        "blimp": dict(zip(overall["checkpoint"], overall["accuracy"], strict=True)),
    }
    return Outcome(metrics, tables={"perplexity": pd.DataFrame(perplexities), "blimp": blimp})


def _validation_text(stage: Stage[PretrainingParams], folder: Path) -> Segments:
    tokenizer = AutoTokenizer.from_pretrained(folder)
    records = read_corpus(stage.use(Path("models/corpus/validation.json.gz")))
    texts = ([record.text[start:end] for start, end in sentences(record.text)] for record in records)
    return cut_segments(
        encode_records(tokenizer.backend_tokenizer, texts),
        tokenizer.cls_token_id,
        tokenizer.sep_token_id,
        tokenizer.model_max_length,
        generator_for(stage.params.seed, "segments", "validation"),
    )


def _pairs(folder: str | None, pairs: int) -> list[Pair]:
    if folder is None or not Path(folder).is_dir():
        print(f"BLiMP is left out: evaluate_pretrained.blimp is {folder!r}, which is no folder here")
        return []
    return read_blimp(Path(folder), pairs)


def _save_untrained(trained: Path, folder: Path) -> None:
    """Save a model of the same shape with random weights."""
    config = AutoConfig.from_pretrained(trained)
    known = {known.__name__: known for known in (BertForMaskedLM, BertLMHeadModel, LlamaForCausalLM)}
    save_model(known[config.architectures[0]](config), AutoTokenizer.from_pretrained(trained), folder)


def _scorer(model: Any, objective: str, token_budget: int) -> Callable[[list[str]], list[float]]:
    def score(texts: list[str]) -> list[float]:
        if objective == "masked":
            scores = pll_token_scores(model, texts, scheme="pll", token_budget=token_budget)
        else:
            scores = causal_token_scores(model, texts, bos="add", token_budget=token_budget)
        return [total(one) for one in scores]

    return score


def _blimp(checkpoint: str, pairs: list[Pair], score: Callable[[list[str]], list[float]]) -> pd.DataFrame:
    """Return the accuracy over all pairs and in each phenomenon and paradigm; a tie is half."""
    ids = [f"{pair.paradigm}-{number}" for number, pair in enumerate(pairs)]
    credits = decide(ids, score([pair.good for pair in pairs]), score([pair.bad for pair in pairs])).credits
    rows = pd.DataFrame(_rows(pairs, credits))
    return rows.assign(checkpoint=checkpoint)[COLUMNS]


def _rows(pairs: list[Pair], credits: NDArray[np.float64]) -> Iterator[dict[str, Any]]:
    groups: dict[tuple[str, str], list[int]] = {}
    for number, pair in enumerate(pairs):
        for group in (("all", "all"), (pair.phenomenon, "all"), (pair.phenomenon, pair.paradigm)):
            groups.setdefault(group, []).append(number)
    for (phenomenon, paradigm), members in groups.items():
        # The interval is that of further pairs of these paradigms, so each pair is a cluster of its own.
        rate = estimate_rate(credits[members], np.array(list(map(str, members)), dtype=object))
        yield {
            "phenomenon": phenomenon,
            "paradigm": paradigm,
            "n": rate.n,
            "accuracy": rate.value,
            "low": rate.low,
            "high": rate.high,
        }


if __name__ == "__main__":
    run_stage_with(load_pretraining_params, evaluate_pretrained, "model")
