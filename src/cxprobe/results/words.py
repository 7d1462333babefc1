"""Numbers as pages and tables write them."""

import pandas as pd

from cxprobe.stats import WIDEST, Estimate

PERCENT = "{}\u00a0% [{},\u00a0{}]"
"""The pattern of rates in sentences: no line ends inside the number or the interval."""
_CHANCES = (25, 33, 50)  # in percent


def with_interval(rate: Estimate, pattern: str = "{} [{}, {}]", *, digits: str = ".0f", factor: float = 100) -> str:
    """Return a number with its interval, such as "89 [82, 93]".

    Args:
        rate: The number.
        pattern: What stands around the number and the ends of its interval, such as `PERCENT`.
        digits: How Python formats each of them. A whole percentage beside chance has a decimal, to differ from it.
        factor: What each is multiplied by: 100 for percent and points, 1 for nats and counts.
    """
    texts = [f"{factor * number:{digits}}" for number in (rate.value, rate.low, rate.high)]
    if digits == ".0f" and factor == 100:
        texts[1:] = [f"{100 * limit:.{int(round(100 * limit) in _CHANCES)}f}" for limit in (rate.low, rate.high)]
    return pattern.format(*texts)


def percent(rate: float) -> str:
    """Return a rate in [0, 1] as "89 %"."""
    return f"{100 * rate:z.0f}\u00a0%"


def share(rate: Estimate, unit: str) -> str:
    """Return a rate as "98 % [87, 100] of 40 frames".

    One with an interval wider than 50 points, a smoke test, is a count: "15 of 48 frames".
    """
    is_wide = rate.high - rate.low > WIDEST
    right = f"{round(2 * rate.value * rate.n) / 2:g}" if is_wide else with_interval(rate, PERCENT)  # a tie is half
    return f"{right} of {rate.n:,} {unit}"


def in_full(rate: Estimate) -> str:
    """Return a rate as "89 % [82, 93], n = 720", or as a count, see `share`."""
    is_wide = rate.high - rate.low > WIDEST
    return share(rate, "right") if is_wide else f"{with_interval(rate, PERCENT)}, n\u00a0=\u00a0{rate.n:,}"


def cell(value: float, low: float, high: float) -> str:
    """Return a rate and its interval in percent, such as "61.5 (58.0 to 64.9)"."""
    return with_interval(Estimate(value, low, high, 0), "{} ({} to {})", digits=".1f")


def with_blanks(table: pd.DataFrame) -> pd.DataFrame:
    """Return a table in which a number that there is not is an empty text, since absent is not zero."""
    gaps = table.columns[table.isna().any()]
    return table.astype(dict.fromkeys(gaps, object)).where(table.notna(), "")
