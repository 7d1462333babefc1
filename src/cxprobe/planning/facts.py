"""What a plan cannot read off the parameters and the data: docs/plan.yaml, and the sizes of models in local folders."""

import json
import math
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, model_validator

from cxprobe.errors import DataError
from cxprobe.files.schema import Closed, read_yaml, validate
from cxprobe.lm.params import ModelSpec

FACTS_FILE = Path("docs/plan.yaml")
_PACKAGE = "package:"
_LONGEST_HEADER = 100_000_000  # bytes; as the format's own library has it

Positive = Annotated[float, Field(gt=0)]
Count = Annotated[int, Field(ge=1)]


class ModelSize(Closed):
    """How large a model is."""

    kind: Literal["masked", "causal", "instructed"]
    """How it is asked: for a word at a mask, for what comes next, or in words."""
    parameters: Positive
    """All weights, embeddings too."""
    layers: Count
    """Hidden layers; the embeddings are one more vector a sentence."""
    width: Count
    """Numbers of a hidden state."""


class FileSize(Closed):
    """How many items an imported file has."""

    inferences: Count | None = None
    """Premises with a hypothesis."""
    reasonings: Count | None = None
    """Multiple-choice questions."""
    source: str
    """Where the number is from."""

    @model_validator(mode="after")
    def _has_a_number(self) -> "FileSize":
        if (self.inferences is None) == (self.reasonings is None):
            raise ValueError("give either inferences or reasonings")
        return self


class BenchmarkSize(Closed):
    """How many pairs a benchmark of others has."""

    pairs: Count
    characters: Count
    """Of one text on average."""
    source: str
    """Where the numbers are from."""


class Rate(Closed):
    """How fast something is."""

    value: Positive
    unit: str = ""
    source: str
    """Begins with "measured", "published" or "assumed"."""

    @model_validator(mode="after")
    def _says_where_it_is_from(self) -> "Rate":
        if self.source.split(":")[0].split(",")[0] not in ("measured", "published", "assumed"):
            raise ValueError(f"source: {self.source!r} must begin with measured, published or assumed")
        return self


class Rates(Closed):
    """What turns work into hours and memory."""

    characters_per_token: Rate
    """Of English."""
    gpu_float32: Rate
    """Floating-point operations a second on a GPU."""
    gpu_bfloat16: Rate
    cpu_float32: Rate
    """The same on two cores of a processor."""
    cpu_bfloat16: Rate
    loading: Rate
    """Bytes of weights a second."""
    working_memory: Rate
    """Bytes beside the weights."""
    gpu_memory_bandwidth: Rate
    """Bytes a second; a model that writes reads all its weights for each token."""
    reply: Rate
    """Tokens of a reply."""
    reply_reasoned: Rate
    """Tokens of a reply that begins with a chain of thought."""
    probe: Rate
    """Seconds of one logistic regression."""


class Facts(Closed):
    """docs/plan.yaml."""

    models: dict[str, ModelSize]
    """Hugging Face name -> its size."""
    files: dict[str, FileSize]
    """Name of an imported file -> its size."""
    benchmarks: dict[str, BenchmarkSize]
    """Slug of a benchmark -> its size."""
    rates: Rates


def load_facts(path: Path = FACTS_FILE) -> Facts:
    """Read docs/plan.yaml.

    Raises:
        DataError: One line for every fault of the file.
    """
    return validate(Facts, read_yaml(path, DataError), path, DataError)


def size_of(spec: ModelSpec, known: Mapping[str, ModelSize]) -> ModelSize | None:
    """Return the size of a model, from its own files where it is in a local folder; None if it is not known.

    Nothing is fetched and no weight is read.

    Args:
        spec: Where the model comes from.
        known: Hugging Face name -> size.

    Raises:
        DataError: The files of a local folder cannot be understood.
    """
    if spec.name in known:
        return known[spec.name]
    folder = _folder_of(spec.name)
    return size_of_folder(folder) if folder is not None else None


def size_of_folder(folder: Path) -> ModelSize | None:
    """Return the size of a model from its config.json and the headers of its weights; None without one of these.

    Raises:
        DataError: A file is damaged.
    """
    config, weights = folder / "config.json", sorted(folder.glob("*.safetensors"))
    if not config.is_file() or not weights:
        return None
    try:
        content = json.loads(config.read_text(encoding="utf-8"))
        layers = content.get("num_hidden_layers") or content["n_layer"]
        width = content.get("hidden_size") or content["n_embd"]
        causal = content.get("is_decoder") or any("CausalLM" in one or "LMHead" in one for one in _named(content))
        return ModelSize(
            kind="causal" if causal else "masked",
            parameters=sum(map(_parameters, weights)),
            layers=layers,
            width=width,
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as fault:
        raise DataError(f"{folder}: its sizes cannot be read from config.json and *.safetensors: {fault}") from fault


def _named(config: Mapping[str, object]) -> list[str]:
    architectures = config.get("architectures")
    return [str(one) for one in architectures] if isinstance(architectures, list) else []


def _parameters(path: Path) -> int:
    """Return how many numbers a file of safetensors has, from its header."""
    with path.open("rb") as file:
        length = int.from_bytes(file.read(8), "little")
        if length > _LONGEST_HEADER:
            raise ValueError(f"{path.name} is no file of safetensors")
        header = json.loads(file.read(length))
    return sum(math.prod(tensor["shape"]) for name, tensor in header.items() if name != "__metadata__")


def _folder_of(name: str) -> Path | None:
    """Return the folder of a local model or of one in an installed package; None for a name on the hub."""
    if not name.startswith(_PACKAGE):
        return Path(name) if Path(name).is_dir() else None
    module, _, inside = name.removeprefix(_PACKAGE).partition("/")
    try:
        found = find_spec(module)
    except (ImportError, ValueError):  # the parent of a module inside a package, or no name at all
        found = None
    if found is None or not found.submodule_search_locations:
        return None
    return Path(found.submodule_search_locations[0]) / inside
