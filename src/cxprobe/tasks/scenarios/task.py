"""The task Scenarios: its interface to checks, pages and exports."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from cxprobe.constructions.checking import FoundFaults
from cxprobe.files.tables import read_made_table
from cxprobe.files.writing import DATA
from cxprobe.results.findings import ReportModels
from cxprobe.results.inputs import ReportInputs
from cxprobe.results.params import ReportParams
from cxprobe.results.task import Demand, Example, PageTable, Task, published_table, read_demand
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
from cxprobe.text.templates import render


class ScenariosTask(Task):
    """Masked scenarios."""

    params = ScenariosStage
    title = "Scenarios"
    steps = ("make", "score")
    caveat = "A scenario offers two words, and a model that always prefers one of them is right in half of the texts."
    items_file = "scenarios.yaml"

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
        from cxprobe.tasks.scenarios.checks import lint_scenarios

        faults.read(scenarios_file(folder.name), lambda: load_scenarios(folder.name), lint_scenarios)

    def demand(self, params: ReportParams) -> Iterator[Demand]:
        """Yield what each model reads: every text with its mask once."""
        section = params.section(ScenariosParams)
        yield from read_demand(params.models, "measure_scenarios", section.models, set(read_scenarios(section)["text"]))

    def row_label(self, row: Mapping[Any, Any], items: Scenarios) -> str:
        """Return the test of a row without calibration."""
        is_shown = row["calibration"] == UNCALIBRATED
        return f"scenario {name_of_scenario(row['scenario'], items)}" if is_shown else ""

    def published(self, construction: str | None, inputs: ReportInputs, models: ReportModels) -> Iterator[PageTable]:
        """Yield accuracies and flips beside published ones."""
        items = inputs.constructions[construction].items.get(self.name) if construction else None
        if items is None or items.published is None:
            return
        for kind in ("accuracy", "flips"):
            path = f"evaluate_scenarios/tables/{construction}/{kind}_beside_published"
            title = f"Scenarios: {kind} in percent beside published values (*: differs from the published rate)"
            table = inputs.table(path)
            if any("deberta" in str(model).lower() for model in table.get("model", ())):
                title += "; DeBERTa's head is applied without its enhanced mask decoder, which transformers lacks"
            yield published_table(table, title, path, models)

    def dataset(self, params: ReportParams) -> dict[str, pd.DataFrame]:
        """Return the texts with their candidates."""
        texts = read_scenarios(params.section(ScenariosParams))
        names = texts[["construction", "item", "scenario", "test", "draw"]].astype(str)
        candidates = pd.Series(texts[["first", "second"]].to_numpy().tolist(), texts.index, dtype=object)
        return {"scenarios": texts.assign(id=names.agg("/".join, axis=1), candidates=candidates)}


def name_of_scenario(name: str, scenarios: Scenarios) -> str:
    """Return a test with what it changes, such as "S2: order of the sentences"."""
    bias = scenarios.tests[name].bias
    return f"{name}: {'base text' if name == scenarios.base else CHANGES.get(bias, bias)}"


def read_scenarios(section: ScenariosParams) -> pd.DataFrame:
    """Read the texts with a mask, with the columns construction, right and wrong: the words, "" for a calibration."""
    made = DATA / "make_scenarios"
    tables = [
        read_made_table(made / name / "texts.parquet").assign(construction=name) for name in section.constructions
    ]
    texts = pd.concat(tables, ignore_index=True)
    return texts.assign(wrong=wrong_words(texts))
