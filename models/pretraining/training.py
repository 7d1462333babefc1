"""Training a masked or a causal language model with Lightning: exact to the step when it is resumed."""

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytorch_lightning as pl
import torch
from numpy.typing import NDArray
from pytorch_lightning.callbacks import ModelCheckpoint, TQDMProgressBar
from pytorch_lightning.loggers import CSVLogger
from torch.nn import functional
from torch.utils.data import DataLoader, IterableDataset
from transformers import (
    AutoConfig,
    BertForMaskedLM,
    BertLMHeadModel,
    LlamaConfig,
    LlamaForCausalLM,
    PreTrainedTokenizerFast,
)

from cxprobe.errors import ModelError
from cxprobe.seeding import generator_for
from pretraining.segments import Segments, mask_tokens, pad, plan_batches
from pretraining.settings import Training

Batch = tuple[torch.Tensor, torch.Tensor]
IGNORED = -100  # the label of a position where nothing is predicted
_ROWS = 256  # positions whose logits over the vocabulary exist at one time: few enough to stay in the heap of malloc
KEPT, STATE = "kept", "last.ckpt"
_OWN_HEAD = "cls."  # what a masked or causal BERT has beyond its body


def learning_rate_factor(step: int, steps: int, warm_up: int) -> float:
    """Return the factor in [0, 1] of the peak learning rate: up linearly in ``warm_up`` steps, then down to 0."""
    if step < warm_up:
        return (step + 1) / warm_up
    return max(0.0, (steps - step) / max(1, steps - warm_up))


def masked_share(step: int, steps: int, first: float, last: float) -> float:
    """Return the share of tokens that is masked at a step, falling linearly from ``first`` to ``last``.

    A share that falls while a model learns gave better syntax than any constant one (Ankner et al. 2024, "Dynamic
    Masking Rate Schedules for MLM Pretraining", section 4).
    """
    return first + (last - first) * step / max(1, steps - 1)


def start_model(
    settings: Training, start: Path, tokenizer: PreTrainedTokenizerFast, counts: NDArray[np.int64] | None = None
) -> Any:
    """Return the model that a training begins with.

    Args:
        settings: Its objective and architecture.
        start: The folder with the weights to start from, unless there is an architecture.
        tokenizer: The tokenizer in that folder.
        counts: (vocabulary,) how often the training text has each token. A head that is new begins with the
            logarithms of these frequencies, not with an even guess.

    Raises:
        ModelError: The start lacks weights of the body.
    """
    if shape := settings.architecture:
        config = LlamaConfig(
            vocab_size=len(tokenizer),
            hidden_size=shape.width,
            intermediate_size=shape.width * 8 // 3 // 16 * 16,  # 2/3 of four times the width: it has three matrices
            num_hidden_layers=shape.layers,
            num_attention_heads=shape.heads,
            max_position_embeddings=tokenizer.model_max_length,
            tie_word_embeddings=True,
            pad_token_id=tokenizer.pad_token_id,
            bos_token_id=tokenizer.bos_token_id,
            eos_token_id=tokenizer.eos_token_id,
        )
        return LlamaForCausalLM(config)
    masked = settings.objective == "masked"
    if AutoConfig.from_pretrained(start).model_type == LlamaConfig.model_type:
        return LlamaForCausalLM.from_pretrained(start, dtype=torch.float32)
    model, report = (BertForMaskedLM if masked else BertLMHeadModel).from_pretrained(
        start, is_decoder=not masked, dtype=torch.float32, output_loading_info=True
    )
    missing = sorted(report["missing_keys"])
    if lacking := [name for name in missing if not name.startswith(_OWN_HEAD)]:
        raise ModelError(f"'{start}' lacks {len(lacking)} weights of the body: {', '.join(lacking[:5])}")
    if missing and counts is not None:
        model.cls.predictions.bias.data.copy_(torch.from_numpy(np.log((counts + 1) / (counts + 1).sum())))
    return model


def save_model(model: Any, tokenizer: PreTrainedTokenizerFast, folder: Path) -> None:
    """Save a model in float16, to be loaded in float32, with its tokenizer."""
    halves: dict[int, torch.Tensor] = {}  # tensors that are shared stay shared, and are stored once
    state = {}
    for name, weight in model.state_dict().items():
        state[name] = halves.setdefault(weight.data_ptr(), weight.detach().to("cpu", torch.float16))
    model.save_pretrained(folder, state_dict=state)
    tokenizer.save_pretrained(folder)


class Batches(IterableDataset[Batch]):
    """The batches from a step on. Each follows from the seed and its step alone, so a resumed training sees the same.

    A batch is (inputs, labels), both (rows, length) int64; labels are `IGNORED` where nothing is to be predicted.

    Args:
        segments: What to learn from.
        tokenizer: Says which ids are special.
        settings: The objective, the size of a batch and the share of masked tokens.
        first: The first step.
        steps: The step before which to end; None for each segment exactly once, with the last share of masks.
        seed: Of the order and of the masks.
    """

    def __init__(
        self, segments: Segments, tokenizer: Any, settings: Training, *, first: int, steps: int | None, seed: int
    ) -> None:
        super().__init__()
        self._segments, self._tokenizer, self._settings = segments, tokenizer, settings
        self._first, self._steps, self._seed = first, steps, seed

    def __iter__(self) -> Iterator[Batch]:
        """Yield the batches, epoch after epoch."""
        step = 0
        for epoch in range(1 if self._steps is None else self._steps):
            order = generator_for(self._seed, "epoch", epoch)
            for rows in plan_batches(self._segments.lengths, self._settings.batch_tokens, order):
                if step == self._steps:
                    return
                if step >= self._first:
                    yield self._batch(step, rows)
                step += 1

    def _batch(self, step: int, rows: np.ndarray) -> Batch:
        filler = self._tokenizer.pad_token_id
        ids = pad(self._segments, rows, filler)  # (rows, length)
        labels = np.full_like(ids, IGNORED)
        if self._settings.objective == "causal":
            is_given = np.arange(1, ids.shape[1]) < self._segments.given[rows, np.newaxis]
            labels[:, :-1] = np.where(is_given | (ids[:, 1:] == filler), IGNORED, ids[:, 1:])
            return torch.from_numpy(ids), torch.from_numpy(labels)
        share = self._settings.masked_last
        if self._steps is not None:
            share = masked_share(step, self._steps, self._settings.masked_first, share)
        special, generator = np.array(self._tokenizer.all_special_ids), generator_for(self._seed, "mask", step)
        masked, hidden = mask_tokens(ids, special, share, self._tokenizer.mask_token_id, generator)
        labels[hidden] = ids[hidden]
        return torch.from_numpy(masked), torch.from_numpy(labels)


class LanguageModelling(pl.LightningModule):
    """A language model of Hugging Face, its loss and its learning rate.

    Args:
        model: With a language modelling head, ``cls`` or ``lm_head``.
        settings: The objective and the schedule.
        pad_token_id: What fills short rows.
    """

    def __init__(self, model: Any, settings: Training, pad_token_id: int) -> None:
        super().__init__()
        self.model, self.settings, self.pad_token_id = model, settings, pad_token_id
        self.head = model.cls if hasattr(model, "cls") else model.lm_head
        self.tokens: torch.Tensor
        self.register_buffer("tokens", torch.zeros((), dtype=torch.int64))  # seen so far; kept for a resumed training

    def training_step(self, batch: Batch, _index: int) -> torch.Tensor:
        """Return the mean loss of the predicted tokens, in nats."""
        total, count = self.total_loss(*batch)
        self.tokens += (batch[0] != self.pad_token_id).sum()
        loss = total / count
        self.log_dict({"loss": loss.detach(), "tokens": self.tokens.double()}, prog_bar=True)
        return loss

    def validation_step(self, batch: Batch, _index: int) -> None:
        """Log the loss over the predicted tokens of the validation text."""
        total, count = self.total_loss(*batch)
        self.log("validation_loss", total / count, batch_size=count, prog_bar=True)

    def total_loss(self, ids: torch.Tensor, labels: torch.Tensor) -> tuple[torch.Tensor, int]:
        """Return the sum of the losses in nats, and how many tokens were predicted.

        Args:
            ids: (batch, length).
            labels: (batch, length), `IGNORED` where nothing is predicted; no logits are computed there.
        """
        # Behind a causal mask no token sees the padding to its right, so only a masked model needs a mask for it.
        mask = (ids != self.pad_token_id).long() if self.settings.objective == "masked" else None
        hidden = self.model.base_model(input_ids=ids, attention_mask=mask).last_hidden_state
        predicted = labels != IGNORED  # (batch, length)
        hidden, labels = hidden[predicted], labels[predicted]  # (predicted, dimensions), (predicted,)
        losses = [
            functional.cross_entropy(self.head(part).float(), wanted, reduction="sum")
            for part, wanted in zip(torch.split(hidden, _ROWS), torch.split(labels, _ROWS), strict=True)
        ]
        return torch.stack(losses).sum(), len(labels)

    def configure_optimizers(self) -> Any:
        """Return AdamW with a learning rate for the body and one for the head, both on the same schedule."""
        body = {id(parameter) for parameter in self.model.base_model.parameters()}
        groups: dict[tuple[bool, bool], list[torch.nn.Parameter]] = {}
        for parameter in self.model.parameters():
            groups.setdefault((id(parameter) in body, parameter.ndim > 1), []).append(parameter)
        settings = self.settings
        optimizer = torch.optim.AdamW(
            [
                {
                    "params": parameters,
                    "lr": settings.body_rate if in_body else settings.head_rate,
                    "weight_decay": settings.weight_decay if is_matrix else 0.0,
                }
                for (in_body, is_matrix), parameters in groups.items()
            ],
            betas=(0.9, 0.98),
        )
        schedule = torch.optim.lr_scheduler.LambdaLR(
            optimizer, lambda step: learning_rate_factor(step, settings.steps, settings.warm_up)
        )
        return {"optimizer": optimizer, "lr_scheduler": {"scheduler": schedule, "interval": "step"}}


class _KeepCheckpoints(pl.Callback):
    """Saves the model after certain steps."""

    def __init__(self, folders: dict[int, Path], tokenizer: Any) -> None:
        self._folders, self._tokenizer = folders, tokenizer

    def on_train_batch_end(self, trainer: pl.Trainer, module: pl.LightningModule, *_: Any) -> None:
        """Save after a step that is one of them."""
        folder = self._folders.get(trainer.global_step)
        if folder:
            save_model(module.model, self._tokenizer, folder)


def train(
    model: Any,
    tokenizer: Any,
    settings: Training,
    parts: dict[str, Segments],
    *,
    seed: int,
    scratch: Path,
) -> None:
    """Train a model in place, from where an earlier process left it in ``scratch`` if one did, and save it.

    Args:
        model: What to train.
        tokenizer: Its tokenizer.
        settings: How.
        parts: The text to learn from ("train"), and to measure the loss on ("validation").
        seed: Of the order and of the masks.
        scratch: A folder of this very training: for its state, for curve/version_*/metrics.csv, and in `KEPT` for the
            model, or each checkpoint in its own folder.
    """
    steps = [*settings.checkpoints, settings.steps]
    kept = {step: scratch / KEPT / (f"step-{step:06d}" if settings.checkpoints else "") for step in steps}
    state = scratch / STATE
    trainer = pl.Trainer(
        accelerator=settings.accelerator,
        devices=1,
        precision=settings.precision,
        max_steps=settings.steps,
        gradient_clip_val=1.0,
        val_check_interval=settings.validate_every,
        check_val_every_n_epoch=None,
        num_sanity_val_steps=0,
        log_every_n_steps=20,
        logger=CSVLogger(scratch, name="curve"),
        enable_model_summary=False,
        callbacks=[
            ModelCheckpoint(
                scratch,
                filename="last",
                every_n_train_steps=settings.resume_every,
                enable_version_counter=False,
                save_on_train_epoch_end=False,
            ),
            _KeepCheckpoints(kept, tokenizer),
            TQDMProgressBar(refresh_rate=20),
        ],
    )
    first = int(torch.load(state, weights_only=True, mmap=True)["global_step"]) if state.exists() else 0
    if first:
        print(f"resuming at step {first} of {settings.steps}, which an earlier run left in {state}", flush=True)
    learnt = Batches(parts["train"], tokenizer, settings, first=first, steps=settings.steps, seed=seed)
    measured = Batches(parts["validation"], tokenizer, settings, first=0, steps=None, seed=seed)
    trainer.fit(
        LanguageModelling(model, settings, tokenizer.pad_token_id),
        DataLoader(learnt, batch_size=None),
        DataLoader(measured, batch_size=None),
        ckpt_path=state if first else None,
        weights_only=True,
    )


def perplexity(model: Any, tokenizer: Any, settings: Training, segments: Segments, seed: int) -> float:
    """Return the perplexity of a model on a text: of each next token, or of each token that is masked.

    Args:
        model: The model.
        tokenizer: Its tokenizer.
        settings: The objective, and the share of masked tokens (the last one).
        segments: The text.
        seed: Of the masks.
    """
    module = LanguageModelling(model.eval(), settings, tokenizer.pad_token_id)
    total, count = 0.0, 0
    with torch.inference_mode():
        for batch in Batches(segments, tokenizer, settings, first=0, steps=None, seed=seed):
            loss, predicted = module.total_loss(*batch)
            total, count = total + float(loss), count + predicted
    return math.exp(total / count)
