"""Twins of a model, whose weights know nothing: drawn as its architecture draws them, or the trained ones permuted."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from importlib.metadata import version
from importlib.util import find_spec
from itertools import chain
from pathlib import Path
from typing import Any

import torch
from safetensors import safe_open
from transformers import BitsAndBytesConfig, TorchAoConfig
from transformers.utils import cached_file

from cxprobe.errors import CxprobeError, ModelError
from cxprobe.lm.checkpoints import AGAIN, Source, reason_of, weight_files
from cxprobe.lm.params import BitsAndBytes, ModelSpec
from cxprobe.seeding import generator_for


def draw(source: Source, model_class: Any) -> Any:
    """Return a model whose weights are drawn by its architecture's own initialisation.

    They are drawn on the CPU and in float32, whatever the device and the precision, by a generator that the seed alone
    sets: every machine with the same versions draws the same ones, up to rounding. Tied weights are tied. An encoder
    and a model with a head are drawn separately.
    """
    with torch.random.fork_rng(devices=[]), torch.device("cpu"):
        torch.default_generator.manual_seed(source.spec.seed or 0)  # params see to it that twins have one
        drawn = build(model_class, source.config, torch.float32)
    if source.spec.dtype == "float32":
        return drawn
    # Some tensors stay in float32 in some architectures (such as frequencies of positions), so each is built as it is.
    with torch.random.fork_rng(devices=[]):
        model = build(model_class, source.config, getattr(torch, source.spec.dtype))
    model.load_state_dict(drawn.state_dict())
    return model


def shuffle(model: Any, spec: ModelSpec) -> None:
    """Permute the values within each tensor of weights; a tensor that two layers share is permuted once.

    A tensor's permutation follows from the seed and its name in the encoder, so it is the same with and without a head
    and in every precision.
    """
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            generator = generator_for(spec.seed or 0, "shuffled", name.removeprefix(f"{model.base_model_prefix}."))
            order = torch.from_numpy(generator.permutation(parameter.numel()))
            parameter.copy_(parameter.flatten()[order].view_as(parameter))


def build(model_class: Any, config: Any, dtype: torch.dtype) -> Any:
    """Return the model that a configuration describes, with the weights that its architecture begins with."""
    build = getattr(model_class, "from_config", None) or model_class._from_config
    return build(config, dtype=dtype)


# How transformers 5.23 calls heads of language models, classifiers and question answering (models/*/modeling_*.py),
# and DeBERTa's own two. They stand beside the body; a checkpoint may have any of them that a use of it leaves out.
_HEADS = frozenset(
    {
        "classifier",
        "cls",
        "decoder",
        "discriminator_predictions",
        "embed_out",
        "generator_lm_head",
        "generator_predictions",
        "head",
        "lm_head",
        "lm_loss",
        "lm_predictions",
        "logits_proj",
        "mask_predictions",
        "multiple_choice_head",
        "pooler",
        "pre_classifier",
        "pred_layer",
        "predictions",
        "qa_classifier",
        "qa_outputs",
        "score",
        "sequence_summary",
        "sop_classifier",
        "v_head",
        "vocab_layer_norm",
        "vocab_projector",
        "vocab_transform",
    }
)
# What older versions of transformers stored though it is no weight: numbers of places, masks, frequencies.
_BUFFERS = re.compile(r"(^|\.)(position_ids|token_type_ids|(attn|attention)\.(masked_)?bias|causal_mask|inv_freq)$")
# DeBERTa's absolute positions belong to its enhanced mask decoder, which transformers does not implement.
_DEBERTA_POSITIONS = re.compile(r"(^|\.)embeddings\.position_embeddings\.weight$")
_FLOATS = ("F64", "F32", "F16", "BF16")
# More numbers than this are not reserved for a model whose weights have far fewer.
_LARGE = 50_000_000


def refuse_damaged_weights(source: Source, model_class: Any) -> None:
    """Refuse safetensors that cannot be read, or have NaN or whole numbers, or config.json does not belong to.

    What the model leaves out, such as a head, is checked too. Files in PyTorch's own format are read by transformers
    alone; of them the loaded weights are checked.
    """
    shapes: dict[str, tuple[int, ...]] = {}
    for file in weight_files(source):
        if file.suffix != ".safetensors":
            return
        what = f"{file.name} ({file.stat().st_size:,} bytes), which is cut short or damaged,"
        with source.refusing(what), safe_open(file, framework="pt") as opened:
            for name in opened.keys():  # noqa: SIM118 - no dictionary
                stored = opened.get_slice(name)
                shapes[name] = tuple(stored.get_shape())
                if stored.get_dtype() not in _FLOATS and not _BUFFERS.search(name):
                    raise ModelError(
                        f"models.{source.slug}: {file} has {name} as {stored.get_dtype()}; weights must be one of "
                        f"{', '.join(_FLOATS)} (quantised models are not read), so take another file, or {AGAIN}"
                    )
            refuse_infinite(source, ((name, opened.get_tensor(name)) for name in opened.keys()))  # noqa: SIM118
    if shapes:
        _refuse_giant(source, model_class, shapes)


def _refuse_giant(source: Source, model_class: Any, stored: Mapping[str, tuple[int, ...]]) -> None:
    """Refuse a configuration of a model far larger than its weights, before its memory is reserved."""
    layers = getattr(source.config, "num_hidden_layers", 0)
    if isinstance(layers, int) and layers > len(stored):
        raise ModelError(f"{source}: config.json says {layers} layers, and the checkpoint has {len(stored)} tensors")
    with (
        source.refusing("the model that config.json describes"),
        torch.random.fork_rng(devices=[]),
        torch.device("meta"),  # shapes without memory
    ):
        model = build(model_class, source.config, torch.float32)
        described = sum(tensor.numel() for tensor in chain(model.parameters(), model.buffers()))
    numbers = sum(torch.Size(shape).numel() for shape in stored.values())
    if described > max(_LARGE, 4 * numbers):
        raise ModelError(
            f"{source}: config.json describes a model of {described:,} numbers, and the checkpoint has {numbers:,}; "
            "these do not belong together, so copy or download both again"
        )


def refuse_shapes(source: Source, mismatched: Iterable[tuple[str, Sequence[int], Sequence[int]]]) -> None:
    """Refuse weights whose shape in the checkpoint is not the model's; each has its name and these two shapes."""
    if faults := [f"{name} is {list(found)}, not {list(wanted)}" for name, found, wanted in sorted(mismatched)]:
        raise ModelError(
            f"{source}: {len(faults)} weights of the checkpoint have other shapes than config.json says: "
            f"{'; '.join(faults[:3])}; these do not belong together, so copy or download both again"
        )


def refuse_infinite(source: Source, weights: Iterable[tuple[str, torch.Tensor]]) -> None:
    """Refuse weights with a number that is NaN or infinite.

    Weights that are quantised, or lie on a disk, are not looked at here (see `refuse_damaged_weights`).
    """
    for name, values in weights:
        if values.is_meta or type(values.data) is not torch.Tensor:
            continue
        # A sum is cheap and finite only if all are; a large one can overflow, so the numbers themselves decide.
        if values.is_floating_point() and not bool(values.sum().isfinite()) and not bool(values.isfinite().all()):
            count = int((~values.isfinite()).sum())
            raise ModelError(
                f"{source}: {count} of the {values.numel()} numbers of {name} are NaN or infinite; the file is damaged "
                f"or its training failed: {AGAIN}, or take another checkpoint"
            )


def refuse_random(source: Source, missing: Iterable[str]) -> None:
    """Refuse a model with weights that its checkpoint lacks, which transformers would draw at random."""
    if names := sorted(missing):
        raise ModelError(
            f"models.{source.slug}: {len(names)} weights of '{source.spec.name}' are not in its checkpoint and would "
            f"be random: {', '.join(names[:5])}; results would be meaningless, so take another checkpoint"
        )


def refuse_unused(source: Source, model: Any, unused: Iterable[str]) -> None:
    """Refuse a checkpoint with weights that the model leaves out, but for known heads and what is no weight."""
    body, deberta = model.base_model, source.config.model_type.startswith("deberta")
    names = []
    for name in sorted(unused):
        first, *others = name.removeprefix(f"{model.base_model_prefix}.").split(".")
        is_head = name.split(".")[0] in _HEADS and not hasattr(body, name.split(".")[0])
        known = is_head or (first == "pooler" and others) or _BUFFERS.search(name)
        if not known and not (deberta and _DEBERTA_POSITIONS.search(name)):
            names.append(name)
    if names:
        raise ModelError(
            f"{source}: {len(names)} weights of its checkpoint are not used by the model that config.json describes: "
            f"{', '.join(names[:5])}; config.json is another model's or damaged (too few layers?), so copy or download "
            "both again"
        )


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
