"""cxprobe: do language models know constructions, the pairings of form and meaning?

There is one package for each task in `cxprobe.tasks`, and none of them imports another:

    recognition/    probes of form
    scenarios/      masked scenarios, biases, calibration
    pairs/          minimal pairs, of this project and of others
    prompts/        inference and reasoning, by prompts or by likelihood
    interventions/  vectors exchanged between sentences: is what a probe reads used?

Inside a task, data are made, models are measured (raw answers, kept as they come), answers are evaluated (rates with
intervals), and all models are reported side by side. The other packages are shared: `cxprobe.constructions` and
`cxprobe.corpora` for what items are made from, `cxprobe.models` for models, `cxprobe.labels` for labels,
`cxprobe.run` for DVC and MLflow, `cxprobe.results` for rates and the report. Only `cxprobe.run` knows MLflow, and only
`cxprobe.models` loads a model.

What users call is imported from here (`cxprobe.load`, `cxprobe.probe` ...) and documented in `cxprobe.api`.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from cxprobe.errors import CxprobeError

# ruff: noqa: F403, F405  # the names of cxprobe.api that are public stand once, in __all__
if TYPE_CHECKING:
    from cxprobe.api import *

    __version__: str

__all__ = [
    "Comparison",
    "CxprobeError",
    "Encoder",
    "LanguageModel",
    "Survey",
    "baselines_on",
    "compare_scores",
    "evaluate",
    "list_constructions",
    "load",
    "load_encoder",
    "minimal_pairs",
    "overview",
    "probe",
    "read_pairs",
    "sentences",
]


def __getattr__(name: str) -> Any:
    """Return a public name of `cxprobe.api`, which takes seconds to import, or the version; Python asks once a name."""
    value: Any
    if name == "__version__":
        from importlib.metadata import version

        value = version("cxprobe")
    elif name in __all__:
        value = getattr(import_module("cxprobe.api"), name)
    else:
        raise AttributeError(f"module 'cxprobe' has no attribute '{name}'")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """Return all names, those too that nobody has asked for yet."""
    return sorted({*globals(), *__all__, "__version__"})
