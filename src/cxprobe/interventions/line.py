"""Interventions as a line of work: what lists of lines see of it."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import pairwise
from math import isnan
from pathlib import Path
from typing import Any

import pandas as pd

from cxprobe.constructions.checking import FoundFaults, is_there
from cxprobe.constructions.faults import Fault
from cxprobe.constructions.people import PEOPLE_FILE, load_people
from cxprobe.files.writing import DATA
from cxprobe.interventions.names import (
    CONTROL,
    DAS,
    INTERVENTIONS,
    MEANS,
    NEUTRAL,
    ORDER,
    SELECTIVE,
    TRAIN,
    TRANSFERRED,
    TRUE,
)
from cxprobe.interventions.params import InterventionsParams, InterventionsStage
from cxprobe.interventions.sentences import (
    LabelledSentences,
    fill_labelled,
    interventions_file,
    load_labelled,
    load_neutral,
)
from cxprobe.report.answers import read_made_table
from cxprobe.report.findings import (
    CANNOT_BE_TOLD,
    DOES_NOT,
    HALF,
    NO_DIFFERENCE,
    AgainstBlind,
    Blind,
    Finding,
    ReportModels,
    grouped_rows,
)
from cxprobe.report.inputs import ReportInputs
from cxprobe.report.line import Demand, Example, Line, PageSection, PageTable, read_demand
from cxprobe.report.params import ReportParams
from cxprobe.report.published import published_table
from cxprobe.report.verdict import Verdict
from cxprobe.report.words import interval, percent
from cxprobe.stats import Estimate
from cxprobe.text.english import faults_of_text

USUAL_LAYERS = 24
_READ = ["construction", "part", "regions", "base_before", "source_before"]
_EFFECTS, _USES, _DIFFERENCES, _TRANSFER, _BESIDE = (
    f"report_interventions/tables/{name}" for name in ("effects", "uses", "differences", "transfer", "beside_published")
)
MADE_ITEMS = DATA / "make_interventions" / "items.parquet"

# Title, path, names beside that of the model or the construction, and what is measured, in words.
_TABLES: Sequence[tuple[str, str, Sequence[str], Mapping[str, str]]] = (
    (
        "Readable, expected, used: at the place and along the direction that change most; and the control",
        _USES,
        ("construction", "intervention", "layer", "region"),
        {
            "readable": "readable: a probe's accuracy on other frames",
            "expected": "expected: how often the right answer is likelier",
            "used": "used: effect beyond control words, in nats",
            "random": "the same of random directions",
            "whole": "the same of the whole vector",
            "control_expected": "expected where plain words say it",
        },
    ),
    (
        "Effects of exchanged vectors, in nats",
        _EFFECTS,
        ("intervention",),
        {
            "effect": "effect",
            "selectivity": "beyond control words",
            "changed": "share of answers that change",
            "broken": "broken: loss of a neutral word",
        },
    ),
    (
        "How far interventions are ahead of one another on the same items, in nats",
        _DIFFERENCES,
        ("first", "second", "labels"),
        {"difference": "difference"},
    ),
    (
        "Learnt on one construction, asked on another, in nats",
        _TRANSFER,
        ("learnt", "construction", "intervention"),
        {"effect": "effect"},
    ),
)


class InterventionsLine(Line):
    """Vectors that are exchanged between sentences."""

    params = InterventionsStage
    title = "Interventions"
    asked_by = "by interventions"
    steps = ("make", "measure")

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
            faults.read(
                interventions_file(folder.name), partial(load_labelled, folder.name, people), _faults_of_sentences
            )

    def check_shared_files(self, params: ReportParams | None, faults: FoundFaults) -> None:
        """Check the neutral sentences, if the line has something to do."""
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
        """Yield what each model reads, each sentence and each exchange; all layers count as `USUAL_LAYERS`."""
        section, texts = params.section(InterventionsParams), list[str]()
        layers, learnt = section.measure.layers or USUAL_LAYERS, len(section.make.learn or section.constructions)
        of_das = 8 * section.measure.steps // max(section.make.train, 1)  # 4 items a step, with two kinds of labels
        every = len(INTERVENTIONS) + section.measure.draws
        for name, part, regions, *sides in read_made_table(MADE_ITEMS)[_READ].itertuples(index=False):
            moved = 2 * learnt * (len(INTERVENTIONS if name == NEUTRAL else TRANSFERRED) + section.measure.draws - 1)
            exchanges = len(regions) * of_das if part == TRAIN else moved + len(regions) * every * (name != NEUTRAL)
            texts += [*sides, *(sides[:1] * (layers * exchanges))]
        yield from read_demand(params.models, "measure_interventions", section.models, texts)

    def findings(self, inputs: ReportInputs, models: ReportModels) -> Iterator[Finding]:
        """Yield how often the best direction changes a model's answer; random ones take the place of a blind model."""
        del models
        rows = {(str(row["model"]), str(row["construction"])): row for row in inputs.table(_USES).to_dict("records")}
        for (model, construction), row in rows.items():
            changed, random, whole = (_share(row, f"{name}changed") for name in ("", "random_", "whole_"))
            control = None if isnan(row["control_n"]) else _share(row, "control_expected", "control_n")
            yield Finding(
                self.name,
                construction,
                model,
                "used",
                "answers that an exchange along one direction changes",
                changed,
                Blind("random directions", random),
                _USES,
                chance=random.value,
                headline=row["tests"] != "control",
                control=control,
                settled=None if _changes(row) else _verdict_of_null(control, rows.get((model, str(row["control"])))),
                note=f"beyond control words {_with_interval(row, 'used')} nats; the whole vector there changes "
                f"{percent(whole.value)} {interval(whole)}",
                against=AgainstBlind(float(row["used_low"]) > float(row["random_high"]), None),
                clusters=int(row["frames"]),
            )

    def sections(self, construction: str, inputs: ReportInputs, models: ReportModels) -> Iterator[PageSection]:
        """Yield what interventions do on a construction, and in words how far they are ahead of one another."""
        of_it = inputs.table(_DIFFERENCES)
        of_it = of_it[of_it["construction"] == construction] if len(of_it) else of_it
        said = [order_in_words(models.label(model), rows) for (model,), rows in grouped_rows(of_it, "model")]
        if said:
            tables = list(self._tables("construction", construction, inputs, models))
            yield PageSection("What interventions change", " ".join(said), (), tables)

    def tables(self, column: str, value: str, inputs: ReportInputs, models: ReportModels) -> Iterator[PageTable]:
        """Yield what interventions do in a model; the page of a construction has a section of its own."""
        if column == "model":
            yield from self._tables(column, value, inputs, models)

    def _tables(self, column: str, value: str, inputs: ReportInputs, models: ReportModels) -> Iterator[PageTable]:
        other = {"construction": "model", "model": "construction"}[column]
        for title, path, named, measured in _TABLES:
            table = inputs.table(path)
            if table.empty:
                return
            keys = [*dict.fromkeys((other, *named))]
            about = (table[column] == value) | (table.get("learnt") == value)
            if column == "construction" and "control" in table:
                about |= table["construction"].isin(table.loc[about, "control"])
            if "labels" in table and "labels" not in named:
                about &= table["labels"] == TRUE
            rows = [
                [
                    *(models.label(str(row[key])) for key in keys),
                    *(_with_interval(row, key) for key in measured),
                    f"{int(row['n']):,}",
                ]
                for row in table[about].to_dict("records")
            ]
            yield PageTable(title, path, [*keys, *measured.values(), "n"], rows)

    def published(self, construction: str | None, inputs: ReportInputs, models: ReportModels) -> Iterator[PageTable]:
        """Yield effects on the constructions beside those of CausalGym, which are about other items."""
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


def order_in_words(model: str, differences: pd.DataFrame) -> str:
    """Return in words whether interventions follow one another as in `ORDER`, and what is left of the lead of DAS.

    Args:
        model: Its name for people.
        differences: Its rows of `cxprobe.interventions.judge.differences` about one construction.
    """
    steps = {(row["first"], row["second"], row["labels"]): row for row in differences.to_dict("records")}
    order = [steps[(*pair, TRUE)] for pair in pairwise(ORDER)]
    said = "; ".join(f"{row['first']} over {row['second']} {_with_interval(row, 'difference')}" for row in order)
    holds = "each is ahead" if all(row["low"] > 0 for row in order) else "not each is shown to be ahead"
    left, control = (_with_interval(steps[DAS, MEANS, kind], "difference") for kind in (SELECTIVE, CONTROL))
    return (
        f"{model}, in nats: {said}; {holds}. On control words {DAS} is over {MEANS} by {control}, so that beyond these "
        f"its lead is {left}."
    )


def _changes(row: Mapping[Any, Any]) -> bool:
    """Return whether a direction changes more answers than random ones may: one changed item lies above no item."""
    return float(row["changed_low"]) > float(row["random_changed_high"])


def _verdict_of_null(expected: Estimate | None, exchanged: Mapping[Any, Any] | None) -> Verdict:
    """Return what it says that no direction changes a model's answers.

    Args:
        expected: How often the model is right where plain words say the same; None where it was not asked.
        exchanged: What the best direction does there; None where none was learnt.
    """
    if expected is None:
        return NO_DIFFERENCE
    if expected.low <= HALF:
        return CANNOT_BE_TOLD
    if exchanged is None:
        return NO_DIFFERENCE
    return DOES_NOT if _changes(exchanged) else CANNOT_BE_TOLD


def _share(row: Mapping[Any, Any], name: str, n: str = "n") -> Estimate:
    return Estimate(float(row[name]), float(row[f"{name}_low"]), float(row[f"{name}_high"]), int(row[n]))


def _with_interval(row: Mapping[Any, Any], name: str) -> str:
    if isnan(row[name]):
        return "–"
    low, high = (row[f"{name}_{end}" if f"{name}_{end}" in row else end] for end in ("low", "high"))
    return f"{row[name]:.2f} [{low:.2f}, {high:.2f}]"
