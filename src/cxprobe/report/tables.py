"""How numbers are written in tables for reading."""


def cell(value: float, low: float, high: float) -> str:
    """Return a rate and its interval in percent, such as "61.5 (58.0 to 64.9)"."""
    return f"{100 * value:.1f} ({100 * low:.1f} to {100 * high:.1f})"
