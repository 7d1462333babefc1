"""A model's output at the positions that matter, and at no other."""

from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

if TYPE_CHECKING:
    from cxprobe.models.language_models import LoadedModel

# Rows of logits that are normalised at a time: on a CPU log_softmax is several times as fast as logsumexp, as long as
# its result is so small that no fresh memory is needed each time.
_ROWS = 128


def logits_at(model: "LoadedModel", rows: Tensor, columns: Tensor, **inputs: Any) -> Tensor:
    """Return the logits at chosen positions of a batch, shape (n, vocabulary).

    The head of the model is applied at these positions only: a hook passes on their hidden states alone. That is
    correct for every head that looks at one position at a time, which the trial of the model confirms.

    Args:
        model: A masked or causal language model.
        rows: Shape (n,): the rows of the chosen positions in the batch.
        columns: Shape (n,): their columns.
        inputs: What the model reads.
    """
    if model.head is None:
        every: Tensor = model.model(**inputs).logits
        return every[rows, columns]

    def choose(_module: Any, args: Any) -> Any:
        return (args[0][rows, columns].unsqueeze(0), *args[1:])  # (1, n, dimensions)

    hook = model.head.register_forward_pre_hook(choose)
    try:
        chosen: Tensor = model.model(**inputs).logits[0]
        return chosen
    finally:
        hook.remove()


def log_probabilities(logits: Tensor, rows: Tensor, targets: Tensor) -> NDArray[np.float64]:
    """Return natural logarithms of probabilities, normalised over the whole vocabulary.

    Args:
        logits: Shape (n, vocabulary), any floating type.
        rows: Shape (m,): the row of each wanted probability; a row may be wanted several times or never.
        targets: Shape (m,): the id whose probability it is.

    Returns:
        Shape (m,). Each number has the precision of float32, so that sums of them in float64 are exact.
    """
    logits = logits.to(torch.float32)
    rows, targets = rows.to(logits.device), targets.to(logits.device)
    parts = [
        logits[some].log_softmax(dim=-1).gather(1, wanted.unsqueeze(1)).squeeze(1)  # (targets of this part,)
        for some, wanted in zip(torch.split(rows, _ROWS), torch.split(targets, _ROWS), strict=True)
    ]
    numbers: NDArray[np.float64] = torch.cat(parts).double().cpu().numpy()  # (m,)
    return numbers
