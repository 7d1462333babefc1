"""Probing: can a linear classifier read the construction off a model's vectors?

`recognise` trains one logistic regression per layer on a balanced subset, beside the controls that it has to beat;
`tune_layers` searches for the regularisation, on the training part alone.
"""

from cxprobe.probing.probes import Regularisation, align
from cxprobe.probing.recognition import Predictions, recognise
from cxprobe.probing.tuning import Tuned, tune_layers

__all__ = ["Predictions", "Regularisation", "Tuned", "align", "recognise", "tune_layers"]
