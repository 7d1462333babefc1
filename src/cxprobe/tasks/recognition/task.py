"""The task Recognition: its interface to checks, pages and exports."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from cxprobe.constructions.checking import FoundFaults
from cxprobe.constructions.construction import CONSTRUCTIONS_FOLDER, load_construction
from cxprobe.files.tables import read_made_table
from cxprobe.files.writing import DATA
from cxprobe.results.params import ReportParams, task_members
from cxprobe.results.schema import cluster_lists
from cxprobe.results.task import Demand, ExportedItems, ReportInputs, Shown, Task, read_demand
from cxprobe.stats import CLUSTER
from cxprobe.tasks.recognition.params import RecognitionParams, RecognitionStage

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MADE_HERE = ("generated", "balanced")
"""Sources of sentences; those of others are quotations of other people's texts."""


class RecognitionTask(Task):
    """Probes on a model's layers."""

    params = RecognitionStage
    title = "Recognition"
    asks = ("encoder", "masked", "causal")
    caveat = (
        "A probe may find words that go with the construction in place of its form: what a baseline without the order "
        "of words, or a model with random weights, gets right as well shows no knowledge of it."
    )

    def check_construction(self, folder: Path, faults: FoundFaults) -> None:
        """Check the grammars of a construction."""
        from cxprobe.tasks.recognition.sentences import load_grammars

        construction = FoundFaults().attempt(load_construction, folder.name)  # whose own faults have been reported
        if construction and construction.grammar:
            faults.attempt(load_grammars, folder.name, construction)
        if construction and construction.balanced:
            faults.attempt(load_grammars, folder.name, construction.for_source("balanced"), source="balanced")

    def check(self, params: ReportParams | None, faults: FoundFaults) -> None:
        """Check the sources that params.yaml names against the files of the constructions."""
        if params is None:
            return
        section = params.section(RecognitionParams)
        if section.tune:
            what = "recognition.tune searches C and standardise: recognition.probe has them of the default setting"
            faults.notes.append(f"params.yaml: {what} alone, which is shown beside the best one")
        for name, sources in section.constructions.items():
            construction = FoundFaults().attempt(load_construction, name)  # whose own faults have been reported
            for source in sources:
                if source == "mined":
                    faults.require("recognition.constructions", name, CONSTRUCTIONS_FOLDER / name / "labels.tsv")
                elif construction is not None:
                    place = f"params.yaml: recognition.constructions.{name}: "
                    of_source = faults.attempt(construction.for_source, source, prefix=place) or construction
                    faults.attempt(of_source.rules, prefix=place)

    def demand(self, params: ReportParams) -> Iterator[Demand]:
        """Yield what each model reads: every sentence once."""
        section = params.section(RecognitionParams)
        texts = labelled_sentences(section, mined=True)["text"].unique().tolist()
        yield from read_demand(params.models, "embed_recognition", section.models, texts)

    def shown(self, row: Mapping[Any, Any], rates: pd.DataFrame, items: Any) -> Shown | None:
        """Return the sentences of a row of all features at the middle layer.

        The first page has the hardest ones: those with the lowest rate of the best baseline.
        """
        if not row["decides"]:
            return None
        is_sum = rates["decides"] & (rates["measure"] == "accuracy")
        sums = rates[is_sum & (rates["construction"] == row["construction"])]
        named = set(sums["baseline"])
        best = sums[sums["model"].isin(named)].groupby("source")["value"].max()
        hardest = best.reindex(sums["source"].unique()).fillna(0.0).idxmin()
        return Shown(f"probe, {row['source']} sentences", in_overview=row["source"] == hardest)

    def figures(self, inputs: ReportInputs) -> "dict[str, Figure]":
        """Return the rates of each construction by layer."""
        from cxprobe.tasks.recognition.evaluate import figures_by_layer

        return figures_by_layer(inputs.rates(self.name), task_members(inputs.sections[self.name]))

    def export(self, params: ReportParams) -> ExportedItems:
        """Return the sentences that grammars made."""
        section = params.section(RecognitionParams)
        sentences = labelled_sentences(section)
        kept = sentences.drop(columns=sentences.filter(regex=f"^{CLUSTER}"))
        others = any(source not in MADE_HERE for _, source in section.sources)
        left_out = ["Mined sentences are quotations of other people's texts and are not in the data set."] * others
        return ExportedItems({"sentences": kept.assign(clusters=cluster_lists(sentences))}, left_out)


def labelled_sentences(section: RecognitionParams, *, mined: bool = False) -> pd.DataFrame:
    """Read the labelled sentences of grammars, with the columns construction and source.

    Args:
        section: The section recognition of params.yaml.
        mined: Whether those of corpora are returned too.
    """
    tables = [pd.DataFrame(columns=["id", "text", "construction", "source"])]
    for name, source in section.sources:
        if mined or source in MADE_HERE:
            table = read_made_table(DATA / "make_recognition" / name / source / "sentences.parquet")
            tables.append(table.assign(construction=name, source=source))
    return pd.concat(tables, ignore_index=True)
