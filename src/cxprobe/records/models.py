"""What is known of a model beside its answers."""

from dataclasses import dataclass
from typing import Literal

ModelKind = Literal["encoder", "masked", "causal", "instructed", "series", "blind"]
WeightsState = Literal["trained", "random", "shuffled", "none"]


@dataclass(frozen=True)
class ModelFacts:
    """What a measured model is; every measuring stage writes it beside the raw answers.

    Attributes:
        name: The name under which the model was loaded or asked, such as a name on the Hugging Face hub.
        kind: "encoder" (hidden states were read), "masked", "causal", "instructed" (asked in words), "series"
            (several models that differ in one quantity), or "blind" (cannot know the construction).
        parameters: The number of its weights; None where a server does not tell.
        weights: Which weights exactly: a commit on the hub, a SHA-256, or the version that a server names.
        state: "random" and "shuffled" for a twin of a trained model, "none" for a blind model.
        precision: In what it computes, such as "float32" or "bfloat16, torchao int8 weights"; "" where that is not
            known, or means nothing.
    """

    name: str
    kind: ModelKind
    parameters: int | None
    weights: str
    state: WeightsState = "trained"
    precision: str = ""
