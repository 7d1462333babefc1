"""What the run of a model on a source of sentences has: its numbers, tables, figures and trials."""

from pathlib import Path
from typing import Any

import pandas as pd

from cxprobe.constructions.construction import SentenceSource
from cxprobe.files.tables import read_table
from cxprobe.lm.params import Member
from cxprobe.recognition.figures import accuracy_by_value
from cxprobe.recognition.judge import Recognition, curves_by_layer, metrics_of, trials_of


def run_fields(
    member: Member, judged: Recognition, construction: str, source: SentenceSource, splits: Path, measured: Path | None
) -> dict[str, Any]:
    """Return the fields of `cxprobe.run.stage.JudgedRun` that follow from what was judged.

    Args:
        member: The model.
        judged: What its probes got.
        construction: The construction.
        source: Where its sentences come from.
        splits: The file of its subsets.
        measured: The folder of what was measured of it, if there was a search over regularisation; else None.
    """
    title = f"{member.label}: {construction}, {source} sentences"
    metrics, tables = metrics_of(judged), recognition_tables(judged)
    is_searched = measured is not None and (measured / "trials.parquet").is_file()
    if measured is not None and is_searched:
        tables["tuned"] = read_table(measured / "tuned.parquet")
    figures = {}
    if not member.is_blind:
        figures["accuracy_per_value"] = accuracy_by_value(judged.by_value, read_table(splits), title)
    return {
        "construction": construction,
        "source": source,
        "dataset": splits,
        "items": int(metrics["n"]),
        "metrics": metrics,
        "series": curves_by_layer(judged),
        "tables": tables,
        "figures": figures,
        "trials": trials_of(read_table(measured / "trials.parquet")) if measured is not None and is_searched else (),
    }


def recognition_tables(judged: Recognition) -> dict[str, pd.DataFrame]:
    """Return the tables of what was judged by their names."""
    tables = {"accuracy_by_layer": judged.by_layer, "accuracy_by_value": judged.by_value, "controls": judged.controls}
    return tables | {stem: getattr(judged, stem) for stem in ("best_layer", "selectivity", "code_length")}
