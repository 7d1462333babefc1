"""What the run of a model on a source of sentences has: its numbers, tables, figures and trials."""

from pathlib import Path
from typing import Any

import pandas as pd

from cxprobe.constructions.construction import SentenceSource, without_marks
from cxprobe.files.tables import read_table
from cxprobe.lm.params import Member
from cxprobe.recognition.figures import figures_of_model, optimisation_history, parameter_importance
from cxprobe.recognition.judge import Recognition, metrics_of, series_of, trials_of


def run_fields(
    member: Member, judged: Recognition, construction: str, source: SentenceSource, splits: Path
) -> dict[str, Any]:
    """Return the fields of `cxprobe.run.stage.JudgedRun` that follow from what was judged.

    Args:
        member: The model.
        judged: What its probes got.
        construction: The construction.
        source: Where its sentences come from.
        splits: The file of its subsets.
    """
    title, metrics = f"{construction}, {source} sentences", metrics_of(judged)
    return {
        "construction": construction,
        "source": source,
        "dataset": splits,
        "items": int(metrics["n"]),
        "metrics": metrics,
        "series": series_of(judged),
        "tables": tables_of(judged),
        "figures": figures_of_model(judged._asdict(), member, read_table(splits), title),
    }


def fields_of_search(member: Member, construction: str, source: SentenceSource, folder: Path) -> dict[str, Any]:
    """Return the tables, figures and trials of the search over regularisation, if there was one.

    Args:
        member: The model.
        construction: The construction.
        source: Where its sentences come from.
        folder: What was measured of it.
    """
    path = folder / "trials.parquet"
    if not path.is_file():
        return {"tables": {}, "figures": {}, "trials": []}
    tried, heading = read_table(path), f"{member.label}: {construction}, {source} sentences"
    tables = {stem: read_table(folder / f"{stem}.parquet") for stem in ("tuned", "importance")}
    figures = {"optimisation_history": optimisation_history(tried, heading)}
    if len(tables["importance"]):  # else all settings are equally accurate
        figures["parameter_importance"] = parameter_importance(tables["importance"], heading)
    return {"tables": tables, "figures": figures, "trials": trials_of(tried)}


def settings_of(source: SentenceSource, *, tuned: bool) -> tuple[str, ...]:
    """Return the parts of params.yaml that decide on the numbers of a source."""
    names = (f"recognition.make.{without_marks(source)}", "recognition.embed", "recognition.probe")
    return (*names, "recognition.tune") if tuned else names


def tables_of(judged: Recognition) -> dict[str, pd.DataFrame]:
    """Return the tables of what was judged by their names."""
    tables = {"accuracy_by_layer": judged.by_layer, "accuracy_by_value": judged.by_value, "controls": judged.controls}
    return tables | {stem: getattr(judged, stem) for stem in ("best_layer", "selectivity", "code_length")}
