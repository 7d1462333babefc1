"""A model's output at the positions that matter, and at no other."""

from collections.abc import Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from itertools import islice
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from cxprobe.lm.served import ServedLM

# Rows of logits that are normalised at a time: on a CPU log_softmax is several times as fast as logsumexp, as long as
# its result is so small that no fresh memory is needed each time.
_ROWS = 128


def logits_at(model: Any, input_ids: Tensor, rows: Tensor, columns: Tensor, **options: Any) -> tuple[Tensor, Any]:
    """Run a model and apply its head at chosen positions only.

    The model's own forward pass does all the work; a hook between its body and its head passes on the hidden states of
    the chosen positions only. This is correct for every architecture whose head looks at one position at a time, as
    all do.

    Args:
        model: A masked or causal language model.
        input_ids: Shape (batch, tokens).
        rows: Shape (n,): the rows of the chosen positions.
        columns: Shape (n,): their columns.
        options: Further arguments of the model, such as a cache.

    Returns:
        Shape (n, vocabulary), float32; and the model's whole output.
    """

    def choose(_module: Any, _args: Any, output: Any) -> Any:
        output["last_hidden_state"] = output["last_hidden_state"][rows, columns].unsqueeze(0)  # (1, n, dimensions)
        return output

    hook = model.base_model.register_forward_hook(choose)
    try:
        output = model(input_ids=input_ids.to(model.device), **options)
    finally:
        hook.remove()
    return output.logits[0].to(torch.float32), output


def log_probabilities(logits: Tensor, rows: Tensor, targets: Tensor) -> NDArray[np.float64]:
    """Return natural logarithms of probabilities, normalised over the whole vocabulary.

    Args:
        logits: Shape (n, vocabulary), float32.
        rows: Shape (m,): the row of each wanted probability; a row may be wanted several times or never.
        targets: Shape (m,): the id whose probability it is.

    Returns:
        Shape (m,). Each number has the precision of float32, so that sums of them in float64 are exact.
    """
    rows, targets = rows.to(logits.device), targets.to(logits.device)
    parts = [
        logits[some].log_softmax(dim=-1).gather(1, wanted.unsqueeze(1)).squeeze(1)  # (targets of this part,)
        for some, wanted in zip(torch.split(rows, _ROWS), torch.split(targets, _ROWS), strict=True)
    ]
    numbers: NDArray[np.float64] = torch.cat(parts).double().cpu().numpy()  # (m,)
    return numbers


Numbers = NDArray[np.float64]


def ask_server(model: ServedLM, asked: Mapping[bytes, NDArray[np.int32]]) -> Iterator[dict[bytes, Numbers]]:
    """Yield answers as they come: key -> the log-probability of each id but the first, shape (length - 1,).

    The client sends again what failed. If a request fails in the end, those that are on their way are waited for and
    handed on, so that they are kept; then the failure is raised.

    Args:
        model: The model.
        asked: Key -> the ids of a text with what stands before it.

    Raises:
        ModelError: See `ServedLM.log_probabilities`.
        DataError: Likewise.
    """
    fault: BaseException | None = None
    left = iter(asked.items())
    running: dict[Future[Numbers], bytes] = {}
    with ThreadPoolExecutor(model.spec.connections) as pool:
        while True:
            room = 0 if fault else 2 * model.spec.connections - len(running)  # a worker finds its next at once
            running |= {pool.submit(model.log_probabilities, ids.tolist()): key for key, ids in islice(left, room)}
            if not running:
                break
            done, _ = wait(running, return_when=FIRST_COMPLETED)
            for one in done:
                key = running.pop(one)
                if one.cancelled():
                    continue
                if (failed := one.exception()) is None:
                    yield {key: one.result()}
                elif fault is None:
                    fault = failed
                    for other in running:
                        other.cancel()
    if fault is not None:
        raise fault
