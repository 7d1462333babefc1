"""Whether a checkpoint is whole, and its weights, its configuration and its tokenizer belong together."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, zip_longest
from pathlib import Path
from typing import Any

import torch
from safetensors import safe_open
from transformers import MODEL_FOR_MASKED_LM_MAPPING
from transformers.utils import cached_file

from cxprobe.errors import ModelError
from cxprobe.lm.checkpoints import Source
from cxprobe.lm.folders import AGAIN, reason_of, weight_files
from cxprobe.lm.language_models import LanguageModel


def build(model_class: Any, config: Any, dtype: torch.dtype) -> Any:
    """Return the model that a configuration describes, with the weights that its architecture begins with."""
    build = getattr(model_class, "from_config", None) or model_class._from_config
    return build(config, dtype=dtype)


# How transformers 5.23 calls heads of language models, classifiers and question answering (models/*/modeling_*.py),
# and DeBERTa's own two. They stand beside the body; a checkpoint may have any of them that a use of it leaves out.
_HEADS = re.compile(
    r"classifier|cls|decoder|discriminator_predictions|embed_out|generator_lm_head|generator_predictions|head|"
    r"lm_head|lm_loss|lm_predictions|logits_proj|mask_predictions|multiple_choice_head|pooler|pre_classifier|"
    r"pred_layer|predictions|qa_classifier|qa_outputs|score|sequence_summary|sop_classifier|v_head|"
    r"vocab_layer_norm|vocab_projector|vocab_transform"
)
# What older versions of transformers stored though it is no weight: numbers of places, masks, frequencies.
_BUFFERS = re.compile(r"(^|\.)(position_ids|token_type_ids|(attn|attention)\.(masked_)?bias|causal_mask|inv_freq)$")
# DeBERTa's absolute positions belong to its enhanced mask decoder, which transformers does not implement.
_DEBERTA_POSITIONS = re.compile(r"(^|\.)embeddings\.position_embeddings\.weight$")
_FLOATS = ("F64", "F32", "F16", "BF16")
# More numbers than this are not reserved for a model whose weights have far fewer.
_LARGE = 50_000_000
_TRIAL = "The more you look, the more you see: 2 naïve snowmen ☃."
_OTHER = "She had not read it."


def check_stored_weights(source: Source, model_class: Any) -> None:
    """Refuse safetensors that cannot be read, or have NaN or whole numbers, or config.json does not belong to.

    What the model leaves out, such as a head, is checked too. Files in PyTorch's own format are read by transformers
    alone; of them the loaded weights are checked.
    """
    shapes: dict[str, tuple[int, ...]] = {}
    for file in weight_files(f"models.{source.slug}", Path(source.path)):
        if file.suffix != ".safetensors":
            return
        what = f"{file.name} ({file.stat().st_size:,} bytes), which is cut short or damaged,"
        with source.refusing(what), safe_open(file, framework="pt") as opened:
            for name in opened.keys():  # noqa: SIM118 - no dictionary
                stored = opened.get_slice(name)
                shapes[name] = tuple(stored.get_shape())
                if stored.get_dtype() not in _FLOATS and not _BUFFERS.search(name):
                    raise ModelError(
                        f"models.{source.slug}: {file} has {name} as {stored.get_dtype()}; weights must be one of "
                        f"{', '.join(_FLOATS)} (quantised models are not read), so take another file, or {AGAIN}"
                    )
            check_finite(source, ((name, opened.get_tensor(name)) for name in opened.keys()))  # noqa: SIM118
    if shapes:
        _check_size(source, model_class, shapes)


def _check_size(source: Source, model_class: Any, stored: Mapping[str, tuple[int, ...]]) -> None:
    """Refuse a configuration of a model far larger than its weights, before its memory is reserved."""
    layers = getattr(source.config, "num_hidden_layers", 0)
    if isinstance(layers, int) and layers > len(stored):
        raise ModelError(f"{source}: config.json says {layers} layers, and the checkpoint has {len(stored)} tensors")
    with (
        source.refusing("the model that config.json describes"),
        torch.random.fork_rng(devices=[]),
        torch.device("meta"),  # shapes without memory
    ):
        model = build(model_class, source.config, torch.float32)
        described = sum(tensor.numel() for tensor in chain(model.parameters(), model.buffers()))
    numbers = sum(torch.Size(shape).numel() for shape in stored.values())
    if described > max(_LARGE, 4 * numbers):
        raise ModelError(
            f"{source}: config.json describes a model of {described:,} numbers, and the checkpoint has {numbers:,}; "
            "these do not belong together, so copy or download both again"
        )


def check_finite(source: Source, weights: Iterable[tuple[str, torch.Tensor]]) -> None:
    """Refuse weights with a number that is NaN or infinite.

    Weights that are quantised, or lie on a disk, are not looked at here (see `check_stored_weights`).
    """
    for name, values in weights:
        if values.is_meta or type(values.data) is not torch.Tensor:
            continue
        # A sum is cheap and finite only if all are; a large one can overflow, so the numbers themselves decide.
        if values.is_floating_point() and not bool(values.sum().isfinite()) and not bool(values.isfinite().all()):
            count = int((~values.isfinite()).sum())
            raise ModelError(
                f"{source}: {count} of the {values.numel()} numbers of {name} are NaN or infinite; the file is damaged "
                f"or its training failed: {AGAIN}, or take another checkpoint"
            )


def check_loaded(source: Source, model: Any, report: Mapping[str, Any], unread: Sequence[str]) -> None:
    """Refuse a model that is not its checkpoint, as the loading report of transformers tells.

    Weights of the checkpoint have other shapes than the model's; are not finite; are missing, so that transformers has
    drawn them at random; or are not used, but for known heads and what is no weight.

    Args:
        source: Where it comes from.
        model: The model.
        report: Of transformers; "mismatched_keys" has of each weight the name, the shape found and the shape wanted.
        unread: How the names of weights begin that may be missing, since nothing reads them.
    """
    both = "these do not belong together, so copy or download both again"
    if faults := [f"{name} is {list(found)}, not {list(wanted)}" for name, found, wanted in report["mismatched_keys"]]:
        raise ModelError(
            f"{source}: {len(faults)} weights of the checkpoint have other shapes than config.json says: "
            f"{'; '.join(sorted(faults)[:3])}; {both}"
        )
    check_finite(source, model.named_parameters())
    if names := sorted(key for key in report["missing_keys"] if not key.startswith(tuple(unread))):
        raise ModelError(
            f"models.{source.slug}: {len(names)} weights of '{source.spec.name}' are not in its checkpoint and would "
            f"be random: {', '.join(names[:5])}; results would be meaningless, so take another checkpoint"
        )
    body, deberta = model.base_model, source.config.model_type.startswith("deberta")
    for name in sorted(report["unexpected_keys"]):
        first, *others = name.removeprefix(f"{model.base_model_prefix}.").split(".")
        is_head = _HEADS.fullmatch(name.split(".")[0]) and not hasattr(body, name.split(".")[0])
        known = is_head or (first == "pooler" and others) or _BUFFERS.search(name)
        if not known and not (deberta and _DEBERTA_POSITIONS.search(name)):
            names.append(name)
    if names:
        raise ModelError(
            f"{source}: {len(names)} weights of its checkpoint are not used by the model that config.json describes: "
            f"{', '.join(names[:5])}; config.json is another model's or damaged (too few layers?): {both}"
        )


def check_known(model: LanguageModel, texts: Sequence[str], place: str, limit: float = 0.2) -> float:
    """Refuse to measure texts of which a model's tokenizer does not know too much.

    A byte-level tokenizer knows everything.

    Args:
        model: The model that is to read them.
        texts: All texts of a stage, or a sample; one that is given twice counts twice.
        place: What they are, for the message, such as "the sentences of a construction".
        limit: The largest accepted share, 0 to 1. The default is far above what English with a few rare words gives,
            and far below what a tokenizer of another model or a lost vocabulary gives.

    Returns:
        The share of unknown tokens, 0 to 1, special ones not counted; NaN if there is no token.

    Raises:
        ModelError: The share is larger than the limit.
    """
    unknown_id, tokens, unknown = model.tokenizer.unk_token_id, 0, 0

    def read(some: Sequence[str]) -> list[list[int]]:
        ids: list[list[int]] = model.tokenizer(list(some), add_special_tokens=False, verbose=False)["input_ids"]
        return ids

    for start in range(0, len(texts), 1000):
        for ids in read(texts[start : start + 1000]):
            tokens += len(ids)
            unknown += ids.count(unknown_id)
    share = unknown / tokens if tokens else float("nan")
    if share > limit:
        words = list(dict.fromkeys(word for text in texts[:1000] for word in text.split()))
        lost = [word for word, ids in zip(words, read(words), strict=True) if unknown_id in ids]
        raise ModelError(
            f"'{model.name}': {share:.1%} of the tokens of {place} are unknown to its tokenizer, such as "
            f"{', '.join(map(repr, lost[:5]))}, and at most {limit:.0%} may be; its tokenizer is another model's, or "
            "it is a model of another language: take another checkpoint"
        )
    return share


def check_tokenizer(source: Source) -> None:
    """Refuse a tokenizer that is made up, or damaged."""
    tokenizer = source.tokenizer
    if not tokenizer.is_fast:
        raise ModelError(f"{source} has no fast tokenizer (tokenizer.json); convert it first")
    # Where no file has the vocabulary, transformers makes up a tokenizer.
    own = sorted(name for key, name in tokenizer.vocab_files_names.items() if key != "tokenizer_file")
    whole = ["tokenizer.json", *(name for name in own if name.endswith(".model")), "tokenizer.model", "tekken.json"]
    if not any(_is_there(source, name) for name in whole) and not (
        own and all(_is_there(source, name) for name in own)
    ):
        raise ModelError(
            f"{source} has no tokenizer: there is neither {' nor '.join(dict.fromkeys([*whole, ' with '.join(own)]))}; "
            "without its vocabulary every word would be unknown, so copy the tokenizer's files beside the weights"
        )
    for name, number in _template_of(tokenizer):
        if (right := tokenizer.convert_tokens_to_ids(name)) != number:
            raise ModelError(
                f"{source}: the post_processor of tokenizer.json puts the id {number} for {name!r}, whose id is "
                f"{right} in the vocabulary; {AGAIN}"
            )
    ids = tokenizer.backend_tokenizer.get_vocab(with_added_tokens=False).values()
    if shared := len(ids) - len(set(ids)):
        raise ModelError(f"{source}: {shared} tokens share their id with another; {AGAIN}")


def check_reading(source: Source) -> None:
    """Refuse a tokenizer that reads different texts alike, or puts around a text what its model does not expect."""
    tokenizer = source.tokenizer
    with source.refusing("the tokenizer"):
        read = tokenizer([_TRIAL, _OTHER], return_special_tokens_mask=True, verbose=False)
        words, others = (
            [number for number, special in zip(*row, strict=True) if not special]
            for row in zip(read["input_ids"], read["special_tokens_mask"], strict=True)
        )
        added = set(read["input_ids"][0]) - set(words)
        known = {number for number, token in tokenizer.added_tokens_decoder.items() if token.special}
    if strange := sorted(added - known - set(tokenizer.all_special_ids)):
        raise ModelError(
            f"{source}: the tokenizer puts {strange} around a sentence, which are no special tokens; {AGAIN}"
        )
    if not words:
        raise ModelError(f"{source}: the tokenizer finds no token in {_TRIAL!r}; mend its normalizer, or {AGAIN}")
    if words == others:
        raise ModelError(
            f"{source}: to the tokenizer {_TRIAL!r} and {_OTHER!r} are the same tokens, and all texts would have one "
            f"score; mend its normalizer and pre_tokenizer, or {AGAIN}"
        )
    ends = [tokenizer.cls_token, tokenizer.sep_token]
    if is_masked(source.config) and None not in ends and not added:
        raise ModelError(
            f"{source}: the tokenizer has {' and '.join(ends)} and puts neither around a text, as a masked model was "
            f"trained with; mend the post_processor of tokenizer.json, or {AGAIN}"
        )


def is_masked(config: Any) -> bool:
    """Return whether a model attends to both sides; a BERT that is configured as a decoder does not."""
    return type(config) in MODEL_FOR_MASKED_LM_MAPPING and not getattr(config, "is_decoder", False)


def _is_there(source: Source, name: str) -> bool:
    if source.is_local:
        return (Path(source.path) / name).is_file()
    absent = {"_raise_exceptions_for_missing_entries": False, "_raise_exceptions_for_connection_errors": False}
    return cached_file(source.path, name, revision=source.spec.revision, **absent) is not None


def _template_of(tokenizer: Any) -> Iterator[tuple[str, int]]:
    """Yield what the tokenizer puts around texts: each token and the id that it is put as."""
    stored = tokenizer.backend_tokenizer.post_processor
    state = json.loads(stored.__getstate__()) if stored else {}
    for step in state.get("processors", [state]):
        match step:
            case {"special_tokens": dict(tokens)}:
                for own in tokens.values():
                    yield from zip_longest(own["tokens"], own["ids"])
            case {"cls": first, "sep": last}:
                yield from map(tuple, (first, last))


def longest_input(source: Source) -> int:
    """Return the longest input; RoBERTa reserves the positions up to its padding token's id."""
    config, tokenizer = source.config, source.tokenizer
    positions = getattr(config, "max_position_embeddings", tokenizer.model_max_length)
    reserved = 0
    if "roberta" in config.model_type:
        reserved = config.pad_token_id + 1 if isinstance(config.pad_token_id, int) else 0
        if config.pad_token_id != tokenizer.pad_token_id:  # it decides where the first token stands
            raise ModelError(
                f"{source}: pad_token_id is {config.pad_token_id} in config.json and "
                f"{tokenizer.pad_token_id} in the tokenizer; RoBERTa counts its positions from it, so both must be the "
                "one that the model was trained with"
            )
    own = {"max_position_embeddings of config.json": positions}
    own |= {"model_max_length of tokenizer_config.json": tokenizer.model_max_length}
    for place, value in own.items():
        # A tokenizer without a limit has 10^30, which is a float in some files.
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < float("inf"):
            raise ModelError(f"{source}: {place} is {value!r}; it must be a positive number")
    longest = min(int(positions) - reserved, int(tokenizer.model_max_length))
    if longest <= (special := tokenizer.num_special_tokens_to_add()):
        raise ModelError(
            f"{source}: inputs of {longest} tokens leave no room beside {special} special ones; mend {' or '.join(own)}"
        )
    return longest


def check_readable(source: Source, model: Any) -> None:
    """Refuse a model that does not fit its tokenizer, or does not answer a plain sentence as a trained model does."""
    slug, spec, tokenizer = source.slug, source.spec, source.tokenizer
    rows, mend = model.get_input_embeddings().weight.shape[0], "tokenizer and weights are of different models, so take"
    # An added token that stands for something else than text, such as an image, may lie beyond; these may not.
    special = {name: getattr(tokenizer, f"{name}_id") for name in tokenizer.SPECIAL_TOKENS_ATTRIBUTES}
    for name, number in chain(special.items(), tokenizer.backend_tokenizer.get_vocab(with_added_tokens=False).items()):
        if number is not None and number >= rows:
            raise ModelError(
                f"{source}: the token {name!r} has the id {number}, and the embedding has {rows} rows; {mend} both "
                "from one"
            )
    if 2 * len(tokenizer) < rows:
        raise ModelError(
            f"{source}: the tokenizer knows {len(tokenizer)} tokens, and the embedding has {rows} rows; {mend} both "
            "from one"
        )
    with source.refusing("the tokenizer"):
        read = tokenizer(_TRIAL, verbose=False)["input_ids"]
    if max(read) >= rows:
        raise ModelError(f"{source}: the tokenizer gives ids beyond the embedding's rows; {AGAIN}")
    ids = torch.tensor([read[: source.max_tokens]], device=model.device)
    try:
        with torch.inference_mode():
            answer = model(input_ids=ids, attention_mask=torch.ones_like(ids))[0]
    except Exception as error:  # whatever a model raises that its configuration does not fit, or its precision
        raise ModelError(
            f"{source} cannot read a plain sentence in {spec.dtype}: {reason_of(error)}; if it can in float32, set "
            f"models.{slug}.dtype to that, else mend config.json"
        ) from error
    if not bool(answer.isfinite().all()):
        raise ModelError(
            f"{source}: what it answers to a plain sentence in {spec.dtype} is NaN or infinite; take another precision "
            "or another checkpoint"
        )
    if len(set(read)) > 1 and bool((answer == answer[:, :1]).all()):
        raise ModelError(
            f"{source}: what it answers is the same at every token of {_TRIAL!r}, and all texts would have one score; "
            f"its weights are zero or damaged: {AGAIN}, or take another checkpoint"
        )
