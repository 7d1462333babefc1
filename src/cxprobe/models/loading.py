"""Load a model: find, read and check it; it is complete, in eval mode and in a known precision, and proves itself.

A model in a GGUF file is de-quantised once into a folder of the user's cache, which is loaded like any other folder.

A loaded model is tried: what it answers on the path that work takes is compared with plain forward passes. A plain
pass reads one text, without padding and without a mask. Work reads many at a time, and some architectures then
answer otherwise: positions that are counted in another way, layers that read padding, heads that go past the base
model, a state that runs on from text to text. So two short texts are read in both ways. A model that does not answer
alike in one way of working is asked in the next simpler one; a model that never does is refused. One such way is to
apply the head at chosen positions alone (`logits_at`).
"""

import os
import re
import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any, ClassVar, Literal, TypeVar

import numpy as np
import torch
import transformers
from filelock import FileLock
from numpy.typing import NDArray
from torch import Tensor
from tqdm.auto import tqdm
from transformers.utils import cached_file
from transformers.utils import logging as transformers_logging

from cxprobe.errors import ModelError
from cxprobe.files.code import computing_code
from cxprobe.files.writing import digest, read_json, remove_left_behind, replacing, write_json
from cxprobe.models.checkpoints import OF_THE_HUB, Source, check_digest, is_gguf, loaded_files, path_of, reason_of
from cxprobe.models.params import ModelSpec
from cxprobe.models.store import Numbers
from cxprobe.run.record import ModelFacts, ModelKind, WeightsState

_RECORD = "conversion.json"  # in the converted folder
# The causal mask, which older versions of transformers stored beside the weights of attention (GPT-Neo, GPT-J).
_MASKS = re.compile(r"(attn|attention)\.(masked_)?bias$")
# Rows of logits that are normalised at a time: on a CPU log_softmax is several times as fast as logsumexp, as long as
# its result is so small that no fresh memory is needed each time.
_ROWS = 128
TRIAL = "The more you look, the more you see: 2 naïve snowmen ☃."


@dataclass(frozen=True)
class LoadedModel:
    """A complete model, with what is needed to use it.

    Attributes:
        kind: How the model is used; each subclass has its own.
        name: The name it was loaded by, as in params.yaml.
        model: In eval mode, on its device and in its precision.
        tokenizer: A fast tokenizer.
        fingerprint: Which weights exactly: the commit on the hub that the name and revision resolved to, or the SHA-256
            of a local folder's weights. That of a random-weights control begins with its state and seed, such as
            "random, seed 1, of sha256 ..."; one that is drawn names the versions that drew it too, since others draw
            other weights.
        max_tokens: The longest input, special tokens included, that the model has positions for.
        state: "trained", or "random" for a random-weights control.
        precision: In what it computes, for the record, such as "bfloat16"; how it is loaded is part of it.
        head: The module that makes logits of hidden states, by its trial (`proven`); None where there is
            none, so that logits of all positions are computed.
        batched: Whether it answers texts in one batch as it answers each alone, by its trial.
    """

    kind: ClassVar[ModelKind]

    name: str
    model: Any
    tokenizer: Any
    fingerprint: str
    max_tokens: int
    state: WeightsState = "trained"
    precision: str = "float32"
    head: Any = None
    batched: bool = True

    @property
    def facts(self) -> ModelFacts:
        """The facts for the record; weights that two layers share are counted once."""
        parameters = self.model.num_parameters()  # it knows how many there are in a byte of a quantised model
        attention = str(self.model.config._attn_implementation)
        return ModelFacts(self.name, self.kind, parameters, self.fingerprint, self.state, self.precision, attention)

    @property
    def decisive(self) -> tuple[object, ...]:
        """All that determines the answers beside the weights: configuration, attention, precision, code, versions.

        The code is that of the subclass's module, with all that it reaches in this package.
        """
        config: dict[str, Any] = self.model.config.to_dict()
        # Where the model is stored, which of DeBERTa's heads its weights are, and what fingerprint or precision says.
        for name in ("_name_or_path", "legacy", "quantization_config"):
            config.pop(name, None)
        settings = sorted((name, repr(value)) for name, value in config.items())
        code, attention = computing_code(type(self).__module__), self.model.config._attn_implementation
        return settings, attention, self.precision, code, torch.__version__, transformers.__version__


M = TypeVar("M", bound=LoadedModel)


class DebertaV2Masked(transformers.DebertaV2ForMaskedLM):  # type: ignore[misc]
    """DeBERTa v2 or v3; the loading report names the weights of v3's discriminator, which distinguish the two."""

    _keys_to_ignore_on_load_unexpected = None


def open_source(slug: str, spec: ModelSpec) -> Source:
    """Find a model, compare its files with their digest, and read its configuration and tokenizer.

    Args:
        slug: The model's key in params.yaml, for messages.
        spec: Where it comes from, its precision, whether it is a random-weights control, and how it is made to fit.

    Raises:
        ModelError: It is not on this machine and cannot be downloaded, or a file is damaged; its files differ from
            ``sha256``; it is an encoder-decoder; or its tokenizer is not a fast one.
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
    """Return the fields that every `cxprobe.models.loading.LoadedModel` has, in their order."""
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
        names = ("max_position_embeddings", "max_target_positions", "max_seq_len")  # the last two of Whisper and MPT
        positions = [int(getattr(config, name, -1)) for name in names]
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
    remedy = "transformers reads GGUF files of some architectures only: take the model's checkpoint in safetensors"
    with source.refusing("the GGUF file", remedy):
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


def are_alike(found: Sequence[Numbers], expected: Sequence[Numbers], dtype: torch.dtype) -> bool:
    """Return whether two lists of arrays differ by rounding alone, each by itself.

    Rounding may cost half of the digits that a precision has: the square root of its unit is 0.0003 in float32, 0.03 in
    float16 and 0.09 in bfloat16, of the spread of the expected numbers. A batch costs SmolLM2, with 30 blocks, 0.00001,
    0.004 and 0.03 of it; a wrong position, or a token too many, costs a random model of two blocks 0.2 and more.
    """
    limit = torch.finfo(dtype if dtype.is_floating_point else torch.bfloat16).eps ** 0.5  # quantised weights
    spread = [np.linalg.norm(one - one.mean()) for one in expected]
    apart = [np.linalg.norm(one - other) for one, other in zip(found, expected, strict=True)]
    return all(one <= limit * of_all for one, of_all in zip(apart, spread, strict=True))


def ids_of_trial(source: Source, model: Any) -> list[int]:
    """Return the ids of the trial's text, special ones included, no more than the model takes.

    Raises:
        ModelError: The tokenizer gives ids beyond the embedding, or reads all words as one token, as that does which
            transformers makes up where the files of one are missing.
    """
    with source.refusing("the tokenizer"):
        words = set(source.tokenizer(TRIAL, add_special_tokens=False, verbose=False)["input_ids"])
        read: list[int] = source.tokenizer(TRIAL, verbose=False)["input_ids"]
    rows = model.get_input_embeddings().weight.shape[0]
    if len(words) < 2 or max(read) >= rows:
        what = f"reads {TRIAL!r} as {len(words)} different tokens with ids of at most {max(read, default=0)}"
        advice = "its files are missing, damaged or another model's, so copy them beside their weights"
        raise ModelError(f"{source}: its tokenizer {what}, and the embedding has {rows} rows; {advice}")
    return read


def read_plainly(source: Source, model: M, ids: Sequence[int]) -> tuple[M, Tensor]:
    """Return a model that knows its head, and its answer to one text, shape (tokens, ...), float32, on the CPU.

    Raises:
        ModelError: It cannot read the text; or what it answers is not finite, or the same at every token.
    """
    dtype, device = source.spec.dtype, model.model.device
    called = list[tuple[Any, Any]]()  # the parts that the forward pass itself calls: the last one makes the logits
    advice = f"if it can in float32, set models.{source.slug}.dtype to that, else mend config.json"
    with source.refusing(f"cannot read a plain sentence in {dtype}", advice), torch.inference_mode():
        hooks = [part.register_forward_pre_hook(lambda *call: called.append(call)) for part in model.model.children()]
        try:
            output = model.model(input_ids=torch.tensor([ids], device=device))
        finally:
            for hook in hooks:
                hook.remove()
        answer: Tensor = output[0][0].float().cpu()
    is_finite = bool(answer.isfinite().all())
    if not is_finite or (answer == answer[:1]).all():
        fault = "the same at every token" if is_finite else "NaN or infinite"
        advice = "its weights are damaged or do not fit the precision: take float32, or copy or download it again"
        raise ModelError(f"{source}: what it answers to {TRIAL!r} in {dtype} is {fault}; {advice}")
    part, args = called[-1] if called else (None, ())
    return replace(model, head=part if args and isinstance(args[0], Tensor) else None), answer


def proven(
    model: M,
    read: Callable[[M], Sequence[Numbers]],
    expected: Callable[[], Sequence[Numbers]],
    ways: Sequence[Mapping[str, Any]],
    dtype: torch.dtype,
    place: str,
) -> M:
    """Return a model that works in the first way in which its answers are those of plain passes.

    Args:
        model: The model.
        read: Reads the trial's texts as work does, by a model that works in one of the ways.
        expected: Returns the answers of plain passes.
        ways: Fields of the model and their values, the fastest way first.
        dtype: Its precision.
        place: Names the model at the beginning of a message.

    Raises:
        ModelError: There is no such way.
    """
    fault: Exception | None = None
    for way in ways:
        tried = replace(model, **way)
        try:
            if are_alike(read(tried), expected(), dtype):
                return tried
        except Exception as error:  # of transformers or PyTorch, which do not take what this way gives them
            fault = error
    why = f" ({reason_of(fault)})" if fault else ""
    what = f"it gives no answer to {TRIAL!r} that is the same in each pass, even where the text is alone"
    raise ModelError(f"{place}: {what}{why}; its architecture is not supported: take another model") from fault


def logits_at(model: LoadedModel, rows: Tensor, columns: Tensor, **inputs: Any) -> Tensor:
    """Return the logits at chosen positions of a batch, shape (n, vocabulary).

    The head of the model is applied at these positions only: a hook passes on their hidden states alone. That is
    correct for every head that looks at one position at a time, which the trial of the model confirms.

    Args:
        model: A masked or causal language model.
        rows: Shape (n,): the rows of the chosen positions in the batch.
        columns: Shape (n,): their columns.
        inputs: What the model reads.
    """
    if model.head is None:
        every: Tensor = model.model(**inputs).logits
        return every[rows, columns]

    def choose(_module: Any, args: Any) -> Any:
        return (args[0][rows, columns].unsqueeze(0), *args[1:])  # (1, n, dimensions)

    hook = model.head.register_forward_pre_hook(choose)
    try:
        chosen: Tensor = model.model(**inputs).logits[0]
        return chosen
    finally:
        hook.remove()


def log_probabilities(logits: Tensor, rows: Tensor, targets: Tensor) -> NDArray[np.float64]:
    """Return natural logarithms of probabilities, normalised over the whole vocabulary.

    Args:
        logits: Shape (n, vocabulary), any floating type.
        rows: Shape (m,): the row of each wanted probability; a row may be wanted several times or never.
        targets: Shape (m,): the id whose probability it is.

    Returns:
        Shape (m,). Each number has the precision of float32, so that sums of them in float64 are exact.
    """
    logits = logits.to(torch.float32)
    rows, targets = rows.to(logits.device), targets.to(logits.device)
    parts = [
        logits[some].log_softmax(dim=-1).gather(1, wanted.unsqueeze(1)).squeeze(1)  # (targets of this part,)
        for some, wanted in zip(torch.split(rows, _ROWS), torch.split(targets, _ROWS), strict=True)
    ]
    numbers: NDArray[np.float64] = torch.cat(parts).double().cpu().numpy()  # (m,)
    return numbers
