"""How the pages say numbers, and what things are called in them."""

from collections.abc import Mapping

from cxprobe.scenarios.rules import Scenarios
from cxprobe.stats import Estimate

SETS: Mapping[str, str] = {
    "templatic": "inference",
    "challenge": "inference, look-alikes",
    "reasoning": "multiple choice",
}
"""Our own sets of questions -> what they are; sets of others have their own names."""
_CHANGES = {"recency": "order of the sentences", "vocabulary": "the other word right", "name": "names exchanged"}
_SPACE = "\u00a0"


def percent(rate: float) -> str:
    """Return a rate in [0, 1] as "89 %"."""
    return f"{100 * rate:.0f}{_SPACE}%"


def interval(rate: Estimate) -> str:
    """Return an interval as "[82, 93]", in percent."""
    return f"[{100 * rate.low:.0f},{_SPACE}{100 * rate.high:.0f}]"


def number(n: float) -> str:
    """Return a number of items as "n = 2,320"."""
    return f"n{_SPACE}={_SPACE}{int(n):,}"


def in_full(rate: Estimate) -> str:
    """Return a rate as "89 % [82, 93], n = 720"."""
    return f"{percent(rate.value)} {interval(rate)}, {number(rate.n)}"


def name_of_scenario(name: str, scenarios: Scenarios) -> str:
    """Return a test with what it changes, such as "S2: order of the sentences"."""
    bias = scenarios.tests[name].bias
    return f"{name}: {'base text' if name == scenarios.base else _CHANGES.get(bias, bias)}"
