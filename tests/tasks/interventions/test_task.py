from types import SimpleNamespace

import numpy as np
import pandas as pd

from cxprobe.results.schema import RATES
from cxprobe.results.verdict import VERDICTS
from cxprobe.tasks.interventions.task import InterventionsTask

RATE = dict.fromkeys(RATES, np.nan) | {"model": "clm", "construction": "toy", "source": "own", "facet": "used"}
CHANGED = RATE | {"measure": "changed", "low": 0.0, "high": 0.26, "n": 14, "verdict": "", "baseline": ""}
DIRECTION = {"value": 0.5, "low": 0.4, "verdict": "above_baseline", "baseline": "random directions", "chance": 0.0}
ROWS = [
    CHANGED | DIRECTION | {"level": "das.last.3", "high": 0.6, "decides": True},
    CHANGED | {"level": "random.last.3", "value": 0.0},
    CHANGED | {"level": "whole.last.3", "value": 0.75, "low": 0.7, "high": 0.8},
    CHANGED | {"level": "das.last.3", "measure": "selectivity", "value": 1.0, "low": 0.5, "high": 2.0},
]


def test_random_directions_take_the_place_of_a_baseline_on_pages():
    inputs = SimpleNamespace(rates=lambda _: pd.DataFrame(ROWS), is_placebo=lambda _: False, items_of=lambda *_: None)
    [finding] = InterventionsTask().findings(inputs, SimpleNamespace(question=lambda _, question: question))
    assert (finding.question, finding.headline, finding.control) == ("used", True, None)
    assert finding.verdict == VERDICTS["above_baseline"]
    assert (finding.baseline.model, finding.baseline.rate.value, finding.baseline.rate.high) == (
        "random directions",
        0.0,
        0.26,
    )
    note = finding.note.replace("\u00a0", " ")
    assert note == "beyond control words 1.00 [0.50, 2.00] nats; the whole vector there changes 75 % [70, 80]"
