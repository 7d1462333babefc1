"""The results of a stage on disk, with the records from which its runs can be written into any MLflow server."""

import hashlib
import json
import shutil
from collections.abc import Mapping
from dataclasses import asdict
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd
from pydantic import TypeAdapter

from cxprobe.errors import DataError
from cxprobe.files.reading import one_line
from cxprobe.files.tables import write_table
from cxprobe.files.writing import RESULTS, read_json, write_bytes, write_json
from cxprobe.run.record import Dataset, RunRecord, label_of
from cxprobe.run.signals import uninterrupted
from cxprobe.run.stage import ONE_SOURCE, Outcome, Stage

if TYPE_CHECKING:  # most stages draw nothing
    from matplotlib.figure import Figure

RECORD = "record.json"
METRICS = "metrics"  # the folder of the metrics of DVC: of each task a file a model, whose path names the row
_DIGEST = "digest"  # the key of a record's own digest
_AGAIN = "`dvc checkout` brings it back, and `dvc repro` writes it anew where an older version of cxprobe wrote it"
_UNFINISHED = ".partial"  # the folder within a stage's results in which the new ones wait until all are there
_STATES = ("none", "random", "trained")  # MLflow's UI shows the newest runs: of trained models, no series
_RECORDS = TypeAdapter(RunRecord)


def write_results(stage: Stage[Any], outcome: Outcome) -> list[RunRecord]:
    """Write the outcome of a stage's work, and return the records of its runs, trained models last.

    New results are written beside the old ones, and take their place when all are there. The old ones go before the
    first new one comes: a process that is killed here may leave too few results, which DVC notices, but never old ones
    beside new ones.

    Raises:
        ValueError: Two runs have the same folder.
    """
    if outcome == Outcome() and not stage.evaluates:  # an empty folder would be no stage's output
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
            write_table(counts, waiting / "counts.csv")
        records = []
        if stage.evaluates:
            for model, numbers in (outcome.headline or {"none": {}}).items():
                write_json(numbers, waiting / METRICS / f"{model}.json")
            records = _write_runs(stage, outcome, waiting)
            if not records:  # DVC warns of an empty folder
                write_bytes(b"no runs\n", waiting / "runs" / "empty.txt")
        with uninterrupted():
            for path in stage.results.iterdir():
                if path.is_dir() and path != waiting:
                    shutil.rmtree(path)
                elif path.is_file() and path.name != ".gitignore":
                    path.unlink()
            metrics = RESULTS / METRICS / stage.task
            if stage.evaluates:
                shutil.rmtree(metrics, ignore_errors=True)
                metrics.parent.mkdir(exist_ok=True)
                (waiting / METRICS).rename(metrics)
            for path in waiting.iterdir():
                path.rename(stage.results / path.name)
    finally:
        shutil.rmtree(waiting, ignore_errors=True)
    return records


def read_records() -> tuple[list[RunRecord], list[str]]:
    """Read the record of every run of the evaluating stages that have finished in this folder.

    Returns:
        The records, and a message about each that is not as its stage wrote it.
    """
    records, faults = [], []
    for path in sorted(RESULTS.rglob(RECORD)):
        if _UNFINISHED not in path.parts:
            try:
                records.append(_read_record(path, path.parent))
            except DataError as fault:
                faults.append(str(fault))
    return records, faults


def _write_runs(stage: Stage[Any], outcome: Outcome, waiting: Path) -> list[RunRecord]:
    records: dict[Path, RunRecord] = {}
    for run in sorted(outcome.runs, key=lambda run: (run.facts.kind != "series", _STATES.index(run.facts.state))):
        folder = stage.results / "runs" / (run.experiment or "") / run.model / run.construction / run.source
        if folder in records:
            raise ValueError(f"{stage.name} has two runs for {folder}; each needs a source or a model of its own")
        new = waiting / folder.relative_to(stage.results)
        source = [] if run.source == ONE_SOURCE else [run.source]
        dataset = None
        if run.dataset is not None:
            dataset = Dataset(run.dataset.as_posix(), stage.inputs[str(run.dataset)], run.items)
        record = RunRecord(
            experiment=run.experiment or stage.task,
            name=" · ".join([label_of(run.model, run.facts.state), run.construction, *source]),
            stage=stage.name,
            params={
                "model": run.model,
                "model_kind": run.facts.kind,
                "model_weights": run.facts.state,
                "construction": run.construction,
                "source": run.source,
                **run.settings,
            },
            metrics=run.metrics,
            series=run.series,
            dataset=dataset,
            inputs=stage.inputs,
            weights=run.facts.weights,
            folder=folder,
            artifacts=_write_artifacts(run.tables, run.figures, new),
            trials=run.trials,
            tags={  # what people look up, and do not compare runs by
                "model.name": run.facts.name,
                "model.parameters": "unknown" if run.facts.parameters is None else str(run.facts.parameters),
                "model.precision": run.facts.precision or "unknown",
                **run.tags,
            },
        )
        write_json(asdict(record), new / RECORD)
        content = read_json(new / RECORD)  # with rounded numbers
        write_json({_DIGEST: _digest(content), **content}, new / RECORD)
        records[folder] = _read_record(new / RECORD, folder)  # what MLflow gets from `cxprobe sync` too
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


def _digest(content: Mapping[str, Any]) -> str:
    """Return the SHA-256 of a record's content."""
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def _read_record(path: Path, folder: Path) -> RunRecord:
    """Read the record of the run of a folder.

    Raises:
        DataError: The file is no record, not that of this run, or not as its stage wrote it.
    """
    try:
        content = read_json(path)
        digest = content.pop(_DIGEST)
        record = _RECORDS.validate_python(content)
        if digest != _digest(content) or record.folder != folder:
            raise ValueError("it was changed, or is that of another run")
    except (OSError, ValueError, TypeError, AttributeError, LookupError, DataError) as fault:
        what = f"{type(fault).__name__}: {' '.join(str(fault).split())}"
        raise DataError(one_line(f"{path} is not as its stage wrote it ({what}); {_AGAIN}")) from fault
    return record
