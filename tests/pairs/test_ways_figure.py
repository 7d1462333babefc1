"""The figure of the same pairs asked in several ways."""

import pandas as pd

from cxprobe.pairs.figures import ways_figure


def test_every_way_that_was_tried_has_a_mark_and_says_what_it_is():
    rates = pd.DataFrame(
        [("toy", way, 0.6, 0.5, 0.7, 24) for way in ("words", "recognised", "expected")],
        columns=["construction", "way", "accuracy", "low", "high", "n"],
    )
    figure = ways_figure(rates, "mlm, the same pairs")
    labels = [text.get_text() for text in figure.legends[0].get_texts()]
    assert labels[:3] == ["probe on counts of words", "probe (best layer of other frames)", "likelihood"]
    assert "24" in [text.get_text() for text in figure.axes[0].texts]
