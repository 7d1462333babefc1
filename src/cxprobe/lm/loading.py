"""Loading a model: found, read, checked, and given out complete, in eval mode and in a known dtype."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import torch
import transformers
from transformers import (
    MODEL_FOR_CAUSAL_LM_MAPPING,
    MODEL_FOR_MASKED_LM_MAPPING,
    AutoConfig,
    AutoModel,
    AutoModelForCausalLM,
    AutoModelForMaskedLM,
    AutoTokenizer,
    BitsAndBytesConfig,
    DebertaV2ForMaskedLM,
    TorchAoConfig,
)
from transformers.utils import logging as transformers_logging

from cxprobe.errors import CxprobeError, ModelError
from cxprobe.lm.causal import CausalLM
from cxprobe.lm.checkpoints import Source
from cxprobe.lm.checks import (
    build,
    check_loaded,
    check_readable,
    check_reading,
    check_stored_weights,
    check_tokenizer,
    is_masked,
    longest_input,
)
from cxprobe.lm.embedding import Encoder
from cxprobe.lm.folders import SETTINGS, WEIGHTS, check_digest, check_folder, path_of, reason_of
from cxprobe.lm.masked import MaskedLM
from cxprobe.lm.params import BitsAndBytes, ModelSpec, ServedModel
from cxprobe.lm.served import describe_served, open_served
from cxprobe.seeding import generator_for

# The pooler of sentence pairs does not contribute to the hidden states, and the checkpoints of RoBERTa and DeBERTa have
# none.
_UNUSED = "pooler."


def load_encoder(slug: str, spec: ModelSpec, device: str = "cpu", source: Source | None = None) -> Encoder:
    """Load a model to read hidden states from; code of a checkpoint is never run.

    Args:
        slug: The model's key in params.yaml, for messages.
        spec: Where it comes from, its precision, whether it is a twin, and how it is made to fit.
        device: Where it runs, as PyTorch names it: cpu, cuda, cuda:1, mps; "meta" for a model without weights, which
            has its tokenizer, its configuration and its fingerprint.
        source: What `open_source` returned, if it was called before.

    Raises:
        ModelError: It is not on this machine and cannot be downloaded; its files differ from ``sha256``; some weights
            are not in the checkpoint (transformers would initialise them at random) and it is no random twin; some
            weights of the checkpoint, but for known heads, are not used; a file is damaged, or a git-lfs pointer; a
            weight is not finite; it is an encoder-decoder; its tokenizer is not a fast one, has no files, does not fit
            the embedding, or reads different texts alike; or it cannot read a plain sentence, or answers every token
            alike.
    """
    source = source or open_source(slug, spec, device)
    model = _load(source, AutoModel, device)
    return Encoder(*_fields(source, model), pad_token_id=source.tokenizer.pad_token_id or 0)


def load_language_model(
    slug: str, spec: ModelSpec | ServedModel, device: str = "cpu", source: Source | None = None
) -> "MaskedLM | CausalLM":
    """Load a model that fills masks, or one that reads from left to right; its configuration decides which it is.

    A model on a server is not loaded: its tokenizer is, and the server is tried (see `open_served`), but for the device
    "meta": then nothing is sent. Code of a checkpoint is never run.

    Arguments are those of `load_encoder`.

    Raises:
        ModelError: As for `load_encoder` and `load_masked_lm`; or it is no language model.
    """
    source = source or open_source(slug, spec, device)
    if isinstance(spec, ServedModel):
        return describe_served(slug, spec, source) if device == "meta" else open_served(slug, spec, source)
    if is_masked(source.config):
        return load_masked_lm(slug, spec, device, source)
    if type(source.config) not in MODEL_FOR_CAUSAL_LM_MAPPING:
        raise ModelError(f"{source} is a {source.config.model_type} model, which has no head of a language model")
    return CausalLM(*_fields(source, _load(source, AutoModelForCausalLM, device)))


def load_masked_lm(slug: str, spec: ModelSpec, device: str = "cpu", source: Source | None = None) -> MaskedLM:
    """Load a model that fills masks, with its own head; code of a checkpoint is never run.

    DeBERTa v1 and v2 keep their head as ``lm_predictions``, which transformers overlooks unless the configuration
    says ``legacy=False`` (issues 15216, 15673, 18659 and 22790 of transformers); that is done here. transformers does
    not implement DeBERTa's enhanced mask decoder, which in training added the absolute positions between the encoder
    and the head (issue 14585), so the head is applied to the encoder's last layer, as in other masked models. A random
    twin of DeBERTa has the authors' head.

    Arguments are those of `load_encoder`.

    Raises:
        ModelError: As for `load_encoder`; or it is not a masked language model, its tokenizer has no mask token, or
            it is DeBERTa v3, whose checkpoints hold a discriminator.
    """
    source = source or open_source(slug, spec, device)
    if not is_masked(source.config):
        raise ModelError(f"{source} is a {source.config.model_type} model and fills no masks; take a masked one")
    names, mask = source.tokenizer.special_tokens_map, source.tokenizer.mask_token
    if mask is None:
        raise ModelError(f"{source} has a tokenizer without a mask token; add it to the checkpoint's tokenizer_config")
    if same := [name for name, token in names.items() if token == mask and name != "mask_token"]:
        raise ModelError(
            f"{source}: the mask token of its tokenizer, {mask!r}, is its {' and '.join(same)} too; mend mask_token in "
            "tokenizer_config.json"
        )
    model_class: Any = AutoModelForMaskedLM
    if source.config.model_type in ("deberta", "deberta-v2"):
        source.config.legacy = False
        if source.config.model_type == "deberta-v2":
            model_class = _DebertaV2
    return MaskedLM(*_fields(source, _load(source, model_class, device)))


class _DebertaV2(DebertaV2ForMaskedLM):  # type: ignore[misc]
    """DeBERTa v2 or v3; the loading report names the weights of v3's discriminator, which distinguish the two."""

    _keys_to_ignore_on_load_unexpected = None


def open_source(slug: str, spec: ModelSpec | ServedModel, device: str = "cpu") -> Source:
    """Find a model, compare its files with their digest, and read its configuration and tokenizer.

    Of a model on a server this is its tokenizer.

    Arguments and errors are those of `load_encoder`.
    """
    if isinstance(spec, ServedModel):
        spec = ModelSpec(name=spec.tokenizer, revision=spec.revision, sha256=None, dtype="float32")
    _check_options(slug, spec, device)
    transformers_logging.disable_progress_bar()
    place = f"models.{slug}"
    source = Source(slug, spec, path_of(place, spec.name))
    with source.refusing("the folder"):
        if source.is_local:
            folder = Path(source.path)
            check_folder(place, folder)
            source = replace(source, origin=f"sha256 {check_digest(place, folder, spec.sha256)}")
        elif spec.sha256:
            raise ModelError(f"{place}: sha256 is given, but '{spec.name}' is not a local folder")
        else:
            # The files of a model are asked for one after the other. If a branch moved meanwhile, the weights would
            # otherwise be of another commit than the configuration, and the fingerprint would name a third.
            commit = source.cached("config.json").parent.name  # the cache has one folder a commit
            spec = spec.model_copy(update={"revision": commit})
            source = replace(source, spec=spec, origin=f"commit {commit}")
    with source.refusing_altered(SETTINGS):
        with source.refusing("config.json"):
            config = AutoConfig.from_pretrained(source.path, return_dict=True, **source.loading_options)
        with source.refusing("the tokenizer (tokenizer.json and tokenizer_config.json)"):
            tokenizer = AutoTokenizer.from_pretrained(source.path, **source.loading_options)
    source = replace(source, config=config, tokenizer=tokenizer)
    check_tokenizer(source)
    if config.is_encoder_decoder:
        raise ModelError(f"{source} is an encoder with a decoder; probes take one or the other")
    masked = MODEL_FOR_MASKED_LM_MAPPING.get(type(config), None)
    if not is_masked(config) and masked and masked.__name__ in (config.architectures or ()):
        raise ModelError(
            f"{source}: config.json says that it is a {masked.__name__} and that is_decoder is true, so that it would "
            "not see what stands after a token; take out is_decoder, or take another checkpoint"
        )
    source = replace(source, max_tokens=longest_input(source))
    check_reading(source)
    return source


def _load(source: Source, model_class: Any, device: str) -> Any:
    """Return a model in eval mode, with all its weights and no others, that can use its tokenizer.

    Args:
        source: Where it comes from.
        model_class: The architecture with or without a head, of transformers.
        device: See `load_encoder`.
    """
    spec = source.spec
    if device == "meta":
        with torch.device("meta"), source.refusing("the model that config.json describes"):
            return build(model_class, source.config, getattr(torch, spec.dtype))
    if spec.weights == "random":
        with source.refusing("the model that config.json describes"):
            model = _draw(source, model_class).eval()
    else:
        model = _read(source, model_class, device)
    if not _is_fitted(spec):
        try:
            model = model.to(device)
        except (RuntimeError, AssertionError) as error:  # AssertionError: PyTorch was built without CUDA
            reason = str(error).strip().splitlines()[0]
            raise ModelError(f"{source} cannot run on the device '{device}': {reason}; try cpu") from error
    check_readable(source, model)
    return model


def _read(source: Source, model_class: Any, device: str) -> Any:
    """Return a model with the weights of its checkpoint, as they are or shuffled."""
    spec = source.spec
    if source.is_local:
        check_stored_weights(source, model_class)
    unused = [_UNUSED] if model_class is AutoModel else []
    options = source.loading_options | _fitting_options(source, device, [name.rstrip(".") for name in unused])
    with (
        source.refusing("the weights"),
        source.refusing_altered(WEIGHTS),
        _refusing_unfitting(source),
        _without_report(),
    ):
        model, report = model_class.from_pretrained(
            source.path,
            config=source.config,
            dtype=getattr(torch, spec.dtype),
            output_loading_info=True,
            ignore_mismatched_sizes=True,  # they are refused below, by name
            **options,
        )
    if _is_fitted(spec):
        if model.device.type == "meta":
            raise ModelError(
                f"{source}: not even its embeddings fit on a device; allow more in models.{source.slug}.max_memory"
            )
        if not source.is_local:  # what is rounded, or lies on a disk, is looked at where it came from
            check_stored_weights(replace(source, path=str(source.cached("config.json").parent)), model_class)
    if source.config.model_type.startswith("deberta") and model_class is not AutoModel:
        if any(key.startswith("mask_predictions.") for key in report["unexpected_keys"]):
            raise ModelError(
                f"{source} is DeBERTa v3: it was trained to detect replaced tokens (mask_predictions.* in its "
                "checkpoint) and not to fill masks, so it can be probed but gives no scores; take DeBERTa v1 or v2"
            )
        if any(key.startswith("cls.predictions.") for key in report["unexpected_keys"]):
            source.config.legacy = True  # the checkpoint has transformers' own head, not that of the authors
            return _read(source, model_class, device)
    check_loaded(source, model, report, unused)
    if spec.device_map and any(key.startswith(tuple(unused)) for key in report["missing_keys"]):
        model.pooler = None  # nothing reads it, and accelerate cannot bring from the disk what no file has
    if spec.weights == "shuffled":
        _shuffle(model, spec)
    return model.eval()


def _fields(source: Source, model: Any) -> tuple[Any, ...]:
    """Return the fields that every `LanguageModel` has, in their order."""
    spec, fingerprint = source.spec, source.origin
    if spec.quantisation is not None:
        package = spec.quantisation.package
        fingerprint = f"{spec.quantisation} by {package} {version(package)}, of {fingerprint}"
    if spec.weights != "trained":
        fingerprint = f"{spec.weights}, seed {spec.seed}, of {fingerprint}"
    if spec.weights == "random":
        drawn_by = f"torch {torch.__version__.partition('+')[0]} and transformers {transformers.__version__}"
        fingerprint = f"{fingerprint}, drawn by {drawn_by}"
    return spec.name, model, source.tokenizer, fingerprint, source.max_tokens, spec.weights, spec.precision


def _draw(source: Source, model_class: Any) -> Any:
    """Return a model whose weights are drawn by its architecture's own initialisation.

    They are drawn on the CPU and in float32, whatever the device and the precision, by a generator that the seed alone
    sets: every machine with the same versions draws the same ones, up to rounding. Tied weights are tied. An encoder
    and a model with a head are drawn separately.
    """
    with torch.random.fork_rng(devices=[]), torch.device("cpu"):
        torch.default_generator.manual_seed(source.spec.seed or 0)  # params see to it that twins have one
        drawn = build(model_class, source.config, torch.float32)
    if source.spec.dtype == "float32":
        return drawn
    # Some tensors stay in float32 in some architectures (such as frequencies of positions), so each is built as it is.
    with torch.random.fork_rng(devices=[]):
        model = build(model_class, source.config, getattr(torch, source.spec.dtype))
    model.load_state_dict(drawn.state_dict())
    return model


def _shuffle(model: Any, spec: ModelSpec) -> None:
    """Permute the values within each tensor of weights; a tensor that two layers share is permuted once.

    A tensor's permutation follows from the seed and its name in the encoder, so it is the same with and without a head
    and in every precision.
    """
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            generator = generator_for(spec.seed or 0, "shuffled", name.removeprefix(f"{model.base_model_prefix}."))
            order = torch.from_numpy(generator.permutation(parameter.numel()))
            parameter.copy_(parameter.flatten()[order].view_as(parameter))


def _is_fitted(spec: ModelSpec) -> bool:
    """Return whether a model is already where it belongs when it has been loaded, so that nobody moves it."""
    return spec.quantisation is not None or spec.device_map is not None


def _check_options(slug: str, spec: ModelSpec, device: str) -> None:
    """Refuse options that this machine or the stage's device cannot follow, before anything is read."""
    needed: list[str] = [spec.quantisation.package] if spec.quantisation else []
    needed += ["accelerate"] if _is_fitted(spec) else []
    for package in needed:
        if find_spec(package) is None:
            option = "quantisation" if spec.quantisation else "device_map"
            raise ModelError(
                f"models.{slug}.{option}: the package {package} is not installed; pip install 'cxprobe[large]'"
            )
    if spec.device_map and device not in ("cpu", "cuda", "cuda:0", "meta"):
        raise ModelError(
            f"models.{slug}.device_map is {spec.device_map}, which puts layers on all GPUs, and this process has "
            f"'{device}'; set compute.devices and compute.num_nodes to 1, and compute.accelerator to gpu (all GPUs, "
            "then memory, then disk) or cpu (memory, then disk)"
        )


def _fitting_options(source: Source, device: str, unused: Sequence[str]) -> dict[str, Any]:
    """Return what ``from_pretrained`` is told so that the model fits; nothing for an ordinary one.

    Args:
        source: The model.
        device: Where a model is that is not spread over several devices.
        unused: Parts that nothing reads and the checkpoint may lack: bitsandbytes cannot run what it has not read.
    """
    spec, options = source.spec, dict[str, Any]()
    if spec.quantisation:
        if getattr(source.config, "quantization_config", None):
            raise ModelError(
                f"{source} is a quantised checkpoint already; take its original, or leave out "
                f"models.{source.slug}.quantisation"
            )
        options |= {"quantization_config": _quantisation(spec, unused), "device_map": {"": device}}
    if spec.device_map:
        from accelerate.utils import get_max_memory

        most: dict[int | str, Any] = {int(k) if k.isdigit() else k: v for k, v in (spec.max_memory or {}).items()}
        if device == "cpu":
            most = {"cpu": most.get("cpu", get_max_memory()["cpu"])}
        options |= {"device_map": spec.device_map, "max_memory": most or None}
        options |= {"offload_folder": spec.offload_folder} if spec.offload_folder else {}
    return options


def _quantisation(spec: ModelSpec, unused: Sequence[str]) -> Any:
    """Return what transformers calls the quantisation of a spec."""
    how, left = spec.quantisation, list(unused) or None  # None: the library's own
    if isinstance(how, BitsAndBytes):
        if how.bits == 8:
            return BitsAndBytesConfig(load_in_8bit=True, llm_int8_threshold=how.threshold, llm_int8_skip_modules=left)
        return BitsAndBytesConfig(
            load_in_4bit=True,
            bnb_4bit_quant_type=how.quant_type,
            bnb_4bit_use_double_quant=how.double_quant,
            bnb_4bit_compute_dtype=getattr(torch, spec.dtype),
            llm_int8_skip_modules=left,
        )
    from torchao.quantization import Float8WeightOnlyConfig, Int8WeightOnlyConfig

    chosen = Int8WeightOnlyConfig if how and how.weights == "int8" else Float8WeightOnlyConfig
    return TorchAoConfig(quant_type=chosen())


@contextmanager
def _without_report() -> Iterator[None]:
    """Let transformers print no report of what it loads: what matters in it is refused here."""
    verbosity = transformers_logging.get_verbosity()
    transformers_logging.set_verbosity_error()
    try:
        yield
    finally:
        transformers_logging.set_verbosity(verbosity)


@contextmanager
def _refusing_unfitting(source: Source) -> Iterator[None]:
    """Turn what a library raises while it quantises or spreads a model into a `ModelError` that says what to do."""
    options = [f"models.{source.slug}.{name}" for name in ("quantisation", "device_map") if getattr(source.spec, name)]
    try:
        yield
    except CxprobeError:
        raise
    except Exception as error:
        if not options:
            raise
        raise ModelError(
            f"{source}: {reason_of(error)}; {' and '.join(options)} cannot be followed here: a quantised model must "
            "fit on GPUs, or as a whole on the CPU; another needs enough in max_memory, or an offload_folder"
        ) from error
