"""Checks that weights, configuration and tokenizer of a model belong together, and that it knows the words of texts."""

import re
from collections.abc import Mapping, Sequence
from functools import partial
from math import nan
from typing import Any

from cxprobe.errors import ModelError
from cxprobe.models.checkpoints import Source
from cxprobe.models.language_models import LoadedModel

# The causal mask, which older versions of transformers stored beside the weights of attention (GPT-Neo, GPT-J).
_MASKS = re.compile(r"(attn|attention)\.(masked_)?bias$")
_POSITIONS = ("max_position_embeddings", "max_target_positions", "max_seq_len")  # the last two of Whisper and MPT
# Share of tokens: far above what English with a few rare words gives, far below what another model's tokenizer gives.
MOST_UNKNOWN = 0.2


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

    def is_of_body(name: str) -> bool:
        return name.startswith(prefix) or name.split(".")[0] in body

    unused = [
        name
        for name in report["unexpected_keys"]
        if is_of_body(name) and not name.removeprefix(prefix).startswith("pooler.") and not _MASKS.search(name)
    ]
    reason = (
        "config.json and weights do not belong together, so copy or download both again, or take another checkpoint"
    )
    saved_as, read_as = model.config.architectures or [], type(model).__name__
    if missing and saved_as and read_as not in saved_as:
        reason = f"it was saved as {', '.join(saved_as)}, which is no {read_as}: take another checkpoint"
        if not any(map(is_of_body, missing)):
            reason += (
                ", since this one has no such head; its vectors can be read, by `cxprobe.load_encoder` or in embeddings"
            )
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
        raise ModelError(
            f"{source}: inputs of {longest} tokens leave no room beside {special} special ones; mend "
            "max_position_embeddings of config.json or model_max_length of tokenizer_config.json"
        )
    return longest


def check_known(model: LoadedModel, texts: Sequence[str], place: str) -> float:
    """Refuse to measure texts of which a model's tokenizer does not know too much.

    Args:
        model: The model that is to read them.
        texts: See `unknown_tokens`.
        place: What they are, for the message, such as "the sentences of a construction".

    Returns:
        The share of unknown tokens, see `unknown_tokens`.

    Raises:
        ModelError: The share is larger than `MOST_UNKNOWN`.
    """
    share, lost = unknown_tokens(model.tokenizer, texts)
    if share > MOST_UNKNOWN:
        raise ModelError(
            f"'{model.name}': {share:.1%} of the tokens of {place} are unknown to its tokenizer, such as "
            f"{', '.join(map(repr, lost[:5]))}, and at most {MOST_UNKNOWN:.0%} may be; its tokenizer is another "
            "model's, or it is a model of another language: take another checkpoint"
        )
    return share


def unknown_tokens(tokenizer: Any, texts: Sequence[str]) -> tuple[float, list[str]]:
    """Return the share of unknown tokens in texts, and some of the words that they are in.

    A byte-level tokenizer knows everything.

    Args:
        tokenizer: A fast tokenizer.
        texts: All texts of a stage, or a sample; one that is given twice counts twice.

    Returns:
        The share, 0 to 1, special tokens not counted, NaN if there is no token; and words of the first texts.
    """
    tokens, unknown, words = 0, 0, dict.fromkeys(word for text in texts[:1000] for word in text.split())
    tokenise = partial(tokenizer, add_special_tokens=False, verbose=False)
    for start in range(0, len(texts), 1000):
        for ids in tokenise(list(texts[start : start + 1000]))["input_ids"]:
            tokens += len(ids)
            unknown += ids.count(tokenizer.unk_token_id)
    if not unknown:
        return (0.0 if tokens else nan), []
    read = zip(words, tokenise([*words])["input_ids"], strict=True)
    return unknown / tokens, [word for word, ids in read if tokenizer.unk_token_id in ids]
