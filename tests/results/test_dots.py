import pandas as pd

from cxprobe.results.dots import curves


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
    [legend] = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["ab", "cd"]
