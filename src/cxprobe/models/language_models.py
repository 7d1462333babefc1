"""A complete model and its facts; each kind of use has a subclass, in the module of its questions."""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, ClassVar

from cxprobe.errors import DataError
from cxprobe.files.code import computing_code
from cxprobe.files.writing import read_json, write_json
from cxprobe.run.record import ModelFacts, ModelKind, WeightsState


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
        head: The module that makes logits of hidden states, by its trial (`cxprobe.models.trials`); None where there is
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
        import torch  # which takes seconds, and stages that read facts alone do without
        import transformers

        config: dict[str, Any] = self.model.config.to_dict()
        # Where the model is stored, which of DeBERTa's heads its weights are, and what fingerprint or precision says.
        for name in ("_name_or_path", "legacy", "quantization_config"):
            config.pop(name, None)
        settings = sorted((name, repr(value)) for name, value in config.items())
        code, attention = computing_code(type(self).__module__), self.model.config._attn_implementation
        return settings, attention, self.precision, code, torch.__version__, transformers.__version__


_FILE = "model.json"


def write_model_facts(facts: ModelFacts, folder: Path) -> None:
    """Write the facts about a model to ``model.json`` in the folder of its answers."""
    write_json(asdict(facts), folder / _FILE)


def read_model_facts(folder: Path) -> ModelFacts:
    """Read the facts about a model from ``model.json`` in the folder of its answers.

    Raises:
        DataError: The folder has no ``model.json``.
    """
    path = folder / _FILE
    if not path.is_file():
        raise DataError(f"{path} is missing; the measuring stage writes it: run `dvc repro`, or `dvc pull`")
    return ModelFacts(**read_json(path))
