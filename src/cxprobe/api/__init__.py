"""The Python interface: scores, surprisals, vectors and probes in a few lines, from any folder.

Everything here can be imported from ``cxprobe`` itself:

    >>> import cxprobe
    >>> lm = cxprobe.load("mini-clm")
    >>> lm.surprisal(["The more you practise, the better you get."]).columns.tolist()
    ['sentence', 'position', 'word', 'tokens', 'surprisal', 'log_probability']

No project is needed: neither params.yaml nor git nor DVC. The stages of the pipeline compute with the same functions,
so that numbers are the same here and there. Results are pandas tables with the columns that each function names, or
numpy arrays with the shape that it names. What cannot be answered raises `cxprobe.errors.CxprobeError`, whose message
says what to do.
"""

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
