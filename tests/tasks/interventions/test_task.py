from types import SimpleNamespace

import numpy as np
import pandas as pd

from cxprobe.results.rates import columns_of
from cxprobe.results.schema import RATES
from cxprobe.results.task import findings_of
from cxprobe.tasks.interventions.evaluate import FACETS
from cxprobe.tasks.interventions.task import InterventionsTask

RATE = dict.fromkeys(RATES, np.nan) | {"model": "clm", "construction": "toy", "source": "own"}
RATE |= dict.fromkeys(columns_of(FACETS), "") | {"region": "last", "layer": "3", "question": "used"}
CHANGED = RATE | {"measure": "changed", "low": 0.0, "high": 0.26, "n": 14, "verdict": "", "baseline": ""}
DIRECTION = {"value": 0.5, "low": 0.4, "verdict": "above_baseline", "baseline": "random directions", "chance": 0.0}
ROWS = [
    CHANGED | DIRECTION | {"intervention": "das", "high": 0.6, "decides": True},
    CHANGED | {"intervention": "random", "value": 0.0},
    CHANGED | {"intervention": "whole", "value": 0.75, "low": 0.7, "high": 0.8},
    CHANGED | {"intervention": "das", "measure": "selectivity", "value": 1.0, "low": 0.5, "high": 2.0},
]
TOY = SimpleNamespace(items={}, construction=SimpleNamespace(placebo=False))


def test_random_directions_take_the_place_of_a_baseline_on_pages():
    [finding] = findings_of({"interventions": pd.DataFrame(ROWS)}, {"interventions": InterventionsTask()}, {"toy": TOY})
    assert (finding.question, finding.headline, finding.control) == ("used", True, None)
    assert finding.row["verdict"] == "above_baseline"
    baseline = finding.baseline
    assert (baseline.name, baseline.rate.value, baseline.rate.high) == ("random directions", 0.0, 0.26)
