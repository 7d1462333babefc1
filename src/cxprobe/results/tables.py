"""How numbers are written in tables for reading."""

import pandas as pd


def cell(value: float, low: float, high: float) -> str:
    """Return a rate and its interval in percent, such as "61.5 (58.0 to 64.9)"."""
    return f"{100 * value:.1f} ({100 * low:.1f} to {100 * high:.1f})"


def with_blanks(table: pd.DataFrame) -> pd.DataFrame:
    """Return a table in which a number that there is not is an empty text, since absent is not zero."""
    gaps = table.columns[table.isna().any()]
    return table.astype(dict.fromkeys(gaps, object)).where(table.notna(), "")
