"""Making a model fit: quantised weights, and layers on several devices; both are transformers' and accelerate's own."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import torch
from transformers import BitsAndBytesConfig, TorchAoConfig
from transformers.utils import cached_file

from cxprobe.errors import CxprobeError, ModelError
from cxprobe.models.refusals import reason_of
from cxprobe.models.sources import Source
from cxprobe.params import BitsAndBytes, ModelSpec

_INSTALL = "pip install 'cxprobe[large]'"


def refuse_unfitted(slug: str, spec: ModelSpec, device: str) -> None:
    """Refuse options that this machine or the stage's device cannot follow, before anything is read.

    Args:
        slug: The model's key in params.yaml, for messages.
        spec: The model.
        device: The stage's device in this process.

    Raises:
        ModelError: A package is not installed, or layers are to be put on all GPUs and the device is one of them.
    """
    needed: list[str] = [spec.quantisation.package] if spec.quantisation else []
    needed += ["accelerate"] if spec.quantisation or spec.device_map else []
    for package in needed:
        if find_spec(package) is None:
            option = "quantisation" if spec.quantisation else "device_map"
            raise ModelError(f"models.{slug}.{option}: the package {package} is not installed; {_INSTALL}")
    if spec.device_map and device not in ("cpu", "cuda", "cuda:0", "meta"):
        raise ModelError(
            f"models.{slug}.device_map is {spec.device_map}, which puts layers on all GPUs, and this process has "
            f"'{device}'; set the stage's devices and num_nodes to 1, and its accelerator to gpu (all GPUs, then "
            "memory, then disk) or cpu (memory, then disk)"
        )


def fitting_options(source: Source, device: str, unused: Sequence[str]) -> dict[str, Any]:
    """Return what ``from_pretrained`` is told so that the model fits; nothing for an ordinary one.

    Args:
        source: The model.
        device: Where a model is that is not spread over several devices.
        unused: Parts that nothing reads and the checkpoint may lack: bitsandbytes cannot run what it has not read.

    Raises:
        ModelError: The checkpoint is quantised already.
    """
    spec, options = source.spec, dict[str, Any]()
    if spec.quantisation:
        if getattr(source.config, "quantization_config", None):
            raise ModelError(
                f"{source} is a quantised checkpoint already; take its original, or leave out "
                f"models.{source.slug}.quantisation"
            )
        options |= {"quantization_config": _configuration(spec, unused), "device_map": {"": device}}
    if spec.device_map:
        options |= {"device_map": spec.device_map, "max_memory": _most(spec, device)}
        options |= {"offload_folder": spec.offload_folder} if spec.offload_folder else {}
    return options


def quantised_by(spec: ModelSpec) -> str:
    """Return what has quantised a model, with its version, for the fingerprint; "" for a model that is not."""
    if spec.quantisation is None:
        return ""
    return f"{spec.quantisation} by {spec.quantisation.package} {version(spec.quantisation.package)}"


@contextmanager
def refusing_unfitting(source: Source) -> Iterator[None]:
    """Turn what a library raises while it quantises or spreads a model into a `ModelError` that says what to do."""
    options = [name for name in ("quantisation", "device_map") if getattr(source.spec, name)]
    try:
        yield
    except CxprobeError:
        raise
    except Exception as error:
        if not options:
            raise
        places = " and ".join(f"models.{source.slug}.{name}" for name in options)
        raise ModelError(
            f"{source}: {reason_of(error)}; {places} cannot be followed here: a quantised model must fit on GPUs, or "
            "as a whole on the CPU; another needs enough in max_memory, or an offload_folder"
        ) from error


def is_fitted(spec: ModelSpec) -> bool:
    """Return whether a model is already where it belongs when it has been loaded, so that nobody moves it."""
    return spec.quantisation is not None or spec.device_map is not None


def refuse_without_device(source: Source, model: Any) -> None:
    """Refuse a model whose first layer, the embeddings, is on no device that computes."""
    if model.device.type == "meta":
        raise ModelError(
            f"{source}: not even its embeddings fit on a device; allow more in models.{source.slug}.max_memory"
        )


def in_cache(source: Source) -> Source:
    """Return a model of the hub as the folder of the cache that has its files; a local one as it is."""
    if Path(source.path).is_dir():
        return source
    file = cached_file(source.path, "config.json", revision=source.spec.revision)
    return replace(source, path=str(Path(file).parent))


def _configuration(spec: ModelSpec, unused: Sequence[str]) -> Any:
    how, dtype, left = spec.quantisation, getattr(torch, spec.dtype), list(unused) or None  # None: the library's own
    if isinstance(how, BitsAndBytes):
        if how.bits == 8:
            return BitsAndBytesConfig(load_in_8bit=True, llm_int8_threshold=how.threshold, llm_int8_skip_modules=left)
        return BitsAndBytesConfig(
            load_in_4bit=True,
            bnb_4bit_quant_type=how.quant_type,
            bnb_4bit_use_double_quant=how.double_quant,
            bnb_4bit_compute_dtype=dtype,
            llm_int8_skip_modules=left,
        )
    from torchao.quantization import Float8WeightOnlyConfig, Int8WeightOnlyConfig

    chosen = Int8WeightOnlyConfig if how and how.weights == "int8" else Float8WeightOnlyConfig
    return TorchAoConfig(quant_type=chosen())


def _most(spec: ModelSpec, device: str) -> dict[int | str, Any] | None:
    """Return how much each device may take, as accelerate wants it; without GPUs if the stage runs on the CPU."""
    from accelerate.utils import get_max_memory

    given: dict[int | str, Any] = {int(k) if k.isdigit() else k: v for k, v in (spec.max_memory or {}).items()}
    if device == "cpu":
        free = get_max_memory()["cpu"]
        return {"cpu": given.get("cpu", free)}
    return given or None
