"""Whether weights are finite, and the checkpoint's are the model's: of the same shapes, none left out, none made up."""

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import Any

import torch
from safetensors import safe_open

from cxprobe.errors import ModelError
from cxprobe.models.folders import weight_files
from cxprobe.models.refusals import AGAIN
from cxprobe.models.sources import Source
from cxprobe.models.twins import build

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
