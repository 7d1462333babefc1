"""Loading a model: found, read, checked, and given out complete, in eval mode and in a known dtype."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
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
from cxprobe.lm.checkpoints import (
    SETTINGS,
    WEIGHTS,
    Source,
    at_one_commit,
    fingerprint_of,
    hash_weights,
    loading_options,
    locate,
    refuse_damaged,
    refusing,
    refusing_altered,
)
from cxprobe.lm.language_models import CausalLM, Encoder, MaskedLM
from cxprobe.lm.params import ModelSpec, ServedModel, WeightsState
from cxprobe.lm.served import describe_served, open_served, tokenizer_spec
from cxprobe.lm.tokenizers import longest_input, refuse_unfit, refuse_unreadable, refuse_without_vocabulary
from cxprobe.lm.weights import (
    draw,
    fitting_options,
    in_cache,
    is_fitted,
    quantised_by,
    refuse_damaged_weights,
    refuse_infinite,
    refuse_random,
    refuse_shapes,
    refuse_unfitted,
    refuse_unused,
    refuse_without_device,
    refusing_unfitting,
    shuffle,
)

# The pooler of sentence pairs does not contribute to the hidden states, and the checkpoints of RoBERTa and DeBERTa have
# none.
_UNUSED = ("pooler.",)


def load_encoder(slug: str, spec: ModelSpec, device: str = "cpu") -> Encoder:
    """Load a model to read hidden states from; code of a checkpoint is never run.

    Args:
        slug: The model's key in params.yaml, for messages.
        spec: Where it comes from, its precision, whether it is a twin, and how it is made to fit.
        device: Where it runs, as PyTorch names it: cpu, cuda, cuda:1, mps; "meta" for a model without weights, which
            has its tokenizer, its configuration and its fingerprint.

    Raises:
        ModelError: It is not on this machine and cannot be downloaded; its weights differ from ``sha256``; some weights
            are not in the checkpoint (transformers would initialise them at random) and it is no random twin; some
            weights of the checkpoint, but for known heads, are not used; a file is damaged, or a git-lfs pointer; a
            weight is not finite; it is an encoder-decoder; its tokenizer is not a fast one, has no files, or does not
            fit the embedding; or it cannot read a plain sentence.
    """
    source = _open(slug, spec, device)
    if device == "meta":
        return Encoder(*_without_weights(source, AutoModel), pad_token_id=source.tokenizer.pad_token_id or 0)
    model, report = _load(source, AutoModel, device)
    refuse_random(source, [key for key in report["missing_keys"] if not key.startswith(_UNUSED)])
    refuse_unused(source, model, report["unexpected_keys"])
    if spec.device_map and any(key.startswith(_UNUSED) for key in report["missing_keys"]):
        model.pooler = None  # nothing reads it, and accelerate cannot bring from the disk what no file has
    return Encoder(*_parts(source, _put(source, model, device)), pad_token_id=source.tokenizer.pad_token_id or 0)


def load_language_model(slug: str, spec: ModelSpec | ServedModel, device: str = "cpu") -> "MaskedLM | CausalLM":
    """Load a model that fills masks, or one that reads from left to right; its configuration decides which it is.

    A model on a server is not loaded: its tokenizer is, and the server is tried (see `open_served`), but for the device
    "meta": then nothing is sent.

    Arguments and errors are those of `load_masked_lm` and `load_causal_lm`.
    """
    if isinstance(spec, ServedModel):
        tokenizer = _open(slug, tokenizer_spec(spec), "cpu")
        return describe_served(slug, spec, tokenizer) if device == "meta" else open_served(slug, spec, tokenizer)
    source = _open(slug, spec, device)
    return _load_masked(source, device) if _is_masked(source.config) else _load_causal(source, device)


def load_masked_lm(slug: str, spec: ModelSpec, device: str = "cpu") -> MaskedLM:
    """Load a model that fills masks, with its own head; code of a checkpoint is never run.

    DeBERTa v1 and v2 keep their head as ``lm_predictions``, which transformers overlooks unless the configuration
    says ``legacy=False`` (issues 15216, 15673, 18659 and 22790 of transformers); that is done here. transformers does
    not implement DeBERTa's enhanced mask decoder, which in training added the absolute positions between the encoder
    and the head (issue 14585), so the head is applied to the encoder's last layer, as in other masked models. A random
    twin of DeBERTa has the authors' head.

    Args:
        slug: The model's key in params.yaml, for messages.
        spec: Where it comes from, its precision, and whether it is a twin.
        device: Where it runs, as for `load_encoder`.

    Raises:
        ModelError: As for `load_encoder`; or it is not a masked language model, its tokenizer has no mask token, or
            it is DeBERTa v3, whose checkpoints hold a discriminator.
    """
    return _load_masked(_open(slug, spec, device), device)


def _load_masked(source: Source, device: str) -> MaskedLM:
    if not _is_masked(source.config):
        raise ModelError(f"{source} is a {source.config.model_type} model and fills no masks; take a masked one")
    if source.tokenizer.mask_token_id is None:
        raise ModelError(f"{source} has a tokenizer without a mask token; add it to the checkpoint's tokenizer_config")
    if device == "meta":
        return MaskedLM(*_without_weights(source, AutoModelForMaskedLM))
    if source.config.model_type in ("deberta", "deberta-v2"):
        model, report = _load_deberta(source, device)
    else:
        model, report = _load(source, AutoModelForMaskedLM, device)
    refuse_random(source, report["missing_keys"])
    refuse_unused(source, model, report["unexpected_keys"])
    return MaskedLM(*_parts(source, _put(source, model, device)))


def load_causal_lm(slug: str, spec: ModelSpec, device: str = "cpu") -> CausalLM:
    """Load a model that reads from left to right, with its own head; code of a checkpoint is never run.

    Args:
        slug: The model's key in params.yaml, for messages.
        spec: Where it comes from, its precision, and whether it is a twin.
        device: Where it runs, as for `load_encoder`.

    Raises:
        ModelError: As for `load_encoder`; or it is not a causal language model.
    """
    return _load_causal(_open(slug, spec, device), device)


def _load_causal(source: Source, device: str) -> CausalLM:
    # BERT and its kind could be built as decoders too, and would see what they are to predict.
    if type(source.config) not in MODEL_FOR_CAUSAL_LM_MAPPING or _is_masked(source.config):
        raise ModelError(f"{source} is a {source.config.model_type} model and reads both ways; take a causal one")
    if device == "meta":
        return CausalLM(*_without_weights(source, AutoModelForCausalLM))
    model, report = _load(source, AutoModelForCausalLM, device)
    refuse_random(source, report["missing_keys"])
    refuse_unused(source, model, report["unexpected_keys"])
    return CausalLM(*_parts(source, _put(source, model, device)))


class _DebertaV2(DebertaV2ForMaskedLM):  # type: ignore[misc]
    """DeBERTa v2 or v3; the loading report names the weights of v3's discriminator, which distinguish the two."""

    _keys_to_ignore_on_load_unexpected = None


def _open(slug: str, spec: ModelSpec, device: str) -> Source:
    """Find a model, check the hash of its weights, and read its configuration and tokenizer."""
    refuse_unfitted(slug, spec, device)
    path = locate(slug, spec)
    with refusing(slug, spec, path, "the folder"):
        if Path(path).is_dir():
            refuse_damaged(slug, Path(path))
        weights = hash_weights(slug, spec, Path(path))
    transformers_logging.disable_progress_bar()
    with refusing(slug, spec, path, "config.json"):
        spec = at_one_commit(spec, path)
    with refusing_altered(slug, spec, path, SETTINGS):
        with refusing(slug, spec, path, "config.json"):
            config = AutoConfig.from_pretrained(path, **loading_options(spec))
        with refusing(slug, spec, path, "the tokenizer (tokenizer.json and tokenizer_config.json)"):
            tokenizer = AutoTokenizer.from_pretrained(path, **loading_options(spec))
    source = Source(slug, spec, path, weights, config, tokenizer, max_tokens=0)
    if not tokenizer.is_fast:
        raise ModelError(f"{source} has no fast tokenizer (tokenizer.json); convert it first")
    refuse_without_vocabulary(source)
    if config.is_encoder_decoder:
        raise ModelError(f"{source} is an encoder with a decoder; probes take one or the other")
    return replace(source, max_tokens=longest_input(source))


def _load(source: Source, model_class: Any, device: str) -> tuple[Any, dict[str, Any]]:
    """Return a model in eval mode and the loading report of its checkpoint, which is empty for a random twin."""
    if model_class is None:
        raise ModelError(
            f"{source} is a {source.config.model_type} model, whose hidden states transformers cannot read"
        )
    with source.refusing("the model that config.json describes"):
        if source.spec.weights == "random":
            return draw(source, model_class).eval(), {"missing_keys": (), "unexpected_keys": ()}
    if Path(source.path).is_dir():
        refuse_damaged_weights(source, model_class)
    altered = refusing_altered(source.slug, source.spec, source.path, WEIGHTS)
    unused = [name.rstrip(".") for name in _UNUSED] if model_class is AutoModel else []
    options = loading_options(source.spec) | fitting_options(source, device, unused)
    with source.refusing("the weights"), altered, refusing_unfitting(source):
        model, report = model_class.from_pretrained(
            source.path,
            config=source.config,
            dtype=getattr(torch, source.spec.dtype),
            output_loading_info=True,
            ignore_mismatched_sizes=True,  # they are refused below, by name
            **options,
        )
    if is_fitted(source.spec):
        refuse_without_device(source, model)
        if not Path(source.path).is_dir():  # what is rounded, or lies on a disk, is looked at where it came from
            refuse_damaged_weights(in_cache(source), model_class)
    refuse_shapes(source, report["mismatched_keys"])
    refuse_infinite(source, model.named_parameters())
    if source.spec.weights == "shuffled":
        shuffle(model, source.spec)
    return model.eval(), report


def _load_deberta(source: Source, device: str) -> tuple[Any, dict[str, Any]]:
    """Load DeBERTa with its authors' head or, if the checkpoint has transformers' own head, with that one."""
    model_class = _DebertaV2 if source.config.model_type == "deberta-v2" else AutoModelForMaskedLM
    source.config.legacy = False
    model, report = _load(source, model_class, device)
    if any(key.startswith("mask_predictions.") for key in report["unexpected_keys"]):
        raise ModelError(
            f"{source} is DeBERTa v3: it was trained to detect replaced tokens (mask_predictions.* in its checkpoint) "
            "and not to fill masks, so it can be probed but gives no scores; take DeBERTa v1 or v2"
        )
    if any(key.startswith("cls.predictions.") for key in report["unexpected_keys"]):
        source.config.legacy = True
        model, report = _load(source, model_class, device)
    return model, report


def _is_masked(config: Any) -> bool:
    """Return whether a model attends to both sides; a BERT that is configured as a decoder does not."""
    return type(config) in MODEL_FOR_MASKED_LM_MAPPING and not getattr(config, "is_decoder", False)


def _parts(source: Source, model: Any) -> tuple[str, Any, Any, str, int, WeightsState, str]:
    """Return the fields that every `LanguageModel` has, in their order, of a model that can use its tokenizer."""
    spec = source.spec
    refuse_unfit(source, model)
    refuse_unreadable(source, model)
    fingerprint = fingerprint_of(source, quantised_by(spec))
    return spec.name, model, source.tokenizer, fingerprint, source.max_tokens, spec.weights, spec.precision


def _without_weights(source: Source, model_class: Any) -> tuple[str, Any, Any, str, int, WeightsState, str]:
    """Return the fields that every `LanguageModel` has, of a model whose weights take no memory and have no values."""
    with torch.device("meta"), source.refusing("the model that config.json describes"):
        model = model_class.from_config(source.config, dtype=getattr(torch, source.spec.dtype))
    spec, fingerprint = source.spec, fingerprint_of(source, quantised_by(source.spec))
    return spec.name, model, source.tokenizer, fingerprint, source.max_tokens, spec.weights, spec.precision


def _put(source: Source, model: Any, device: str) -> Any:
    if is_fitted(source.spec):
        return model
    try:
        return model.to(device)
    except (RuntimeError, AssertionError) as error:  # AssertionError: PyTorch was built without CUDA
        reason = str(error).strip().splitlines()[0]
        raise ModelError(f"{source} cannot run on the device '{device}': {reason}; try cpu") from error
