"""cxprobe: do language models know constructions, the pairings of form and meaning?

Everything is of one of four kinds, and each kind depends on those before it alone:

    make/      data: sentences, subsets, scenarios, minimal pairs, questions
    measure/   the raw answers of one model: vectors, predictions of probes, probabilities, replies
    judge/     raw answers to rates with intervals; no model is loaded
    report/    all models side by side: tables and figures

The other packages and modules are shared. A package of one kind never imports one of another kind: the scripts in
``pipelines/`` join them. Only ``tracking`` knows MLflow, only ``storage`` reads and writes data and results, and only
``models`` loads a model.
"""

import gc
import os

if "DVC_STAGE" in os.environ:
    # In the process of a stage nothing that is imported becomes garbage, and looking for garbage meanwhile takes a
    # fifth of the time. `cxprobe.stages.run_stage` switches the collector on.
    gc.disable()
