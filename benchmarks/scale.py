"""What a larger project costs: stages of DVC, runs of MLflow, models of a report, shards of a corpus.

    python benchmarks/scale.py                       # every part, in the sizes that take minutes
    python benchmarks/scale.py pipeline --sizes 1 4  # the grid of a preset, four times as wide; hours from 10 on
    python benchmarks/scale.py runs --sizes 200 2000

Nothing is measured on models: the stages of a pipeline are replaced by trifles, runs and judged models are copies of
those of a finished project, and texts are short. Times are processor time, with all processes that were started.
"""

import argparse
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from io import StringIO
from pathlib import Path
from typing import Any, NamedTuple

from ruamel.yaml import YAML
from scale_cost import Cost, cost_of
from scale_mining import CONSTRUCTION, CORPUS, make_corpus_project
from scale_project import environment, simulated_project, widened
from scale_reports import REPORT, make_report_project
from scale_runs import copy_runs

ROOT = Path(__file__).parent.parent
TIMED_DVC = Path(__file__).with_name("timed_dvc.py")


class Row(NamedTuple):
    """A line of the table: what was done, in which size, and what it cost."""

    what: str
    size: str
    cost: str


def pipeline(project: Path, folder: Path, size: int, preset: str) -> Iterator[Row]:
    """Run DVC over the grid of a preset that is ``size`` times as wide, and look at it again when nothing is to do."""
    params = YAML(typ="safe").load(project / "presets" / f"{preset}.yaml")
    simulated = simulated_project(project, folder, widened(params, size))
    notes = folder.with_suffix(".jsonl")
    for name, arguments in (("dvc repro", ["repro"]), ("dvc repro again", ["repro"]), ("dvc status", ["status"])):
        command = [sys.executable, str(TIMED_DVC), str(notes), *arguments, "--quiet"]
        if name == "dvc status":
            command = ["dvc", "status"]
        cost = cost_of(command, simulated, environment(simulated))
        stages = _stages(notes)
        yield Row(f"{name}, {preset}", f"{len(stages)} stages", _shown(cost))
        if name == "dvc repro":
            for place in (0, len(stages) // 2, len(stages) - 1):
                lock, seconds = stages[place]["lock"], stages[place]["seconds"]
                yield Row(f"of stage {place + 1}, DVC itself", f"dvc.lock {lock:,} bytes", f"{seconds:.2f} s")


def lock(project: Path, folder: Path, size: int) -> Iterator[Row]:  # noqa: ARG001
    """Read and write a dvc.lock of ``size`` times the entries, as DVC does after every stage, and by libyaml."""
    content, quick = YAML(typ="safe").load(project / "dvc.lock"), YAML(typ="safe")
    quick.default_flow_style = False
    quick.representer.ignore_aliases = lambda *_: True
    stages = {f"{name}-{copy}": one for copy in range(size) for name, one in content["stages"].items()}
    text, slow = StringIO(), YAML()
    quick.dump({"schema": content["schema"], "stages": stages}, text)
    entries = f"{len(stages)} stages, {len(text.getvalue()):,} bytes"
    for name, own in (("as DVC does", slow), ("by libyaml", quick)):
        start = time.process_time()
        own.dump(own.load(text.getvalue()), StringIO())
        yield Row(f"dvc.lock read and written {name}", entries, f"{time.process_time() - start:.2f} s")


def runs(project: Path, folder: Path, size: int) -> Iterator[Row]:
    """Write so many runs into an empty store, and look whether it has them."""
    folder.mkdir(parents=True)
    copy_runs(project, folder, size)
    local = {name: value for name, value in os.environ.items() if name != "MLFLOW_TRACKING_URI"}
    for name in ("cxprobe sync, empty store", "cxprobe sync, nothing to do"):
        yield Row(name, f"{size} runs", _shown(cost_of(["cxprobe", "sync"], folder, local)))


def reports(project: Path, folder: Path, size: int) -> Iterator[Row]:
    """Put so many times the models side by side."""
    models = make_report_project(project, folder, size)
    yield Row(REPORT, f"{models} models", _shown(cost_of([sys.executable, f"pipelines/report/{REPORT}.py"], folder)))


def mining(project: Path, folder: Path, size: int) -> Iterator[Row]:
    """Mine so many files of three texts, on two processes."""
    make_corpus_project(project, folder, size)
    for stage in ("list_corpus", "mine_sentences"):
        item = ["--construction", CONSTRUCTION, "--corpus", CORPUS]
        cost = cost_of([sys.executable, f"pipelines/make/{stage}.py", *item], folder)
        yield Row(stage, f"{size} shards", _shown(cost))


PARTS: dict[str, tuple[Callable[..., Iterator[Row]], Sequence[int]]] = {
    "pipeline": (pipeline, (1,)),
    "lock": (lock, (1, 3, 10)),
    "runs": (runs, (200, 2000)),
    "reports": (reports, (1, 4)),
    "mining": (mining, (100, 1000)),
}


def _stages(notes: Path) -> list[dict[str, Any]]:
    return [one for line in notes.read_text().splitlines() if "stage" in (one := json.loads(line))]


def _shown(cost: Cost) -> str:
    return f"{cost.processor:.1f} s, {cost.memory / 1e6:.0f} MB"


def main() -> None:
    """Print the table of the parts that were asked for."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("parts", nargs="*", help=f"of {', '.join(PARTS)}; by default all of them")
    arguments.add_argument("--project", type=Path, default=ROOT, help="a project in which `dvc repro` has finished")
    arguments.add_argument("--preset", default="embedded", help="whose grid `pipeline` takes")
    arguments.add_argument("--sizes", type=int, nargs="+", help="of the parts; each has its own by default")
    told = arguments.parse_args()
    if unknown := set(told.parts) - set(PARTS):
        arguments.error(f"there is no part {', '.join(sorted(unknown))}")
    print("| what | size | processor time, memory at most |\n| --- | --- | --- |")
    for part in told.parts or PARTS:
        work, usual = PARTS[part]
        more = {"preset": told.preset} if part == "pipeline" else {}
        for size in told.sizes or usual:
            with tempfile.TemporaryDirectory() as temporary:
                for row in work(told.project.resolve(), Path(temporary) / f"{part}-{size}", size, **more):
                    print(f"| {' | '.join(row)} |", flush=True)


if __name__ == "__main__":
    main()
