"""models/params.yaml as one closed model: what the carried language models are made of, and how."""

from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, model_validator

from cxprobe.errors import ParamsError
from cxprobe.files.schema import Closed, read_yaml, suggest, validate

PARAMS_FILE = Path("models/params.yaml")

Share = Annotated[float, Field(gt=0, lt=1)]
Count = Annotated[int, Field(ge=1)]


class RepositoriesSource(Closed):
    """The repositories of a list, each at its commit, fetched with git."""

    kind: Literal["repositories"]
    list: str
    """The file that lists them."""
    host: str
    """What stands before a repository's name: https://github.com, or a folder of clones."""


class FolderSource(Closed):
    """A folder of .json.gz files with a JSON object a line that has "text" and "url", as C4 has them."""

    kind: Literal["folder"]
    path: str


class BuildCorpus(Closed):
    """The text to learn from."""

    source: Annotated[RepositoriesSource | FolderSource, Field(discriminator="kind")]
    held_out: Annotated[list[str], Field(min_length=1)]
    """Records whose url begins with one of these are for validation only: whole books."""


class BuildNgrams(Closed):
    """The trigram model: how often something must occur in the text to be kept."""

    word: Count
    """A word; rarer ones are one and the same unknown word."""
    pair: Count
    """A pair of words, by the number of different words that stand before it."""
    triple: Count
    """Three words in a row."""


class TrimVocabulary(Closed):
    """A vocabulary, and what a model starts from with it."""

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


class Pretrain(Closed):
    """The training of one model."""

    objective: Literal["masked", "causal"]
    """What is predicted: masked tokens, from both sides, or each next one, from the left."""
    start: str
    """The folder with the tokenizer and, unless ``architecture`` is given, the weights to start from."""
    architecture: Architecture | None
    """The shape of a model that starts from random weights; null to start from those in ``start``."""
    steps: Count
    """Batches to learn from; the learning rate ends at 0 after the last one."""
    warm_up: Count
    """Steps in which the learning rate rises."""
    batch_tokens: Count
    """The most tokens, padding included, in a batch."""
    body_rate: Annotated[float, Field(gt=0)]
    """The peak learning rate of the body, embeddings included."""
    head_rate: Annotated[float, Field(gt=0)]
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
    devices: Count | Literal["auto"]
    """How many of them per node."""
    precision: Literal["32-true", "bf16-mixed"]
    """Lightning's name of the precision to train in; models are always saved in float16."""
    attention: Literal["eager", "sdpa"]
    """How attention is computed: on a CPU eager is the faster one of the two backwards."""
    threads: Count
    """Threads of a training on the CPU."""

    @model_validator(mode="after")
    def _possible(self) -> "Pretrain":
        if self.objective == "masked" and self.architecture:
            raise ValueError("a masked model starts from trained weights; give it a start and architecture: null")
        if self.checkpoints != sorted(set(self.checkpoints)) or self.checkpoints[-1:] >= [self.steps]:
            raise ValueError(f"checkpoints {self.checkpoints} must ascend and stay below steps ({self.steps})")
        return self


class EvaluatePretrained(Closed):
    """What a trained model is measured on."""

    blimp: str | None
    """A folder of BLiMP's <UID>.jsonl or <UID>.jsonl.gz; null (or a folder that is absent) to go without."""
    pairs: Count
    """Pairs that are drawn of each paradigm."""
    token_budget: Count
    """The most tokens in a batch."""


class PretrainingParams(Closed):
    """All parameters of models/dvc.yaml."""

    seed: Annotated[int, Field(ge=0)]
    build_corpus: BuildCorpus
    build_ngrams: BuildNgrams
    trim_vocabulary: dict[str, TrimVocabulary]
    pretrain: dict[str, Pretrain]
    evaluate_pretrained: EvaluatePretrained

    def of_model(self, name: str) -> Pretrain:
        """Return the training of a model.

        Raises:
            ParamsError: There is no such model.
        """
        if name not in self.pretrain:
            raise ParamsError(f"{PARAMS_FILE}: there is no pretrain.{name}{suggest(name, list(self.pretrain))}")
        return self.pretrain[name]


def load_pretraining_params(path: Path = PARAMS_FILE) -> PretrainingParams:
    """Read and check the parameters of the carried models.

    Raises:
        ParamsError: One line for every fault of the file, each with its key, value and what is allowed.
    """
    return validate(PretrainingParams, read_yaml(path, ParamsError), path, ParamsError)
