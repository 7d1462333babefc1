"""Every layer's vector for every sentence, by Lightning, on one device or many; a killed run goes on where it stopped.

The plan of batches depends on the sentences alone, never on the number of processes. Each finished batch is a file
in a scratch folder, written whole or not at all, with the same numbers whichever process computes it. The files are
then joined into one layer-major array, which never has to fit in memory.
"""

import logging
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from pytorch_lightning import LightningDataModule, LightningModule, Trainer
from pytorch_lightning.callbacks import BasePredictionWriter
from pytorch_lightning.utilities import rank_zero_only
from torch import Tensor
from torch.utils.data import DataLoader, Dataset

from cxprobe.measure.features.batching import token_budget_batches
from cxprobe.measure.features.encoding import Batch, Tokens, collate
from cxprobe.measure.features.pooling import mean_of_each_layer
from cxprobe.models import Encoder
from cxprobe.params import ExtractFeatures
from cxprobe.storage import is_array_of, merge_features, write_array


@dataclass(frozen=True)
class Extraction:
    """How an extraction went.

    Attributes:
        sentences: How many sentences have vectors.
        tokens: How many tokens they have, special tokens included.
        batches: How many batches were planned.
        resumed: How many of them an earlier run that was killed had finished.
    """

    sentences: int
    tokens: int
    batches: int
    resumed: int


def extract(
    encoder: Encoder,
    tokens: Sequence[Tokens],
    settings: ExtractFeatures,
    *,
    scratch: Path,
    output: Path,
    progress: Callable[[int], None] | None = None,
) -> Extraction | None:
    """Write every layer's mean vector of every sentence as a layer-major, memory-mappable array.

    Args:
        encoder: The model.
        tokens: The tokenised sentences.
        settings: The budget of tokens, and on what Lightning runs.
        scratch: Folder of the finished batches. Its name must determine its content: it belongs to one model,
            precision, pooling and set of sentences. The caller removes it when nothing else can be interrupted.
        output: Folder for ``features.npy``, shape (layers, sentences, dimensions), and ``ids.parquet``.
        progress: Is called with the number of sentences that have been finished; with several processes, the first one
            calls it, and estimates the share of the others by its own.

    Returns:
        How it went, or None in all processes but the first.

    Raises:
        DataError: The model gave a number that is not finite; the message names the sentences.
    """
    positions = token_budget_batches([len(sentence.ids) for sentence in tokens], settings.token_budget)
    plan = [[tokens[position] for position in batch] for batch in positions]
    ids = [[sentence.id for sentence in batch] for batch in plan]
    files = [scratch / f"{number:06d}.npy" for number in range(len(plan))]
    remaining = [number for number, file in enumerate(files) if not is_array_of(file, ids[number])]
    batches = RemainingBatches(plan, remaining, encoder.pad_token_id)
    report = rank_zero_only(progress or (lambda _: None))
    report(len(tokens) - sum(len(plan[number]) for number in remaining))
    trainer = _trainer(settings, BatchWriter(files, ids, report))
    with warnings.catch_warnings():
        # Lightning looks for the positions of a batch's rows, but here each batch carries its own number.
        warnings.filterwarnings("ignore", message="Couldn't infer the batch indices")
        # All batches may exist already, if an earlier run was killed after the last.
        warnings.filterwarnings("ignore", message="Total length of `DataLoader` across ranks is zero")
        warnings.filterwarnings("ignore", message=".*isinstance\\(treespec, LeafSpec\\)")
        warnings.filterwarnings("ignore", message=".*does not have many workers")
        trainer.predict(MeanPooledLayers(encoder.model), datamodule=batches, return_predictions=False)
    trainer.strategy.barrier("every batch is written")
    if not trainer.is_global_zero:
        return None
    merge_features(list(zip(files, ids, strict=True)), output)
    total = sum(len(sentence.ids) for sentence in tokens)
    return Extraction(len(tokens), total, len(plan), len(plan) - len(remaining))


class MeanPooledLayers(LightningModule):
    """A model that predicts the mean vector of each layer; nothing in it is trained."""

    def __init__(self, model: torch.nn.Module) -> None:
        super().__init__()
        self.model = model

    def predict_step(self, batch: Batch, batch_idx: int) -> Tensor:  # noqa: ARG002 (Lightning's signature)
        """Return shape (layers, sentences, dimensions), float32; layer 0 is the embeddings."""
        return mean_of_each_layer(self.model, batch)


class RemainingBatches(LightningDataModule):
    """The batches that no earlier run has finished; each of n processes takes every n-th of them."""

    def __init__(self, plan: Sequence[Sequence[Tokens]], remaining: Sequence[int], pad: int) -> None:
        super().__init__()
        self._plan = plan
        self._remaining = remaining
        self._pad = pad

    def predict_dataloader(self) -> DataLoader[Batch]:
        """Return the loader of this process's share."""
        if self.trainer is None:
            raise RuntimeError("the share of a process is known only once a trainer has this data module")
        share = self._remaining[self.trainer.global_rank :: self.trainer.world_size]
        return DataLoader(_Batches(self._plan, share, self._pad), batch_size=None)


class BatchWriter(BasePredictionWriter):
    """Writes each batch to a file of its own as soon as it is computed."""

    def __init__(self, files: Sequence[Path], ids: Sequence[Sequence[str]], report: Callable[[int], object]) -> None:
        super().__init__(write_interval="batch")
        self._files = files
        self._ids = ids
        self._report = report

    def write_on_batch_end(
        self,
        trainer: Trainer,
        pl_module: LightningModule,  # noqa: ARG002 (Lightning's signature, here and below)
        prediction: Tensor,
        batch_indices: Sequence[int] | None,  # noqa: ARG002
        batch: Batch,
        batch_idx: int,  # noqa: ARG002
        dataloader_idx: int,  # noqa: ARG002
    ) -> None:
        """Write a prediction of shape (layers, sentences, dimensions)."""
        write_array(prediction.cpu().numpy(), self._files[batch.number], self._ids[batch.number])
        self._report(len(self._ids[batch.number]) * trainer.world_size)


class _Batches(Dataset[Batch]):
    def __init__(self, plan: Sequence[Sequence[Tokens]], share: Sequence[int], pad: int) -> None:
        self._plan = plan
        self._share = share
        self._pad = pad

    def __len__(self) -> int:
        return len(self._share)

    def __getitem__(self, index: int) -> Batch:
        number = self._share[index]
        return collate(number, self._plan[number], self._pad)


def _trainer(settings: ExtractFeatures, writer: BatchWriter) -> Trainer:
    """Return a Trainer that predicts and does nothing else; the precision is that of the model's weights."""
    logging.getLogger("pytorch_lightning.utilities.rank_zero").setLevel(logging.WARNING)
    return Trainer(
        accelerator=settings.accelerator,
        devices=settings.devices,
        num_nodes=settings.num_nodes,
        strategy=settings.strategy,
        callbacks=[writer],
        use_distributed_sampler=False,
        logger=False,
        enable_checkpointing=False,
        enable_model_summary=False,
        enable_progress_bar=False,
    )
