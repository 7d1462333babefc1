"""Options of models that do not fit one device as they are, or run on a server."""

from typing import Annotated, Any, Literal

from pydantic import Field, StringConstraints, model_validator

from cxprobe.schema import Closed

Dtype = Literal["float32", "bfloat16", "float16"]


class BitsAndBytes(Closed):
    """Weights of linear layers in 8 or 4 bits, by bitsandbytes; they are rounded while the checkpoint is read."""

    package: Literal["bitsandbytes"]
    """What rounds them."""
    bits: Literal[8, 4]
    """8: LLM.int8 (Dettmers et al. 2022), whose activations are rounded too. 4: QLoRA's (Dettmers et al. 2023)."""
    quant_type: Literal["nf4", "fp4"] | None = None
    """For 4 bits: nf4, for weights that are normally distributed, or fp4. null for 8."""
    double_quant: bool = False
    """For 4 bits: whether the scales are rounded too, which saves 0.4 bits a weight."""
    threshold: Annotated[float, Field(ge=0)] = 0.0
    """For 8 bits: columns with an activation above it are computed in 16 bits. The library's own is 6.0. Which columns
    these are depends on all texts of a batch, so that a text's scores depend on its neighbours; 0.0 prevents it."""

    @model_validator(mode="after")
    def _fits_its_bits(self) -> "BitsAndBytes":
        if (self.bits == 4) != (self.quant_type is not None):
            raise ValueError(
                f"bits is {self.bits} and quant_type is {self.quant_type}; give nf4 or fp4 for 4, not for 8"
            )
        if self.bits == 4 and self.threshold:
            raise ValueError("threshold is for 8 bits; leave it out")
        if self.bits == 8 and self.double_quant:
            raise ValueError("double_quant is for 4 bits; leave it out")
        return self

    def __str__(self) -> str:
        """Return what is done to the weights, in one line."""
        if self.bits == 8:
            return f"bitsandbytes 8-bit, threshold {self.threshold:g}"
        return f"bitsandbytes 4-bit {self.quant_type}{', double' if self.double_quant else ''}"


class TorchAo(Closed):
    """Weights of linear layers in 8 bits, by torchao; they are rounded while the checkpoint is read."""

    package: Literal["torchao"]
    """What rounds them."""
    weights: Literal["int8", "float8"]
    """int8: whole numbers with one scale a row. float8: e4m3. Activations stay as they are."""

    @property
    def bits(self) -> int:
        """Bits of a weight."""
        return 8

    def __str__(self) -> str:
        """Return what is done to the weights, in one line."""
        return f"torchao {self.weights} weights"


Quantisation = Annotated[BitsAndBytes | TorchAo, Field(discriminator="package")]


class Compared(Closed):
    """What a model in low precision is compared with before the long work begins (section precision)."""

    dtype: Dtype = "float32"
    """The precision of the same model, not quantised. It must fit beside the other, and lies where device_map says."""
    largest_difference: Annotated[float, Field(gt=0)] | None = None
    """The largest relative difference that is accepted; null for that of the section precision."""


class ServedModel(Closed):
    """A causal model that an OpenAI-compatible server runs, such as vLLM: its log-probabilities are asked for there."""

    kind: Literal["served"]
    """Tells it from a checkpoint, which has no kind."""
    url: Annotated[str, StringConstraints(pattern=r"^https?://[^@\s]+$")]
    """The server's address, which usually ends in /v1; without a password."""
    name: str
    """As the server calls the model."""
    weights: Annotated[str, StringConstraints(min_length=1)]
    """What the server runs: commit, precision, its version. Nobody can see it from here, so say it. It is part of what
    answers are stored under: change it when the server changes, and the model is asked again."""
    likelihoods: Literal["echo", "prompt_logprobs"]
    """How the probabilities of what is sent are asked for: echo with logprobs, as in OpenAI's own completions, or
    vLLM's prompt_logprobs, which name each token."""
    tokenizer: str
    """The model's tokenizer: a Hugging Face name or a local folder; weights are not needed. Texts are tokenised here,
    and the server gets the tokens' ids."""
    revision: str | None
    """Branch, tag or (better) commit of the tokenizer on the hub; null for a local folder."""
    max_tokens: Annotated[int, Field(ge=3)]
    """The longest input that the server takes; one token of it is for the token that it generates."""
    connections: Annotated[int, Field(ge=1)]
    """Requests at the same time."""
    retries: Annotated[int, Field(ge=0)]
    """How often a request that failed is sent again."""
    timeout: Annotated[float, Field(gt=0)]
    """Seconds after which a request has failed."""
    key: Annotated[str, StringConstraints(pattern=r"(?i)^[a-z_]\w*(key|token|secret|password)$")] | None
    """The environment variable that has the server's key, such as VLLM_API_KEY; null for a server without one."""


def describe_precision(dtype: Dtype, quantisation: BitsAndBytes | TorchAo | None, compared: Any) -> str:
    """Return in what a model computes, for the record, and whether that is compared with anything.

    Args:
        dtype: The precision of what is not quantised.
        quantisation: What is done to the weights of linear layers.
        compared: What the model is compared with; None for nothing.
    """
    if dtype == "float32" and quantisation is None:
        return dtype
    parts = [dtype, *([str(quantisation)] if quantisation else []), *([] if compared else ["compared with nothing"])]
    return ", ".join(parts)
