"""Load a model: find, read and check it; it is complete, in eval mode and in a known precision.

A model in a GGUF file is de-quantised once into a folder of the user's cache, which is loaded like any other folder.
"""

import os
import re
import shutil
import sys
from collections.abc import Mapping
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal

import torch
import transformers
from filelock import FileLock
from tqdm.auto import tqdm
from transformers.utils import cached_file
from transformers.utils import logging as transformers_logging

from cxprobe.errors import ModelError
from cxprobe.files.writing import digest, read_json, remove_left_behind, replacing, write_json
from cxprobe.models.checkpoints import OF_THE_HUB, Source, check_digest, is_gguf, loaded_files, path_of
from cxprobe.models.params import ModelSpec

_RECORD = "conversion.json"  # in the converted folder
_REMEDY = "transformers reads GGUF files of some architectures only: take the model's checkpoint in safetensors"
# The causal mask, which older versions of transformers stored beside the weights of attention (GPT-Neo, GPT-J).
_MASKS = re.compile(r"(attn|attention)\.(masked_)?bias$")
_POSITIONS = ("max_position_embeddings", "max_target_positions", "max_seq_len")  # the last two of Whisper and MPT


class DebertaV2Masked(transformers.DebertaV2ForMaskedLM):  # type: ignore[misc]
    """DeBERTa v2 or v3; the loading report names the weights of v3's discriminator, which distinguish the two."""

    _keys_to_ignore_on_load_unexpected = None


def open_source(slug: str, spec: ModelSpec) -> Source:
    """Find a model, compare its files with their digest, and read its configuration and tokenizer.

    Arguments and errors are those of `cxprobe.models.embedding.load_encoder`.
    """
    transformers_logging.disable_progress_bar()
    transformers_logging.set_verbosity_error()  # `check_report` refuses what matters in its report on loading
    source = Source(slug, spec, path_of(f"models.{slug}", spec.name))
    if is_gguf(source.path):
        source = dequantised(source)
    elif source.is_local:
        with source.refusing("the folder"):
            digest = check_digest(f"models.{slug}", Path(source.path), spec.sha256)
        source = replace(source, origin=f"sha256 {digest}")
    elif spec.sha256:
        raise ModelError(f"models.{slug}: sha256 is given, but '{spec.name}' is neither a local folder nor a GGUF file")
    with source.refusing("config.json"):
        if not source.is_local:
            # The files of a model are asked for one after the other. If a branch moved meanwhile, the weights would
            # otherwise be of another commit than the configuration, and the fingerprint would name a third.
            cached = Path(cached_file(source.path, "config.json", revision=spec.revision))
            commit = cached.parent.name  # the cache has one folder a commit
            spec = spec.model_copy(update={"revision": commit})
            source = replace(source, spec=spec, origin=f"commit {commit}")
        options = spec.load | source.loading_options  # such as the implementation of attention
        config = transformers.AutoConfig.from_pretrained(source.path, return_dict=True, **options)
        config.transformers_weights = None  # other names of weights, which `loaded_files` does not list
    with source.refusing("the tokenizer"):
        tokenizer = transformers.AutoTokenizer.from_pretrained(source.path, **source.loading_options)
    if not tokenizer.is_fast:
        raise ModelError(f"{source} has no fast tokenizer (tokenizer.json); convert it first")
    if config.is_encoder_decoder:
        raise ModelError(f"{source} is an encoder with a decoder; probes take one or the other")
    return replace(source, config=config, tokenizer=tokenizer)


def load_model(source: Source, model_class: Any, device: str) -> Any:
    """Return a model in eval mode, with all its weights and no others, that can use its tokenizer.

    Args:
        source: Where it comes from.
        model_class: The architecture with or without a head, of transformers.
        device: Where it runs; see `cxprobe.models.embedding.load_encoder`.
    """
    spec = source.spec
    if device == "meta":
        with torch.device("meta"), source.refusing("the model that config.json describes"):
            return _build(model_class, source.config, getattr(torch, spec.dtype))
    model = _draw(source, model_class) if spec.weights == "random" else _read(source, model_class)
    if "device_map" not in spec.load:  # else accelerate has placed it
        with source.refusing(f"the device '{device}'", "try cpu"):
            model = model.to(device)
    here = torch.device(device)
    if (model.device.type, model.device.index or 0) != (here.type, here.index or 0):
        what = f"models.{source.slug}.load puts it on {model.device}, and this process computes on {here}"
        raise ModelError(f"{source}: {what}; let compute.accelerator name what it runs on, devices and num_nodes be 1")
    return model.eval()


def _build(model_class: Any, config: Any, dtype: torch.dtype) -> Any:
    """Return the model that a configuration describes, with the weights that its architecture begins with."""
    build = getattr(model_class, "from_config", None) or model_class._from_config
    return build(config, dtype=dtype)


def _read(source: Source, model_class: Any) -> Any:
    """Return a model with the weights of its checkpoint."""
    spec = source.spec
    options = spec.load | source.loading_options
    if source.is_local:
        options["use_safetensors"] = any(file.suffix == ".safetensors" for file in loaded_files(Path(source.path)))
    advice = f"look whether models.{source.slug}.load can be followed here: {spec.load}" if spec.load else ""
    options |= {
        "config": source.config,
        "dtype": getattr(torch, spec.dtype),
        "output_loading_info": True,
        "ignore_mismatched_sizes": True,  # they are refused below, by name
    }
    with source.refusing("the weights", advice):
        model, report = model_class.from_pretrained(source.path, **options)
        heads = {"lm_predictions": report["missing_keys"], "cls.predictions": report["unexpected_keys"]}
        if all(any(key.startswith(head) for key in keys) for head, keys in heads.items()):
            source.config.legacy = True  # a DeBERTa with the head that transformers itself trains
            model, report = model_class.from_pretrained(source.path, **options)
    is_v3 = any(key.startswith("mask_predictions.") for key in report["unexpected_keys"])
    if model_class is DebertaV2Masked and is_v3:
        what = "it was trained to detect replaced tokens, not to fill masks, and gives vectors but no scores"
        raise ModelError(f"{source} is DeBERTa v3: {what}; take DeBERTa v1 or v2")
    check_report(source, model, report)
    if spec.load and any(key.startswith("pooler.") for key in report["missing_keys"]):
        model.pooler = None  # nothing reads it, and accelerate cannot bring from the disk what no file has
    return model


def fields_of_model(source: Source, model: Any) -> tuple[Any, ...]:
    """Return the fields that every `cxprobe.models.language_models.LoadedModel` has, in their order."""
    spec = source.spec
    fingerprint = source.origin
    if spec.weights == "random":
        drawn_by = f"torch {torch.__version__.partition('+')[0]} and transformers {transformers.__version__}"
        fingerprint = f"random, seed {spec.seed}, of {fingerprint}, drawn by {drawn_by}"
    precision = source.rounding + spec.precision
    return spec.name, model, source.tokenizer, fingerprint, longest_input(source, model), spec.weights, precision


def _draw(source: Source, model_class: Any) -> Any:
    """Return a model whose weights are drawn by its architecture's own initialisation.

    They are drawn on the CPU and in float32, whatever the device and the precision, by a generator that the seed alone
    sets: every machine with the same versions draws the same ones, up to rounding. Tied weights are tied. An encoder
    and a model with a head are drawn separately.
    """
    described = source.refusing("the model that config.json describes")
    with described, torch.random.fork_rng(devices=[]), torch.device("cpu"):
        torch.default_generator.manual_seed(source.spec.seed or 0)  # a random-weights control has one, by its entry
        drawn = _build(model_class, source.config, torch.float32)
        if source.spec.dtype == "float32":
            return drawn
        # Some tensors stay in float32 in some architectures (such as frequencies of positions).
        model = _build(model_class, source.config, getattr(torch, source.spec.dtype))
    model.load_state_dict(drawn.state_dict())
    return model


def kind_of(config: Any) -> Literal["encoder", "masked", "causal"]:
    """Return what a model is: "masked" if it attends to both sides, which a BERT as a decoder does not.

    An encoder has no head that scores words.
    """
    if type(config) in transformers.MODEL_FOR_MASKED_LM_MAPPING and not getattr(config, "is_decoder", False):
        return "masked"
    return "causal" if type(config) in transformers.MODEL_FOR_CAUSAL_LM_MAPPING else "encoder"


def check_report(source: Source, model: Any, report: Mapping[str, Any]) -> None:
    """Refuse a model that is not its checkpoint, as the loading report of transformers tells.

    Weights of the checkpoint have other shapes than the model's, or are missing, so that transformers has drawn them at
    random; or the checkpoint has weights of the body that the model does not, such as those of a further layer. What
    stands beside the body is a head for another use. The pooler of sentence pairs may be missing or left out: no hidden
    state and no score passes through it, and the checkpoints of RoBERTa and DeBERTa have none.

    Args:
        source: Where it comes from.
        model: The model.
        report: Of transformers; "mismatched_keys" has of each weight the name, the stored shape and the model's.
    """
    prefix = f"{model.base_model_prefix}."
    body = dict(model.base_model.named_children())
    shapes = [f"{name} is {list(stored)}, not {list(built)}" for name, stored, built in report["mismatched_keys"]]
    missing = [name for name in report["missing_keys"] if not name.removeprefix(prefix).startswith("pooler.")]
    of_body = [name for name in report["unexpected_keys"] if name.startswith(prefix) or name.split(".")[0] in body]
    unused = [
        name for name in of_body if not name.removeprefix(prefix).startswith("pooler.") and not _MASKS.search(name)
    ]
    saved_as = ", ".join(model.config.architectures or ["no architecture"])
    reason = f"config.json and weights do not belong together, or not to this use: it was saved as {saved_as}, and is "
    reason += f"read as {type(model).__name__}; copy both again, or take another checkpoint"
    for faults, what in (
        (shapes, "of the checkpoint have other shapes than config.json says"),
        (missing, "are not in its checkpoint and would be random"),
        (unused, "of its checkpoint are not used by the model that config.json describes"),
    ):
        if faults:
            raise ModelError(f"{source}: {len(faults)} weights {what}: {', '.join(sorted(faults)[:5])}; {reason}")


def longest_input(source: Source, model: Any) -> int:
    """Return the longest input, special tokens included.

    Architectures such as RoBERTa, MPNet and ESM count positions from the one after that of their padding. Some, such as
    XLNet, have no limit, which they write as -1.
    """
    config, tokenizer = source.config, source.tokenizer
    with source.refusing("max_position_embeddings of config.json, model_max_length of tokenizer_config.json"):
        tables = [module for name, module in model.named_modules() if name.endswith("position_embeddings")]
        reserved = [1 + one.padding_idx for one in tables if getattr(one, "padding_idx", None) is not None]
        positions = [int(getattr(config, name, -1)) for name in _POSITIONS]
        limits = [number - max(reserved, default=0) for number in positions if number >= 0]
        longest = min([int(tokenizer.model_max_length), *limits])
        special = tokenizer.num_special_tokens_to_add()
    if longest <= special:
        where = "max_position_embeddings of config.json or model_max_length of tokenizer_config.json"
        raise ModelError(
            f"{source}: inputs of {longest} tokens have no room beside {special} special ones; mend {where}"
        )
    return longest


def dequantised(source: Source) -> Source:
    """Return the model of a GGUF file as one in a local folder, in float32, with its tokenizer and chat template.

    The folder is made once for a file and a version of transformers, and is in the user's cache: $XDG_CACHE_HOME, or
    ~/.cache. It appears whole or not at all, and its files are compared with what was written each time that it is
    loaded. Processes that need the same one wait for the first.

    Args:
        source: A model whose path is a GGUF file, or one in a repository of the hub, such as "org/repo/file.gguf".

    Raises:
        ModelError: The file is not there and cannot be downloaded, has another SHA-256 than params say, or is none that
            transformers can read; a file of the folder is not what was written; or a package of the extra gguf is not
            installed.
    """
    file, at_hub = Path(source.path), OF_THE_HUB.fullmatch(source.path)
    if not file.is_file() and at_hub:
        repository, name = at_hub.groups()
        with source.refusing("the file"):
            file = Path(cached_file(repository, name, revision=source.spec.revision))
    if not file.is_file():
        raise ModelError(f"{source}: there is no file {file}; correct the name, or see docs/tutorials/model.md")
    of_file = check_digest(f"models.{source.slug}", file, source.spec.sha256)
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "cxprobe"
    folder = cache / f"{file.stem}-{of_file[:16]}-transformers-{transformers.__version__}-checked"
    if not (folder / _RECORD).is_file():
        cache.mkdir(parents=True, exist_ok=True)
        with FileLock(f"{folder}.lock"):
            if not (folder / _RECORD).is_file():
                _convert(source, file, folder)
    record = read_json(folder / _RECORD)
    written, found = record["sha256"], _digests(folder)
    if odd := sorted(name for name in {*written, *found} if written.get(name) != found.get(name)):
        what = f"{', '.join(odd)} of {folder} changed after the file was de-quantised"
        raise ModelError(f"{source}: {what}; remove the folder, and it is made again")
    rounding = f"{record['rounding']}, de-quantised to "
    return replace(source, path=str(folder), origin=f"sha256 {of_file}", rounding=rounding)


def _digests(folder: Path) -> dict[str, str]:
    return {file.name: digest(file) for file in folder.iterdir() if file.name != _RECORD}


def _convert(source: Source, file: Path, folder: Path) -> None:
    """Write the folder of a GGUF file's model; the caller holds its lock."""
    if missing := [package for package in ("accelerate", "gguf") if find_spec(package) is None]:
        raise ModelError(f"{source}: GGUF files need {' and '.join(missing)}; pip install 'cxprobe[gguf]'")
    size = file.stat().st_size / 1e6
    tqdm.write(f"{source.spec.name}: de-quantising {size:,.0f} MB into {folder}, once", file=sys.stderr)
    shutil.rmtree(folder, ignore_errors=True)  # it has no record
    remove_left_behind(folder.parent)
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
    with replacing(folder) as partial:
        model.save_pretrained(partial)
        tokenizer.save_pretrained(partial)
        write_json({"rounding": rounding, "sha256": _digests(partial)}, partial / _RECORD)
