"""A model's output at the positions that matter, and at no other."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

# Rows of logits that are normalised at a time: on a CPU log_softmax is several times as fast as logsumexp, as long as
# its result is so small that no fresh memory is needed each time.
_ROWS = 128


@contextmanager
def head_at(model: Any, rows: Tensor, columns: Tensor) -> Iterator[None]:
    """Let a model apply its head at chosen positions only, so that its logits have the shape (1, n, vocabulary).

    The model's own forward pass does all the work; a hook between its body and its head passes on the hidden states of
    the chosen positions only. This is correct for every architecture whose head looks at one position at a time, as
    all do.

    Args:
        model: A masked or causal language model.
        rows: Shape (n,): the rows of the chosen positions in the batch.
        columns: Shape (n,): their columns.
    """

    def choose(_module: Any, _args: Any, output: Any) -> Any:
        output["last_hidden_state"] = output["last_hidden_state"][rows, columns].unsqueeze(0)  # (1, n, dimensions)
        return output

    hook = model.base_model.register_forward_hook(choose)
    try:
        yield
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
