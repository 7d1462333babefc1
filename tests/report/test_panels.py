import pandas as pd
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.figure import Figure

from cxprobe.report.dots import dots_of_run
from cxprobe.report.panels import add_panel, draw_x_scale, draw_y_scale, log_ticks, whole_ticks


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
