"""What a stage's work returns: finished numbers, tables and figures."""

import gc
import os
import sys
from argparse import ArgumentParser
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from cxprobe.errors import CxprobeError
from cxprobe.files.writing import RESULTS, SCRATCH, full_disk, project_folder, remove_left_behind
from cxprobe.run.locking import locked
from cxprobe.run.params import Params, load_params
from cxprobe.run.provenance import begin, milliseconds
from cxprobe.run.record import Circumstances, RunRecord, is_tracked, kind_of
from cxprobe.run.results import prepare_data, write_results
from cxprobe.run.signals import end_on_signals, ending_as_killed
from cxprobe.secrets import blot_output

if TYPE_CHECKING:  # most stages draw nothing
    pass

from cxprobe.run.stage import Outcome, P, Stage


def run_stage(work: Callable[[Stage[Params]], Outcome | None], *grid: str, of: tuple[str, ...] | None = None) -> None:
    """Run the work of a stage of the pipeline: `run_stage_with` the parameters of params.yaml."""
    run_stage_with(load_params, work, *grid, of=of)


def run_stage_with(
    load: Callable[[], P],
    work: Callable[[Stage[P]], Outcome | None],
    *grid: str,
    of: tuple[str, ...] | None = None,
) -> None:
    """Run a stage's work as the main program: ``python pipelines/make/<stage>.py --construction <slug> ...``.

    Exit codes: 0; 2 for a fault that the user can mend, such as a full disk (printed without a traceback); 128 + n
    after signal n; 1 for anything else, with a traceback. Keys of the environment are in nothing that is printed.

    Args:
        load: Reads the parameters.
        work: Named as its script; returns None in the helper processes of a multi-process strategy, which
            Lightning starts by running the script again: they neither track nor write results.
        grid: What the script takes, such as "model" and "construction".
        of: Which of these name the folders of data and results; by default all of them.
    """
    _collect_from_now_on()
    arguments = ArgumentParser(description=sys.modules[work.__module__].__doc__)
    for name in grid:
        arguments.add_argument(f"--{name}", required=True)
    item: dict[str, str] = vars(arguments.parse_args())
    blot_output()
    end_on_signals()
    try:
        stage = Stage(work.__name__, item, load(), of)
        stage.refuse_unknown()
        if is_helper_process():
            work(stage)
        else:
            with ending_as_killed(), locked(stage):
                _remove_left_behind(stage)
                _work_and_record(work, stage)
        # Otherwise Python goes through all that was imported once more before it ends, for a second or two.
        gc.freeze()
    except CxprobeError as fault:
        print(f"{work.__name__}: {fault}", file=sys.stderr)
        raise SystemExit(2) from None
    except Exception as fault:
        said = full_disk(fault)
        if said is None:
            raise
        print(f"{work.__name__}: {said}", file=sys.stderr)
        raise SystemExit(2) from None


def _collect_from_now_on() -> None:
    """Let Python look for garbage, but not among what was imported."""
    gc.freeze()
    gc.enable()


def is_helper_process() -> bool:
    """Return whether this is not the first process of a run over several devices or machines."""
    return any(int(os.environ.get(name, 0)) > 0 for name in ("LOCAL_RANK", "RANK", "NODE_RANK", "SLURM_PROCID"))


def _remove_left_behind(stage: Stage[Any]) -> None:
    """Remove what processes that were killed in the middle of a file have left where this stage writes."""
    for folder in (stage.data.parent, RESULTS / stage.name, project_folder() / SCRATCH):
        remove_left_behind(folder)


def _work_and_record(work: Callable[[Stage[P]], Outcome | None], stage: Stage[P]) -> None:
    """Do the work of a stage; a stage that judges has no run of its own, and one that only lists files no record."""
    if not is_tracked(stage.name):
        work(stage)
        return
    gc.disable()  # see cxprobe/__init__.py
    from cxprobe import tracking  # here, since MLflow takes seconds to import and not every stage has a run

    _collect_from_now_on()
    dvc_stage = os.environ.get("DVC_STAGE", "")
    circumstances = begin(stage.placement())  # of the code that begins the work, whatever is committed meanwhile
    if kind_of(stage.name) == "judge":
        records, circumstances = _work_and_write(work, stage, dvc_stage, circumstances)
        tracking.add_runs(records, circumstances)
        return
    with tracking.running(stage.name, stage.item, dvc_stage) as run:
        (own, *judged), circumstances = _work_and_write(work, stage, dvc_stage, circumstances)
        if run is not None:
            tracking.finish(run, own, circumstances, judged)


def _work_and_write(
    work: Callable[[Stage[P]], Outcome | None], stage: Stage[P], dvc_stage: str, circumstances: Circumstances
) -> tuple[list[RunRecord], Circumstances]:
    """Do the work and write everything that is on disk, so that the tracking store can be written from there."""
    from cxprobe.run.tracking import keep_circumstances

    with ending_as_killed():
        outcome = work(stage)
        if outcome is None:
            raise TypeError(f"{stage.name} returned no outcome in its main process")
        prepare_data(stage)
        records = write_results(stage, outcome, dvc_stage)
    circumstances = replace(circumstances, finished=milliseconds())
    keep_circumstances(records, circumstances)
    return records, circumstances
