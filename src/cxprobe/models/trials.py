"""A model proves itself when it is loaded: what it answers on the path that work takes, against plain forward passes.

A plain pass reads one text, without padding and without a mask. Work reads many at a time, and some architectures then
answer otherwise: positions that are counted in another way, layers that read padding, heads that go past the base
model, a state that runs on from text to text. So two short texts are read in both ways. A model that does not answer
alike in one way of working is asked in the next simpler one; a model that never does is refused. One such way is to
apply the head at chosen positions alone (`logits_at`).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from cxprobe.errors import ModelError
from cxprobe.models.checkpoints import Source, reason_of
from cxprobe.models.language_models import LoadedModel
from cxprobe.models.store import Numbers

M = TypeVar("M", bound=LoadedModel)

# Rows of logits that are normalised at a time: on a CPU log_softmax is several times as fast as logsumexp, as long as
# its result is so small that no fresh memory is needed each time.
_ROWS = 128
TRIAL = "The more you look, the more you see: 2 naïve snowmen ☃."


def are_alike(found: Sequence[Numbers], expected: Sequence[Numbers], dtype: torch.dtype) -> bool:
    """Return whether two lists of arrays differ by rounding alone, each by itself.

    Rounding may cost half of the digits that a precision has: the square root of its unit is 0.0003 in float32, 0.03 in
    float16 and 0.09 in bfloat16, of the spread of the expected numbers. A batch costs SmolLM2, with 30 blocks, 0.00001,
    0.004 and 0.03 of it; a wrong position, or a token too many, costs a random model of two blocks 0.2 and more.
    """
    limit = torch.finfo(dtype if dtype.is_floating_point else torch.bfloat16).eps ** 0.5  # quantised weights
    spread = [np.linalg.norm(one - one.mean()) for one in expected]
    apart = [np.linalg.norm(one - other) for one, other in zip(found, expected, strict=True)]
    return all(one <= limit * of_all for one, of_all in zip(apart, spread, strict=True))


def ids_of_trial(source: Source, model: Any) -> list[int]:
    """Return the ids of the trial's text, special ones included, no more than the model takes.

    Raises:
        ModelError: The tokenizer gives ids beyond the embedding, or reads all words as one token, as that does which
            transformers makes up where the files of one are missing.
    """
    with source.refusing("the tokenizer"):
        words = set(source.tokenizer(TRIAL, add_special_tokens=False, verbose=False)["input_ids"])
        read: list[int] = source.tokenizer(TRIAL, verbose=False)["input_ids"]
    rows = model.get_input_embeddings().weight.shape[0]
    if len(words) < 2 or max(read) >= rows:
        what = f"reads {TRIAL!r} as {len(words)} different tokens with ids of at most {max(read, default=0)}"
        advice = "its files are missing, damaged or another model's, so copy them beside their weights"
        raise ModelError(f"{source}: its tokenizer {what}, and the embedding has {rows} rows; {advice}")
    return read


def read_plainly(source: Source, model: M, ids: Sequence[int]) -> tuple[M, Tensor]:
    """Return a model that knows its head, and its answer to one text, shape (tokens, ...), float32, on the CPU.

    Raises:
        ModelError: It cannot read the text; or what it answers is not finite, or the same at every token.
    """
    dtype, device = source.spec.dtype, model.model.device
    called = list[tuple[Any, Any]]()  # the parts that the forward pass itself calls: the last one makes the logits
    advice = f"if it can in float32, set models.{source.slug}.dtype to that, else mend config.json"
    with source.refusing(f"cannot read a plain sentence in {dtype}", advice), torch.inference_mode():
        hooks = [part.register_forward_pre_hook(lambda *call: called.append(call)) for part in model.model.children()]
        try:
            output = model.model(input_ids=torch.tensor([ids], device=device))
        finally:
            for hook in hooks:
                hook.remove()
        answer: Tensor = output[0][0].float().cpu()
    is_finite = bool(answer.isfinite().all())
    if not is_finite or (answer == answer[:1]).all():
        fault = "the same at every token" if is_finite else "NaN or infinite"
        advice = "its weights are damaged or do not fit the precision: take float32, or copy or download it again"
        raise ModelError(f"{source}: what it answers to {TRIAL!r} in {dtype} is {fault}; {advice}")
    part, args = called[-1] if called else (None, ())
    return replace(model, head=part if args and isinstance(args[0], Tensor) else None), answer


def proven(
    model: M,
    read: Callable[[M], Sequence[Numbers]],
    expected: Callable[[], Sequence[Numbers]],
    ways: Sequence[Mapping[str, Any]],
    dtype: torch.dtype,
    place: str,
) -> M:
    """Return a model that works in the first way in which its answers are those of plain passes.

    Args:
        model: The model.
        read: Reads the trial's texts as work does, by a model that works in one of the ways.
        expected: Returns the answers of plain passes.
        ways: Fields of the model and their values, the fastest way first.
        dtype: Its precision.
        place: Names the model at the beginning of a message.

    Raises:
        ModelError: There is no such way.
    """
    fault: Exception | None = None
    for way in ways:
        tried = replace(model, **way)
        try:
            if are_alike(read(tried), expected(), dtype):
                return tried
        except Exception as error:  # of transformers or PyTorch, which do not take what this way gives them
            fault = error
    why = f" ({reason_of(fault)})" if fault else ""
    what = f"it gives no answer to {TRIAL!r} that is the same in each pass, even where the text is alone"
    raise ModelError(f"{place}: {what}{why}; its architecture is not supported: take another model") from fault


def logits_at(model: LoadedModel, rows: Tensor, columns: Tensor, **inputs: Any) -> Tensor:
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
