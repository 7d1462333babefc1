"""What happens around every stage's work: parameters in, one MLflow run, results out, and a clean end.

A script in pipelines/ hands its work to `run_stage`. The work reads what it needs through `Stage.use`, writes its
data through `cxprobe.storage`, and returns finished numbers, tables and figures as an `Outcome`.
"""

import gc
import os
import platform
import signal
import subprocess
import sys
import time
from argparse import ArgumentParser
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from importlib.metadata import version
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any, Generic, NoReturn

import pandas as pd
from ruamel.yaml import YAML
from typing_extensions import TypeVar

from cxprobe import tracking
from cxprobe.errors import CxprobeError, DataError
from cxprobe.params import Params, load_params
from cxprobe.records import RunRecord
from cxprobe.schema import Closed
from cxprobe.storage import DATA, RESULTS, digest, read_json, replacing, write_json, write_table

if TYPE_CHECKING:  # most stages draw nothing
    from matplotlib.figure import Figure

DECISIVE = ("src", "pipelines", "constructions", "lexicon", "prompts", "models", "published", "params.yaml")
PACKAGES = ("cxprobe", "torch", "transformers", "pytorch-lightning", "scikit-learn", "numpy", "nltk", "spacy")


# The file of parameters that a stage reads: params.yaml, unless it is no stage of the pipeline itself.
P = TypeVar("P", bound=Closed, default=Params)


class Killed(SystemExit):
    """The process was told to stop; its exit code is 128 + the signal's number."""


@dataclass
class Stage(Generic[P]):
    """What a stage's work is handed.

    Attributes:
        name: The script's name = the section of params.yaml = the folder of outputs = the MLflow experiment.
        item: "model", "llm", "construction" ... -> slug, as far as the stage's grid has them.
        params: All parameters of the stage's file.
        inputs: Path of what was read -> its MD5 at that moment; filled by `use`.
    """

    name: str
    item: Mapping[str, str]
    params: P
    inputs: dict[str, str] = field(default_factory=dict)

    def use(self, path: Path) -> Path:
        """Note a file, or a folder that DVC made, as an input of the stage and return it.

        Raises:
            DataError: It is not there.
        """
        if not path.exists():
            raise DataError(f"{path} is not there; `dvc repro` makes it, `dvc pull` fetches it from the team's remote")
        self.inputs[str(path)] = _md5(path)
        return path

    @property
    def data(self) -> Path:
        """The path, without a suffix, of the data that the stage makes for its item."""
        return DATA.joinpath(self.name, *self.item.values())

    @property
    def results(self) -> Path:
        """The folder of the results that the stage has for its item."""
        return RESULTS.joinpath(self.name, *self.item.values())


@dataclass(frozen=True)
class Outcome:
    """The finished results of a stage.

    Attributes:
        metrics: Nested names -> numbers; goes to metrics.json.
        series: Name -> (step, number) pairs; the step is the layer, or the tokens seen so far. Goes to MLflow.
        tables: Stem of a .csv file -> table.
        figures: Stem of a .png file -> figure.
        facts: What the stage found out about its inputs, such as the weights' hash; goes to the run's tags.
    """

    metrics: Mapping[str, Any]
    series: Mapping[str, list[tuple[int, float]]] = field(default_factory=dict)
    tables: Mapping[str, pd.DataFrame] = field(default_factory=dict)
    figures: "Mapping[str, Figure]" = field(default_factory=dict)
    facts: Mapping[str, str] = field(default_factory=dict)


def run_stage(work: Callable[[Stage], Outcome | None], *grid: str) -> None:
    """Run the work of a stage of the pipeline: `run_stage_with` the parameters of params.yaml."""
    run_stage_with(load_params, work, *grid)


def run_stage_with(load: Callable[[], P], work: Callable[[Stage[P]], Outcome | None], *grid: str) -> None:
    """Run a stage's work as the main program: ``python pipelines/<stage>.py --model minilm ...``.

    Exit codes: 0; 2 for a fault that the user can mend (printed without a traceback); 128 + n after signal n; 1 for
    anything else, with a traceback.

    Args:
        load: Reads the parameters.
        work: Named as its script; returns None in the helper processes of a multi-process strategy, which
            Lightning starts by running the script again: they neither track nor write results.
        grid: What the script takes, such as "model" and "construction".
    """
    arguments = ArgumentParser(description=sys.modules[work.__module__].__doc__)
    for name in grid:
        arguments.add_argument(f"--{name}", required=True)
    item: dict[str, str] = vars(arguments.parse_args())
    for signum in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(signum, _kill)
    try:
        stage = Stage(work.__name__, item, load())
        if is_helper_process():
            work(stage)
        else:
            _work_and_record(work, stage)
        # Otherwise Python goes through all that was imported once more before it ends, for a second or two.
        gc.freeze()
    except CxprobeError as fault:
        print(f"{work.__name__}: {fault}", file=sys.stderr)
        raise SystemExit(2) from None


def is_helper_process() -> bool:
    """Return whether this is not the first process of a run over several devices or machines."""
    return any(int(os.environ.get(name, 0)) > 0 for name in ("LOCAL_RANK", "RANK", "NODE_RANK", "SLURM_PROCID"))


def read_records() -> list[RunRecord]:
    """Read the record of every stage that has finished in this folder, the oldest first."""
    records = [_read_record(path) for path in RESULTS.rglob("run.json")]
    return sorted(records, key=lambda record: record.started)


def _work_and_record(work: Callable[[Stage[P]], Outcome | None], stage: Stage[P]) -> None:
    started = _now()
    dvc_stage = os.environ.get("DVC_STAGE", "")
    commit, dirty = _git_state()  # of the code that begins the work, whatever is committed meanwhile
    with tracking.running(
        stage.name, stage.item, {"dvc.stage": dvc_stage, **tracking.commit_tags(commit, dirty)}
    ) as run:
        outcome = work(stage)
        if outcome is None:
            raise TypeError(f"{stage.name} returned no outcome in its main process")
        artifacts = _write_results(outcome, stage.results)
        record = RunRecord(
            stage=stage.name,
            item=stage.item,
            dvc_stage=dvc_stage,
            started=started,
            finished=_now(),
            commit=commit,
            dirty=dirty,
            inputs=stage.inputs,
            params=_params_of(stage),
            facts=outcome.facts,
            environment=_environment(),
            metrics=dict(_flatten(outcome.metrics)),
            series=outcome.series,
            artifacts=artifacts,
        )
        write_json(asdict(record) | {"artifacts": [str(path) for path in artifacts]}, stage.results / "run.json")
        tracking.finish(run, _read_record(stage.results / "run.json"))


def _read_record(path: Path) -> RunRecord:
    content = read_json(path)
    content["artifacts"] = [Path(artifact) for artifact in content["artifacts"]]
    return RunRecord(**content)


def _write_results(outcome: Outcome, folder: Path) -> list[Path]:
    write_json(outcome.metrics, folder / "metrics.json")
    paths = [folder / "metrics.json"]
    for stem, table in outcome.tables.items():
        paths.append(folder / f"{stem}.csv")
        write_table(table, paths[-1])
    for stem, figure in outcome.figures.items():
        paths.append(folder / f"{stem}.png")
        with replacing(paths[-1]) as partial:
            # Without the date and the version of matplotlib the same numbers give the same file.
            figure.savefig(partial, format="png", dpi=150, metadata={"Software": None})
    return paths


def _params_of(stage: Stage[P]) -> dict[str, str]:
    """Return the parameters that applied: the seed, the stage's section (or its item's part), its model or llm."""
    every = stage.params.model_dump(mode="json")
    own = every.get(stage.name, {})
    applied = {
        "seed": every["seed"],
        stage.name: {slug: own[slug] for slug in stage.item.values() if slug in own} or own,
    }
    for kind in ("model", "llm"):
        slug = stage.item.get(kind)
        if slug in every.get(f"{kind}s", {}):
            applied[f"{kind}s"] = {slug: every[f"{kind}s"][slug]}
    return {name: str(value) for name, value in _flatten(applied, separator=".")}


def _flatten(content: Mapping[str, Any], separator: str = "/") -> Iterator[tuple[str, Any]]:
    for key, value in content.items():
        if isinstance(value, Mapping):
            yield from ((f"{key}{separator}{rest}", leaf) for rest, leaf in _flatten(value, separator))
        else:
            yield key, value


def _md5(path: Path) -> str:
    """Return a file's MD5; a folder's is the one that DVC has just noted, since its data may be tens of GB."""
    if path.is_file():
        return digest(path, "md5")
    lock = Path("dvc.lock")
    stages = YAML(typ="safe").load(lock).get("stages", {}) if lock.is_file() else {}
    outs = {out["path"]: out["md5"] for stage in stages.values() for out in stage.get("outs", [])}
    return str(outs.get(str(path), "not in dvc.lock"))


def _git_state() -> tuple[str, bool]:
    """Return the commit, and whether what decides on the numbers differs from it or is not in it."""
    try:
        commit = _git("rev-parse", "HEAD")
        return commit, bool(_git("status", "--porcelain", "--", *DECISIVE))
    except (OSError, subprocess.CalledProcessError):  # no git, or no repository
        return "unknown", True


def _git(*arguments: str) -> str:
    done = subprocess.run(["git", *arguments], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def _environment() -> dict[str, str]:
    versions = {name: version(name) for name in PACKAGES}
    return {"python": platform.python_version(), "platform": platform.platform(), **versions}


def _now() -> int:
    return time.time_ns() // 1_000_000


def _kill(signum: int, _frame: FrameType | None) -> NoReturn:
    raise Killed(128 + signum)
