import pandas as pd
from hypothesis import given
from hypothesis import strategies as st

from cxprobe.report.dots import curves, dots
from cxprobe.report.panels import log_ticks, whole_ticks

RATES = pd.DataFrame(
    [("let-alone", "A", "mini", 0.9), ("let-alone", "B", "mini", 0.8), ("conative", "A", "mini", 0.7)],
    columns=["construction", "variant", "model", "accuracy"],
).assign(low=0.5, high=1.0, n=40)


def legend_of(figure):
    (legend,) = figure.legends
    return [text.get_text() for text in legend.get_texts()]


def drawn(best):
    """Return the best of the blind as they are drawn: panel -> (rate, row)."""
    figure = dots(RATES, "title", rows="construction", colours="model", panels="variant", marks={"best blind": best})
    found = {}
    for axes in figure.axes:
        for lines in axes.collections:
            if lines.get_label() == "best blind":
                segments = [segment.tolist() for segment in lines.get_segments()]
                found[axes.get_title()] = [(top[0], (top[1] + bottom[1]) / 2) for top, bottom in segments]
    return found, legend_of(figure)


def test_the_best_of_the_blind_is_a_tick_in_its_row_and_panel():
    best = pd.DataFrame(
        [("conative", "A", 0.6), ("let-alone", "B", 0.4)], columns=["construction", "variant", "accuracy"]
    )
    found, legend = drawn(best)
    assert found == {"A": [(0.6, 1.0)], "B": [(0.4, 0.0)]}
    assert legend == ["mini", "best blind", "chance"]


def test_curves_have_a_colour_and_a_marker_for_each_value_of_a_column():
    rows = [
        (size, place, kind) for size in (1e6, 1e9, 1e3) for place in ("bias (i)", "changed") for kind in ("ab", "cd")
    ]
    table = pd.DataFrame(rows, columns=["size", "place", "kind"])
    table = table.assign(share=[number / 20 for number in range(12)], low=0.0, high=1.0, n=1200)
    figure = curves(table, "title", x="size", panels="place", colours="kind", value="share", chance=None)
    for axes, place in zip(figure.axes, ("bias (i)", "changed"), strict=True):
        assert axes.get_title() == f"{place}\n(n = 1,200)"
        found = {line.get_label(): line for line in axes.lines}
        assert list(found) == ["ab", "cd"]
        assert len({(line.get_color(), line.get_marker()) for line in found.values()}) == 2
        for kind, line in found.items():
            own = table[(table["place"] == place) & (table["kind"] == kind)].set_index("size")["share"]
            assert dict(zip(line.get_xdata(), line.get_ydata(), strict=True)) == own.to_dict()
            assert line.get_xdata().tolist() == [1e3, 1e6, 1e9]
    assert legend_of(figure) == ["ab", "cd"]


@given(st.lists(st.floats(1, 1e12), min_size=2, unique=True))
def test_a_log_scale_has_two_to_four_ticks_within_the_values(values):
    ticks = log_ticks(values)
    assert len(ticks) == len(set(ticks)) in (2, 3, 4)
    assert min(values) <= min(ticks) < max(ticks) <= max(values)
    assert all(float(text) > 0 for text in ticks.values())


@given(st.lists(st.integers(0, 40), min_size=1))
def test_a_scale_of_whole_numbers_has_whole_numbers_within_the_values(values):
    ticks = whole_ticks(values)
    assert all(float(text) == tick == int(tick) for tick, text in ticks.items())
    assert all(min(values) <= tick <= max(values) for tick in ticks)
    assert len(ticks) <= 8
