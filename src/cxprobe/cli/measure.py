"""The command ``cxprobe measure``: the measuring stages in parts, and how much of them is there."""

import os
import re
import runpy
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from cxprobe.cli.names import complete_model
from cxprobe.errors import CxprobeError, DataError, ParamsError

if TYPE_CHECKING:
    from cxprobe.project.params import Params
    from cxprobe.run.processes import Job

_PART = re.compile(r"([0-9]{1,6})/([0-9]{1,6})")
_SERVED = "left to `dvc repro`, which asks the server"


class _Item(NamedTuple):
    """What one stage measures of one entry of ``models``.

    Attributes:
        stage: The name of the stage.
        model: The entry.
        served: Whether it runs on a server. It has no parts: n of them would send n times as many requests at the same
            time as `connections` allows, and hold n devices that compute nothing.
    """

    stage: str
    model: str
    served: bool

    def __str__(self) -> str:
        return f"{self.stage} {self.model}"

    @property
    def of_dvc(self) -> str:
        """The name of the stage in DVC."""
        return f"{self.stage}@{self.model}"

    @property
    def made(self) -> Path:
        """The folder of the items that it reads."""
        return Path("data") / f"make_{self.stage.partition('_')[2]}"

    def run(self, params: "Params", job: "Job") -> None:
        """Let the script of the stage do a job; it writes no outputs."""
        from cxprobe.run.stage import Stage

        step, _, line = self.stage.partition("_")
        work = runpy.run_path(str(Path("pipelines", line, f"{step}.py")))[self.stage]
        work(Stage(self.stage, self.model, params.params_of(line), job=job))


def measure(
    part: Annotated[
        str | None, typer.Option(help="Which part of how many, such as 3/16: compute it, and write no outputs.")
    ] = None,
    status: Annotated[bool, typer.Option("--status", help="Say what is there and what is missing.")] = False,
    stage: Annotated[list[str] | None, typer.Option(help="Only this stage; may be repeated.")] = None,
    model: Annotated[
        list[str] | None,
        typer.Option(help="Only this model of params.yaml; may be repeated.", autocompletion=complete_model),
    ] = None,
) -> None:
    """Compute a part of what the measuring stages ask of models, without DVC; `dvc repro` then finds it all."""
    from cxprobe.project.params import load_params

    if (part is None) != status:
        raise ParamsError("give either --part, such as --part 3/16, or --status")
    params = load_params()
    items = _items(params, stage, model)
    if not items or (part and all(item.served for item in items)):
        raise ParamsError(
            "params.yaml has no checkpoint for these stages and models; blind models need no parts, and a model on a "
            "server has none: `dvc repro` asks the server"
        )
    if part is None:
        _print_status(items, params)
    else:
        _compute_part(part, items, params)


def _items(params: "Params", stages: list[str] | None, models: list[str] | None) -> list[_Item]:
    """Return what some stages measure of checkpoints and of models on a server.

    Raises:
        ParamsError: There is no such stage or model.
    """
    from cxprobe.files.schema import suggest
    from cxprobe.lines import LINES
    from cxprobe.lm.params import Panel, ServedModel

    lists = {stage: f"{name}.{key}" for name, line in LINES.items() for stage, key in line.measured.items()}
    for name in stages or ():
        if name not in lists:
            raise ParamsError(f"--stage {name}: no stage that has parts{suggest(name, list(lists))}")
    for name in models or ():
        if name not in params.models:
            raise ParamsError(f"--model {name}: models has no '{name}'{suggest(name, list(params.models))}")
    items = []
    for stage in stages or lists:
        for slug in params.names_of(lists[stage]):
            entry = params.models[slug]
            if (models is None or slug in models) and not isinstance(entry, Panel):
                items.append(_Item(stage, slug, isinstance(entry, ServedModel)))
    return items


def _compute_part(part: str, items: list[_Item], params: "Params") -> None:
    from cxprobe.run.processes import Job, Share
    from cxprobe.run.signals import end_on_signals
    from cxprobe.secrets import blot_output

    match = _PART.fullmatch(part)
    if match is None or not 1 <= int(match[1]) <= int(match[2]):
        raise ParamsError(f"--part {part}: give which part of how many, from 1/1 to n/n, such as 3/16")
    missing = {_missing(item) for item in items if not item.made.exists()}
    if missing:
        raise DataError("\n".join(sorted(missing)))
    blot_output()
    end_on_signals()
    job, faults = Job(share=Share(int(match[1]) - 1, int(match[2]))), 0
    for item in items:
        if item.served:
            print(f"{item}: {_SERVED}", flush=True)
            continue
        try:
            item.run(params, job)
        except CxprobeError as fault:  # the other models need not wait for this one
            faults += 1
            print(f"{item}: {fault}", file=sys.stderr, flush=True)
        else:
            print(f"{item}: part {part} is there", flush=True)
    if faults:
        raise DataError(f"part {part}: {faults} of {len(items)} were not computed; they are named above")


def _print_status(items: list[_Item], params: "Params") -> None:
    """Print a line for each stage and model; as for `cxprobe plan`, what DVC finds up to date has nothing missing."""
    # Counting needs tokenizers alone: without a network each absent file of a model would be waited for.
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    from cxprobe.cli.check import changed_stages
    from cxprobe.run.processes import Job

    complete, changed = 0, changed_stages([item.of_dvc for item in items])
    for item in items:
        if item.of_dvc not in changed:  # what it kept while it computed may be gone, or was never here
            complete += 1
            print(f"{item}: its results are up to date", flush=True)
            continue
        if not item.made.exists():
            print(_missing(item), flush=True)
            continue
        job = Job(counts=True)
        try:
            item.run(params, job)
        except CxprobeError as fault:
            print(f"{item}: {fault}", flush=True)
            continue
        there, total = Counter[str](), Counter[str]()
        for count in job.counted:
            there[count.unit] += count.there
            total[count.unit] += count.total
        missing = total.total() - there.total()
        complete += not missing
        counted = "; ".join(f"{there[unit]:,} of {total[unit]:,} {unit}" for unit in total)
        rest = f", {missing:,} missing{f'; {_SERVED}' if item.served else ''}" if missing else ""
        print(f"{item}: {counted or 'nothing to ask'}{rest}", flush=True)
    print(f"{complete} of {len(items)} are complete", flush=True)


def _missing(item: _Item) -> str:
    return f"{item}: {item.made} is missing; `dvc repro {item.made.name}` makes it"
