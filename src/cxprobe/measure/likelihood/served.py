"""Causal models on a server: many requests at a time, and every answer handed on as soon as it is there."""

from collections.abc import Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from cxprobe.models import ServedLM

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
