"""Numbers as pages and tables write them."""

import pandas as pd

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


def in_full(rate: Estimate) -> str:
    """Return a rate as "89 % [82, 93], n = 720".

    One with an interval wider than 50 points, a smoke test, is a count: "15 of 48 right".
    """
    if rate.high - rate.low > WIDEST:
        return f"{round(2 * rate.value * rate.n) / 2:g} of {rate.n:,} right"  # a tie is half
    return f"{percent(rate.value)} {interval(rate)}, n{_SPACE}={_SPACE}{rate.n:,}"


def cell(value: float, low: float, high: float) -> str:
    """Return a rate and its interval in percent, such as "61.5 (58.0 to 64.9)"."""
    return f"{100 * value:.1f} ({100 * low:.1f} to {100 * high:.1f})"


def with_blanks(table: pd.DataFrame) -> pd.DataFrame:
    """Return a table in which a number that there is not is an empty text, since absent is not zero."""
    gaps = table.columns[table.isna().any()]
    return table.astype(dict.fromkeys(gaps, object)).where(table.notna(), "")
