"""Training a masked or a causal language model with Lightning: exact to the step when it is resumed."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytorch_lightning as pl
import torch
from pytorch_lightning.callbacks import ModelCheckpoint, TQDMProgressBar
from torch.nn import functional
from torch.utils.data import DataLoader, IterableDataset

from cxprobe.seeding import generator_for
from cxprobe_pretraining.masking import mask_tokens
from cxprobe_pretraining.schedule import learning_rate_factor, masked_share
from cxprobe_pretraining.segments import Segments, pad, plan_batches
from cxprobe_pretraining.settings import Pretrain
from cxprobe_pretraining.starts import save_model

Batch = tuple[torch.Tensor, torch.Tensor]
IGNORED = -100  # the label of a position where nothing is predicted
_ROWS = 256  # positions whose logits over the vocabulary exist at one time: few enough to stay in the heap of malloc
_LOGGED = 20  # steps that a point of the learning curve is the mean of


@dataclass(frozen=True)
class Training:
    """How a training went.

    Attributes:
        tokens: How many were seen, padding left out.
        steps: How many batches.
        resumed_at: The step at which this process took up what an earlier one had left, or 0.
        losses: (tokens seen, mean loss in nats of the last steps).
        validation_losses: (tokens seen, mean loss in nats on the validation text).
        kept: Step -> folder of a checkpoint.
    """

    tokens: int
    steps: int
    resumed_at: int
    losses: list[tuple[int, float]]
    validation_losses: list[tuple[int, float]]
    kept: dict[int, Path]


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
        self, segments: Segments, tokenizer: Any, settings: Pretrain, *, first: int, steps: int | None, seed: int
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
            labels[:, :-1] = np.where(ids[:, 1:] == filler, IGNORED, ids[:, 1:])
            return torch.from_numpy(ids), torch.from_numpy(labels)
        masked, hidden = mask_tokens(
            ids,
            np.array(self._tokenizer.all_special_ids),
            self._masked_share(step),
            self._tokenizer.mask_token_id,
            generator_for(self._seed, "mask", step),
        )
        labels[hidden] = ids[hidden]
        return torch.from_numpy(masked), torch.from_numpy(labels)

    def _masked_share(self, step: int) -> float:
        if self._steps is None:
            return self._settings.masked_last
        return masked_share(step, self._steps, self._settings.masked_first, self._settings.masked_last)


class LanguageModelling(pl.LightningModule):
    """A language model of Hugging Face, its loss and its learning rate.

    Args:
        model: With a language modelling head, ``cls`` or ``lm_head``.
        settings: The objective and the schedule.
        pad_token_id: What fills short rows.
    """

    def __init__(self, model: Any, settings: Pretrain, pad_token_id: int) -> None:
        super().__init__()
        self.model, self.settings, self.pad_token_id = model, settings, pad_token_id
        self.head = model.cls if hasattr(model, "cls") else model.lm_head
        self.tokens = 0
        self.losses: list[tuple[int, float]] = []
        self.validation_losses: list[tuple[int, float]] = []
        self._recent: list[float] = []

    def on_save_checkpoint(self, checkpoint: dict[str, Any]) -> None:
        """Keep what has been counted and measured, so that a resumed training's curve is whole."""
        checkpoint["progress"] = [self.tokens, self.losses, self.validation_losses, self._recent]

    def on_load_checkpoint(self, checkpoint: dict[str, Any]) -> None:
        """Take it up again."""
        self.tokens, self.losses, self.validation_losses, self._recent = checkpoint["progress"]

    def training_step(self, batch: Batch, _index: int) -> torch.Tensor:
        """Return the mean loss of the predicted tokens, in nats."""
        total, count = self.total_loss(*batch)
        loss = total / count
        self.tokens += int((batch[0] != self.pad_token_id).sum())
        self._recent.append(float(loss.detach()))
        if len(self._recent) == _LOGGED:
            self.losses.append((self.tokens, float(np.mean(self._recent))))
            self._recent = []
        self.log("loss", loss.detach(), prog_bar=True)
        return loss

    def validation_step(self, batch: Batch, _index: int) -> None:
        """Log the loss over the predicted tokens of the validation text."""
        total, count = self.total_loss(*batch)
        self.log("validation_loss", total / count, batch_size=count, prog_bar=True)

    def on_validation_epoch_end(self) -> None:
        """Note the loss on the whole validation text."""
        self.validation_losses.append((self.tokens, float(self.trainer.callback_metrics["validation_loss"])))

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
        if folder and trainer.is_global_zero:
            save_model(module.model, self._tokenizer, folder)


class _Data(pl.LightningDataModule):
    """Hands out the batches from the step on at which the trainer stands."""

    def __init__(self, tokenizer: Any, settings: Pretrain, train: Segments, validation: Segments, seed: int) -> None:
        super().__init__()
        self._tokenizer, self._settings, self._seed = tokenizer, settings, seed
        self._train, self._validation = train, validation

    def train_dataloader(self) -> DataLoader[Batch]:
        assert self.trainer is not None  # noqa: S101
        return self._loader(self._train, first=self.trainer.global_step, steps=self._settings.steps)

    def val_dataloader(self) -> DataLoader[Batch]:
        return self._loader(self._validation, first=0, steps=None)

    def _loader(self, segments: Segments, first: int, steps: int | None) -> DataLoader[Batch]:
        batches = Batches(segments, self._tokenizer, self._settings, first=first, steps=steps, seed=self._seed)
        return DataLoader(batches, batch_size=None)


def train(
    model: Any, tokenizer: Any, settings: Pretrain, train: Segments, validation: Segments, *, seed: int, scratch: Path
) -> Training:
    """Train a model in place, from where an earlier process left it in ``scratch`` if one did.

    Args:
        model: What to train.
        tokenizer: Its tokenizer.
        settings: How.
        train: What to learn from.
        validation: What to measure the loss on.
        seed: Of the order and of the masks.
        scratch: A folder of this very training, for its state and for the checkpoints that are kept.
    """
    kept = {}
    if settings.checkpoints:
        kept = {step: scratch / f"step-{step:06d}" for step in (*settings.checkpoints, settings.steps)}
    state = scratch / "last.ckpt"
    module = LanguageModelling(model, settings, tokenizer.pad_token_id)
    trainer = pl.Trainer(
        accelerator=settings.accelerator,
        devices=settings.devices,
        precision=settings.precision,
        max_steps=settings.steps,
        gradient_clip_val=1.0,
        val_check_interval=settings.validate_every,
        check_val_every_n_epoch=None,
        num_sanity_val_steps=0,
        logger=False,
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
            TQDMProgressBar(refresh_rate=_LOGGED),
        ],
    )
    resumed_at = 0
    if state.exists():
        resumed_at = int(torch.load(state, weights_only=True, mmap=True)["global_step"])
        print(f"resuming at step {resumed_at} of {settings.steps}, which an earlier run left in {state}", flush=True)  # noqa: T201
    data = _Data(tokenizer, settings, train, validation, seed)
    trainer.fit(module, datamodule=data, ckpt_path=state if resumed_at else None, weights_only=True)
    if not module.validation_losses or module.validation_losses[-1][0] != module.tokens:
        trainer.validate(module, datamodule=data, verbose=False)
    return Training(module.tokens, trainer.global_step, resumed_at, module.losses, module.validation_losses, kept)


def perplexity(model: Any, tokenizer: Any, settings: Pretrain, segments: Segments, seed: int) -> float:
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
