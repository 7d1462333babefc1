"""The store of a model's answers: which folder it has."""

from typing import Any

import torch
import transformers

from cxprobe.models import CausalLM, MaskedLM
from cxprobe.storage import AnswerStore, answers_folder


def open_answers(slug: str, model: MaskedLM | CausalLM) -> AnswerStore:
    """Open the store of a model's answers.

    Its folder is named by everything that decides on a number beside what is asked: weights, configuration, precision,
    the kind of device, and the versions of PyTorch and transformers.

    Args:
        slug: The model's key in params.yaml.
        model: The model.
    """
    config: dict[str, Any] = model.model.config.to_dict()
    config.pop("_name_or_path", None)  # where the model is stored, which decides on nothing
    settings = sorted((name, repr(value)) for name, value in config.items())
    computed = (str(model.model.dtype), model.model.device.type, torch.__version__, transformers.__version__)
    return AnswerStore(answers_folder(slug, model.kind, model.fingerprint, settings, computed))
