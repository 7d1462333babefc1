"""Twins of a model, whose weights know nothing: drawn as its architecture draws them, or the trained ones permuted."""

from typing import Any

import torch

from cxprobe.models.sources import Source
from cxprobe.params import ModelSpec
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
