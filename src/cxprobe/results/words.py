"""How numbers are written in pages."""

from cxprobe.stats import WIDEST, Estimate

_SPACE = "\u00a0"
_CHANCES = (25, 33, 50)  # in percent


def percent(rate: float) -> str:
    """Return a rate in [0, 1] as "89 %"."""
    return f"{100 * rate:.0f}{_SPACE}%"


def interval(rate: Estimate) -> str:
    """Return an interval as "[82, 93]", in percent; a limit beside chance has a decimal, to differ from it."""
    low, high = (f"{100 * limit:.{int(round(100 * limit) in _CHANCES)}f}" for limit in (rate.low, rate.high))
    return f"[{low},{_SPACE}{high}]"


def number(n: float) -> str:
    """Return a number of items as "n = 2,320"."""
    return f"n{_SPACE}={_SPACE}{int(n):,}"


def is_smoke_test(rate: Estimate) -> bool:
    """Return whether a rate is of too few independent items to say anything: its interval is wider than 50 points."""
    return rate.high - rate.low > WIDEST


def in_full(rate: Estimate) -> str:
    """Return a rate as "89 % [82, 93], n = 720", and that of a smoke test as a count: "15 of 48 right"."""
    if is_smoke_test(rate):
        return f"{round(2 * rate.value * rate.n) / 2:g} of {rate.n:,} right"  # a tie is half
    return f"{percent(rate.value)} {interval(rate)}, {number(rate.n)}"
