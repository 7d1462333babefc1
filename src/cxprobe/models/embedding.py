"""One vector for each text and layer: the mean of its tokens' hidden states, by batches with little padding."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np
import torch
import transformers
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from cxprobe.files.tables import DenseVectors, write_features
from cxprobe.models.checkpoints import Source
from cxprobe.models.loading import TRIAL, LoadedModel, fields_of_model, ids_of_trial, load_model, proven, read_plainly
from cxprobe.models.store import Answers, answer, key_of, token_budget_batches
from cxprobe.models.texts import Encoded, encode_inputs
from cxprobe.run.record import write_model_facts

if TYPE_CHECKING:
    from cxprobe.models.measuring import MeasuredModel

R = TypeVar("R")
_BLOCK = 1024  # texts whose vectors are in memory at once while they are written


class LoadedEncoder(LoadedModel):
    """A model whose hidden states are read."""

    kind = "encoder"


def load_encoder(source: Source, device: str = "cpu") -> LoadedEncoder:
    """Load a model to read hidden states from; code of a checkpoint is never run.

    Args:
        source: What `cxprobe.models.loading.open_source` returned.
        device: Where it runs, as PyTorch names it: cpu, cuda, cuda:1, mps; "meta" for a model without weights, which
            has its tokenizer, its configuration and its fingerprint.

    Raises:
        ModelError: A file is damaged; some weights are not in the checkpoint (transformers would initialise them at
            random), and it is no random-weights control, or have other shapes there, or some of the body are not used;
            or it does not read a plain sentence as a trained model does.
    """
    encodes = transformers.MODEL_FOR_TEXT_ENCODING_MAPPING.get(type(source.config), None)  # as T5's encoder alone
    is_saved_so = encodes and encodes.__name__ in (source.config.architectures or [])
    model_class = encodes if is_saved_so else transformers.AutoModel
    encoder = LoadedEncoder(*fields_of_model(source, load_model(source, model_class, device)))
    if device == "meta":
        return encoder
    ids = ids_of_trial(source, encoder.model)[: encoder.max_tokens]
    encoder, _ = read_plainly(source, encoder, ids)
    return _with_trial(encoder, ids, str(source))


def encoder_of(model: LoadedModel) -> LoadedEncoder:
    """Return the part of a language model that has hidden states, without its head.

    Raises:
        ModelError: See `cxprobe.models.loading`.
    """
    parts = (model.tokenizer, model.fingerprint, model.max_tokens, model.state, model.precision)
    encoder = LoadedEncoder(model.name, model.model.base_model, *parts)
    return _with_trial(encoder, model.tokenizer(TRIAL)["input_ids"][: model.max_tokens], f"'{model.name}'")


def _with_trial(encoder: LoadedEncoder, ids: Sequence[int], place: str) -> LoadedEncoder:
    """Return a model that knows whether it can read texts of several lengths in a batch."""
    parts = [np.array(some, dtype=np.int32) for some in (ids, ids[: len(ids) // 2 + 1])]
    texts = [Encoded(TRIAL, part, 0, np.zeros((len(part), 2), np.int64), np.arange(len(part))) for part in parts]

    def read(tried: LoadedEncoder) -> list[DenseVectors]:
        return [*chain.from_iterable(mean_of_each_layer(tried, texts))]

    alone: dict[str, Any] = {"batched": False}
    return proven(encoder, read, lambda: read(replace(encoder, **alone)), [{}, alone], encoder.model.dtype, place)


def embed_texts(
    model: "MeasuredModel[LoadedEncoder]",
    portions: Mapping[str, Sequence[str]],
    *,
    token_budget: int,
    folder: Path,
) -> dict[str, float] | None:
    """Write each layer's mean vector of each text, for a stage; every vector is kept in the model's store at once.

    Args:
        model: The model.
        portions: Name -> distinct texts, such as those of one source of sentences; batches are formed within a portion.
        token_budget: The most tokens, padding included, in a batch.
        folder: Each portion has a subfolder there, for `cxprobe.files.tables.read_features`: ``features.npy``, shape
            (layers, texts, dimensions), float32, and ``ids.parquet``, whose ids are the texts.

    Returns:
        The numbers of sentences and of their tokens, special ones included; and see `MeasuredModel.check`. None if this
        process writes no files.

    Raises:
        ModelError: See `MeasuredModel.check`.
        DataError: See `encode_inputs`; or a number is not finite.
    """
    encoder = model.described
    tokens = {name: encode_inputs(encoder, texts) for name, texts in portions.items()}
    sentences = list(chain.from_iterable(tokens.values()))
    checked = model.check(list(chain.from_iterable(portions.values())))

    def write(name: str, blocks: Iterable[DenseVectors]) -> None:
        write_features(blocks, list(portions[name]), folder / name)

    def ask() -> Iterator[VectorQuestions[None]]:
        return (VectorQuestions(part, token_budget, partial(write, name)) for name, part in tokens.items())

    if model.answer(ask, len(sentences), "sentences") is None:
        return None
    write_model_facts(model.facts, folder)
    return {"sentences": len(sentences), "tokens": sum(len(sentence.ids) for sentence in sentences), **checked}


class VectorQuestions(Generic[R]):
    """The questions about the vectors of sentences.

    Attributes:
        texts: The sentences.
        text_of: The key of each distinct sentence, with its tokens that count -> the sentence.
    """

    def __init__(
        self, tokens: Sequence[Encoded], token_budget: int, use: Callable[[Iterable[DenseVectors]], R]
    ) -> None:
        """Prepare the questions about all sentences.

        Args:
            tokens: The sentences.
            token_budget: The most tokens, padding included, in a batch.
            use: Takes the vectors, in blocks of shape (layers, sentences, dimensions).
        """
        self.texts: Sequence[str] = [sentence.text for sentence in tokens]
        self._token_budget, self._use = token_budget, use
        self._keys = [
            key_of(sentence.ids, np.array([sentence.first, len(sentence.spans)], dtype=np.int32)) for sentence in tokens
        ]
        self._tokens = dict(zip(self._keys, tokens, strict=True))
        self.text_of = dict(zip(self._keys, self.texts, strict=True))

    def batches(self, keys: Sequence[bytes]) -> list[list[bytes]]:
        """Return some of the sentences in batches."""
        lengths = [len(self._tokens[key].ids) for key in keys]
        batches = token_budget_batches(lengths, self._token_budget)
        return [[keys[position] for position in positions] for positions in batches]

    def compute(self, model: LoadedEncoder, wanted: Sequence[bytes]) -> Answers:
        """Return the vectors of sentences of a batch."""
        vectors = mean_of_each_layer(model, [self._tokens[key] for key in wanted])
        return {key: vectors[:, position] for position, key in enumerate(wanted)}  # each (layers, dimensions)

    def read(self, answers: Answers) -> Iterator[R]:
        """Yield the result of ``use``."""
        blocks = (
            np.stack([answers[key] for key in self._keys[start : start + _BLOCK]], axis=1).astype(np.float32)
            for start in range(0, len(self._keys), _BLOCK)
        )
        yield self._use(blocks)


def pool_texts(
    encoder: LoadedEncoder,
    tokens: Sequence[Encoded],
    token_budget: int,
    progress: Callable[[int], object] | None = None,
) -> DenseVectors:
    """Return the vectors of sentences, shape (layers, sentences, dimensions), by a loaded model in this process."""
    questions = VectorQuestions(tokens, token_budget, lambda blocks: np.concatenate(list(blocks), axis=1))
    [vectors] = answer(lambda: [questions], lambda: encoder, progress=progress)
    return vectors


def mean_of_each_layer(encoder: LoadedEncoder, sentences: Sequence[Encoded]) -> DenseVectors:
    """Run a model on a batch of sentences, padded on the right, and pool each layer's hidden states.

    Args:
        encoder: The model.
        sentences: The batch.

    Returns:
        Shape (layers, sentences, dimensions), float32. Layer 0 is the embeddings, the last the model's output.
    """
    if not encoder.batched and len(sentences) > 1:
        return np.concatenate([mean_of_each_layer(encoder, [one]) for one in sentences], axis=1)
    # The attention mask always hides what fills short rows, so 0 stands in where the tokenizer defines no padding.
    ids = [torch.from_numpy(one.ids).long() for one in sentences]
    input_ids = pad_sequence(ids, batch_first=True, padding_value=encoder.tokenizer.pad_token_id or 0)
    places = torch.arange(input_ids.shape[1])  # (tokens,); the masks have the shape (sentences, tokens)
    attended = places < torch.tensor([[len(one.ids)] for one in sentences])
    firsts = torch.tensor([[one.first] for one in sentences])
    counts = (places >= firsts) & (places < firsts + torch.tensor([[len(one.spans)] for one in sentences]))
    device = encoder.model.device
    mask = None if attended.all() else attended.long().to(device)  # models are faster without one
    with torch.inference_mode():
        output = encoder.model(input_ids=input_ids.to(device), attention_mask=mask, output_hidden_states=True)
        # Pooled one by one, so that the stack of all tokens' states is never built.
        pooled = torch.stack([mean_over_tokens(layer, counts.to(device)) for layer in output.hidden_states])
    vectors: DenseVectors = pooled.cpu().numpy()
    return vectors


def mean_over_tokens(hidden: Tensor, counted: Tensor) -> Tensor:
    """Average the vectors of the tokens that count.

    Args:
        hidden: Shape (batch, tokens, dimensions), any floating type.
        counted: Shape (batch, tokens), True for the tokens in the mean; every row needs at least one.

    Returns:
        Shape (batch, dimensions), float32: the sum is taken in float32 whatever the precision of the model.
    """
    weights = counted.to(torch.float32) / counted.sum(dim=1, keepdim=True)  # (batch, tokens)
    return torch.bmm(weights.unsqueeze(1), hidden.to(torch.float32)).squeeze(1)  # (batch, dimensions)
