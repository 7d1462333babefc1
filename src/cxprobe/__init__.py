"""cxprobe: do language models know constructions, the pairings of form and meaning?

There is one package for each line of work, and none of them imports another:

    recognition/    probes of form
    scenarios/      masked scenarios, biases, calibration
    pairs/          minimal pairs, the project's own and those of others
    prompts/        inference and reasoning, asked in words or by likelihood

Inside a line, data are made, models are measured (raw answers, kept as they come), answers are judged (rates with
intervals), and all models are reported side by side. The other packages are shared: ``constructions`` and ``corpora``
for what items are made from, ``lm`` for models, ``people`` for labels and ratings, ``run`` for DVC and MLflow,
``report`` for the site. Only ``run`` knows MLflow, and only ``lm`` loads a model.

What users call is imported from here (`cxprobe.load`, `cxprobe.probe` ...) and documented in `cxprobe.api`.
"""

import gc
import os
from importlib import import_module
from typing import TYPE_CHECKING, Any

# ruff: noqa: F403, F405  # the names of cxprobe.api that are public stand once, in __all__
if TYPE_CHECKING:
    from cxprobe.api import *

__all__ = [
    "Comparison",
    "Encoder",
    "LanguageModel",
    "list_constructions",
    "load",
    "load_encoder",
    "minimal_pairs",
    "probe",
    "read_pairs",
    "sentences",
]

if "DVC_STAGE" in os.environ:
    # In the process of a stage nothing that is imported becomes garbage, and looking for garbage meanwhile takes a
    # fifth of the time. `cxprobe.run.running.run_stage` switches the collector on.
    gc.disable()


def __getattr__(name: str) -> Any:
    """Return a public name of `cxprobe.api`, which is imported only then: it takes seconds, and no stage needs it."""
    if name in __all__:
        collects = gc.isenabled()
        gc.disable()  # as above: a fifth of the time
        try:
            return getattr(import_module("cxprobe.api"), name)
        finally:
            gc.freeze()
            if collects:
                gc.enable()
    raise AttributeError(f"module 'cxprobe' has no attribute '{name}'")
