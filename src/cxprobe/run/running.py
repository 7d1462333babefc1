"""Run a stage: read its parameters, do its work, write its results, record its runs in MLflow, and end cleanly.

A script in pipelines/ passes a function, the work of the stage, to `run_stage`; one that is the same step of every task
passes it to `run_step`. The work notes its inputs with `Stage.use`, writes data with `cxprobe.files`, and returns its
numbers, tables and figures as an `Outcome`.
"""

import errno
import gc
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from importlib import import_module
from operator import attrgetter
from types import ModuleType
from typing import Any

import pandas as pd
from filelock import FileLock, Timeout

from cxprobe.errors import DataError, ParamsError, warn_in_words
from cxprobe.files.schema import suggest
from cxprobe.files.writing import DATA, RESULTS, SCRATCH, project_folder, remove_left_behind, user_message, write_bytes
from cxprobe.run.params import SomeParams, StageParams, read_params
from cxprobe.run.progress import end_on_signals, ending_as_killed
from cxprobe.run.record import begin, keep_context, load_experiments, milliseconds
from cxprobe.run.results import write_results
from cxprobe.run.stage import Outcome, Stage
from cxprobe.secrets import redact_output

__all__ = ["Outcome", "Stage", "run_stage", "run_step"]  # what a script needs

TRACKING, LATER = "CXPROBE_TRACKING", "later"
"""An environment variable, and its value where `cxprobe sync` follows and writes the runs of all stages at once."""


def run_step(work: Callable[[ModuleType, Stage[Any]], Outcome | None], items: str | None = None) -> None:
    """Run a step of a task as the main program: ``python pipelines/<step>.py TASK [ITEM]``.

    Args:
        work: A function with the name of the step. It gets the module ``cxprobe.tasks.<task>.<step>`` and the stage.
        items: See `run_stage`.
    """
    if len(sys.argv) < 2 or not sys.argv[1].isidentifier():
        raise SystemExit(f"usage: python pipelines/{work.__name__}.py TASK [ITEM]")
    task = sys.argv[1]
    module, sections = task_step(task, work.__name__)
    _run(f"{work.__name__}_{task}", partial(work, module), sections, items, sys.argv[2:])


def task_step(task: str, step: str) -> tuple[ModuleType, type[StageParams]]:
    """Return the module of a step of a task, and the class of the sections of params.yaml that its stages read.

    Args:
        task: The name of the task: that of its folder in ``cxprobe/tasks``, where params.py has ``<Task>Stage``.
        step: "make", "embed", "measure", "ask" or "evaluate".
    """
    params = import_module(f"cxprobe.tasks.{task}.params")
    return import_module(f"cxprobe.tasks.{task}.{step}"), getattr(params, f"{task.capitalize()}Stage")


def run_stage(
    work: Callable[[Stage[SomeParams]], Outcome | None], sections: type[SomeParams], items: str | None = None
) -> None:
    """Run a stage's work as the main program: ``python pipelines/<stage>.py [ITEM]``.

    DVC passes the item in the environment variable ``DVC_STAGE``, so that no shell reads a name from params.yaml as
    part of a command.

    Exit codes: 0 for success; 2 for a fault that the user can mend, such as a full disk (printed without a traceback);
    128 + n after signal n; 1 for anything else, with a traceback. Secret keys from the environment are never printed.

    Args:
        work: A function with the name of its stage in dvc.yaml. It returns None in helper processes: for several
            devices, Lightning runs the script again for each further device.
        sections: The class of the sections of params.yaml that the stage reads.
        items: The section whose keys are the items of the stage; None for a stage that runs once.
    """
    _run(work.__name__, work, sections, items, sys.argv[1:])


def _run(
    name: str,
    work: Callable[[Stage[SomeParams]], Outcome | None],
    sections: type[SomeParams],
    items: str | None,
    arguments: Sequence[str],
) -> None:
    redact_output()
    warn_in_words()
    end_on_signals()
    try:
        params = read_params(sections)
        stage = Stage(name, _item(name, items, params, arguments), params)
        helper_keys = ("LOCAL_RANK", "RANK", "NODE_RANK", "SLURM_PROCID")  # above 0 in helper processes
        if any(int(os.environ.get(key, 0)) > 0 for key in helper_keys):
            work(stage)
        else:
            with ending_as_killed(), _locked(stage):
                for folder in (DATA / name, RESULTS / name, project_folder() / SCRATCH):
                    remove_left_behind(folder)  # partial files of processes that were killed
                _work_and_record(work, stage)
        gc.freeze()  # so that Python ends without a slow garbage collection over all imported modules
    except Exception as fault:
        message = user_message(fault)
        if message is None:
            raise
        print(f"{name}: {message}", file=sys.stderr)
        raise SystemExit(2) from None


def _item(name: str, items: str | None, params: StageParams, arguments: Sequence[str]) -> str:
    """Return the item of the stage, from DVC or else from the argument of the script; "" for a stage that runs once."""
    stage, _, item = os.environ.get("DVC_STAGE", "").partition("@")
    if stage != name:
        item = arguments[0] if arguments else ""
    if items is None:
        if item:
            raise ParamsError(f"{item}: this stage runs once, so leave the argument out")
        return ""
    known = list(attrgetter(items)(params))
    if item not in known:
        raise ParamsError(f"'{item}' is not in {items} of params.yaml{suggest(item, known)}")
    return item


def _work_and_record(work: Callable[[Stage[Any]], Outcome | None], stage: Stage[Any]) -> None:
    """Do the work of a stage, write its results, and write the runs of an evaluating stage into MLflow."""
    context = begin()  # before the work: it names the commit of the running code, and others may follow
    reason = "" if stage.item else stage.params.nothing_to_do
    outcome = _leave_out(stage, reason) if reason else work(stage)
    if outcome is None:
        raise TypeError(f"{stage.name} returned no outcome in its main process")
    if not stage.name.startswith("report") and not any(stage.data.glob("*")):
        write_bytes(
            b"there is nothing to keep\n", stage.data / "empty.txt"
        )  # DVC needs an output, and warns of an empty one
    records = write_results(stage, outcome)
    keep_context(records, replace(context, finished=milliseconds()))
    if records and os.environ.get(TRACKING) != LATER:
        # Imported here, since MLflow takes seconds to import and only evaluating stages need it.
        from cxprobe.run import tracking

        tracking.add_runs(records, load_experiments(stage.params.experiments_file))
    if outcome.faults:
        lines = [f"{model}: {fault}" for model, fault in outcome.faults.items()]
        raise DataError("\n".join([f"all models but {len(lines)} were evaluated; these could not be:", *lines]))


def _leave_out(stage: Stage[Any], reason: str) -> Outcome:
    """Write the outputs that DVC expects of a stage that has nothing to do, since its section is empty."""
    reason = f"{reason}, so {stage.name} has nothing to do"
    print(reason, flush=True)
    write_bytes(f"{reason}\n".encode(), stage.data / "empty.txt")
    if stage.evaluates:
        empty = pd.DataFrame(columns=["model"])
        return Outcome(tables={"rates": empty, "comparisons": empty, "tables/empty": empty})
    return Outcome(pages={"empty.txt": f"{reason}\n"})


@contextmanager
def _locked(stage: Stage[Any]) -> Iterator[None]:
    """Lock the item of a stage for this process while the block runs.

    The operating system releases the lock when the process ends, even if it is killed or if its child processes still
    run. On a shared disk that does not support locks, a warning is printed and the block runs without a lock.

    Raises:
        DataError: Another process works on the item.
    """
    path = SCRATCH / "locks" / stage.name / f"{stage.item or 'once'}.lock"
    path.parent.mkdir(parents=True, exist_ok=True)
    lock = FileLock(path, timeout=0)
    try:
        lock.acquire()
    except Timeout:
        what = f"another process works on {stage.item or 'the same'}: it has locked {path}"
        raise DataError(f"{what}; wait until it has ended, or end it, and run the stage again") from None
    except OSError as fault:
        if fault.errno not in (errno.ENOLCK, errno.EOPNOTSUPP):  # of shared disks that do not support locks
            raise
        print(f"{path} cannot be locked ({fault.strerror}): do not run this stage in another process", file=sys.stderr)
    try:
        yield
    finally:
        lock.release()
