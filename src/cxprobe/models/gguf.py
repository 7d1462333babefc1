"""Models in GGUF files: de-quantised once into a folder of the user's cache, which is loaded like any other folder."""

import os
import shutil
import sys
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import torch
import transformers
from filelock import FileLock
from tqdm.auto import tqdm
from transformers.utils import cached_file

from cxprobe.errors import ModelError
from cxprobe.models.checkpoints import OF_THE_HUB, Source, check_digest
from cxprobe.models.checks import check_report

_ROUNDING = "quantisation.txt"  # in the converted folder
_REMEDY = (
    "transformers reads GGUF files of some architectures only: take the model's checkpoint in safetensors, or convert "
    "the file into one with a tool that knows the architecture, and give that folder"
)


def dequantised(source: Source) -> Source:
    """Return the model of a GGUF file as one in a local folder, in float32, with its tokenizer and chat template.

    The folder is made once for a file and a version of transformers, and is in the user's cache: $XDG_CACHE_HOME, or
    ~/.cache. It appears whole or not at all. Processes that need the same one wait for the first.

    Args:
        source: A model whose path is a GGUF file, or one in a repository of the hub, such as "org/repo/file.gguf".

    Raises:
        ModelError: The file is not there and cannot be downloaded, has another SHA-256 than params say, or is none that
            transformers can read; or a package of the extra gguf is not installed.
    """
    file, at_hub = Path(source.path), OF_THE_HUB.fullmatch(source.path)
    if not file.is_file() and at_hub:
        repository, name = at_hub.groups()
        with source.refusing("the file"):
            file = Path(cached_file(repository, name, revision=source.spec.revision))
    if not file.is_file():
        raise ModelError(f"{source}: there is no file {file}; correct the name")
    digest = check_digest(f"models.{source.slug}", file, source.spec.sha256)
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "cxprobe"
    folder = cache / f"{file.stem}-{digest[:16]}-transformers-{transformers.__version__}"
    if not folder.is_dir():
        cache.mkdir(parents=True, exist_ok=True)
        with FileLock(f"{folder}.lock"):
            if not folder.is_dir():
                _convert(source, file, folder)
    rounding = (folder / _ROUNDING).read_text()
    return replace(source, path=str(folder), origin=f"sha256 {digest}", rounding=f"{rounding}, de-quantised to ")


def _convert(source: Source, file: Path, folder: Path) -> None:
    """Write the folder of a GGUF file's model; the caller holds its lock."""
    if missing := [package for package in ("accelerate", "gguf") if find_spec(package) is None]:
        raise ModelError(
            f"{source}: GGUF files need {' and '.join(missing)}, which is not installed; pip install 'cxprobe[gguf]'"
        )
    tqdm.write(
        f"{source.spec.name}: de-quantising {file.stat().st_size / 1e6:,.0f} MB into {folder}, once", file=sys.stderr
    )
    partial = folder.with_name(f"{folder.name}.partial")
    shutil.rmtree(partial, ignore_errors=True)  # of a process that was killed: nobody else has the lock
    options: dict[str, Any] = {"gguf_file": file.name, "trust_remote_code": False}
    with source.refusing("the GGUF file", _REMEDY):
        from gguf import GGUFReader, LlamaFileType

        said = GGUFReader(file).get_field("general.file_type")
        rounding = str(LlamaFileType(int(said.contents())).name.partition("_")[2]) if said else "GGUF"
        tokenizer = transformers.AutoTokenizer.from_pretrained(file.parent, **options)
        read, report = transformers.AutoModelForCausalLM.from_pretrained(
            file.parent, dtype=torch.float32, output_loading_info=True, **options
        )
        check_report(source, read, report)
        # What was read from a quantised file cannot be saved; a model of the same configuration can.
        del read.config.quantization_config
        with torch.device("meta"):
            model = type(read)(read.config)
        model.load_state_dict(read.state_dict(), assign=True)
        model.tie_weights()
    model.save_pretrained(partial)
    tokenizer.save_pretrained(partial)
    (partial / _ROUNDING).write_text(rounding)
    partial.rename(folder)
