"""Loading a model: found, read, checked, and given out complete, in eval mode and in a known dtype."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import torch
import transformers
from transformers.utils import cached_file
from transformers.utils import logging as transformers_logging

from cxprobe.errors import ModelError
from cxprobe.lm.checkpoints import Source
from cxprobe.lm.checks import check_report, check_trial, longest_input
from cxprobe.lm.folders import check_digest, is_gguf, loaded_files, path_of
from cxprobe.lm.gguf import dequantised
from cxprobe.lm.params import BitsAndBytes, ModelSpec, ServedModel
from cxprobe.seeding import generator_for


class DebertaV2Masked(transformers.DebertaV2ForMaskedLM):  # type: ignore[misc]
    """DeBERTa v2 or v3; the loading report names the weights of v3's discriminator, which distinguish the two."""

    _keys_to_ignore_on_load_unexpected = None


def open_source(slug: str, spec: ModelSpec | ServedModel, device: str = "cpu") -> Source:
    """Find a model, compare its files with their digest, and read its configuration and tokenizer.

    Of a model on a server this is its tokenizer.

    Arguments and errors are those of `cxprobe.lm.embedding.load_encoder`.
    """
    if isinstance(spec, ServedModel):
        spec = ModelSpec(name=spec.tokenizer, revision=spec.revision, sha256=None, dtype="float32")
    _check_options(slug, spec, device)
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
    with source.refusing("config.json"):
        if not source.is_local:
            # The files of a model are asked for one after the other. If a branch moved meanwhile, the weights would
            # otherwise be of another commit than the configuration, and the fingerprint would name a third.
            cached = Path(cached_file(source.path, "config.json", revision=spec.revision))
            commit = cached.parent.name  # the cache has one folder a commit
            spec = spec.model_copy(update={"revision": commit})
            source = replace(source, spec=spec, origin=f"commit {commit}")
        config = transformers.AutoConfig.from_pretrained(source.path, return_dict=True, **source.loading_options)
        config.transformers_weights = None  # other names of weights, which `loaded_files` does not list
    with source.refusing("the tokenizer"):
        tokenizer = transformers.AutoTokenizer.from_pretrained(source.path, **source.loading_options)
    if not tokenizer.is_fast:
        raise ModelError(f"{source} has no fast tokenizer (tokenizer.json); convert it first")
    if config.is_encoder_decoder:
        raise ModelError(f"{source} is an encoder with a decoder; probes take one or the other")
    source = replace(source, config=config, tokenizer=tokenizer)
    return replace(source, max_tokens=longest_input(source))


def load_model(source: Source, model_class: Any, device: str) -> Any:
    """Return a model in eval mode, with all its weights and no others, that can use its tokenizer.

    Args:
        source: Where it comes from.
        model_class: The architecture with or without a head, of transformers.
        device: Where it runs; see `cxprobe.lm.embedding.load_encoder`.
    """
    spec = source.spec
    if device == "meta":
        with torch.device("meta"), source.refusing("the model that config.json describes"):
            return _build(model_class, source.config, getattr(torch, spec.dtype))
    model = _draw(source, model_class) if spec.weights == "random" else _read(source, model_class, device)
    if not _is_fitted(spec):
        with source.refusing(f"the device '{device}'", "try cpu"):
            model = model.to(device)
    check_trial(source, model.eval())
    return model


def _build(model_class: Any, config: Any, dtype: torch.dtype) -> Any:
    """Return the model that a configuration describes, with the weights that its architecture begins with."""
    build = getattr(model_class, "from_config", None) or model_class._from_config
    return build(config, dtype=dtype)


def _read(source: Source, model_class: Any, device: str) -> Any:
    """Return a model with the weights of its checkpoint, as they are or shuffled."""
    spec = source.spec
    options, advice = source.loading_options | _fitting_options(source, device, model_class), ""
    if source.is_local:
        options["use_safetensors"] = any(file.suffix == ".safetensors" for file in loaded_files(Path(source.path)))
    if _is_fitted(spec):
        advice = (
            f"models.{source.slug}.quantisation or device_map cannot be followed here: a quantised model must fit on "
            "GPUs, or as a whole on the CPU; another needs enough in max_memory, or an offload_folder"
        )
    with source.refusing("the weights", advice), _without_report():
        model, report = model_class.from_pretrained(
            source.path,
            config=source.config,
            dtype=getattr(torch, spec.dtype),
            output_loading_info=True,
            ignore_mismatched_sizes=True,  # they are refused below, by name
            **options,
        )
        if model.device.type == "meta":
            raise RuntimeError("not even its embeddings fit on a device")
    if model_class is DebertaV2Masked and any(key.startswith("mask_predictions.") for key in report["unexpected_keys"]):
        raise ModelError(
            f"{source} is DeBERTa v3: it was trained to detect replaced tokens (mask_predictions.* in its checkpoint) "
            "and not to fill masks, so it can be probed but gives no scores; take DeBERTa v1 or v2"
        )
    check_report(source, model, report)
    if spec.device_map and any(key.startswith("pooler.") for key in report["missing_keys"]):
        model.pooler = None  # nothing reads it, and accelerate cannot bring from the disk what no file has
    if spec.weights == "shuffled":
        _shuffle(model, spec)
    return model


def fields_of_model(source: Source, model: Any) -> tuple[Any, ...]:
    """Return the fields that every `LoadedModel` has, in their order."""
    spec, fingerprint = source.spec, source.origin
    precision = source.rounding + spec.precision
    if spec.quantisation is not None:
        package = spec.quantisation.package
        fingerprint = f"{spec.quantisation} by {package} {version(package)}, of {fingerprint}"
    if spec.weights != "trained":
        fingerprint = f"{spec.weights}, seed {spec.seed}, of {fingerprint}"
    if spec.weights == "random":
        drawn_by = f"torch {torch.__version__.partition('+')[0]} and transformers {transformers.__version__}"
        fingerprint = f"{fingerprint}, drawn by {drawn_by}"
    return spec.name, model, source.tokenizer, fingerprint, source.max_tokens, spec.weights, precision


def _draw(source: Source, model_class: Any) -> Any:
    """Return a model whose weights are drawn by its architecture's own initialisation.

    They are drawn on the CPU and in float32, whatever the device and the precision, by a generator that the seed alone
    sets: every machine with the same versions draws the same ones, up to rounding. Tied weights are tied. An encoder
    and a model with a head are drawn separately.
    """
    config = source.refusing("the model that config.json describes")
    with config, torch.random.fork_rng(devices=[]), torch.device("cpu"):
        torch.default_generator.manual_seed(source.spec.seed or 0)  # params see to it that twins have one
        drawn = _build(model_class, source.config, torch.float32)
    if source.spec.dtype == "float32":
        return drawn
    # Some tensors stay in float32 in some architectures (such as frequencies of positions), so each is built as it is.
    with torch.random.fork_rng(devices=[]):
        model = _build(model_class, source.config, getattr(torch, source.spec.dtype))
    model.load_state_dict(drawn.state_dict())
    return model


def _shuffle(model: Any, spec: ModelSpec) -> None:
    """Permute the values within each tensor of weights; a tensor that two layers share is permuted once.

    A tensor's permutation follows from the seed and its name in the encoder, so it is the same with and without a head
    and in every precision.
    """
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            generator = generator_for(spec.seed or 0, "shuffled", name.removeprefix(f"{model.base_model_prefix}."))
            order = torch.from_numpy(generator.permutation(parameter.numel()))
            parameter.copy_(parameter.flatten()[order].view_as(parameter))


def is_masked(config: Any) -> bool:
    """Return whether a model attends to both sides; a BERT that is configured as a decoder does not."""
    return type(config) in transformers.MODEL_FOR_MASKED_LM_MAPPING and not getattr(config, "is_decoder", False)


def _is_fitted(spec: ModelSpec) -> bool:
    """Return whether a model is already where it belongs when it has been loaded, so that nobody moves it."""
    return spec.quantisation is not None or spec.device_map is not None


def _check_options(slug: str, spec: ModelSpec, device: str) -> None:
    """Refuse options that this machine or the stage's device cannot follow, before anything is read."""
    packages = ([spec.quantisation.package] if spec.quantisation else []) + (["accelerate"] if _is_fitted(spec) else [])
    if missing := [package for package in packages if find_spec(package) is None]:
        raise ModelError(
            f"models.{slug}: quantisation and device_map need {' and '.join(missing)}, which is not installed; "
            "pip install 'cxprobe[large]'"
        )
    if spec.device_map and device not in ("cpu", "cuda", "cuda:0", "meta"):
        raise ModelError(
            f"models.{slug}.device_map is {spec.device_map}, which puts layers on all GPUs, and this process has "
            f"'{device}'; set compute.devices and compute.num_nodes to 1, and compute.accelerator to gpu (all GPUs, "
            "then memory, then disk) or cpu (memory, then disk)"
        )


def _fitting_options(source: Source, device: str, model_class: Any) -> dict[str, Any]:
    """Return what ``from_pretrained`` is told so that the model fits; nothing for an ordinary one.

    Args:
        source: The model.
        device: Where a model is that is not spread over several devices.
        model_class: The architecture with or without a head, of transformers.
    """
    spec, options = source.spec, dict[str, Any]()
    if spec.quantisation:
        if getattr(source.config, "quantization_config", None):
            raise ModelError(
                f"{source} is a quantised checkpoint already; take its original, or leave quantisation out"
            )
        if isinstance(spec.quantisation, BitsAndBytes):
            quantisation = transformers.BitsAndBytesConfig(
                load_in_8bit=spec.quantisation.bits == 8,
                load_in_4bit=spec.quantisation.bits == 4,
                llm_int8_threshold=0.0,  # else the precision of columns depends on the other texts of a batch
                bnb_4bit_quant_type=spec.quantisation.quant_type or "nf4",  # 8 bits have none; the library wants a name
                bnb_4bit_use_double_quant=spec.quantisation.double_quant,
                bnb_4bit_compute_dtype=getattr(torch, spec.dtype),
                # Nothing reads an encoder's pooler, and bitsandbytes cannot run what the checkpoint lacks.
                llm_int8_skip_modules=["pooler"] if model_class is transformers.AutoModel else None,
            )
        else:
            from torchao.quantization import Float8WeightOnlyConfig, Int8WeightOnlyConfig

            rounded = Int8WeightOnlyConfig if spec.quantisation.weights == "int8" else Float8WeightOnlyConfig
            quantisation = transformers.TorchAoConfig(quant_type=rounded())
        options |= {"quantization_config": quantisation, "device_map": {"": device}}
    if spec.device_map:
        from accelerate.utils import get_max_memory

        most: dict[int | str, Any] = {int(k) if k.isdigit() else k: v for k, v in (spec.max_memory or {}).items()}
        if device == "cpu":
            most = {"cpu": most.get("cpu", get_max_memory()["cpu"])}
        options |= {"device_map": spec.device_map, "max_memory": most or None, "offload_folder": spec.offload_folder}
    return options


@contextmanager
def _without_report() -> Iterator[None]:
    """Let transformers print no report of what it loads: what matters in it is refused here."""
    verbosity = transformers_logging.get_verbosity()
    transformers_logging.set_verbosity_error()
    try:
        yield
    finally:
        transformers_logging.set_verbosity(verbosity)
