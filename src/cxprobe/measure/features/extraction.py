"""Every layer's vector for every sentence, by one process or many; a killed run goes on where it stopped.

The plan of batches depends on the sentences alone, never on the number of processes; of n processes each takes every
n-th batch. Each finished batch is a file in a scratch folder, written whole or not at all, with the same numbers
whichever process computes it. The files are then joined into one layer-major array, which never has to fit in memory.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch

from cxprobe.measure.features.batching import token_budget_batches
from cxprobe.measure.features.encoding import Tokens, collate
from cxprobe.measure.features.pooling import mean_of_each_layer
from cxprobe.models import Encoder
from cxprobe.params import ExtractFeatures
from cxprobe.processes import Count, Processes
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
    processes: Processes,
    scratch: Path,
    output: Path,
    progress: Callable[[int], None] | None = None,
) -> Extraction | None:
    """Write every layer's mean vector of every sentence as a layer-major, memory-mappable array.

    Args:
        encoder: The model; one without weights if batches are only counted.
        tokens: The tokenised sentences.
        settings: The budget of tokens.
        processes: Which of the processes this is that compute the batches together.
        scratch: Folder of the finished batches. Its name must determine its content: it belongs to one model,
            precision, pooling and set of sentences. The caller removes it when nothing else can be interrupted.
        output: Folder for ``features.npy``, shape (layers, sentences, dimensions), and ``ids.parquet``.
        progress: Is called with the number of sentences that have been finished; of several processes each estimates
            the share of the others by its own.

    Returns:
        How it went, or None if this process writes no output.

    Raises:
        DataError: The model gave a number that is not finite; the message names the sentences.
    """
    positions = token_budget_batches([len(sentence.ids) for sentence in tokens], settings.token_budget)
    plan = [[tokens[position] for position in batch] for batch in positions]
    ids = [[sentence.id for sentence in batch] for batch in plan]
    files = [scratch / f"{number:06d}.npy" for number in range(len(plan))]
    remaining = [number for number, file in enumerate(files) if not is_array_of(file, ids[number])]
    resumed = len(plan) - len(remaining)
    if processes.counts:
        processes.job.counted.append(Count("batches", resumed, len(plan)))
        return None
    report = progress or (lambda _: None)
    report(len(tokens) - sum(len(plan[number]) for number in remaining))
    for number in filter(processes.share.has, remaining):
        batch = collate(number, plan[number], encoder.pad_token_id)
        with torch.inference_mode():
            vectors = mean_of_each_layer(encoder.model, batch.to(encoder.model.device))
        write_array(vectors.cpu().numpy(), files[number], ids[number])
        report(len(plan[number]) * processes.share.of)
    processes.wait()
    if not processes.writes:
        return None
    merge_features(list(zip(files, ids, strict=True)), output)
    return Extraction(len(tokens), sum(len(sentence.ids) for sentence in tokens), len(plan), resumed)
