"""Interventions as a line of work: what lists of lines see of it."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import ClassVar

import pandas as pd

from cxprobe.constructions.checking import FoundFaults, is_there
from cxprobe.constructions.people import PEOPLE_FILE, load_people
from cxprobe.files.writing import DATA
from cxprobe.interventions.names import INTERVENTIONS, TEST, TRAIN
from cxprobe.interventions.params import InterventionsParams, InterventionsStage
from cxprobe.interventions.sentences import LabelledSentences, fill_labelled, interventions_file, load_labelled
from cxprobe.report.answers import read_made_table
from cxprobe.report.findings import ReportModels
from cxprobe.report.inputs import ReportInputs
from cxprobe.report.line import Demand, Example, Line, PageTable, read_demand
from cxprobe.report.params import ReportParams

USUAL_LAYERS = 24
_READ = ["part", "regions", "base_before", "source_before"]
MADE_ITEMS = DATA / "make_interventions" / "items.parquet"


class InterventionsLine(Line):
    """Vectors that are exchanged between sentences."""

    params = InterventionsStage
    title = "Interventions"
    asked_by = "by interventions"
    steps = ("make", "measure")
    measured: ClassVar[Mapping[str, str]] = {"measure_interventions": "models"}

    def items_in(self, construction: str) -> list[str]:
        """Return the construction if it has sentences for interventions."""
        return [construction] if interventions_file(construction).is_file() else []

    def read_items(self, entries: Sequence[str], use: Callable[[Path], Path]) -> LabelledSentences:
        """Read the sentences of a construction."""
        use(interventions_file(entries[0]))
        return load_labelled(entries[0], load_people(use(PEOPLE_FILE)))

    def examples(self, items: LabelledSentences) -> Iterator[Example]:
        """Yield each sentence with each label and the first words."""
        for name, sentence in items.content.sentences.items():
            filled = [fill_labelled(items.content, sentence, label, items.first) for label in items.content.labels]
            for (label, one), other in zip(zip(items.content.labels, filled, strict=True), filled[::-1], strict=True):
                yield Example(f"intervention {name}, {label}", f"{one.before} …", one.answer, other.answer)

    def check_construction(self, folder: Path, faults: FoundFaults) -> None:
        """Check interventions.yaml, and the frames that fill it."""
        if is_there(PEOPLE_FILE) and (people := faults.attempt(load_people)) is not None:
            faults.read(interventions_file(folder.name), partial(load_labelled, folder.name, people))

    def check_params(self, params: ReportParams, faults: FoundFaults) -> None:
        """Check that each construction has sentences for interventions."""
        for name in params.section(InterventionsParams).constructions:
            faults.require("interventions.constructions", name, interventions_file(name))

    def demand(self, params: ReportParams) -> Iterator[Demand]:
        """Yield what each model reads, each sentence and each exchange; all layers count as `USUAL_LAYERS`."""
        section = params.section(InterventionsParams)
        layers, texts = section.measure.layers or USUAL_LAYERS, list[str]()
        of_das = 8 * section.measure.steps // max(section.make.train, 1)  # 4 items a step, with two kinds of labels
        exchanges = {TRAIN: of_das, TEST: len(INTERVENTIONS) + section.measure.draws}
        for part, regions, *sides in read_made_table(MADE_ITEMS)[_READ].itertuples(index=False):
            texts += [*sides, *(sides[:1] * (layers * len(regions) * exchanges[part]))]
        yield from read_demand(params.models, "measure_interventions", section.models, texts)

    def tables(self, column: str, value: str, inputs: ReportInputs, models: ReportModels) -> Iterator[PageTable]:
        """Yield what interventions do in models on a construction, or in a model."""
        path = f"report_{self.name}/tables/effects"
        table = inputs.table(path)
        if table.empty:
            return
        other = {"construction": "model", "model": "construction"}[column]
        head = [
            other,
            "intervention",
            "labels",
            "effect in nats",
            "interval over frames",
            "answers that change",
            "items",
        ]
        rows = [
            [
                models.label(str(row[other])),
                str(row["intervention"]),
                str(row["labels"]),
                f"{row['effect']:.2f}",
                f"[{row['low']:.2f}, {row['high']:.2f}]",
                f"{100 * row['changed']:.0f} % [{100 * row['changed_low']:.0f}, {100 * row['changed_high']:.0f}]",
                f"{int(row['n']):,}",
            ]
            for row in table[table[column] == value].to_dict("records")
        ]
        yield PageTable("Is it used? Vectors exchanged between two sentences", path, head, rows)

    def answers(self, params: ReportParams, judged: Path) -> pd.DataFrame:
        """Return no answers: a row would be about an exchange and not about an answer of the model."""
        del params, judged
        return pd.DataFrame(columns=["model"])
