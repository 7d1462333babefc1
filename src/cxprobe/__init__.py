"""cxprobe: do language models know constructions, the pairings of form and meaning?

Everything is of one of four kinds, and each kind depends on those before it alone:

    make/      data: sentences, subsets, scenarios, minimal pairs, questions
    measure/   the raw answers of one model: vectors, predictions of probes, probabilities, replies
    judge/     raw answers to rates with intervals; no model is loaded
    report/    all models side by side: tables and figures

The other packages and modules are shared. A package of one kind never imports one of another kind: the scripts in
``pipelines/`` join them, and ``api``, ``cli`` and ``exports`` do so for people. Only ``tracking`` knows MLflow, only
``storage`` reads and writes data and results, and only ``models`` loads a model.

What users call is imported from here (`cxprobe.load`, `cxprobe.probe` ...) and documented in `cxprobe.api`.
"""

import gc
import os
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cxprobe.api.comparing import Comparison
    from cxprobe.api.items import list_constructions, pairs, read_pairs, sentences
    from cxprobe.api.loading import load, load_encoder
    from cxprobe.api.models import Encoder, LanguageModel
    from cxprobe.api.probing import probe

__all__ = [
    "Comparison",
    "Encoder",
    "LanguageModel",
    "list_constructions",
    "load",
    "load_encoder",
    "pairs",
    "probe",
    "read_pairs",
    "sentences",
]

if "DVC_STAGE" in os.environ:
    # In the process of a stage nothing that is imported becomes garbage, and looking for garbage meanwhile takes a
    # fifth of the time. `cxprobe.stages.run_stage` switches the collector on.
    gc.disable()


def __getattr__(name: str) -> Any:
    """Return a public name of `cxprobe.api`, which is imported only then: it takes seconds, and no stage needs it."""
    if name in __all__:
        return getattr(import_module("cxprobe.api"), name)
    raise AttributeError(f"module 'cxprobe' has no attribute '{name}'")
