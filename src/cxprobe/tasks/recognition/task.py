"""The task Recognition: its interface to checks, pages and exports."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from cxprobe.constructions import SPLITS
from cxprobe.constructions.checking import FoundFaults
from cxprobe.constructions.construction import (
    CONSTRUCTIONS_FOLDER,
    GrammarSource,
    grammar_file,
    load_construction,
)
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
    steps = ("make", "embed", "probe", "tune")
    asks = ("encoder", "masked", "causal")
    caveat = (
        "A probe may find words that go with the construction in place of its form: what a baseline without the order "
        "of words, or a model with random weights, gets right as well shows no knowledge of it."
    )

    def check_construction(self, folder: Path, faults: FoundFaults) -> None:
        """Check the grammars of a construction: each by itself first, so that the faults of both are reported."""
        from cxprobe.tasks.recognition.sentences import load_grammars, read_grammar

        construction = FoundFaults().attempt(load_construction, folder.name)
        if construction is None:  # its faults have been reported
            return
        described: dict[GrammarSource, object] = {"generated": construction.grammar, "balanced": construction.balanced}
        for source in [source for source, rules in described.items() if rules is not None]:
            of_source = construction.for_source(source)
            required = [*of_source.rules().start.values(), *of_source.rules().content]
            files = [folder / grammar_file(source, split) for split in SPLITS]
            grammars = [faults.attempt(read_grammar, file, required) for file in files]
            if None not in grammars:
                faults.attempt(load_grammars, folder.name, of_source, source=source)

    def check(self, params: ReportParams | None, faults: FoundFaults) -> None:
        """Check the sources that params.yaml names against the files of the constructions."""
        if params is None:
            return
        section = params.section(RecognitionParams)
        files = {"generated": "grammars/train.cfg", "mined": "labels.tsv"}
        for name, sources in section.constructions.items():
            place = f"params.yaml: recognition.constructions.{name}: "
            for source in sources:
                if source in files:
                    faults.require("recognition.constructions", name, CONSTRUCTIONS_FOLDER / name / files[source])
            construction = FoundFaults().attempt(load_construction, name)
            if construction is None:  # its faults have been reported
                continue
            for source in sources:
                if source == "generated" and construction.grammar is None:
                    faults.attempt(construction.rules, prefix=place)
                    continue
                of_source = faults.attempt(construction.for_source, source, prefix=place)
                if of_source and not (of_source.features or section.make.subsets_of(source).all_sentences):
                    faults.lines.append(
                        f"{place}its construction.yaml has no features, and all_sentences of recognition.make is "
                        f"false, so {source} has no subset to probe; give features, or set it to true"
                    )

    def demand(self, params: ReportParams) -> Iterator[Demand]:
        """Yield what each model reads: every sentence once."""
        section = params.section(RecognitionParams)
        sentences = labelled_sentences(section, mined=True)
        sources = sentences[["construction", "source"]].apply(tuple, axis="columns")
        for model in section.models:
            read = sentences[sources.isin(section.sources_of(model))].drop_duplicates("text")
            yield from read_demand(params.models, "embed_recognition", [model], read["text"].tolist())

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
