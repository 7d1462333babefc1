"""The task Scenarios: its interface to checks, pages and exports."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from cxprobe.constructions.checking import Fault, FoundFaults, repeated
from cxprobe.results.params import ReportParams
from cxprobe.results.published import Beside
from cxprobe.results.task import Demand, Example, ExportedItems, Shown, Task, read_demand
from cxprobe.tasks.scenarios.evaluate import UNCALIBRATED
from cxprobe.tasks.scenarios.params import ScenariosParams, ScenariosStage
from cxprobe.tasks.scenarios.rules import (
    CHANGES,
    PURPOSES,
    Scenarios,
    example_words,
    load_scenarios,
    scenarios_file,
    wrong_words,
)
from cxprobe.text import WORD_MASK, faults_of_text, render, slots_of


class ScenariosTask(Task):
    """Masked scenarios."""

    params = ScenariosStage
    title = "Scenarios"
    asks = ("masked",)
    caveat = "A scenario offers two words, and a model that always prefers one of them is right in half of the texts."
    items_file = "scenarios.yaml"
    beside = Beside(
        "Scenarios: percent beside published values (*: differs from the published rate); DeBERTa's head is applied "
        "without its enhanced mask decoder, which transformers lacks"
    )

    def read_items(self, entries: Sequence[str], use: Callable[[Path], Path]) -> Scenarios:
        """Read the scenarios of a construction."""
        use(scenarios_file(entries[0]))
        return load_scenarios(entries[0])

    def examples(self, items: Scenarios) -> Iterator[Example]:
        """Yield each test and calibration with the first words."""
        first, second = items.candidates
        for name, test in items.tests.items():
            for number, one in enumerate(test.texts, start=1):
                words = example_words(items, f"{one.text} {{{first}}} {{{second}}}")
                kind = f"scenario {name_of_scenario(name, items)}" + (f", text {number}" if test.others else "")
                wrong = second if one.answer == first else first
                yield Example(kind, render(one.text, example_words(items, one.text)), words[one.answer], words[wrong])
        for name, calibration in items.calibrations.items():
            text = calibration.texts[0]
            kind = f"scenario {name}, calibration: {PURPOSES.get(calibration.purpose, calibration.purpose)}"
            yield Example(kind, render(text, example_words(items, text)), "none", "")

    def check_construction(self, folder: Path, faults: FoundFaults) -> None:
        """Check scenarios.yaml."""
        faults.read(scenarios_file(folder.name), lambda: load_scenarios(folder.name), lint_scenarios)

    def demand(self, params: ReportParams) -> Iterator[Demand]:
        """Yield what each model reads: every text with its mask once."""
        section = params.section(ScenariosParams)
        yield from read_demand(params.models, "measure_scenarios", section.models, set(section.texts()["text"]))

    def shown(self, row: Mapping[Any, Any], rates: pd.DataFrame, items: Scenarios) -> Shown | None:
        """Return the test of a row without calibration."""
        if row["calibration"] != UNCALIBRATED:
            return None
        return Shown(f"scenario {name_of_scenario(row['scenario'], items)}")

    def export(self, params: ReportParams) -> ExportedItems:
        """Return the texts with their candidates."""
        texts = params.section(ScenariosParams).texts()
        names = texts[["construction", "item", "scenario", "test", "draw"]].astype(str)
        candidates = pd.Series(texts[["first", "second"]].to_numpy().tolist(), texts.index, dtype=object)
        ids, wrong = names.agg("/".join, axis=1), wrong_words(texts)
        return ExportedItems({"scenarios": texts.assign(wrong=wrong, id=ids, candidates=candidates)})


def name_of_scenario(name: str, scenarios: Scenarios) -> str:
    """Return a test with what it changes, such as "S2: order of the sentences"."""
    bias = scenarios.tests[name].bias
    return f"{name}: {'base text' if name == scenarios.base else CHANGES.get(bias, bias)}"


def lint_scenarios(scenarios: Scenarios) -> Iterator[Fault]:
    """Find what is wrong with the tests and the calibrations of a construction.

    Args:
        scenarios: Its scenarios.yaml.

    Returns:
        Faults: calibrations that show one candidate more often than the other where the base test does not; the same
        text twice; and what is wrong with a text that has its words (`faults_of_text`).
    """
    texts, base = list(scenarios.texts()), _counts(scenarios, scenarios.tests[scenarios.base].text)
    for keys, text in texts:
        counts = _counts(scenarios, text)
        # A text without both shows how probable they are by themselves; one with both equally often repeats less.
        if keys[0] == "calibrations" and counts != base and len(set(counts.values())) > 1:
            yield Fault(
                keys,
                f"{text!r} shows the candidates unequally often ({counts}; the base test: {base}); a text without an "
                "answer is to favour none of them: show both as the base does, or neither",
            )
    for keys, known, text in repeated(texts):
        yield Fault(keys, f"{text!r} says the same as {'.'.join(map(str, known))}; take one of them out")
    candidates = "".join(f" {{{slot}}}" for slot in scenarios.candidates)
    for keys, text in texts:
        for turn in range(max(len(words.rows) for words in scenarios.words.values())):
            words = example_words(scenarios, text + candidates, turn)
            for slot in scenarios.candidates:
                asked = render(text, words).replace(WORD_MASK, words[slot])
                yield from (Fault(keys, what) for what in faults_of_text(asked))


def _counts(scenarios: Scenarios, text: str) -> dict[str, int]:
    return {slot: slots_of(text).count(slot) for slot in scenarios.candidates}
