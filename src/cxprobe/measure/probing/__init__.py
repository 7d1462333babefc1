"""Probing: what linear classifiers on a model's vectors predict.

For each balanced subset one logistic regression per layer and training draw is trained, and the controls that it is
compared with: on folds of the training part, with its labels and with random labels of words, and as an online code
(`read_sources`, `recognise`). `probe_pairs` asks of minimal pairs which text is the right one, and `cross_validate` is
what both it and the Python interface do. Whether the predictions are right is not decided here. The regularisation can
be searched on the training part (`study_probes`); what the searches found becomes tables, one database and figures
(`settings_table`, `trials_table`, `write_study`, `search_figures`).
"""

from cxprobe.measure.probing.cross_validation import cross_validate
from cxprobe.measure.probing.figures import search_figures
from cxprobe.measure.probing.paired import probe_pairs
from cxprobe.measure.probing.probes import Fitting, Regularisation, align
from cxprobe.measure.probing.recognition import Predictions, recognise
from cxprobe.measure.probing.searches import (
    Search,
    Searches,
    count_searches,
    not_searched,
    parameter_importances,
    search_all,
    settings_table,
    trial_records,
    trials_table,
    write_study,
)
from cxprobe.measure.probing.sources import ProbedSource, read_sources
from cxprobe.measure.probing.studies import Study, study_probes
from cxprobe.measure.probing.tuning import Tuned

__all__ = [
    "Fitting",
    "Predictions",
    "ProbedSource",
    "Regularisation",
    "Search",
    "Searches",
    "Study",
    "Tuned",
    "align",
    "count_searches",
    "cross_validate",
    "not_searched",
    "parameter_importances",
    "probe_pairs",
    "read_sources",
    "recognise",
    "search_all",
    "search_figures",
    "settings_table",
    "study_probes",
    "trial_records",
    "trials_table",
    "write_study",
]
