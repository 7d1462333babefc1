"""The results of a stage on disk, with the records from which its runs can be written into any MLflow server."""

import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from cxprobe.errors import DataError
from cxprobe.files.tables import write_table
from cxprobe.files.writing import RESULTS, read_json, write_bytes, write_json
from cxprobe.lm.params import ModelSpec, Panel, ServedModel, members_of
from cxprobe.run.record import STAGES, Dataset, RunRecord, Trial, kind_of, line_of_work
from cxprobe.run.signals import uninterrupted
from cxprobe.run.stage import JudgedRun, Outcome, Stage

if TYPE_CHECKING:  # most stages draw nothing
    from matplotlib.figure import Figure

RECORD = "record.json"
_UNFINISHED = ".partial"  # the folder within a stage's results in which the new ones wait until all are there
# Kind of stage -> its outputs in its folder of results, which are replaced; "" is the whole folder.
_OUTPUTS = {"make": ("",), "measure": ("",), "judge": ("runs",), "report": ("tables", "figures")}
_MOST_HEADLINES = 12
_HEADLINES_OF_A_MEMBER = 2  # of a panel: the accuracy and n
_NAMED_BY_SOURCE = ("recognition", "benchmarks")  # lines of work in which a construction has several sources


def prepare_data(stage: Stage[Any]) -> None:
    """Make the folder of a stage's data if the stage has written nothing there, so that DVC finds its output."""
    in_files = stage.data.parent.glob(f"{stage.data.name}.*")
    if kind_of(stage.name) != "report" and not stage.data.exists() and not any(in_files):
        stage.data.mkdir(parents=True)


def write_results(stage: Stage[Any], outcome: Outcome, dvc_stage: str) -> list[RunRecord]:
    """Write all that a stage's work has returned, and return the records of its runs.

    The results change together or not at all: new ones are written beside the old ones first.

    Returns:
        The record of the stage's own run first, if it is of a kind that has one; then those of its judged runs.

    Raises:
        ValueError: The outcome has parts that a stage of this kind cannot have.
        DataError: The run of a twin or of a blind model would pass for one of a trained model, or the other way round.
    """
    kind = kind_of(stage.name)
    _require_allowed(stage.name, outcome)
    _require_states(stage, outcome)
    records = []
    with _replacing_results(stage) as new:
        if kind == "judge":
            write_json(outcome.headline, new / "metrics.json")
        else:
            records.append(_write_own_record(stage, outcome, dvc_stage, new))
        return records + _write_judged_runs(stage, outcome, dvc_stage, new)


def read_records() -> list[RunRecord]:
    """Read the record of every run of the stages that have finished in this folder."""
    return [_read_record(path) for path in sorted(RESULTS.rglob(RECORD)) if _UNFINISHED not in path.parts]


@contextmanager
def _replacing_results(stage: Stage[Any]) -> Iterator[Path]:
    """Give a folder to write a stage's results to; if the block ends well, they take the place of the old ones.

    The folders that DVC expects exist in it. If an exception ends the block, the old results stay as they are.
    """
    waiting = stage.results / _UNFINISHED
    shutil.rmtree(waiting, ignore_errors=True)
    try:
        for output in (*_OUTPUTS[kind_of(stage.name)], ""):
            (waiting / "new" / output).mkdir(parents=True, exist_ok=True)
        yield waiting / "new"
        with uninterrupted():
            _exchange(stage, waiting / "new", waiting / "old")
    finally:
        shutil.rmtree(waiting, ignore_errors=True)


def _exchange(stage: Stage[Any], new: Path, old: Path) -> None:
    """Move old results away and then new ones in, or back again if that fails.

    All old ones go before the first new one comes. So a process that is killed here may leave too few results, which
    DVC notices, but never old ones beside new ones.
    """
    old.mkdir()
    outputs = _OUTPUTS[kind_of(stage.name)]
    arriving = sorted(path.name for path in new.iterdir())
    leaving = [
        path.name
        for path in sorted(stage.results.iterdir())
        if path.name != _UNFINISHED and ("" in outputs or path.name in (*outputs, *arriving))
    ]
    moves = [(stage.results / name, old / name) for name in leaving]
    moves += [(new / name, stage.results / name) for name in arriving]
    moved: list[tuple[Path, Path]] = []
    try:
        for source, target in moves:
            source.rename(target)
            moved.append((source, target))
    except BaseException:
        for source, target in reversed(moved):
            target.rename(source)
        raise


def _write_own_record(stage: Stage[Any], outcome: Outcome, dvc_stage: str, new: Path) -> RunRecord:
    artifacts = _write_artifacts(outcome.tables, outcome.figures, new)
    beside = "tables" if kind_of(stage.name) == "report" else ""
    if outcome.counts:
        # As objects, since a column of numbers would turn whole numbers into rounded ones.
        counts = pd.Series(dict(outcome.counts), dtype=object).rename_axis("count").reset_index(name="value")
        artifacts.append(Path(beside) / "counts.csv")
        write_table(counts, new / artifacts[-1])
    record = RunRecord(
        experiment=STAGES,
        name=" · ".join([stage.name, *stage.item.values()]),
        stage=stage.name,
        item=stage.item,
        dvc_stage=dvc_stage,
        params={"stage": stage.name, **stage.item, **stage.own_settings()},
        metrics=dict(outcome.counts),  # a Counter would not survive `asdict`
        series=outcome.series,
        dataset=None,
        inputs=stage.inputs,
        facts=outcome.facts,
        folder=stage.results,
        artifacts=artifacts,
        trials=outcome.trials,
    )
    return _write_record(record, new / beside / RECORD)


def _write_judged_runs(stage: Stage[Any], outcome: Outcome, dvc_stage: str, new: Path) -> list[RunRecord]:
    folders = [_folder_of(stage, run) for run in outcome.runs]
    twice = sorted({str(folder) for folder in folders if folders.count(folder) > 1})
    if twice:
        raise ValueError(
            f"{stage.name} has more than one run for {', '.join(twice)}; each needs a source or a model of its own"
        )
    return [
        _write_judged_run(stage, run, outcome.facts, folder, dvc_stage, new / folder.relative_to(stage.results))
        for run, folder in zip(outcome.runs, folders, strict=True)
    ]


def _folder_of(stage: Stage[Any], run: JudgedRun) -> Path:
    """Return the folder of a judged run; the model is part of it unless the stage's folder is the model's own.

    Panels and reports have several models. What DVC keeps of a report is tables/.
    """
    above = stage.results / "tables" / "runs" if kind_of(stage.name) == "report" else stage.results / "runs"
    if run.model not in (stage.item.get("model"), stage.item.get("llm")):
        above /= run.model
    return above / run.construction / run.source


def _write_judged_run(
    stage: Stage[Any], run: JudgedRun, facts: Mapping[str, str], folder: Path, dvc_stage: str, new: Path
) -> RunRecord:
    """Write a run into the folder ``new``, from where it goes to ``folder``."""
    experiment = line_of_work(stage.name)
    middle = [run.source] if experiment in _NAMED_BY_SOURCE else []
    record = RunRecord(
        experiment=experiment,
        name=" · ".join([run.label, *middle, run.construction]),
        stage=stage.name,
        item=stage.item,
        dvc_stage=dvc_stage,
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
        dataset=None if run.dataset is None else _dataset(stage, run.dataset, run.items),
        inputs=stage.inputs,
        facts={**facts, "weights": run.facts.weights},
        folder=folder,
        artifacts=_write_artifacts(run.tables, run.figures, new),
        trials=(),
    )
    return _write_record(record, new / RECORD)


def _dataset(stage: Stage[Any], path: Path, items: int) -> Dataset:
    if str(path) not in stage.inputs:
        raise ValueError(
            f"{stage.name}: the data set {path} is not an input of the stage; take what `Stage.use` returns"
        )
    return Dataset(path.as_posix(), stage.inputs[str(path)], items)


def _write_artifacts(tables: Mapping[str, pd.DataFrame], figures: "Mapping[str, Figure]", folder: Path) -> list[Path]:
    """Write tables and figures, and return their paths relative to the folder."""
    for stem, table in tables.items():
        write_table(table, folder / f"{stem}.csv")
    for stem, figure in figures.items():
        drawn = BytesIO()
        # Without the date and the version of matplotlib the same numbers give the same file.
        figure.savefig(drawn, format="png", dpi=150, metadata={"Software": None})
        write_bytes(drawn.getvalue(), folder / f"{stem}.png")
    return [*(Path(f"{stem}.csv") for stem in tables), *(Path(f"{stem}.png") for stem in figures)]


def _write_record(record: RunRecord, path: Path) -> RunRecord:
    """Write a record and read it back, so that MLflow gets the same rounded numbers as `cxprobe sync` would."""
    paths = {"folder": record.folder.as_posix(), "artifacts": [path.as_posix() for path in record.artifacts]}
    write_json(asdict(record) | paths, path)
    return _read_record(path)


def _read_record(path: Path) -> RunRecord:
    content = read_json(path)
    try:
        content["folder"] = Path(content["folder"])
        content["artifacts"] = [Path(artifact) for artifact in content["artifacts"]]
        content["series"] = {
            name: [(step, value) for step, value in points] for name, points in content["series"].items()
        }
        content["dataset"] = content["dataset"] and Dataset(**content["dataset"])
        content["trials"] = [Trial(**trial) for trial in content["trials"]]
        return RunRecord(**content)
    except (KeyError, TypeError) as fault:
        raise DataError(f"{path} is not a record of this version of cxprobe ({fault}); run its stage again") from fault


def _require_allowed(stage: str, outcome: Outcome) -> None:
    """Refuse what would be written nowhere, or to where DVC does not look."""
    kind = kind_of(stage)
    forbidden: dict[str, Sequence[str]] = {
        "make": ("headline", "runs"),
        "measure": ("headline", "runs"),
        "judge": ("counts", "series", "tables", "figures", "trials"),
        "report": ("headline", "trials"),
    }
    found = [name for name in forbidden[kind] if getattr(outcome, name)]
    if found:
        raise ValueError(f"{stage}: the outcome of a stage that begins with '{kind}' cannot have {', '.join(found)}")
    numbers = list(_leaves(outcome.headline))
    most = max(_MOST_HEADLINES, _HEADLINES_OF_A_MEMBER * len({run.model for run in outcome.runs}))
    if len(numbers) > most or any(depth > 2 for depth in numbers):
        raise ValueError(
            f"{stage}: headline has {len(numbers)} numbers, nested {max(numbers)} deep; at most {most} are allowed, at "
            "most 2 deep; put the others into the metrics of the runs"
        )


def _require_states(stage: Stage[Any], outcome: Outcome) -> None:
    """Refuse runs whose answers are not those of the weights that params name for the model."""
    slug = stage.item.get("model", "")
    entry = getattr(stage.params, "models", {}).get(slug)
    if not isinstance(entry, ModelSpec | Panel | ServedModel):
        return
    states = {member.slug: member.state for member in members_of({slug: entry}, [slug])}
    for run in outcome.runs:
        if run.facts.state != states.get(run.model):
            raise DataError(
                f"{stage.name}: model.json says that the weights of {run.model} are '{run.facts.state}', and "
                f"models.{slug} in params.yaml that they are '{states.get(run.model)}'; run `dvc repro`"
            )


def _leaves(content: Mapping[str, Any], depth: int = 1) -> Iterable[int]:
    """Return at which depth each number of a nested mapping is."""
    for value in content.values():
        if isinstance(value, Mapping):
            yield from _leaves(value, depth + 1)
        else:
            yield depth
