"""Loading a model by its name, without a params.yaml."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch

from cxprobe.api.models import Encoder, LanguageModel
from cxprobe.api.naming import resolve
from cxprobe.api.options import require_option
from cxprobe.errors import ModelError
from cxprobe.lm.loading import load_encoder as load_hidden_states
from cxprobe.lm.loading import load_language_model
from cxprobe.lm.params import Dtype, ModelSpec


def load(
    name: str,
    *,
    revision: str | None = None,
    dtype: Dtype = "float32",
    device: str = "auto",
    token_budget: int = 2048,
) -> LanguageModel:
    """Load a language model, masked or causal as its configuration says.

    Code of a checkpoint is never run, and a model with weights that its checkpoint does not have is refused.

    Args:
        name: A name on the Hugging Face hub, a local folder, "package:<module>/<folder>" for weights inside an
            installed package, or one of the small models that cxprobe carries: "mini-clm" (causal), "mini-mlm"
            (masked).
        revision: Branch, tag or commit on the hub; None for the newest.
        dtype: The precision of weights and computation.
        device: "auto" for a GPU if there is one, or as PyTorch names it: cpu, cuda, cuda:1, mps.
        token_budget: The most tokens in a batch, padding included. Larger batches are faster on a GPU.

    Raises:
        ModelError: It is not on this machine and cannot be downloaded, is damaged, or is no language model; for one
            without a head, such as a sentence encoder, take `load_encoder`.
        DataError: There is no such ``dtype``.

    Example:
        >>> import cxprobe
        >>> cxprobe.load("mini-mlm")
        <cxprobe.LanguageModel mini-mlm: masked, float32, on cpu>
    """
    where = _device(device)
    spec = _spec(name, revision, dtype)
    with _by_its_name(name):
        loaded = load_language_model(_last(name), spec, where)
    return LanguageModel(loaded, name, token_budget)


def load_encoder(
    name: str,
    *,
    revision: str | None = None,
    dtype: Dtype = "float32",
    device: str = "auto",
    token_budget: int = 2048,
) -> Encoder:
    """Load a model to read its hidden states only, such as a sentence encoder, which has no head to score with.

    Arguments are those of `load`.

    Raises:
        ModelError: As for `load`; any model of transformers that returns hidden states is accepted.

    Example:
        >>> import cxprobe
        >>> cxprobe.load_encoder("mini-mlm").features(["She smiles.", "It rains."]).shape
        (7, 2, 384)
    """
    where = _device(device)
    spec = _spec(name, revision, dtype)
    with _by_its_name(name):
        loaded = load_hidden_states(_last(name), spec)
    loaded.model.to(where)
    return Encoder(loaded, name, token_budget)


def _spec(name: str, revision: str | None, dtype: Dtype) -> ModelSpec:
    require_option("dtype", dtype, Dtype)
    return ModelSpec(name=resolve(name, revision), revision=revision, sha256=None, dtype=dtype)


@contextmanager
def _by_its_name(name: str) -> Iterator[None]:
    """Take the key of params.yaml out of messages: there is none where a model is loaded by its name."""
    try:
        yield
    except ModelError as fault:
        key = f"models.{_last(name)}"
        text = str(fault).removeprefix(f"{key}: ").replace(f"set {key}.name to its path", "give its path")
        raise ModelError(text) from fault


def _last(name: str) -> str:
    """Return the last part of a name, by which messages call the model."""
    return name.rstrip("/").rpartition("/")[2]


def _device(device: str) -> str:
    if device != "auto":
        return device
    if torch.cuda.is_available():
        return "cuda"
    return "mps" if torch.backends.mps.is_available() else "cpu"
