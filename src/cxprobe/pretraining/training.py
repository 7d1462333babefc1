"""Training a masked or a causal language model with Lightning: exact to the step when it is resumed."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytorch_lightning as pl
import torch
from torch.nn import functional
from torch.utils.data import DataLoader, IterableDataset

from cxprobe.pretraining.masking import mask_tokens
from cxprobe.pretraining.schedule import learning_rate_factor, masked_share
from cxprobe.pretraining.segments import Segments, pad, plan_batches
from cxprobe.seeding import generator_for

Objective = Literal["masked", "causal"]
Batch = tuple[torch.Tensor, torch.Tensor]
_ROWS = 1024  # positions whose logits over the vocabulary exist at one time
IGNORED = -100  # the label of a position that is not predicted


class Batches(IterableDataset[Batch]):
    """The batches from a step on, each drawn from the seed and its step alone, so that a resumed training sees the same.

    A batch is (inputs, labels), both (rows, length) int64; labels are `IGNORED` where nothing is to be predicted.

    Args:
        segments: What to train on.
        tokenizer: Says which ids are special.
        objective: What is predicted: masked tokens, or each next one.
        budget: The most tokens, padding included, of a batch.
        first: The first step.
        steps: The step before which to end; None for each segment exactly once.
        shares: The share of masked tokens at the first step and at the last.
        seed: Of the order and of the masks.
    """

    def __init__(
        self,
        segments: Segments,
        tokenizer: Any,
        objective: Objective,
        budget: int,
        first: int,
        steps: int | None,
        shares: tuple[float, float],
        seed: int,
    ) -> None:
        super().__init__()
        self.segments, self.tokenizer, self.objective = segments, tokenizer, objective
        self.budget, self.first, self.steps, self.shares, self.seed = budget, first, steps, shares, seed

    def __iter__(self) -> Iterator[Batch]:
        step = 0
        for epoch in range(1 if self.steps is None else self.steps):
            planned = plan_batches(self.segments.lengths, self.budget, generator_for(self.seed, "epoch", epoch))
            for rows in planned:
                if step == self.steps:
                    return
                if step >= self.first:
                    yield self._batch(step, rows)
                step += 1

    def _batch(self, step: int, rows: np.ndarray) -> Batch:
        ids = pad(self.segments, rows, self.tokenizer.pad_token_id)  # (rows, length)
        if self.objective == "causal":
            labels = np.full_like(ids, IGNORED)
            labels[:, :-1] = np.where(ids[:, 1:] == self.tokenizer.pad_token_id, IGNORED, ids[:, 1:])
            return torch.from_numpy(ids), torch.from_numpy(labels)
        share = masked_share(step, self.steps or 1, *self.shares)
        special = np.array(self.tokenizer.all_special_ids)
        hidden, where = mask_tokens(
            ids, special, share, self.tokenizer.mask_token_id, generator_for(self.seed, "mask", step)
        )
        return torch.from_numpy(hidden), torch.from_numpy(np.where(where, ids, IGNORED))


class LanguageModelling(pl.LightningModule):
    """A language model of Hugging Face, its loss, and its learning rate.

    Args:
        model: With a language modelling head (``cls`` or ``lm_head``).
        objective: What is predicted.
        pad_token_id: What fills short rows.
        steps: How many there will be.
        warm_up: In how many of them the learning rate rises.
        body_rate: The peak learning rate of the body, embeddings included.
        head_rate: The peak learning rate of what the head has of its own.
        weight_decay: On matrices only.
    """

    def __init__(
        self,
        model: Any,
        objective: Objective,
        pad_token_id: int,
        steps: int,
        warm_up: int,
        body_rate: float,
        head_rate: float,
        weight_decay: float,
    ) -> None:
        super().__init__()
        self.model, self.objective, self.pad_token_id = model, objective, pad_token_id
        self.steps, self.warm_up = steps, warm_up
        self.body_rate, self.head_rate, self.weight_decay = body_rate, head_rate, weight_decay
        self.head = model.cls if hasattr(model, "cls") else model.lm_head
        self.tokens = 0

    def on_save_checkpoint(self, checkpoint: dict[str, Any]) -> None:
        """Keep how many tokens have been seen."""
        checkpoint["tokens"] = self.tokens

    def on_load_checkpoint(self, checkpoint: dict[str, Any]) -> None:
        """Go on counting the tokens."""
        self.tokens = checkpoint["tokens"]

    def training_step(self, batch: Batch, _index: int) -> torch.Tensor:
        """Return the mean loss of the predicted tokens, in nats."""
        ids, labels = batch
        total, count = self.total_loss(ids, labels)
        self.tokens += int((ids != self.pad_token_id).sum())
        loss = total / count
        self.log("loss", loss.detach(), prog_bar=True)
        self.log("tokens", float(self.tokens))
        return loss

    def validation_step(self, batch: Batch, _index: int) -> None:
        """Log the loss over all predicted tokens of the validation text."""
        total, count = self.total_loss(*batch)
        self.log("validation_loss", total / count, batch_size=count, on_epoch=True, prog_bar=True)

    def total_loss(self, ids: torch.Tensor, labels: torch.Tensor) -> tuple[torch.Tensor, int]:
        """Return the sum of the losses in nats, and how many tokens were predicted.

        Args:
            ids: (batch, length).
            labels: (batch, length), `IGNORED` where nothing is predicted; there no logits are computed either.
        """
        # Behind a causal mask no token sees the padding to its right, so only the other needs a mask of its own.
        mask = (ids != self.pad_token_id) if self.objective == "masked" else None
        hidden = self.model.base_model(input_ids=ids, attention_mask=mask).last_hidden_state
        predicted = labels != IGNORED
        hidden, labels = hidden[predicted], labels[predicted]  # (predicted, dimensions), (predicted,)
        losses = [
            functional.cross_entropy(self.head(part).float(), wanted, reduction="sum")
            for part, wanted in zip(hidden.split(_ROWS), labels.split(_ROWS), strict=True)
        ]
        return torch.stack(losses).sum(), len(labels)

    def configure_optimizers(self) -> Any:
        """Return AdamW with two learning rates, both on the same schedule."""
        shared = {id(parameter) for parameter in self.model.base_model.parameters()}
        named = [(name, parameter) for name, parameter in self.model.named_parameters() if parameter.requires_grad]
        groups = [
            {
                "params": [p for _, p in named if (id(p) in shared) is body and (p.ndim > 1) is matrix],
                "lr": self.body_rate if body else self.head_rate,
                "weight_decay": self.weight_decay if matrix else 0.0,
            }
            for body in (True, False)
            for matrix in (True, False)
        ]
        optimizer = torch.optim.AdamW([group for group in groups if group["params"]], betas=(0.9, 0.98))
        schedule = torch.optim.lr_scheduler.LambdaLR(
            optimizer, lambda step: learning_rate_factor(step, self.steps, self.warm_up)
        )
        return {"optimizer": optimizer, "lr_scheduler": {"scheduler": schedule, "interval": "step"}}


class KeepCheckpoints(pl.Callback):
    """Save the model at certain steps, each in a folder that ``from_pretrained`` reads."""

    def __init__(self, folder: Path, steps: list[int], save: Any) -> None:
        self.folder, self.steps, self.save = folder, steps, save

    def on_train_batch_end(self, trainer: pl.Trainer, module: LanguageModelling, *_: Any) -> None:  # type: ignore[override]
        """Save after a step that is one of them."""
        if trainer.global_step in self.steps:
            self.save(module.model, self.folder / f"step-{trainer.global_step:06d}")


def loader(batches: Batches) -> DataLoader[Batch]:
    """Return what Lightning takes batches from."""
    return DataLoader(batches, batch_size=None, num_workers=0)
