"""A project of any size to try DVC on: the real dvc.yaml, a grid made wider, and in the place of every stage a trifle.

The stages have the dependencies, parameters and outputs of the real ones, so DVC's own work is that of a real run.
Where dvc.yaml says `python`, a shell script writes a few bytes to each output.
"""

import os
import shlex
import shutil
import subprocess
from collections import defaultdict
from collections.abc import Iterator, Mapping
from itertools import count
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

STUBS = ".stubs"
_FILES = 4  # in each folder that a stage writes
_STUB = """\
#!/bin/sh
exec sh "$SIMULATED/{stubs}/$(echo "$*" | tr '/ ' '__')"
"""


def widened(params: Mapping[str, Any], times: int) -> dict[str, Any]:
    """Return parameters whose grid has every model and every LLM several times, each time under another name."""
    wide = {**params, "grid": dict(params["grid"])}
    for kind in ("models", "llms"):
        section = params.get(kind) or {}
        wide[kind] = {name: spec for slug, spec in section.items() for name in names_of(slug, times) for spec in [spec]}
        for line, part in wide["grid"].items():
            if isinstance(part, Mapping) and kind in part:
                wide["grid"][line] = {**part, kind: [name for slug in part[kind] for name in names_of(slug, times)]}
    return wide


def names_of(slug: str, times: int) -> list[str]:
    """Return the names of the copies of a model, the first of which is its own."""
    return [slug, *(f"{slug}-{number}" for number in range(2, times + 1))]


def simulated_project(source: Path, folder: Path, params: Mapping[str, Any]) -> Path:
    """Make a project in a new folder from the files of another that git has; its stages are trifles."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=source, capture_output=True, text=True, check=True).stdout
    for name in filter(_is_needed, listed.split("\0")):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source / name, folder / name)
    YAML(typ="safe").dump(dict(params), folder / "params.yaml")
    for name in params.get("benchmarks") or {}:
        raw = folder / "data" / "raw" / name
        raw.mkdir(parents=True)
        (raw / "pairs.jsonl").write_text("{}\n")
    for command in (["git", "init", "--quiet"], ["dvc", "init", "--quiet", "--force"]):
        subprocess.run(command, cwd=folder, check=True)
    subprocess.run(["dvc", "config", "core.analytics", "false"], cwd=folder, check=True)
    _write_stubs(folder)
    subprocess.run(["git", "add", "."], cwd=folder, check=True)
    who = ["-c", "user.name=scale", "-c", "user.email=scale@localhost", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", *who, "commit", "--quiet", "--message", "simulate"], cwd=folder, check=True)
    return folder


def environment(folder: Path) -> dict[str, str]:
    """Return the environment in which `python` is the shell script of a simulated project."""
    return os.environ | {
        "PATH": f"{folder / STUBS / 'bin'}{os.pathsep}{os.environ['PATH']}",
        "SIMULATED": str(folder),
        "DVC_NO_ANALYTICS": "1",
    }


def _is_needed(name: str) -> bool:
    top = name.partition("/")[0]
    left_out = ("docs", "tests", "benchmarks", "notebooks", "presets", ".dvc", ".github", ".ci")
    return bool(name) and top not in left_out and name not in ("dvc.lock", "params.yaml")


def _write_stubs(folder: Path) -> None:
    binaries = folder / STUBS / "bin"
    binaries.mkdir(parents=True)
    (binaries / "python").write_text(_STUB.format(stubs=STUBS))
    (binaries / "python").chmod(0o755)
    with (folder / ".gitignore").open("a") as file:
        file.write(f"/{STUBS}/\n")
    for command, outputs in _commands(folder):
        lines = list(_lines(command, outputs))
        name = command.removeprefix("python ").translate(str.maketrans("/ ", "__"))
        (folder / STUBS / name).write_text("\n".join(lines))


def _commands(folder: Path) -> Iterator[tuple[str, list[Path]]]:
    """Yield each stage's command and its outputs, as DVC itself resolves dvc.yaml, with what others need of these."""
    from dvc.repo import Repo

    with Repo(str(folder)) as repo:
        stages = repo.index.stages
        inside = defaultdict[Path, set[Path]](set)
        for path in {Path(one.fs_path).relative_to(folder) for stage in stages for one in stage.deps}:
            for above in path.parents:
                inside[above].add(path)
        for stage in stages:
            outputs = [Path(out.fs_path).relative_to(folder) for out in stage.outs]
            yield str(stage.cmd), sorted({*outputs, *(path for output in outputs for path in inside[output])})


def _lines(command: str, outputs: list[Path]) -> Iterator[str]:
    """Yield the lines of a script that writes a few bytes to each output; the command is in all of them."""
    yield f"mkdir -p {shlex.join(sorted({str(one.parent if one.suffix else one) for one in outputs}))}"
    numbers = count()
    for output in outputs:
        files = [output] if output.suffix else [output / f"{number}.csv" for number in range(_FILES)]
        for file in files:
            yield f"echo {shlex.quote(f'{command} {next(numbers)}')} > {shlex.quote(str(file))}"
