"""How many items a benchmark has, and what it says of what a processor cannot do."""

from paired import fitting_size


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
