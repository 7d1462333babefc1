"""pretrain: a start and the text -> a language model that ``from_pretrained`` reads, or several along its training."""

import hashlib
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import torch
from transformers import AutoTokenizer, PreTrainedTokenizerFast

from cxprobe.files.writing import SCRATCH, digest
from cxprobe.run.running import is_helper_process, run_stage_with
from cxprobe.run.stage import Outcome, Stage
from cxprobe.seeding import generator_for, seed_for
from cxprobe.segmentation import sentences
from cxprobe_pretraining import (
    PretrainingParams,
    Segments,
    Training,
    cut_segments,
    encode_records,
    load_pretraining_params,
    read_corpus,
    save_model,
    start_model,
    train,
)

CORPUS = Path("models/corpus")


def pretrain(stage: Stage[PretrainingParams]) -> Outcome | None:
    name = stage.item["model"]
    settings = stage.params.of_model(name)
    torch.set_num_threads(settings.threads)
    torch.manual_seed(seed_for(stage.params.seed, name, "weights"))
    tokenizer = AutoTokenizer.from_pretrained(settings.start)
    parts = {part: _segments(stage, tokenizer, part) for part in ("train", "validation")}
    counts = np.bincount(parts["train"].ids, minlength=len(tokenizer))
    model = start_model(settings, tokenizer, counts)
    model.set_attn_implementation(settings.attention)
    scratch = SCRATCH / f"pretrain-{_key(stage, parts)}"
    done = train(
        model,
        tokenizer,
        settings,
        parts["train"],
        parts["validation"],
        seed=seed_for(stage.params.seed, name),
        scratch=scratch,
    )
    if is_helper_process():
        return None
    _keep(done, model, tokenizer, Path("models") / name)
    shutil.rmtree(scratch, ignore_errors=True)
    return _outcome(done, sum(weight.numel() for weight in model.parameters()))


def _segments(stage: Stage[PretrainingParams], tokenizer: PreTrainedTokenizerFast, part: str) -> Segments:
    records = read_corpus(stage.use(CORPUS / f"{part}.json.gz"))
    texts = ([record.text[start:end] for start, end in sentences(record.text)] for record in records)
    return cut_segments(
        encode_records(tokenizer.backend_tokenizer, texts),
        tokenizer.cls_token_id,
        tokenizer.sep_token_id,
        tokenizer.model_max_length,
        generator_for(stage.params.seed, "segments", part),
    )


def _key(stage: Stage[PretrainingParams], parts: dict[str, Segments]) -> str:
    """Name the scratch folder by all that the training follows from, so that only the same one is resumed."""
    settings = stage.params.of_model(stage.item["model"])
    start = [digest(file) for file in sorted(Path(settings.start).glob("*.safetensors"))]
    texts = [hashlib.sha256(segments.ids.tobytes()).hexdigest() for segments in parts.values()]
    key = (stage.params.seed, settings.model_dump_json(), start, texts)
    return hashlib.sha256(repr(key).encode()).hexdigest()[:16]


def _keep(done: Training, model: torch.nn.Module, tokenizer: PreTrainedTokenizerFast, folder: Path) -> None:
    """Put the model, or its checkpoints, in the place of those that are there; the model card stays."""
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.iterdir():
        if old.is_dir():
            shutil.rmtree(old)
        elif old.suffix != ".md":
            old.unlink()
    for kept in done.kept.values():
        shutil.copytree(kept, folder / kept.name)
    if not done.kept:
        save_model(model, tokenizer, folder)


def _outcome(done: Training, parameters: int) -> Outcome:
    curve = pd.DataFrame(done.losses, columns=["tokens", "loss"])
    validation = pd.DataFrame(done.validation_losses, columns=["tokens", "loss"])
    perplexities = [(tokens, float(np.exp(loss))) for tokens, loss in done.validation_losses]
    counts = {
        "parameters": parameters,
        "tokens": done.tokens,
        "steps": done.steps,
        "validation_perplexity": perplexities[-1][1],
    }
    return Outcome(
        counts=counts,
        series={"loss": done.losses, "validation_perplexity": perplexities},
        tables={"loss": curve, "validation_loss": validation},
        facts={"resumed_at": str(done.resumed_at)},
    )


if __name__ == "__main__":
    run_stage_with(load_pretraining_params, pretrain, "model")
