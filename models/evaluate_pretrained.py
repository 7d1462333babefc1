"""evaluate_pretrained: a trained model -> its perplexity and its accuracy on BLiMP, beside its untrained twin's."""

import tempfile
from pathlib import Path
from typing import Any

import pandas as pd
import torch
from transformers import AutoConfig, AutoTokenizer, BertForMaskedLM, BertLMHeadModel, LlamaForCausalLM

from cxprobe.lm.language_models import CausalLM, MaskedLM
from cxprobe.lm.loading import load_causal_lm, load_masked_lm
from cxprobe.lm.params import ModelSpec
from cxprobe.lm.scores import texts_by_scheme
from cxprobe.lm.scoring import HowToScore, distinct_texts, score_texts
from cxprobe.lm.texts import Pair
from cxprobe.pairs.benchmarks import read_benchmark
from cxprobe.pairs.judge import judge_benchmark
from cxprobe.pairs.make import pair_table
from cxprobe.pairs.measure import texts_of_pairs
from cxprobe.pairs.params import Benchmark
from cxprobe.run.running import run_stage_with
from cxprobe.run.stage import Outcome, Stage
from cxprobe.seeding import generator_for, seed_for
from cxprobe.segmentation import sentences
from cxprobe.stats import rate_by
from cxprobe_pretraining import (
    PretrainingParams,
    Segments,
    cut_segments,
    encode_records,
    load_pretraining_params,
    perplexity,
    read_corpus,
    save_model,
)

UNTRAINED = "untrained"
BLIMP = {"format": "blimp", "files": "*.jsonl*", "by": ["phenomenon"], "score": "sum"}
RATE = ["accuracy", "low", "high", "n"]
COLUMNS = ["checkpoint", "phenomenon", "paradigm", *RATE]


def evaluate_pretrained(stage: Stage[PretrainingParams]) -> Outcome:
    name = stage.item["model"]
    settings, training = stage.params.evaluate_pretrained, stage.params.of_model(name)
    torch.set_num_threads(training.threads)
    torch.manual_seed(seed_for(stage.params.seed, name, "untrained"))
    folder = Path("models") / name
    checkpoints = sorted(folder.glob("step-*")) or [folder]
    text = _validation_text(stage, checkpoints[0])
    pairs = _pairs(settings.blimp, settings.pairs, stage.params.seed)
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
                tables.append(_blimp(label, pairs, model, settings.token_budget))
    blimp = pd.concat(tables)
    overall = blimp[blimp["phenomenon"] == "all"]
    counts = {f"perplexity.{row['checkpoint']}": row["perplexity"] for row in perplexities}
    counts |= {f"blimp.{checkpoint}": rate for checkpoint, rate in overall[["checkpoint", "accuracy"]].to_numpy()}
    return Outcome(counts=counts, tables={"perplexity": pd.DataFrame(perplexities), "blimp": blimp})


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


def _pairs(folder: str | None, pairs: int, seed: int) -> list[Pair]:
    if folder is None or not Path(folder).is_dir():
        print(f"BLiMP is left out: evaluate_pretrained.blimp is {folder!r}, which is not a folder here")
        return []
    return read_benchmark(Path(folder), Benchmark(**BLIMP, pairs_per_file=pairs), seed)


def _save_untrained(trained: Path, folder: Path) -> None:
    """Save a model of the same shape with random weights."""
    config = AutoConfig.from_pretrained(trained)
    known = {known.__name__: known for known in (BertForMaskedLM, BertLMHeadModel, LlamaForCausalLM)}
    save_model(known[config.architectures[0]](config), AutoTokenizer.from_pretrained(trained), folder)


def _blimp(checkpoint: str, pairs: list[Pair], model: MaskedLM | CausalLM, token_budget: int) -> pd.DataFrame:
    """Return the accuracy over all pairs, in each phenomenon and in each paradigm; a tie is half."""
    how = HowToScore(["pll"], "add", token_budget)
    scores = score_texts(model, distinct_texts([texts_of_pairs(model, pairs, how.bos)]), how)
    benchmark = Benchmark(**BLIMP, pairs_per_file=None)
    judged = judge_benchmark("blimp", pair_table(pairs), texts_by_scheme(scores), benchmark, "pll").items
    judged = judged.assign(all="all")
    tables = [
        rate_by(judged, "accuracy", [phenomenon, paradigm]).set_axis([*COLUMNS[1:3], *RATE, "ties"], axis=1)
        for phenomenon, paradigm in (("all", "all"), ("phenomenon", "all"), ("phenomenon", "paradigm"))
    ]
    return pd.concat(tables).assign(checkpoint=checkpoint)[COLUMNS]


if __name__ == "__main__":
    run_stage_with(load_pretraining_params, evaluate_pretrained, "model")
