"""Whether the files of a model's folder are there and whole, and which of them have its weights."""

import hashlib
import json
from pathlib import Path
from typing import Any

from cxprobe.errors import ModelError
from cxprobe.models.refusals import AGAIN, reason_of
from cxprobe.models.sources import Source
from cxprobe.params import ModelSpec
from cxprobe.storage import digest

_POINTER = b"version https://git-lfs"  # what git-lfs leaves in place of a file that was not fetched
_READ = (".json", ".txt", ".model", ".safetensors", ".bin")


def refuse_damaged(slug: str, folder: Path) -> None:
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
