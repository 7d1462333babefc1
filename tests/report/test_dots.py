import pandas as pd
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.figure import Figure

from cxprobe.report.dots import curves, dots, dots_of_run
from cxprobe.report.panels import add_panel, draw_x_scale, draw_y_scale, log_ticks, whole_ticks

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


def marks(figure):
    """Return the size, darkness and face of the marks in a figure's first panel, from the first row down."""
    drawn = [line for line in figure.axes[0].lines if line.get_marker() == "o" and len(line.get_xdata())]
    return [
        (line.get_markersize(), line.get_alpha(), line.get_markerfacecolor())
        for line in sorted(drawn, key=lambda line: line.get_ydata()[0])
    ]


def test_marks_of_few_items_are_smaller_and_paler_and_their_number_stands_beside_the_row():
    table = RATES.assign(n=[10, 10, 3600])
    figure = dots(table, "title", rows="construction", colours="model", panels="variant")
    few, many = marks(figure)
    assert few[0] < many[0]
    assert few[1] < many[1] == 1
    assert [text.get_text() for text in figure.axes[0].texts] == ["10", "3,600", "n"]
    assert legend_of(figure) == ["mini", "chance"]


def test_a_row_of_different_models_names_the_least_and_the_greatest_number_and_none_that_is_unknown():
    table = pd.concat([RATES, RATES.assign(model="other", n=8), RATES.assign(model="published", n=float("nan"))])
    figure = dots(table, "title", rows="construction", colours="model", panels="variant")
    assert [text.get_text() for text in figure.axes[0].texts] == ["8 to 40", "8 to 40", "n"]


def test_a_fixed_preference_is_a_hollow_mark_and_the_legend_says_so():
    table = RATES.assign(preference=[True, False, False])
    figure = dots(table, "title", rows="construction", colours="model", panels="variant")
    hollow, full = (face for _, _, face in marks(figure))
    assert hollow == "white" != full
    assert legend_of(figure) == ["mini", "chance", "hollow: a fixed preference"]


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


def test_the_texts_of_scales_stand_beside_their_ticks_and_the_place_of_a_panel_is_in_inches():
    figure = Figure(figsize=(5, 4))
    axes = add_panel(figure, 1, 0.5, 3, 2, "title")
    axes.set(xlim=(0, 10), ylim=(0, 1))
    draw_x_scale(axes, {2.0: "two"}, "words")
    draw_y_scale(axes, {0.5: "50%"}, "accuracy", grid=True)
    inches = figure.dpi_scale_trans.inverted()
    places = {text.get_text(): text.get_window_extent().transformed(inches) for text in figure.texts}
    two, half = places["two"], places["50%"]
    assert abs((two.x0 + two.x1) / 2 - 1.6) < 0.02
    assert places["words"].y1 < two.y0 < two.y1 < 0.5
    assert abs((half.y0 + half.y1) / 2 - 1.5) < 0.02
    assert places["accuracy"].x1 < half.x0 < half.x1 < 1


def test_the_figure_of_a_run_names_its_groups_with_their_numbers_of_items():
    rows = [("let-alone.A", 0.5, 0.4, 0.6, 1200, 0.5), ("all", 0.7, 0.6, 0.8, 2400, 0.25)]
    table = pd.DataFrame(rows, columns=["group", "accuracy", "low", "high", "n", "chance"])
    for chance in (0.5, None):
        figure = dots_of_run(table, "title", chance=chance)
        texts = [text.get_text() for text in figure.texts]
        assert texts[-2:] == ["let alone: A (1,200)", "all (2,400)"]
        assert figure.axes[0].get_title() == "title"
