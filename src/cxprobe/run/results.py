"""The results of a stage on disk, with the records from which its runs can be written into any MLflow server."""

import shutil
from collections.abc import Callable, Mapping
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from cxprobe.errors import DataError
from cxprobe.files.reading import one_line
from cxprobe.files.tables import write_table
from cxprobe.files.writing import RESULTS, read_json, rounded, write_bytes, write_json
from cxprobe.run.progress import uninterrupted
from cxprobe.run.record import RUNS, Run
from cxprobe.run.stage import Outcome, Stage

if TYPE_CHECKING:  # most stages draw nothing
    from matplotlib.figure import Figure

RECORD = "record.json"
INPUTS = "inputs.json"  # beside the folders of runs: path of each file or folder that the stage read -> its MD5
METRICS = "metrics"  # the folder of the metrics of DVC: of each task a file a model, whose path names the row
_AGAIN = "`dvc checkout` brings it back, and `dvc repro` writes it anew where an older version of cxprobe wrote it"
_STATES = ("none", "random", "trained")  # MLflow's UI shows the newest runs: of trained models, no series


def write_results(stage: Stage[Any], outcome: Outcome) -> list[Run]:
    """Write the outcome of a stage's work, and return its runs as they can be read again, trained models last.

    New results are written beside the old ones, and take their place when all are there. The old ones go before the
    first new one comes: a process that is killed here may leave too few results, which DVC notices, but never old ones
    beside new ones.

    Raises:
        ValueError: Two runs have the same folder.
    """
    if outcome == Outcome() and not stage.evaluates:  # an empty folder would be no stage's output
        shutil.rmtree(stage.results, ignore_errors=True)
        return []
    waiting = stage.results / ".partial"  # in which the new ones wait until all are there
    shutil.rmtree(waiting, ignore_errors=True)
    waiting.mkdir(parents=True)
    runs: dict[Path, Run] = {}
    try:
        _write_artifacts(outcome.tables, outcome.figures, waiting)
        for page, text in outcome.pages.items():
            write_bytes(text.encode(), waiting / page)
        if outcome.counts:
            # As objects, since a column of numbers would turn whole numbers into rounded ones.
            counts = pd.Series(dict(outcome.counts), dtype=object).rename_axis("count").reset_index(name="value")
            write_table(counts, waiting / "counts.csv")
        if stage.evaluates:
            for model, numbers in (outcome.headline or {"none": {}}).items():
                write_json(numbers, waiting / METRICS / f"{model}.json")
            # Not in the records: a corrected construction changes them, and not the results on the others.
            write_json(stage.inputs, waiting / RUNS / INPUTS)
        for run in sorted(outcome.runs, key=lambda run: (run.facts.kind != "series", _STATES.index(run.facts.state))):
            if run.folder in runs:
                raise ValueError(f"two runs have the folder {run.folder}; each needs a source or a model of its own")
            written = _with_artifacts(run, lambda path: waiting / path.relative_to(stage.results))
            runs[run.folder] = Run(**rounded(written.model_dump()))
            record = waiting / run.folder.relative_to(stage.results) / RECORD
            write_json(runs[run.folder].model_dump() | {"digest": runs[run.folder].digest}, record)
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
    return [*runs.values()]


def read_runs() -> tuple[list[Run], list[str]]:
    """Read every run of the evaluating stages that have finished in this folder.

    Returns:
        The runs, and a message about each whose record is none, or not as its stage wrote it there.
    """
    runs, faults = [], []
    for path in sorted(RESULTS.glob(f"*/{RUNS}/**/{RECORD}")):
        try:
            content = read_json(path)
            digest = content.pop("digest")
            run = Run(**content)
            if digest != run.digest or run.folder != path.parent:
                raise ValueError("it was changed, or is that of another run")
            runs.append(run)
        except (OSError, ValueError, TypeError, AttributeError, LookupError, DataError) as fault:
            what = f"{type(fault).__name__}: {' '.join(str(fault).split())}"
            faults.append(one_line(f"{path} is not as its stage wrote it ({what}); {_AGAIN}"))
    return runs, faults


def _with_artifacts(run: Run, at: Callable[[Path], Path]) -> Run:
    """Write the tables and figures of a run and of its children, and return the run with their paths."""
    artifacts = _write_artifacts(run.tables, run.figures, at(run.folder))
    children = [_with_artifacts(child, at) for child in run.children]
    return run.model_copy(update={"artifacts": artifacts, "children": children})


def _write_artifacts(tables: Mapping[str, pd.DataFrame], figures: "Mapping[str, Figure]", folder: Path) -> list[str]:
    """Write tables and figures, and return their paths relative to the folder."""
    for stem, table in tables.items():
        write_table(table, folder / f"{stem}.csv")
    for stem, figure in figures.items():
        drawn = BytesIO()
        # Without the date and the version of matplotlib the same numbers give the same file.
        figure.savefig(drawn, format="png", dpi=150, metadata={"Software": None, "Title": figure.get_suptitle()})
        write_bytes(drawn.getvalue(), folder / f"{stem}.png")
    return [*(f"{stem}.csv" for stem in tables), *(f"{stem}.png" for stem in figures)]
