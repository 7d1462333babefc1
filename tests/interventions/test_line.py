from types import SimpleNamespace

import pandas as pd
import pytest

from cxprobe.interventions.line import InterventionsLine
from cxprobe.report.findings import ABOVE_BLIND, NO_DIFFERENCE, Finding


def finding_of(low: float) -> Finding:
    """Return the finding where a direction changes some answers, and random ones change none of 14."""
    row = {"model": "clm", "construction": "toy", "n": 14, "frames": 12}
    row |= {"changed": low + 0.1, "changed_low": low, "changed_high": low + 0.4}
    row |= {"random_changed": 0.0, "random_changed_low": 0.0, "random_changed_high": 0.26}
    row |= {"whole_changed": 0.5, "whole_changed_low": 0.3, "whole_changed_high": 0.7}
    row |= {"used": 1.0, "used_low": 0.5, "used_high": 2.0, "random_high": 0.02}
    inputs = SimpleNamespace(table=lambda path: pd.DataFrame([row]))
    (finding,) = InterventionsLine().findings(inputs, models=None)
    return finding


@pytest.mark.parametrize(("low", "verdict"), [(0.01, NO_DIFFERENCE), (0.25, NO_DIFFERENCE), (0.45, ABOVE_BLIND)])
def test_a_direction_is_used_where_it_changes_more_answers_than_random_ones_may(low, verdict):
    assert finding_of(low).verdict == verdict


def test_what_the_whole_vector_changes_stands_beside_what_a_direction_does():
    said = finding_of(0.01).note.replace("\xa0", " ")
    assert said.endswith("the whole vector there changes 50 % [30, 70]")
