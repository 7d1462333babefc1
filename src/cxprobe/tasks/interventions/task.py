"""The task Interventions: its interface to checks, pages and exports."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from cxprobe.constructions.checking import Fault, FoundFaults, is_there
from cxprobe.constructions.construction import PEOPLE_FILE, load_people
from cxprobe.files.tables import read_made_table
from cxprobe.results.params import ReportParams, task_members
from cxprobe.results.published import Beside
from cxprobe.results.task import Demand, Example, ReportInputs, Shown, Task, read_demand
from cxprobe.tasks.interventions import params as names
from cxprobe.tasks.interventions.evaluate import USED, figures_by_layer
from cxprobe.tasks.interventions.make import (
    LabelledSentences,
    fill_labelled,
    interventions_file,
    load_labelled,
    load_neutral,
)
from cxprobe.tasks.interventions.params import InterventionsParams, InterventionsStage
from cxprobe.text import faults_of_text

if TYPE_CHECKING:
    from matplotlib.figure import Figure

USUAL_LAYERS = 24
_READ = ["construction", "part", "regions", "base_before", "source_before"]


class InterventionsTask(Task):
    """Vectors that are exchanged between sentences."""

    params = InterventionsStage
    title = "Interventions"
    caveat = (
        "A direction that changes answers is used by the model, which does not show that it stands for the meaning."
    )
    items_file = "interventions.yaml"
    beside = Beside(
        "Effects of interventions beside published ones, which are about other items, in nats", is_whole=True
    )

    def read_items(self, entries: Sequence[str], use: Callable[[Path], Path]) -> LabelledSentences:
        """Read the sentences of a construction."""
        use(interventions_file(entries[0]))
        return load_labelled(entries[0], load_people(use(PEOPLE_FILE)))

    def examples(self, items: LabelledSentences) -> Iterator[Example]:
        """Yield each sentence with each label, its slots filled with their first words."""
        for name, sentence in items.content.sentences.items():
            filled = [fill_labelled(items.content, sentence, label, items.first) for label in items.content.labels]
            for (label, one), other in zip(zip(items.content.labels, filled, strict=True), filled[::-1], strict=True):
                yield Example(f"intervention {name}, {label}", f"{one.before} …", one.answer, other.answer)

    def check_construction(self, folder: Path, faults: FoundFaults) -> None:
        """Check interventions.yaml, and the frames that fill it."""
        if is_there(PEOPLE_FILE) and (people := faults.attempt(load_people)) is not None:
            load = partial(load_labelled, folder.name, people)
            faults.read(interventions_file(folder.name), load, _faults_of_sentences)

    def check(self, params: ReportParams | None, faults: FoundFaults) -> None:
        """Check the sentences that are needed, and the neutral ones."""
        super().check(params, faults)
        if params is None or params.section(InterventionsParams).constructions:
            faults.attempt(load_neutral)

    def demand(self, params: ReportParams) -> Iterator[Demand]:
        """Yield the texts that each model reads; it reads a base again for each exchange in each layer.

        If params.yaml asks for all layers, they count as `USUAL_LAYERS`.
        """
        section, texts = params.section(InterventionsParams), list[str]()
        layers, draws = section.measure.layers or USUAL_LAYERS, section.measure.draws
        learnt = len(section.make.learn or section.constructions)
        of_das = 8 * section.measure.steps // max(section.make.train, 1)  # 4 items a step, with two kinds of labels
        every = len(names.INTERVENTIONS) + draws  # random ones count once a draw, and DAS for control words too
        moved = 2 * learnt * (len(names.TRANSFERRED) + draws - 1)  # at the first and the last region
        for name, part, regions, *sides in read_made_table(names.MADE_ITEMS)[_READ].itertuples(index=False):
            own = 0 if name == names.NEUTRAL else len(regions) * every
            exchanges = len(regions) * of_das if part == names.TRAIN else moved + own
            texts += [*sides, *(sides[:1] * (layers * exchanges))]
        yield from read_demand(params.models, "measure_interventions", section.models, texts)

    def shown(self, row: Mapping[Any, Any], rates: pd.DataFrame, items: Any) -> Shown | None:
        """Return rates of changed answers, beside those of random directions; others are in tables."""
        if row["measure"] != "changed":
            return None
        used = rates[USED.among(rates)]
        place = [row["model"], row["construction"], row["measure"], names.RANDOM]
        same = used[(used[["model", "construction", "measure", "intervention"]] == place).all(axis=1)]
        way = "answers that an exchange along one direction changes"
        return Shown(way, baseline=same.to_dict("records")[0])

    def figures(self, inputs: ReportInputs) -> "dict[str, Figure]":
        """Return the effects by layer, of each model and construction."""
        labels = {member.slug: member.label for member in task_members(inputs.sections[self.name])}
        return figures_by_layer(inputs.rates(self.name), labels)


def _faults_of_sentences(labelled: LabelledSentences) -> Iterator[Fault]:
    content, control = labelled.content, labelled.content.control
    if control and not is_there(interventions_file(control)):
        yield Fault(("control",), f"'{control}' has no interventions.yaml; write it, or name another construction")
    for name, sentence in content.sentences.items():
        for label in content.labels:
            filled = fill_labelled(content, sentence, label, labelled.first)
            for what in faults_of_text(f"{filled.before} {filled.answer}{filled.after}"):
                yield Fault(("sentences", name), f"{name}, {label}: {what}")
