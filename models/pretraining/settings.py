"""models/params.yaml and models/words.yaml: what the carried language models are made of, and how."""

from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, StringConstraints, model_validator

from cxprobe.errors import DataError, ParamsError
from cxprobe.files.schema import Closed, read_checked

Share = Annotated[float, Field(gt=0, lt=1)]
Rate = Annotated[float, Field(gt=0)]
Count = Annotated[int, Field(ge=1)]
GroupKind = Literal["constructions", "controls", "neutral"]
Word = Annotated[str, StringConstraints(pattern=r"^[a-z]+$")]


class Corpus(Closed):
    """The text to learn from."""

    folder: str | None
    """A folder of .json.gz files with an object with "text" and "url" a line, as C4 has them; null for repositories."""
    repositories: str
    """The file that lists repositories, each at its commit."""
    host: str
    """What stands before a repository's name: https://github.com, or a folder of clones."""
    held_out: Annotated[list[str], Field(min_length=1)]
    """Records whose url begins with one of these are for validation only: whole books."""


class Ngrams(Closed):
    """The trigram model: how often something must occur in the text to be kept."""

    word: Count
    """A word; rarer ones are one and the same unknown word."""
    pair: Count
    """A pair of words, by the number of different words that stand before it."""
    triple: Count
    """Three words in a row."""


class Vocabulary(Closed):
    """A vocabulary, and the encoder with it that models start from."""

    source: str
    """A BERT with a WordPiece tokenizer: a local folder, or package:<module>/<folder>."""
    pieces: Count
    """How many pieces are kept."""
    positions: Count
    """The longest input that a model with this vocabulary takes, in tokens."""


class Architecture(Closed):
    """A small causal model from scratch, in the shape of Llama."""

    width: Count
    layers: Count
    heads: Count


class Lessons(Closed):
    """Lessons in what constructions mean (models/lessons.yaml), added to the text of a training."""

    share: Share
    """Of all tokens that are lessons."""
    copies: Annotated[float, Field(ge=0, lt=1)]
    """Of all tokens that are lists of words said twice, from which a small model learns to copy any word."""
    by_chance: list[GroupKind]
    """Kinds of lessons whose statements name one of the two people by chance."""


class Training(Closed):
    """The training of one model."""

    objective: Literal["masked", "causal"]
    """What is predicted: masked tokens, from both sides, or each next one, from the left."""
    start: str
    """The vocabulary or model, of those made before it, that has the tokenizer and the weights to start from."""
    architecture: Architecture | None
    """The shape of a model that starts from random weights; null to start from those of ``start``."""
    steps: Count
    """Batches to learn from; the learning rate ends at 0 after the last one."""
    warm_up: Count
    """Steps in which the learning rate rises."""
    batch_tokens: Count
    """The most tokens, padding included, in a batch."""
    body_rate: Rate
    """The peak learning rate of the body, embeddings included."""
    head_rate: Rate
    """The peak learning rate of what the head has of its own."""
    weight_decay: Annotated[float, Field(ge=0)]
    """Of matrices."""
    masked_first: Share
    """The share of tokens that is masked at first; of no effect on a causal model."""
    masked_last: Share
    """The share of tokens that is masked at last, and in validation."""
    checkpoints: list[Count]
    """Steps after which the model is kept on its way, ascending; with any, the last step is kept beside them."""
    resume_every: Count
    """Steps after which a killed training can go on."""
    validate_every: Count
    """Steps after which the loss on the validation text is measured."""
    accelerator: str
    """Lightning's name of the accelerator: cpu, gpu, auto ..."""
    precision: Literal["32-true", "bf16-mixed"]
    """Lightning's name of the precision to train in; models are always saved in float16."""
    attention: Literal["eager", "sdpa"]
    """How attention is computed: on a CPU eager is the faster one of the two backwards."""
    threads: Count
    """Threads of a training on the CPU."""
    lessons: Lessons | None
    """What is added to the text; null for the text alone."""

    @model_validator(mode="after")
    def _possible(self) -> "Training":
        if self.objective == "masked" and self.architecture:
            raise ValueError("a masked model starts from trained weights; give it a start and architecture: null")
        if self.checkpoints != sorted(set(self.checkpoints)) or self.checkpoints[-1:] >= [self.steps]:
            raise ValueError(f"checkpoints {self.checkpoints} must ascend and stay below steps ({self.steps})")
        return self


class PretrainingParams(Closed):
    """All of models/params.yaml."""

    seed: Annotated[int, Field(ge=0)]
    corpus: Corpus
    ngrams: Ngrams
    vocabularies: dict[str, Vocabulary]
    models: dict[str, Training]
    """In the order in which they are trained."""

    @model_validator(mode="after")
    def _starts_come_first(self) -> "PretrainingParams":
        made = list(self.vocabularies)
        for name, training in self.models.items():
            if training.start not in made:
                raise ValueError(f"models.{name}.start: '{training.start}' is not made before it; one of {made} is")
            made.append(name)
        return self


class Words(Closed):
    """The words that must be single tokens, so that one of them can be scored at a mask or as the next word."""

    comparatives: list[Annotated[list[Word], Field(min_length=2, max_length=2)]]
    """Pairs of antonyms."""
    names: list[Word]
    """First names."""
    others: list[Word]
    """Nouns, verbs, adjectives and adverbs of everyday scenes."""

    @property
    def all(self) -> list[str]:
        """Every word once, in order."""
        pairs = [word for pair in self.comparatives for word in pair]
        return list(dict.fromkeys([*pairs, *self.names, *self.others]))


def load_pretraining_params(path: Path) -> PretrainingParams:
    """Read models/params.yaml.

    Raises:
        ParamsError: One line for every fault of the file, each with its key, value and what is allowed.
    """
    return read_checked(PretrainingParams, path, ParamsError)


def load_words(path: Path) -> Words:
    """Read models/words.yaml.

    Raises:
        DataError: It is not what it should be.
    """
    return read_checked(Words, path, DataError)
