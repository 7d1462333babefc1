"""What the findings about prompts say."""

from types import SimpleNamespace

import pandas as pd
import pytest

from cxprobe.prompts.line import PromptsLine
from cxprobe.report.findings import CANNOT_BE_TOLD, DOES_NOT, KNOWS, WITHOUT_CONSTRUCTION, Finding


def findings_of(low: float, difference_low: float, *control_lows: float) -> list[Finding]:
    """Return the findings about a construction and its controls, of a model with these lower ends of its intervals."""
    how = {"model": "clm", "asked": "pmi", "shots": 0, "chain_of_thought": False, "chance": 1 / 3, "n": 30}
    asked = [("toy", "templatic", low)]
    asked += [(f"plain-{number}", "templatic-control", end) for number, end in enumerate(control_lows)]
    rows = []
    for name, of, end in asked:
        row = {"construction": name, "set": of, "control": name != "toy"}
        rows.append(how | row | {"accuracy": end + 0.1, "low": end, "high": end + 0.2})
    compared = {"compares": "best blind", "first": "clm", "construction": "toy", "set": "templatic"}
    compared |= {"difference": difference_low + 0.1, "low": difference_low, "p_holm": float("nan")}
    tables = {"report_prompts/tables/comparisons": pd.DataFrame([compared])}
    params = SimpleNamespace(section=lambda _: SimpleNamespace(judge=SimpleNamespace(score="pmi")))
    stage = SimpleNamespace(params=params)
    inputs = SimpleNamespace(table=lambda path: tables.get(path, pd.DataFrame(rows)), stage=stage)
    models = SimpleNamespace(best=lambda _: None, question=lambda *_: "meaning")
    return list(PromptsLine().findings(inputs, models))


@pytest.mark.parametrize(
    ("low", "control_low", "difference_low", "verdict"),
    [
        (0.2, 0.3, -0.1, CANNOT_BE_TOLD),  # it is not right about plain sentences either
        (0.2, 0.4, -0.1, DOES_NOT),
        (0.5, 0.4, 0.1, KNOWS),
        (0.5, 0.4, -0.1, WITHOUT_CONSTRUCTION),
    ],
)
def test_a_rate_is_read_beside_the_same_format_about_plain_sentences(low, control_low, difference_low, verdict):
    finding, control = findings_of(low, difference_low, control_low)
    assert finding.settled == verdict
    assert finding.control.low == pytest.approx(control_low)
    assert (finding.headline, control.headline, control.settled) == (True, False, None)


@pytest.mark.parametrize("lows", [(0.3, 0.4), (0.4, 0.3)])
def test_of_two_controls_neither_replaces_the_other_and_the_one_that_is_not_passed_decides(lows):
    finding, *controls = findings_of(0.2, -0.1, *lows)
    assert finding.settled == CANNOT_BE_TOLD
    assert finding.control.low == 0.3
    assert [control.rate.low for control in controls] == [*lows]
    assert findings_of(0.2, -0.1, 0.4, 0.5)[0].settled == DOES_NOT
