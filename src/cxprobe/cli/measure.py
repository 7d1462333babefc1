"""The command ``cxprobe measure``: the measuring stages in parts, and how much of them is there."""

import re
import runpy
import sys
from collections.abc import Callable, Mapping
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from cxprobe.cli.names import complete_model
from cxprobe.errors import CxprobeError, DataError, ParamsError

if TYPE_CHECKING:
    from cxprobe.run.params import Params
    from cxprobe.run.processes import Count, Job, Share
    from cxprobe.run.stage import Outcome, Stage

# The stages that let a checkpoint read texts. What they keep is kept by text or by batch, so that parts can compute it.
STAGES = (
    "extract_features",
    "fill_scenarios",
    "score_pairs",
    "score_benchmarks",
    "score_answers",
    "fit_pair_probes",
)
_PART = re.compile(r"([0-9]{1,6})/([0-9]{1,6})")
_SERVED = "left to `dvc repro`, which asks the server"
_REFERENCE = re.compile(r"\$\{([\w.-]+)\}")


class Item(NamedTuple):
    """What one stage measures of one model.

    Attributes:
        stage: The name of the stage.
        item: "model", "construction" ... -> slug.
        script: The script of the stage.
        inputs: What the script reads of data/: each is a folder, or a file without its suffix.
        served: Whether the model runs on a server. It has no parts: n of them would send n times as many requests at
            the same time as `connections` allows, and hold n devices that compute nothing.
    """

    stage: str
    item: Mapping[str, str]
    script: Path
    inputs: tuple[Path, ...]
    served: bool

    def __str__(self) -> str:
        """Return how a line about it begins."""
        return " ".join([self.stage, *self.item.values()])


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
    from cxprobe.run.params import load_params

    if (part is None) != status:
        raise ParamsError("give either --part, such as --part 3/16, or --status")
    share = None if part is None else _share(part)
    params = load_params()
    items = _chosen(_items(params), stage or list(STAGES), model, params)
    served = [one for one in items if one.served]
    if share is None:
        _refuse_none(items)
        _say_status(items, params)
        return
    items = [one for one in items if not one.served]
    _refuse_none(items)
    _refuse_missing(items)
    from cxprobe.run.processes import Job
    from cxprobe.run.signals import end_on_signals
    from cxprobe.secrets import blot_output

    blot_output()
    end_on_signals()
    for one in served:
        print(f"{one}: {_SERVED}", flush=True)
    job, faults = Job(share=share), []
    for one in items:
        try:
            if any(count.there < count.total for count in _count(one, params)):
                _run(one, params, job)
        except CxprobeError as fault:  # the other models need not wait for this one
            faults.append(f"{one}: {fault}")
            print(faults[-1], file=sys.stderr, flush=True)
        else:
            print(f"{one}: part {part} is there", flush=True)
    if faults:
        raise DataError(f"part {part}: {len(faults)} of {len(items)} were not computed; they are named above")


def _share(part: str) -> "Share":
    """Return what "3/16" means."""
    from cxprobe.run.processes import Share

    found = _PART.fullmatch(part)
    if found is None or not 1 <= int(found[1]) <= int(found[2]):
        raise ParamsError(f"--part {part}: give which part of how many, from 1/1 to n/n, such as 3/16")
    return Share(int(found[1]) - 1, int(found[2]))


def _items(params: "Params") -> list[Item]:
    """Return all that the stages measure of checkpoints and of models on a server, in the order of dvc.yaml."""
    from cxprobe.files.schema import read_yaml
    from cxprobe.lm.params import ModelSpec, ServedModel

    stages = read_yaml(Path("dvc.yaml"), DataError)["stages"]
    content = params.model_dump(mode="json")
    found = []
    for name in (name for name in stages if name in STAGES):
        axes = {axis: list(_value(of[2:-1], content)) for axis, of in stages[name]["matrix"].items()}
        for slugs in product(*axes.values()):
            item = dict(zip(axes, slugs, strict=True))
            model = params.models[item["model"]]
            if isinstance(model, ModelSpec | ServedModel):
                script, inputs = Path(stages[name]["cmd"].split()[1]), tuple(_inputs(stages[name], item, content))
                found.append(Item(name, item, script, inputs, isinstance(model, ServedModel)))
    return found


def _inputs(stage: Mapping[str, Any], item: Mapping[str, str], content: Mapping[str, Any]) -> list[Path]:
    """Return what a stage reads of data/ for an item, construction by construction, or source by source."""
    deps, params = ([_filled(one, item) for one in stage[key] if isinstance(one, str)] for key in ("deps", "params"))
    made = [Path(one).with_suffix("") for one in deps if one.startswith("data/")]
    inside = [part for one in params if one.startswith("grid.") for part in _value(one, content)]
    return [path / part for path in made for part in inside] or made


def _filled(text: str, item: Mapping[str, str]) -> str:
    return _REFERENCE.sub(lambda found: item[found[1].removeprefix("item.")], text)


def _value(name: str, content: Mapping[str, Any]) -> Any:
    """Return the parameter of a dotted name."""
    value: Any = content
    for key in name.split("."):
        value = value[key]
    return value


def _chosen(items: list[Item], stages: list[str], models: list[str] | None, params: "Params") -> list[Item]:
    """Return the items of some stages and models.

    Raises:
        ParamsError: There is no such stage or model.
    """
    from cxprobe.files.schema import suggest

    for name in stages:
        if name not in STAGES:
            raise ParamsError(f"--stage {name}: no stage that has parts{suggest(name, list(STAGES))}")
    for name in models or []:
        if name not in params.models:
            raise ParamsError(f"--model {name}: models has no '{name}'{suggest(name, list(params.models))}")
    return [one for one in items if one.stage in stages and (models is None or one.item["model"] in models)]


def _refuse_none(items: list[Item]) -> None:
    """Refuse a choice in which there is nothing to do.

    Raises:
        ParamsError: There are no items.
    """
    if not items:
        raise ParamsError(
            "params.yaml has no checkpoint for these stages and models; blind models need no parts, and a model on a "
            "server has none: `dvc repro` asks the server"
        )


def _missing(item: Item) -> list[str]:
    """Return a line for each input of an item that is not there, with the command that makes it."""
    missing = [path for path in item.inputs if not path.exists() and not any(path.parent.glob(f"{path.name}.*"))]
    return [f"{item}: {path} is missing; `dvc repro {path.parts[1]}` makes it" for path in missing]


def _refuse_missing(items: list[Item]) -> None:
    """Refuse items whose inputs have not been made.

    Raises:
        DataError: With what is missing, and the command that makes it.
    """
    lines = {line for one in items for line in _missing(one)}
    if lines:
        raise DataError("\n".join(sorted(lines)))


def _say_status(items: list[Item], params: "Params") -> None:
    """Print a line for each stage and model."""
    left = 0
    for one in items:
        if missing := _missing(one):
            left += 1
            print(missing[0], flush=True)
            continue
        try:
            counts = _count(one, params)
        except CxprobeError as fault:
            left += 1
            print(f"{one}: {fault}", flush=True)
            continue
        said = [f"{count.there:,} of {count.total:,} {count.unit}" for count in counts]
        lacking = sum(count.total - count.there for count in counts)
        left += lacking > 0
        rest = f", {lacking:,} missing{f'; {_SERVED}' if one.served else ''}" if lacking else ""
        print(f"{one}: {'; '.join(said) or 'the stage has finished'}{rest}", flush=True)
    print(f"{len(items) - left} of {len(items)} are complete", flush=True)


def _count(item: Item, params: "Params") -> "list[Count]":
    """Return how much of an item is there: nothing to count where the stage has finished with the same inputs."""
    from cxprobe.run.processes import Count, Job

    if _stage(item, params, Job()).has_finished():
        return []
    job = Job(counts=True)
    _run(item, params, job)
    units = dict.fromkeys(count.unit for count in job.counted)
    of_unit = {unit: [count for count in job.counted if count.unit == unit] for unit in units}
    return [Count(unit, sum(one.there for one in own), sum(one.total for one in own)) for unit, own in of_unit.items()]


def _run(item: Item, params: "Params", job: "Job") -> None:
    """Let the script of a stage do a job; it returns nothing, since it writes no outputs."""
    work: Callable[[Stage], Outcome | None] = runpy.run_path(str(item.script))[item.stage]
    work(_stage(item, params, job))


def _stage(item: Item, params: "Params", job: "Job") -> "Stage":
    from cxprobe.run.stage import Stage

    return Stage(item.stage, item.item, params, job=job)
