"""The task of contrasts: its implementation of `cxprobe.results.task.Task`."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from cxprobe.constructions.checking import FoundFaults
from cxprobe.constructions.construction import PEOPLE_FILE, People, load_people
from cxprobe.results.params import ReportParams
from cxprobe.results.schema import cluster_lists
from cxprobe.results.sentences import condition_in_words
from cxprobe.results.task import Demand, Example, ExportedItems, Shown, Task, read_demand, texts_of_pairs
from cxprobe.results.verdict import CONDITION, FEWEST_FRAMES
from cxprobe.tasks.contrasts.contrast import made_file, read_frames
from cxprobe.tasks.contrasts.make import (
    CONTRASTS_FILE,
    NAMES,
    ContrastsFile,
    contrasts_file,
    load_contrasts,
    loose_parts,
    pairs_of_frame,
)
from cxprobe.tasks.contrasts.params import ContrastsParams, ContrastsStage, MeasuredFrames


class ConstructionContrasts(NamedTuple):
    """The contrasts of a construction, and the nouns for people."""

    content: ContrastsFile
    people: People


class ContrastsTask(Task):
    """Sums of pairs in which preferences cancel."""

    params = ContrastsStage
    title = "Contrasts"
    items_file = CONTRASTS_FILE

    def read_items(self, entries: Sequence[str], use: Callable[[Path], Path]) -> ConstructionContrasts:
        """Read the contrasts of a construction, and the nouns for people."""
        people = load_people(use(PEOPLE_FILE))
        use(contrasts_file(entries[0]))
        return ConstructionContrasts(load_contrasts(entries[0], people), people)

    def examples(self, items: ConstructionContrasts) -> Iterator[Example]:
        """Yield the first cell of each condition, of the first frame that is held out."""
        content, people = items
        kind = people.types[NAMES[0]]
        pronouns = people.pronouns[kind.pronouns[0]]
        pairs = [*pairs_of_frame("", content, content.held_out[0], kind.nouns[:2], pronouns)]
        first = {pair.groups["condition"]: pair for pair in pairs[::-1]}
        for condition in content.declared:
            pair = first[condition]
            called = f"contrast, {condition_in_words(condition)}"
            yield Example(called, pair.context, pair.good.strip(), pair.bad.strip())

    def check_construction(self, folder: Path, faults: FoundFaults) -> None:
        """Check the contrasts, unless the file of people has faults; note too few frames and loose rivals."""
        people, path = FoundFaults().attempt(load_people), contrasts_file(folder.name)
        if people is None or not path.is_file():
            return
        contrasts = faults.attempt(load_contrasts, folder.name, people)
        if contrasts is None:
            return
        if (n := len(contrasts.held_out)) < FEWEST_FRAMES:
            faults.notes.append(f"{path}: has {n} rows of held_out; a verdict takes {FEWEST_FRAMES}, so write more")
        faults.notes += (f"{path}: {what}" for what in loose_parts(contrasts))

    def demand(self, params: ReportParams) -> Iterator[Demand]:
        """Yield the texts that each model reads."""
        section = params.section(ContrastsParams)
        for entry, wanted in section.models.items():
            texts = texts_of_pairs(read_frames(made_file(name), wanted) for name in section.constructions)
            yield from read_demand(params.models, "measure_contrasts", [entry], texts)

    def shown(self, row: Mapping[Any, Any], rates: pd.DataFrame, items: ConstructionContrasts) -> Shown | None:
        """Return the name of contrasts, and in how many wordings of the questions the control is above 0."""
        of_it = (rates[["model", "construction"]] == [row["model"], row["construction"]]).all(axis=1)
        of_it &= (rates["measure"] == "contrast") & (rates[CONDITION] == "control") & (rates["wording"] != "")
        above = rates.loc[of_it, "value"] > 0
        asked = f"; control above 0 in {above.sum()} of {len(above)} wordings" if len(above) else ""
        return Shown(f"contrast{asked}")

    def export(self, params: ReportParams) -> ExportedItems:
        """Return the pairs of all frames."""
        section = params.section(ContrastsParams)
        tables = [read_frames(made_file(name), MeasuredFrames()) for name in section.constructions]
        pairs = pd.concat(tables, ignore_index=True)
        return ExportedItems({"contrasts": pairs.assign(clusters=cluster_lists(pairs))})
