"""How many items a benchmark has, and what it says of what a processor cannot do."""

from paired import fitting_size
from results import LeftOut, Ratio, as_markdown


def size_for(seconds_per_item: float) -> int:
    """Return the size on a processor that needs so long, by a clock of its own."""
    now = [0.0]

    def ways_of(number):
        return {"ours": lambda: now.__setitem__(0, now[0] + number * seconds_per_item)}

    return fitting_size(ways_of, 1200, clock=lambda: now[0])[0]


def test_the_size_of_a_benchmark_follows_from_a_short_measurement():
    assert size_for(0.001) == 1200
    assert size_for(0.1) == 200
    assert size_for(2.0) == 0  # too slow for 16


def test_the_page_says_what_was_left_out():
    page = as_markdown(
        [Ratio("scores", "ours", "theirs", [2.0, 3.0], 1), LeftOut("extraction, bfloat16", "left out: 9 s")]
    )
    assert "| scores | ours | theirs | 2.50 (2.00 to 3.00) | 1, met |" in page
    assert "| extraction, bfloat16 | | | left out: 9 s | |" in page
