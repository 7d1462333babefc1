"""Load a model: find, read and check it; it is complete, in eval mode and in a known precision."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
import transformers
from transformers.utils import cached_file
from transformers.utils import logging as transformers_logging

from cxprobe.errors import ModelError
from cxprobe.models.checkpoints import Source, check_digest, is_gguf, loaded_files, path_of
from cxprobe.models.checks import check_report, longest_input
from cxprobe.models.gguf import dequantised
from cxprobe.models.params import ModelSpec


class DebertaV2Masked(transformers.DebertaV2ForMaskedLM):  # type: ignore[misc]
    """DeBERTa v2 or v3; the loading report names the weights of v3's discriminator, which distinguish the two."""

    _keys_to_ignore_on_load_unexpected = None


def open_source(slug: str, spec: ModelSpec) -> Source:
    """Find a model, compare its files with their digest, and read its configuration and tokenizer.

    Arguments and errors are those of `cxprobe.models.embedding.load_encoder`.
    """
    transformers_logging.disable_progress_bar()
    source = Source(slug, spec, path_of(f"models.{slug}", spec.name))
    if is_gguf(source.path):
        source = dequantised(source)
    elif source.is_local:
        with source.refusing("the folder"):
            digest = check_digest(f"models.{slug}", Path(source.path), spec.sha256)
        source = replace(source, origin=f"sha256 {digest}")
    elif spec.sha256:
        raise ModelError(f"models.{slug}: sha256 is given, but '{spec.name}' is neither a local folder nor a GGUF file")
    inside = next(Path(source.path).glob("0_*/config.json"), None) if source.is_local else None
    advice = (
        f"The transformer of this sentence encoder stands in a folder of its own: take {inside.parent}"
        if inside
        else ""
    )
    with source.refusing("config.json", advice):
        if not source.is_local:
            # The files of a model are asked for one after the other. If a branch moved meanwhile, the weights would
            # otherwise be of another commit than the configuration, and the fingerprint would name a third.
            cached = Path(cached_file(source.path, "config.json", revision=spec.revision))
            commit = cached.parent.name  # the cache has one folder a commit
            spec = spec.model_copy(update={"revision": commit})
            source = replace(source, spec=spec, origin=f"commit {commit}")
        options = spec.load | source.loading_options  # such as the implementation of attention
        config = transformers.AutoConfig.from_pretrained(source.path, return_dict=True, **options)
        config.transformers_weights = None  # other names of weights, which `loaded_files` does not list
    with source.refusing("the tokenizer"):
        tokenizer = transformers.AutoTokenizer.from_pretrained(source.path, **source.loading_options)
    if not tokenizer.is_fast:
        raise ModelError(f"{source} has no fast tokenizer (tokenizer.json); convert it first")
    if config.is_encoder_decoder:
        raise ModelError(f"{source} is an encoder with a decoder; probes take one or the other")
    return replace(source, config=config, tokenizer=tokenizer)


def load_model(source: Source, model_class: Any, device: str) -> Any:
    """Return a model in eval mode, with all its weights and no others, that can use its tokenizer.

    Args:
        source: Where it comes from.
        model_class: The architecture with or without a head, of transformers.
        device: Where it runs; see `cxprobe.models.embedding.load_encoder`.
    """
    spec = source.spec
    if device == "meta":
        with torch.device("meta"), source.refusing("the model that config.json describes"):
            return _build(model_class, source.config, getattr(torch, spec.dtype))
    model = _draw(source, model_class) if spec.weights == "random" else _read(source, model_class)
    if "device_map" not in spec.load:  # else accelerate has placed it
        with source.refusing(f"the device '{device}'", "try cpu"):
            model = model.to(device)
    here = torch.device(device)
    if (model.device.type, model.device.index or 0) != (here.type, here.index or 0):
        raise ModelError(
            f"{source}: models.{source.slug}.load puts it on {model.device}, and this process computes on {here}; let "
            "compute.accelerator name what it runs on, with devices and num_nodes 1"
        )
    return model.eval()


def _build(model_class: Any, config: Any, dtype: torch.dtype) -> Any:
    """Return the model that a configuration describes, with the weights that its architecture begins with."""
    build = getattr(model_class, "from_config", None) or model_class._from_config
    return build(config, dtype=dtype)


def _read(source: Source, model_class: Any) -> Any:
    """Return a model with the weights of its checkpoint."""
    spec = source.spec
    options = spec.load | source.loading_options
    if source.is_local:
        options["use_safetensors"] = any(file.suffix == ".safetensors" for file in loaded_files(Path(source.path)))
    advice = f"look whether models.{source.slug}.load can be followed here: {spec.load}" if spec.load else ""
    options |= {
        "config": source.config,
        "dtype": getattr(torch, spec.dtype),
        "output_loading_info": True,
        "ignore_mismatched_sizes": True,  # they are refused below, by name
    }
    with source.refusing("the weights", advice), _without_report():
        model, report = model_class.from_pretrained(source.path, **options)
        heads = {"lm_predictions": report["missing_keys"], "cls.predictions": report["unexpected_keys"]}
        if all(any(key.startswith(head) for key in keys) for head, keys in heads.items()):
            source.config.legacy = True  # a DeBERTa with the head that transformers itself trains
            model, report = model_class.from_pretrained(source.path, **options)
    is_v3 = any(key.startswith("mask_predictions.") for key in report["unexpected_keys"])
    if model_class is DebertaV2Masked and is_v3:
        raise ModelError(
            f"{source} is DeBERTa v3: it was trained to detect replaced tokens (mask_predictions.* in its checkpoint) "
            "and not to fill masks, so it can be probed but gives no scores; take DeBERTa v1 or v2"
        )
    check_report(source, model, report)
    if spec.load and any(key.startswith("pooler.") for key in report["missing_keys"]):
        model.pooler = None  # nothing reads it, and accelerate cannot bring from the disk what no file has
    return model


def fields_of_model(source: Source, model: Any) -> tuple[Any, ...]:
    """Return the fields that every `cxprobe.models.language_models.LoadedModel` has, in their order."""
    spec = source.spec
    fingerprint = source.origin
    if spec.weights == "random":
        drawn_by = f"torch {torch.__version__.partition('+')[0]} and transformers {transformers.__version__}"
        fingerprint = f"random, seed {spec.seed}, of {fingerprint}, drawn by {drawn_by}"
    precision = source.rounding + spec.precision
    return spec.name, model, source.tokenizer, fingerprint, longest_input(source, model), spec.weights, precision


def _draw(source: Source, model_class: Any) -> Any:
    """Return a model whose weights are drawn by its architecture's own initialisation.

    They are drawn on the CPU and in float32, whatever the device and the precision, by a generator that the seed alone
    sets: every machine with the same versions draws the same ones, up to rounding. Tied weights are tied. An encoder
    and a model with a head are drawn separately.
    """
    described = source.refusing("the model that config.json describes")
    with described, torch.random.fork_rng(devices=[]), torch.device("cpu"):
        torch.default_generator.manual_seed(source.spec.seed or 0)  # a random-weights control has one, by its entry
        drawn = _build(model_class, source.config, torch.float32)
        if source.spec.dtype == "float32":
            return drawn
        # Some tensors stay in float32 in some architectures (such as frequencies of positions).
        model = _build(model_class, source.config, getattr(torch, source.spec.dtype))
    model.load_state_dict(drawn.state_dict())
    return model


def is_masked(config: Any) -> bool:
    """Return whether a model attends to both sides; a BERT that is configured as a decoder does not."""
    return type(config) in transformers.MODEL_FOR_MASKED_LM_MAPPING and not getattr(config, "is_decoder", False)


@contextmanager
def _without_report() -> Iterator[None]:
    """Suppress the report of transformers on loading: `check_report` refuses what matters in it."""
    verbosity = transformers_logging.get_verbosity()
    transformers_logging.set_verbosity_error()
    try:
        yield
    finally:
        transformers_logging.set_verbosity(verbosity)
