from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from cxprobe.interventions.line import InterventionsLine
from cxprobe.report.findings import ABOVE_BLIND, CANNOT_BE_TOLD, DOES_NOT, NO_DIFFERENCE, Finding


def row_of(low: float, construction: str = "toy", expected_low: float = np.nan, **more: object) -> dict[str, object]:
    """Return the row where a direction changes some answers, and random ones change none of 14."""
    row = {"model": "clm", "construction": construction, "tests": "meaning", "control": "plain", "n": 14, "frames": 12}
    row |= {"changed": low + 0.1, "changed_low": low, "changed_high": low + 0.4}
    row |= {"random_changed": 0.0, "random_changed_low": 0.0, "random_changed_high": 0.26}
    row |= {"whole_changed": 0.5, "whole_changed_low": 0.3, "whole_changed_high": 0.7}
    row |= {"used": 1.0, "used_low": 0.5, "used_high": 2.0, "random_high": 0.02}
    row |= {"control_expected": expected_low + 0.1, "control_expected_low": expected_low}
    row |= {"control_expected_high": expected_low + 0.2, "control_n": 0 * expected_low + 14}
    return row | more


def finding_of(row: dict[str, object], *others: dict[str, object]) -> Finding:
    """Return the finding of a row in the table of these rows."""
    inputs = SimpleNamespace(table=lambda path: pd.DataFrame([row, *others]))
    return next(iter(InterventionsLine().findings(inputs, models=None)))


@pytest.mark.parametrize(("low", "verdict"), [(0.01, NO_DIFFERENCE), (0.25, NO_DIFFERENCE), (0.45, ABOVE_BLIND)])
def test_a_direction_is_used_where_it_changes_more_answers_than_random_ones_may(low, verdict):
    finding = finding_of(row_of(low))
    assert finding.verdict == verdict
    assert finding.control is None


@pytest.mark.parametrize(
    ("expected_low", "changed_in_control", "verdict"),
    [
        (0.45, None, CANNOT_BE_TOLD),  # the model is not right where plain words say who gives
        (0.6, None, NO_DIFFERENCE),  # it is, and no direction was learnt there
        (0.6, 0.1, CANNOT_BE_TOLD),  # it is, and no direction is found there either
        (0.6, 0.4, DOES_NOT),
    ],
)
def test_that_nothing_changes_is_read_beside_the_control(expected_low, changed_in_control, verdict):
    learnt = [] if changed_in_control is None else [row_of(changed_in_control, "plain", tests="control", control="")]
    finding = finding_of(row_of(0.01, expected_low=expected_low), *learnt)
    assert finding.verdict == verdict
    assert finding.control.low == expected_low
    assert finding_of(row_of(0.45, expected_low=expected_low), *learnt).verdict == ABOVE_BLIND
