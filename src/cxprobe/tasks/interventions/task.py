"""The task Interventions: its interface to checks, pages and exports."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from cxprobe.constructions.checking import FoundFaults, is_there
from cxprobe.constructions.faults import Fault
from cxprobe.constructions.people import PEOPLE_FILE, load_people
from cxprobe.files.writing import DATA
from cxprobe.results.answers import read_made_table
from cxprobe.results.findings import ReportModels, estimate_of, grouped_rows
from cxprobe.results.inputs import ReportInputs
from cxprobe.results.members import task_members
from cxprobe.results.params import ReportParams
from cxprobe.results.task import Demand, Example, PageSection, PageTable, Task, published_table, read_demand
from cxprobe.results.words import interval, percent
from cxprobe.tasks.interventions import names
from cxprobe.tasks.interventions.evaluate import FACETS, of_facet, role_of
from cxprobe.tasks.interventions.params import InterventionsParams, InterventionsStage
from cxprobe.tasks.interventions.sentences import (
    LabelledSentences,
    fill_labelled,
    interventions_file,
    load_labelled,
    load_neutral,
)
from cxprobe.text.english import faults_of_text

if TYPE_CHECKING:
    from matplotlib.figure import Figure

USUAL_LAYERS = 24
_READ = ["construction", "part", "regions", "base_before", "source_before"]
_BESIDE = "evaluate_interventions/tables/beside_published"
MADE_ITEMS = DATA / "make_interventions" / "items.parquet"

# Facet -> the title of its table on pages.
_TABLES: Mapping[str, str] = {
    names.USED: "The place and direction whose exchange changes most, beside random directions and the whole vector: "
    "the share of answers that change (changed), a probe's accuracy on other frames (readable), and the effect beyond "
    "control words in nats (selectivity)",
    "": "How often the right answer to a base sentence is the more probable one",
    "intervention": "Effects of exchanged vectors in nats, with the share of answers that change (changed), the effect "
    "beyond control words (selectivity) and the loss of a neutral word (broken)",
    "order": "How much larger the effect of one intervention is than that of the next on the same items, in nats",
    "learnt": "Effects of what is learnt on one construction and tried on another, in nats",
}


class InterventionsTask(Task):
    """Vectors that are exchanged between sentences."""

    params = InterventionsStage
    title = "Interventions"
    asked_by = "by interventions"
    question = "used"
    steps = ("make", "measure")

    def items_in(self, construction: str) -> list[str]:
        """Return the construction if it has sentences for interventions."""
        return [construction] if interventions_file(construction).is_file() else []

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
            faults.read(
                interventions_file(folder.name), partial(load_labelled, folder.name, people), _faults_of_sentences
            )

    def check_shared_files(self, params: ReportParams | None, faults: FoundFaults) -> None:
        """Check the neutral sentences, if the task has something to do."""
        if params is None or params.section(InterventionsParams).constructions:
            faults.attempt(load_neutral)

    def check_params(self, params: ReportParams, faults: FoundFaults) -> None:
        """Check that each construction has sentences for interventions."""
        section = params.section(InterventionsParams)
        for name in section.constructions:
            faults.require("interventions.constructions", name, interventions_file(name))
        if unknown := {*(section.make.learn or ())} - {*section.constructions}:
            faults.lines.append(
                f"params.yaml: interventions.make.learn: {', '.join(sorted(unknown))} is not in "
                "interventions.constructions; add it there, or take it out"
            )

    def demand(self, params: ReportParams) -> Iterator[Demand]:
        """Yield the texts that each model reads; it reads a base again for each exchange in each layer.

        If params.yaml asks for all layers, they count as `USUAL_LAYERS`.
        """
        section, texts = params.section(InterventionsParams), list[str]()
        layers, draws = section.measure.layers or USUAL_LAYERS, section.measure.draws
        learnt = len(section.make.learn or section.constructions)
        of_das = 8 * section.measure.steps // max(section.make.train, 1)  # 4 items a step, with two kinds of labels
        every = len(names.INTERVENTIONS) + draws  # random ones count once a draw, and DAS for control words too
        for name, part, regions, *sides in read_made_table(MADE_ITEMS)[_READ].itertuples(index=False):
            is_neutral = name == names.NEUTRAL
            tried = names.INTERVENTIONS if is_neutral else names.TRANSFERRED
            moved = 2 * learnt * (len(tried) + draws - 1)  # at the first and the last region
            own = 0 if is_neutral else len(regions) * every
            exchanges = len(regions) * of_das if part == names.TRAIN else moved + own
            texts += [*sides, *(sides[:1] * (layers * exchanges))]
        yield from read_demand(params.models, "measure_interventions", section.models, texts)

    def row_label(self, row: Mapping[Any, Any], items: Any) -> str:
        """Return the label of rates of the facet `USED`; other rates are in tables only."""
        return "answers that an exchange along one direction changes" if row["facet"] == names.USED else ""

    def note(self, row: Mapping[Any, Any], inputs: ReportInputs) -> str:
        """Return the effect beyond control words, and the rate of the whole vector at the same place."""
        beside = self._at_place_of(row, inputs)
        whole = estimate_of(beside["changed", names.WHOLE])
        return (
            f"beyond control words {_with_interval(beside['selectivity', names.DIRECTION])} nats; the whole vector "
            f"there changes {percent(whole.value)} {interval(whole)}"
        )

    def baseline(self, row: Mapping[Any, Any], inputs: ReportInputs) -> Mapping[Any, Any]:
        """Return the rate of random directions, which serve as the baseline."""
        return self._at_place_of(row, inputs)["changed", names.RANDOM]

    def _at_place_of(self, row: Mapping[Any, Any], inputs: ReportInputs) -> dict[tuple[str, str], Mapping[Any, Any]]:
        """Return the rates at the place of a row, by their measure and `role_of` their level."""
        rates = inputs.rates(self.name)
        place = [row["model"], row["construction"], names.USED]
        same = (rates[["model", "construction", "facet"]] == place).all(axis=1)
        return {(one["measure"], role_of(one["level"])): one for one in rates[same].to_dict("records")}

    def figures(self, inputs: ReportInputs) -> "dict[str, Figure]":
        """Return heat maps of the effects: by layer and region, and of directions learnt on other constructions."""
        from cxprobe.tasks.interventions.figures import heat_maps

        labels = {member.slug: member.label for member in task_members(inputs.sections[self.name])}
        return heat_maps(inputs.rates(self.name), labels)

    def sections(self, construction: str, inputs: ReportInputs, models: ReportModels) -> Iterator[PageSection]:
        """Yield a section with the effects of interventions on a construction, and their order in words."""
        leads = of_facet(inputs.rates(self.name), "order")
        of_it = leads[leads["construction"] == construction]
        said = [order_in_words(models.label(model), rows) for (model,), rows in grouped_rows(of_it, "model")]
        if said:
            tables = list(self._tables("construction", construction, inputs, models))
            yield PageSection("What interventions change", " ".join(said), (), tables)

    def tables(self, column: str, value: str, inputs: ReportInputs, models: ReportModels) -> Iterator[PageTable]:
        """Yield tables of the effects in a model; the page of a construction has them in its section."""
        if column == "model":
            yield from self._tables(column, value, inputs, models)

    def _tables(self, column: str, value: str, inputs: ReportInputs, models: ReportModels) -> Iterator[PageTable]:
        rates = inputs.rates(self.name)
        other = {"construction": "model", "model": "construction"}[column]
        for facet in FACETS:
            if facet.name not in _TABLES:
                continue
            rows = of_facet(rates, facet.name)
            keys = [*dict.fromkeys((other, "construction", *facet.columns))]
            cells: dict[tuple[str, ...], dict[str, str]] = {}
            is_shown = (rows[column] == value) | (rows.get("learnt") == value)
            for row in rows[is_shown].to_dict("records"):
                of_key = cells.setdefault(tuple(row[key] for key in keys), {"n": f"{row['n']:,}"})
                of_key[row["measure"]] = _with_interval(row)
            numbers = [*facet.measures, "n"]
            lines = [
                [*map(models.label, key), *(of_key.get(name, "–") for name in numbers)] for key, of_key in cells.items()
            ]
            yield PageTable(_TABLES[facet.name], self.accuracy, [*keys, *numbers], lines)

    def published(self, construction: str | None, inputs: ReportInputs, models: ReportModels) -> Iterator[PageTable]:
        """Yield a table of the effects beside published ones of CausalGym, which are about other items."""
        table = inputs.table(_BESIDE)
        if construction is None and len(table):
            title = "Effects of interventions beside published ones, which are about other items, in nats"
            yield published_table(table, title, _BESIDE, models)


def _faults_of_sentences(labelled: LabelledSentences) -> Iterator[Fault]:
    content, control = labelled.content, labelled.content.control
    if control and not is_there(interventions_file(control)):
        yield Fault(("control",), f"'{control}' has no interventions.yaml; write it, or name another construction")
    for name, sentence in content.sentences.items():
        for label in content.labels:
            filled = fill_labelled(content, sentence, label, labelled.first)
            for what in faults_of_text(f"{filled.before} {filled.answer}{filled.after}"):
                yield Fault(("sentences", name), f"{name}, {label}: {what}")


def order_in_words(model: str, leads: pd.DataFrame) -> str:
    """Describe the order of interventions in words, and the lead of DAS beyond control words.

    Args:
        model: The label of the model.
        leads: Its rates of the facet order on one construction, see `cxprobe.tasks.interventions.evaluate.of_facet`.
    """
    rows = leads.to_dict("records")
    order = [row for row in rows if row["labels"] == names.TRUE]
    das, means = names.DAS, names.MEANS
    of_das = {row["labels"]: _with_interval(row) for row in rows if row["intervention"] == f"{das} over {means}"}
    said = "; ".join(f"{row['intervention']} {_with_interval(row)}" for row in order)
    is_ordered = all(row["low"] > 0 for row in order)
    holds = "each is ahead of the next" if is_ordered else "not each is shown to be ahead of the next"
    return (
        f"{model}, in nats: {said}; {holds}. On control words, {das} is ahead of {means} by {of_das[names.CONTROL]}; "
        f"beyond control words, by {of_das[names.SELECTIVE]}."
    )


def _with_interval(row: Mapping[Any, Any]) -> str:
    return f"{row['value']:.2f} [{row['low']:.2f}, {row['high']:.2f}]"
