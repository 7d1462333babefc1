"""Tiny language models of many kinds with random weights, and tokenizers of three families whose ids are known."""

from pathlib import Path

import torch
import transformers
from tokenizers import AddedToken, Tokenizer
from tokenizers.models import BPE, Unigram
from tokenizers.pre_tokenizers import ByteLevel, Metaspace
from tokenizers.processors import ByteLevel as TrimOffsets
from tokenizers.processors import Sequence, TemplateProcessing
from transformers import PreTrainedTokenizerFast

from conftest import WORDS, tiny_tokenizer

MASKED = ("bert", "roberta", "deberta", "deberta-v2", "modernbert")
CAUSAL = ("gpt2", "llama", "qwen2", "bloom", "mamba")
LETTERS = "abcdefghijklmnopqrstuvwxyz"


def save_lm(folder: Path, kind: str, tokenizer=None, positions: int = 64) -> None:
    """Save a language model whose predictions differ widely from token to token."""
    torch.manual_seed(0)
    tokenizer = tokenizer or tokenizer_of(kind)
    family, head, own = _ARCHITECTURES[kind]
    config = getattr(transformers, f"{family}{'TextConfig' if family == 'Gemma3' else 'Config'}")(
        vocab_size=len(tokenizer),
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=64,
        max_position_embeddings=positions,
        initializer_range=0.3,
        pad_token_id=tokenizer.pad_token_id,
        bos_token_id=tokenizer.bos_token_id,
        eos_token_id=tokenizer.eos_token_id,
        **own,
    )
    getattr(transformers, f"{family}{head}")(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)


def tokenizer_of(kind: str, words: list[str] = WORDS) -> PreTrainedTokenizerFast:
    """Return a tokenizer of the family that a kind of model has, for which some words are one token."""
    match kind:
        case "bert":
            return tiny_tokenizer(words)
        case "roberta":
            return byte_bpe({"bos": "<s>", "pad": "<pad>", "eos": "</s>", "unk": "<unk>", "mask": "<mask>"}, words)
        case "deberta" | "modernbert":
            return byte_bpe({"cls": "[CLS]", "pad": "[PAD]", "sep": "[SEP]", "unk": "[UNK]", "mask": "[MASK]"}, words)
        case "deberta-v2":
            return unigram({"cls": "[CLS]", "pad": "[PAD]", "sep": "[SEP]", "unk": "[UNK]", "mask": "[MASK]"}, words)
        case "llama":
            return unigram({"bos": "<s>", "pad": "<pad>", "unk": "<unk>"}, words)
        case "gpt2":
            return byte_bpe({"bos": "<|endoftext|>", "eos": "<|endoftext|>", "pad": "<|endoftext|>"}, words, adds=False)
        case _:
            return byte_bpe({"eos": "<|endoftext|>", "pad": "<|endoftext|>"}, words, adds=False)


def byte_bpe(special: dict[str, str], words: list[str] = WORDS, adds: bool = True) -> PreTrainedTokenizerFast:
    """Return a byte-level BPE tokenizer for which each known word after a blank is one token, all else letters."""
    merges = {}
    for word in words:
        for end in range(1, len(word) + 1):
            merges["Ġ" + word[: end - 1], word[end - 1]] = None
    names = list(dict.fromkeys(special.values()))
    pieces = [*names, *sorted(ByteLevel.alphabet()), *("".join(pair) for pair in merges)]
    vocabulary = {piece: number for number, piece in enumerate(dict.fromkeys(pieces))}
    tokenizer = Tokenizer(BPE(vocab=vocabulary, merges=list(merges)))
    tokenizer.pre_tokenizer = ByteLevel(add_prefix_space=False)
    ends = _template(special, vocabulary) if adds else None
    trim = TrimOffsets(trim_offsets=True)
    tokenizer.post_processor = Sequence([trim, ends]) if ends else trim
    return _wrap(tokenizer, special)


def unigram(special: dict[str, str], words: list[str] = WORDS) -> PreTrainedTokenizerFast:
    """Return a SentencePiece-like tokenizer for which each known word after a blank is one token, all else letters."""
    known = {"▁" + word: -1.0 for word in words} | {"▁": -5.0} | dict.fromkeys(LETTERS + ".,'", -10.0)
    pieces = dict.fromkeys(special.values(), 0.0) | known
    unknown = list(pieces).index(special["unk"])
    tokenizer = Tokenizer(Unigram(list(pieces.items()), unk_id=unknown))
    tokenizer.pre_tokenizer = Metaspace()
    tokenizer.post_processor = _template(special, {piece: number for number, piece in enumerate(pieces)})
    return _wrap(tokenizer, special)


def _template(special: dict[str, str], vocabulary: dict[str, int]) -> TemplateProcessing:
    first = special.get("cls") or special["bos"]
    last = special.get("sep") or special.get("eos") or ""
    ends = [(token, vocabulary[token]) for token in (first, last) if token]
    return TemplateProcessing(single=f"{first} $A {last}".strip(), special_tokens=ends)


def _wrap(tokenizer: Tokenizer, special: dict[str, str]) -> PreTrainedTokenizerFast:
    names = {f"{name}_token": token for name, token in special.items()}
    if "mask" in special:
        names["mask_token"] = AddedToken(special["mask"], lstrip=True, special=True)
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, model_max_length=64, **names)


_DEBERTA = {"relative_attention": True, "max_relative_positions": 64, "pos_att_type": ["c2p", "p2c"]}
_ARCHITECTURES = {
    "bert": ("Bert", "ForMaskedLM", {}),
    "roberta": ("Roberta", "ForMaskedLM", {}),
    "deberta": ("Deberta", "ForMaskedLM", _DEBERTA | {"legacy": False, "position_biased_input": False}),
    "deberta-v2": ("DebertaV2", "ForMaskedLM", _DEBERTA | {"legacy": False}),
    "modernbert": ("ModernBert", "ForMaskedLM", {"initializer_cutoff_factor": 2.0, "local_attention": 8}),
    "gpt2": ("GPT2", "LMHeadModel", {}),
    "llama": ("Llama", "ForCausalLM", {}),
    "qwen2": ("Qwen2", "ForCausalLM", {"num_key_value_heads": 2}),
    "bloom": ("Bloom", "ForCausalLM", {}),
    "mamba": ("Mamba", "ForCausalLM", {"state_size": 4}),
    # Of those below each has a fault of its own that a model's trial finds.
    "opt": ("OPT", "ForCausalLM", {"ffn_dim": 64, "word_embed_proj_dim": 32}),
    "roberta-decoder": ("Roberta", "ForCausalLM", {"is_decoder": True}),
    "minimax": ("MiniMax", "ForCausalLM", {"layer_types": ["linear_attention"] * 2, "num_local_experts": 2}),
    "both-ways": ("Gemma3", "ForCausalLM", {"use_bidirectional_attention": True, "head_dim": 8}),
    "no-decoder": ("BertGeneration", "Decoder", {}),
    "fnet": ("FNet", "ForMaskedLM", {}),
    "xlm": ("XLM", "WithLMHeadModel", {}),
    "convbert": ("ConvBert", "ForMaskedLM", {"embedding_size": 32}),
    "mobilebert": ("MobileBert", "ForMaskedLM", {"embedding_size": 32, "intra_bottleneck_size": 32}),
    "nystromformer": ("Nystromformer", "ForMaskedLM", {}),
    "yoso": ("Yoso", "ForMaskedLM", {}),
    "camembert": ("Camembert", "ForMaskedLM", {}),
    "mpnet": ("MPNet", "ForMaskedLM", {}),
    "electra-discriminator": ("Electra", "ForPreTraining", {"embedding_size": 32}),
    "bert-body": ("Bert", "Model", {}),
    "deberta-legacy": ("Deberta", "ForMaskedLM", _DEBERTA | {"position_biased_input": False}),
    "deberta-v2-legacy": ("DebertaV2", "ForMaskedLM", _DEBERTA),
}


NOUNS = ("cat", "dog", "fox", "king", "queen", "bird", "horse")


def sentences_that_begin_alike() -> list[str]:
    """Return sentences of words that the tiny tokenizers know; many share their first words."""
    return [
        f"we say that the {one} {verb}, the {two} waits in the garden"
        for one in NOUNS
        for two in NOUNS[:3]
        for verb in ("runs", "sings")
        if one != two
    ]
