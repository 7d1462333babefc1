"""What each stage reads, parameters and files of constructions, is what dvc.yaml says: else a change runs nothing."""

import os
import runpy
import sys
from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path

import pytest
from dvc.dependency.param import ParamsDependency
from dvc.repo import Repo
from whole_project import outdated

from cxprobe.files.schema import Closed
from cxprobe.run.params import StageParams, read_params
from cxprobe.run.stage import Stage

pytestmark = pytest.mark.pipeline

# How something is computed, which changes no number.
HOW = (
    *("compute.accelerator", "compute.devices", "compute.jobs", "compute.num_nodes", "compute.strategy"),
    *("llms.*.connections", "llms.*.retries", "llms.*.timeout", "mining.engine*", "mining.most_faults"),
    *("models.*.about", "mining.constructions*", "mining.watched"),
)
FILES = ("constructions", "lexicon", "prompts", "published")  # that people write


class Noted(dict):
    """A mapping of the parameters that notes what is looked up, and its own place where all of it is."""

    def __init__(self, content: dict, place: str, read: set[str]) -> None:
        super().__init__(content)
        self.place, self.read = place, read

    def __getitem__(self, key):
        value = super().__getitem__(key)
        if not isinstance(value, Closed | Noted):
            self.read.add(f"{self.place}.{key}")
        return value

    def get(self, key, default=None):
        return self[key] if key in self else default  # noqa: SIM401

    def __iter__(self):
        self.read.add(self.place)
        return super().__iter__()

    def keys(self):
        return dict.fromkeys(self).keys()

    def values(self):
        self.read.add(self.place)
        return super().values()

    def items(self):
        self.read.add(self.place)
        return super().items()


def note_reads(params: StageParams, monkeypatch) -> set[str]:
    """Return a set that gets the dotted names of the parameters that are read from now on."""
    read: set[str] = set()
    places: dict[int, str] = {}

    def walk(value, place: str):
        if isinstance(value, Closed):
            places[id(value)] = place
            for name, part in vars(value).items():
                vars(value)[name] = walk(part, f"{place}.{name}".removeprefix("."))
        if isinstance(value, dict):
            return Noted({key: walk(part, f"{place}.{key}") for key, part in value.items()}, place, read)
        return value

    walk(params, "")
    found, dumped, settings = Closed.__getattribute__, Closed.model_dump, Stage.settings

    def find(self, name: str):
        value = found(self, name)
        place = places.get(id(self))
        if place and name == "__dict__":
            read.add(place)  # such as for its text
        elif place is not None and name in type(self).model_fields and not isinstance(value, Closed | Noted):
            read.add(f"{place}.{name}".removeprefix("."))
        return value

    def dump(self, *, include=None, **how):
        place, before = places.get(id(self)), {*read}
        content = dumped(self, include=include, **how)
        if place is not None:
            read.clear()  # of what pydantic looks at
            read.update(before, [f"{place}.{name}" for name in include] if include else [place])
        return content

    def settle(self, *names: str):
        before = {*read}
        found_settings = settings(self, *names)
        read.clear()
        read.update(before, names)
        return found_settings

    monkeypatch.setattr(Closed, "__getattribute__", find)
    monkeypatch.setattr(Closed, "model_dump", dump)
    monkeypatch.setattr(Stage, "settings", settle)
    return read


OPENED: list[str] | None = None


def _note_opened(event: str, arguments: tuple) -> None:
    if OPENED is not None and event == "open" and isinstance(arguments[0], str | os.PathLike):
        OPENED.append(os.path.relpath(os.fspath(arguments[0])))


sys.addaudithook(_note_opened)  # which cannot be taken away again


def stages_of(folder: Path) -> Iterator[tuple[str, list[str], list[str]]]:
    """Yield each stage of a project as DVC has it: its name, its parameters, and the paths that it depends on."""
    with Repo(folder) as repo:
        for stage in repo.index.stages:
            params = [name for dep in stage.deps if isinstance(dep, ParamsDependency) for name in dep.params]
            paths = [dep for dep in stage.deps if not isinstance(dep, ParamsDependency)]
            yield stage.addressing, params, [os.path.relpath(dep.fs_path, folder) for dep in paths]


def faults_of(name: str, declared: list[str], depends: list[str], monkeypatch) -> Iterator[str]:
    """Run the work of a stage in the working directory, and yield what it reads and does not declare."""
    global OPENED
    (code,) = [Path(path) for path in depends if path.startswith("data/list_code")]
    ran = []
    with monkeypatch.context() as patched:
        patched.setattr("cxprobe.run.running._run", lambda *how: ran.append(how))
        script, *task = code.with_suffix("").parts[2:]
        patched.setattr(sys, "argv", [script, *task])
        runpy.run_path(f"pipelines/{script}.py", run_name="__main__")
        _, work, sections, *_ = ran[0]
        step, _, item = name.partition("@")
        stage = Stage(step, item, read_params(sections))
        read, OPENED = note_reads(stage.params, patched), []
        try:
            work(stage)
        finally:
            opened, OPENED = {path for path in OPENED if path.startswith(FILES)}, None
    for parameter in sorted(read):
        is_declared = any(parameter == one or parameter.startswith(f"{one}.") for one in declared)
        if not is_declared and not any(fnmatch(parameter, how) for how in HOW):
            yield f"{name} reads the parameter {parameter}"
    lists = [Path(path).read_text() for path in depends if path.startswith("data/list_files")]
    listed = {line.split("  ")[1] for text in lists for line in text.splitlines()}
    for path in sorted(opened - listed):
        if Path(path).is_file() and not any(Path(path).is_relative_to(dep) for dep in depends):
            yield f"{name} reads the file {path}"


def test_every_stage_declares_the_parameters_and_the_files_that_it_reads(project, monkeypatch):
    monkeypatch.chdir(project)
    stages = {name: how for name, *how in stages_of(project) if name not in ("list_code", "write_corpora")}
    assert len(stages) > 25
    faults = [fault for name, how in stages.items() for fault in faults_of(name, *how, monkeypatch)]
    assert not faults, "\n".join(faults)
    code = [path for path in stages["make_recognition"][1] if path.startswith("data/list_code")]
    found = " ".join(faults_of("make_recognition", [], code, monkeypatch))  # as if nothing were declared
    assert "reads the parameter recognition.make" in found
    assert "reads the file constructions/toy/" in found


def test_a_label_makes_sentences_alone_again_and_a_construction_that_nothing_names_nothing(project, monkeypatch):
    def made_again(path: str, text: str) -> set[str]:
        Path(path).parent.mkdir(exist_ok=True)
        with Path(path).open("a") as file:
            file.write(text)
        runpy.run_path("pipelines/list_files.py")["list_files"](Stage("list_files", "", None))
        return {name for name in outdated(project) if name.startswith("make_")}

    monkeypatch.chdir(project)
    labels = Path("constructions/toy/labels.tsv").read_text().splitlines()
    assert made_again("constructions/toy/labels.tsv", labels[-1] + "\n") == {"make_recognition"}
    assert made_again("constructions/new/pairs.yaml", "x: 1\n") == {"make_recognition"}
