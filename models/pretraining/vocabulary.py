"""A trained encoder with a smaller vocabulary, so that a small model keeps the embeddings that it starts with."""

import copy
import json
import string
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from tokenizers import Tokenizer
from transformers import BertConfig, BertModel, PreTrainedTokenizerFast

from cxprobe.errors import DataError, ModelError

CONTINUES = "##"  # what marks a WordPiece that does not begin a word
# Books have typographic quotes where most other text, and every benchmark, has the keyboard's.
_STRAIGHTENED = {"“": '"', "”": '"', "‘": "'", "’": "'"}


@dataclass(frozen=True)
class Vocabulary:
    """The pieces of a trimmed vocabulary, in the order of their new ids.

    Attributes:
        pieces: The piece of each id.
        origins: The old ids of each piece: its own, or, for a word that was none, those of the pieces it was cut into.
    """

    pieces: list[str]
    origins: list[list[int]]

    def trim(self, embeddings: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the embeddings of the new ids; a word that was not a piece gets the mean of those it was cut into.

        Args:
            embeddings: (old ids, dimensions).

        Returns:
            (new ids, dimensions).
        """
        return np.stack([embeddings[ids].mean(axis=0) for ids in self.origins])


def trim_vocabulary(
    old: Mapping[str, int],
    counts: NDArray[np.int64],
    required: Mapping[str, list[int]],
    size: int,
) -> Vocabulary:
    """Choose the pieces that a smaller vocabulary keeps.

    Kept are the special tokens; the characters of ASCII and of the corpus, alone and within a word, so that every
    word can still be spelt; the required words; and of the rest those with the least product of two ranks: how
    frequent a piece is in the corpus, and its place in the old vocabulary, which was made by the frequencies of a
    larger and more modern corpus. Special tokens come first, the others keep their old order.

    Args:
        old: Every piece -> its id.
        counts: (old ids,) how often the corpus has each.
        required: Words that must be one piece -> the old ids that they are cut into.
        size: How many pieces to keep.

    Raises:
        DataError: The pieces that must be kept are more than ``size``.
    """
    special = [piece for piece in old if piece.startswith("[") and piece.endswith("]") and piece[1:-1].isupper()]
    characters = {
        piece
        for piece, old_id in old.items()
        if len(bare := piece.removeprefix(CONTINUES)) == 1 and (bare in string.printable or counts[old_id] > 0)
    }
    must = {*special, *characters, *required}
    if len(must) > size:
        raise DataError(f"{len(must)} pieces must be kept, but the vocabulary is to have {size}; allow more")
    by_count = sorted(old, key=lambda piece: (-counts[old[piece]], old[piece]))
    ranks = {piece: rank for rank, piece in enumerate(by_count, start=1)}
    by_both = sorted(old, key=lambda piece: (ranks[piece] * (old[piece] + 1), old[piece]))
    free = [piece for piece in by_both if piece not in must and not piece.startswith("[unused")]
    kept = {*must, *free[: size - len(must)]}
    added = sorted(word for word in kept if word not in old)
    pieces = special + sorted(kept.difference(special, added), key=lambda piece: old[piece]) + added
    return Vocabulary(pieces, [[old[piece]] if piece in old else required[piece] for piece in pieces])


def trim_tokenizer(tokenizer_json: str, vocabulary: Vocabulary) -> str:
    """Return the tokenizer.json of a WordPiece tokenizer with another vocabulary.

    It straightens typographic quotes and neither cuts nor pads, whatever the old one did.
    """
    content: dict[str, Any] = json.loads(tokenizer_json)
    new = {piece: position for position, piece in enumerate(vocabulary.pieces)}
    content["model"]["vocab"] = new
    content["truncation"] = content["padding"] = None
    for token in content["added_tokens"]:
        token["id"] = new[token["content"]]
    for token in content["post_processor"].get("special_tokens", {}).values():
        token["ids"] = [new[name] for name in token["tokens"]]
    for end in ("cls", "sep"):
        if isinstance(content["post_processor"].get(end), list):
            name = content["post_processor"][end][0]
            content["post_processor"][end] = [name, new[name]]
    straighten = [{"type": "Replace", "pattern": {"String": old}, "content": to} for old, to in _STRAIGHTENED.items()]
    content["normalizer"] = {"type": "Sequence", "normalizers": [*straighten, content["normalizer"]]}
    return json.dumps(content, ensure_ascii=False)


def make_tokenizer(tokenizer_json: str, positions: int) -> PreTrainedTokenizerFast:
    """Return a BERT's tokenizer as transformers uses it, for inputs of at most ``positions`` tokens."""
    return PreTrainedTokenizerFast(
        tokenizer_object=Tokenizer.from_str(tokenizer_json),
        model_max_length=positions,
        model_input_names=["input_ids", "attention_mask"],
        # [CLS] and [SEP] are the beginning and the end for a causal model too.
        **{"cls_token": "[CLS]", "sep_token": "[SEP]", "bos_token": "[CLS]", "eos_token": "[SEP]"},
        **{"pad_token": "[PAD]", "unk_token": "[UNK]", "mask_token": "[MASK]"},
    )


def trim_encoder(encoder: Any, vocabulary: Vocabulary, positions: int) -> BertModel:
    """Return a trained BERT with a trimmed vocabulary and without the positions beyond ``positions``.

    Raises:
        ModelError: The model is not a BERT, or has fewer positions.
    """
    config = copy.deepcopy(encoder.config)
    if not isinstance(config, BertConfig) or config.max_position_embeddings < positions:
        raise ModelError(f"source: must be a BERT with {positions} positions or more; take another, or lower positions")
    config.vocab_size, config.max_position_embeddings = len(vocabulary.pieces), positions
    # Few passes over much text need no dropout.
    config.hidden_dropout_prob = config.attention_probs_dropout_prob = 0.0
    trimmed = BertModel(config, add_pooling_layer=False)
    state = encoder.state_dict()
    words = state["embeddings.word_embeddings.weight"].numpy()
    state["embeddings.word_embeddings.weight"] = torch.from_numpy(vocabulary.trim(words))
    state["embeddings.position_embeddings.weight"] = state["embeddings.position_embeddings.weight"][:positions]
    trimmed.load_state_dict({name: state[name] for name in trimmed.state_dict()})
    return trimmed


def encode_records(tokenizer: Tokenizer, records: Iterable[Sequence[str]]) -> Iterator[list[list[int]]]:
    """Yield the token ids of each record's sentences, without special tokens.

    Args:
        tokenizer: The tokenizer itself, not Hugging Face's shell around it.
        records: The sentences of each record, in order.
    """
    waiting = iter(records)
    while portion := list(islice(waiting, 2000)):
        texts = [text for record in portion for text in record]
        encoded = iter(tokenizer.encode_batch_fast(texts, add_special_tokens=False))
        for record in portion:
            yield [next(encoded).ids for _ in record]


def count_pieces(records: Iterable[Sequence[list[int]]], size: int) -> NDArray[np.int64]:
    """Return how often each id below ``size`` occurs in the token ids of records' sentences: shape (size,)."""
    counts = np.zeros(size, dtype=np.int64)
    for record in records:
        for ids in record:
            np.add.at(counts, ids, 1)
    return counts
