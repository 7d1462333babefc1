"""How much is put to a model, and the hours and the memory that this takes at stated rates."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from cxprobe.lm.params import ModelSpec
from cxprobe.planning.facts import ModelSize, Rates

SECONDS = 3600.0
BYTES = {"float32": 4, "bfloat16": 2, "float16": 2}
_PROBE = 8000 * 1024  # numbers that a probe of the stated rate is fitted to

Lengths = NDArray[np.int64]
Passes = Literal["once", "each token"]
"""How often a model reads a text: once, or once with each of its tokens masked."""


@dataclass(frozen=True)
class Texts:
    """Texts that are put to a model, by their lengths.

    Attributes:
        characters: Shape (texts,): of each.
        scale: How many times as many there are; 1 where all have been counted.
        about: Whether the number is an estimate.
    """

    characters: Lengths
    scale: float = 1.0
    about: bool = False

    @property
    def number(self) -> int:
        """How many texts there are."""
        return round(len(self.characters) * self.scale)


@dataclass(frozen=True)
class Work:
    """What a model reads.

    Attributes:
        texts: How many there are.
        tokens: About how many these have.
        read: About how many tokens pass through the model.
        about: Whether the number of texts is an estimate.
    """

    texts: int
    tokens: float
    read: float
    about: bool


@dataclass(frozen=True)
class Effort:
    """What work takes.

    Attributes:
        gpu_hours: On one GPU.
        cpu_hours: On two cores.
        memory: Bytes on the device that the model runs on.
    """

    gpu_hours: float = 0.0
    cpu_hours: float = 0.0
    memory: float = 0.0


@dataclass(frozen=True)
class Training:
    """The training parts of a construction's probes.

    Attributes:
        sentences: Of each feature's subset, for every source.
        draws: How often each is drawn.
        scale: How many times as many sentences there are.
    """

    sentences: tuple[int, ...] = field(default=())
    draws: int = 1
    scale: float = 1.0


def texts_of(texts: Iterable[str], *, about: bool = False) -> Texts:
    """Return texts by their lengths."""
    return Texts(np.array([len(text) for text in texts], dtype=np.int64), about=about)


def work_of(texts: Texts, passes: Passes, rates: Rates, *, times: int = 1) -> Work:
    """Return what a model reads of some texts.

    Args:
        texts: The texts.
        passes: Whether the model reads a text once, or once for each of its tokens, as in pseudo-log-likelihoods.
        rates: How many characters a token has.
        times: How often all of this is done, such as once for each scheme.
    """
    tokens = np.ceil(texts.characters / rates.characters_per_token.value)
    # A masked model reads two special tokens with each text.
    read = tokens * (tokens + 2) if passes == "each token" else tokens
    total = float(tokens.sum()) * texts.scale
    return Work(texts.number, total, float(read.sum()) * texts.scale * times, texts.about)


def bytes_of_weight(spec: ModelSpec) -> float:
    """Return the bytes of a weight; embeddings stay as they are, which is little in a model that is quantised."""
    return spec.quantisation.bits / 8 if spec.quantisation else BYTES[spec.dtype]


def memory_of(spec: ModelSpec, size: ModelSize, rates: Rates) -> float:
    """Return the bytes that a model needs on its device.

    In another precision than float32 it is compared with itself in float32 (or as ``spec.compared`` says), which lies
    beside it meanwhile.
    """
    is_compared = spec.compared is not None and (spec.quantisation is not None or spec.dtype != "float32")
    bytes_each = bytes_of_weight(spec) + (BYTES[spec.compared.dtype] if spec.compared and is_compared else 0)
    return size.parameters * bytes_each + rates.working_memory.value


def effort_of(work: Work, spec: ModelSpec, size: ModelSize, device: str, rates: Rates) -> Effort:
    """Return what it takes a model to read: two operations a weight and token, after its weights have been loaded.

    Args:
        work: What is read.
        spec: The precision.
        size: How large the model is.
        device: Where it runs; "cpu", or anything else for a GPU.
        rates: How fast that is.
    """
    on_cpu = device == "cpu"
    speeds = {
        ("cpu", "float32"): rates.cpu_float32,
        ("cpu", "bfloat16"): rates.cpu_bfloat16,
        ("gpu", "float32"): rates.gpu_float32,
        ("gpu", "bfloat16"): rates.gpu_bfloat16,
        ("cpu", "float16"): rates.cpu_bfloat16,
        ("gpu", "float16"): rates.gpu_bfloat16,
    }
    speed = speeds["cpu" if on_cpu else "gpu", spec.dtype].value
    loading = size.parameters * bytes_of_weight(spec) / rates.loading.value
    hours = (2 * size.parameters * work.read / speed + loading) / SECONDS
    memory = memory_of(spec, size, rates)
    return Effort(cpu_hours=hours, memory=memory) if on_cpu else Effort(gpu_hours=hours, memory=memory)


def fitting_hours(training: Training, size: ModelSize, fits: float, rates: Rates) -> float:
    """Return the hours of two cores that a construction's probes take: one for each layer and subset.

    Args:
        training: What the probes are fitted to.
        size: Layers and width of the model.
        fits: How many fits a probe takes, with its controls or its search.
        rates: The time of one fit; it grows with the numbers that are fitted to.
    """
    numbers = sum(training.sentences) * training.scale * training.draws * size.width * (size.layers + 1)
    return fits * numbers / _PROBE * rates.probe.value / SECONDS


def writing_hours(tokens: float, at_once: int, size: ModelSize, rates: Rates) -> float:
    """Return the GPU hours that a model takes to write: it reads all its weights, in bfloat16, for each token.

    Args:
        tokens: Of all replies.
        at_once: How many replies are written at the same time.
        size: How large the model is.
        rates: How fast weights are read.
    """
    seconds = tokens / at_once * size.parameters * BYTES["bfloat16"] / rates.gpu_memory_bandwidth.value
    return seconds / SECONDS
