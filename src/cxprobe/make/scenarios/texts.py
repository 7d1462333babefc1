"""The texts of every item: its tests, and its calibrations with the words that vary in them."""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from cxprobe.constructions import Calibration, Scenarios, slots_of, spell
from cxprobe.make.scenarios.items import draw_rows, fill_slots
from cxprobe.seeding import generator_for


def fill_texts(scenarios: Scenarios, items: pd.DataFrame, *, seed: int) -> pd.DataFrame:
    """Return every text of every item, in the tests and in the calibrations.

    Args:
        scenarios: The texts.
        items: What `enumerate_items` returns.
        seed: The project's seed. The words that vary in a calibration's text are drawn for the rest of the text, so
            items that share the rest share the draws.

    Returns:
        One row per item, scenario and text, in the order of the items: item; scenario, the name of a test or
        calibration; draw, the number of the text in its scenario, from 0; text, with one "[MASK]"; and the two
        candidates, first and second.
    """
    first, second = scenarios.candidates
    known: dict[tuple[str, ...], list[str]] = {}
    rows = []
    for id_, words in zip(items["id"], _words(scenarios, items), strict=True):
        texts = [(name, 0, spell(test.text, words)) for name, test in scenarios.tests.items()]
        for name, calibration in scenarios.calibrations.items():
            drawn: list[str] = []
            for template in calibration.texts:
                kept = _kept(scenarios, calibration, template, words)
                key = (name, template, *kept.values())
                if key not in known:
                    varied = _vary(scenarios, calibration, kept, generator_for(seed, *key))
                    known[key] = [spell(template, {**kept, **draw}) for draw in varied]
                drawn += known[key]
            texts += [(name, draw, text) for draw, text in enumerate(drawn)]
        rows += [(id_, *text, words[first], words[second]) for text in texts]
    return pd.DataFrame(rows, columns=["item", "scenario", "draw", "text", "first", "second"])


def _words(scenarios: Scenarios, items: pd.DataFrame) -> list[dict[str, str]]:
    slots = scenarios.slots_of_items()
    return [dict(zip(slots, words, strict=True)) for words in items[slots].itertuples(index=False)]


def _kept(scenarios: Scenarios, calibration: Calibration, template: str, words: Mapping[str, str]) -> dict[str, str]:
    """Return the slots of a calibration's text that have the item's own words."""
    varied = {scenarios.row_of(slot) for slot in calibration.vary}
    return {slot: words[slot] for slot in slots_of(template) if scenarios.row_of(slot) not in varied}


def _vary(
    scenarios: Scenarios, calibration: Calibration, kept: Mapping[str, str], generator: np.random.Generator
) -> list[dict[str, str]]:
    """Return each draw's words for the slots that vary; none of them is in the text already."""
    varied = sorted({scenarios.row_of(slot) for slot in calibration.vary})
    draws: list[dict[str, str]] = [{} for _ in range(calibration.draws)]
    for name in sorted({name for name, _ in varied}):
        words = scenarios.words[name]
        numbers = [number for other, number in varied if other == name]
        left = [row for row in words.rows if not set(row) & set(kept.values())]
        for slots, rows in zip(draws, draw_rows(left, len(numbers), calibration.draws, generator), strict=True):
            for number, row in zip(numbers, rows, strict=True):
                turned = words.turned and generator.random() < 0.5
                slots |= fill_slots(words, number, row[::-1] if turned else row)
    return draws
