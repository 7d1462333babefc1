"""The results of a stage on disk, with the records from which its runs can be written into any MLflow server."""

import shutil
from collections.abc import Mapping
from dataclasses import asdict
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd
from pydantic import TypeAdapter, ValidationError

from cxprobe.errors import DataError
from cxprobe.files.tables import write_table
from cxprobe.files.writing import RESULTS, read_json, write_bytes, write_json
from cxprobe.run.record import Dataset, RunRecord, label_of
from cxprobe.run.signals import uninterrupted
from cxprobe.run.stage import ONE_SOURCE, Outcome, Stage

if TYPE_CHECKING:  # most stages draw nothing
    from matplotlib.figure import Figure

RECORD = "record.json"
_UNFINISHED = ".partial"  # the folder within a stage's results in which the new ones wait until all are there
_STATES = ("none", "random", "shuffled", "trained")  # MLflow's UI shows the newest runs: of trained models, no series
_RECORDS = TypeAdapter(RunRecord)


def write_results(stage: Stage[Any], outcome: Outcome) -> list[RunRecord]:
    """Write all that a stage's work has returned, and return the records of its runs, trained models last.

    New results are written beside the old ones, and take their place when all are there. The old ones go before the
    first new one comes: a process that is killed here may leave too few results, which DVC notices, but never old ones
    beside new ones.

    Raises:
        ValueError: Two runs have the same folder.
    """
    if outcome == Outcome() and not stage.name.startswith("judge_"):  # an empty folder would be no stage's output
        shutil.rmtree(stage.results, ignore_errors=True)
        return []
    waiting = stage.results / _UNFINISHED
    shutil.rmtree(waiting, ignore_errors=True)
    waiting.mkdir(parents=True)
    try:
        _write_artifacts(outcome.tables, outcome.figures, waiting)
        for page, text in outcome.pages.items():
            write_bytes(text.encode(), waiting / page)
        if outcome.counts:
            # As objects, since a column of numbers would turn whole numbers into rounded ones.
            counts = pd.Series(dict(outcome.counts), dtype=object).rename_axis("count").reset_index(name="value")
            # Of a reporting stage, DVC keeps tables/ and not the whole folder.
            write_table(counts, waiting / ("tables" if stage.name.startswith("report_") else "") / "counts.csv")
        records = []
        if stage.name.startswith("judge_"):
            write_json(outcome.headline, waiting / "metrics.json")
            records = _write_runs(stage, outcome, waiting)
            if not records:  # DVC warns of an empty folder
                write_bytes(b"no runs\n", waiting / "runs" / "empty.txt")
        with uninterrupted():
            for path in stage.results.iterdir():
                if path.is_dir() and path != waiting:
                    shutil.rmtree(path)
                elif path.is_file() and path.name != ".gitignore":
                    path.unlink()
            for path in waiting.iterdir():
                path.rename(stage.results / path.name)
    finally:
        shutil.rmtree(waiting, ignore_errors=True)
    return records


def read_records() -> list[RunRecord]:
    """Read the record of every run of the judging stages that have finished in this folder."""
    return [_read_record(path) for path in sorted(RESULTS.rglob(RECORD)) if _UNFINISHED not in path.parts]


def _write_runs(stage: Stage[Any], outcome: Outcome, waiting: Path) -> list[RunRecord]:
    records: dict[Path, RunRecord] = {}
    for run in sorted(outcome.runs, key=lambda run: (run.facts.kind != "series", _STATES.index(run.facts.state))):
        experiment = run.experiment or stage.line
        folder = stage.results / "runs" / (run.experiment or "") / run.model / run.construction / run.source
        if folder in records:
            raise ValueError(f"{stage.name} has two runs for {folder}; each needs a source or a model of its own")
        new = waiting / folder.relative_to(stage.results)
        source = [] if run.source == ONE_SOURCE else [run.source]
        record = RunRecord(
            experiment=experiment,
            name=" · ".join([label_of(run.model, run.facts.state), *source, run.construction]),
            stage=stage.name,
            params={
                "model": run.model,
                "model_name": run.facts.name,
                "model_kind": run.facts.kind,
                "model_weights": run.facts.state,
                "model_precision": run.facts.precision or "unknown",
                "model_parameters": "unknown" if run.facts.parameters is None else str(run.facts.parameters),
                "construction": run.construction,
                "source": run.source,
                **run.settings,
            },
            metrics=run.metrics,
            series=run.series,
            dataset=None
            if run.dataset is None
            else Dataset(run.dataset.as_posix(), stage.inputs[str(run.dataset)], run.items),
            inputs=stage.inputs,
            weights=run.facts.weights,
            folder=folder,
            artifacts=_write_artifacts(run.tables, run.figures, new),
            trials=run.trials,
        )
        write_json(asdict(record), new / RECORD)
        # Read back, so that MLflow gets the same rounded numbers as `cxprobe sync` would.
        records[folder] = _read_record(new / RECORD)
    return list(records.values())


def _write_artifacts(tables: Mapping[str, pd.DataFrame], figures: "Mapping[str, Figure]", folder: Path) -> list[Path]:
    """Write tables and figures, and return their paths relative to the folder."""
    for stem, table in tables.items():
        write_table(table, folder / f"{stem}.csv")
    for stem, figure in figures.items():
        drawn = BytesIO()
        # Without the date and the version of matplotlib the same numbers give the same file.
        figure.savefig(drawn, format="png", dpi=150, metadata={"Software": None, "Title": figure.get_suptitle()})
        write_bytes(drawn.getvalue(), folder / f"{stem}.png")
    return [*(Path(f"{stem}.csv") for stem in tables), *(Path(f"{stem}.png") for stem in figures)]


def _read_record(path: Path) -> RunRecord:
    try:
        return _RECORDS.validate_python(read_json(path))
    except ValidationError as fault:
        first = fault.errors()[0]
        what = f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
        raise DataError(f"{path} is not a record of this version of cxprobe ({what}); run its stage again") from fault
