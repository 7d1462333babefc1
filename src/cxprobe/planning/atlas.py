"""The atlas: where each experiment, table and figure of the papers is in this project, from docs/papers.yaml."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from cxprobe.errors import DataError
from cxprobe.files.schema import Closed, read_yaml, validate
from cxprobe.planning.stages import stage_items

ATLAS_FILE = Path("docs/papers.yaml")
PRESETS_FOLDER = Path("presets")

Status = Literal["runs", "runs partly", "by hand", "cannot be done", "not known here"]
_NUMBERED = re.compile(r"(Table|Figure|Algorithm)s? (\d+)(?: to (\d+))?$")


class Entry(Closed):
    """One experiment, table, figure or appendix of a paper."""

    place: str
    """Where it is in the paper: "Table 4", "Figures 2 to 7", "section 3, mined sentences"."""
    what: str
    """What it shows."""
    status: Status
    """Whether this project does it. "not known here" is for what nobody who wrote this could look up."""
    preset: str | None = None
    """A file of presets/, without the ending, with which the stages run."""
    stages: list[str] = Field(default_factory=list)
    """The stages of dvc.yaml that it takes, in their order."""
    models: list[str] = Field(default_factory=list)
    """Slugs of the models that it is about; none for all of the preset."""
    command: str | None = None
    """How it is run, where that is not `dvc repro`, or beside that."""
    cost: str | None = None
    """What it costs beside the stages, such as the time of people."""
    report: list[str] = Field(default_factory=list)
    """Files of results/ in which its numbers are."""
    published: list[str] = Field(default_factory=list)
    """Files of published/ with the paper's numbers."""
    deviates: str
    """What is done otherwise and why, or why it cannot be done; "" for nothing."""

    @model_validator(mode="after")
    def _says_how(self) -> "Entry":
        runs = self.status in ("runs", "runs partly")
        if runs and not (self.preset and self.stages):
            raise ValueError(f"status is '{self.status}', so give preset and stages")
        if self.status == "by hand" and not self.command:
            raise ValueError("status is 'by hand', so give command")
        if self.status != "runs" and not self.deviates:
            raise ValueError(f"status is '{self.status}', so say why in deviates")
        return self


class PublishedModel(Closed):
    """A model as the published tables name it."""

    name: str
    """What it is called there."""
    files: Annotated[list[str], Field(min_length=1)]
    """Files of published/ that have numbers of it."""


class Paper(Closed):
    """A paper."""

    key: str
    """How it is called for short."""
    title: str
    """Authors, year and title."""
    preset: str
    """The preset that has it by the letter."""
    entries: Annotated[list[Entry], Field(min_length=1)]
    """In the order of the paper."""


class Atlas(Closed):
    """docs/papers.yaml."""

    papers: Annotated[list[Paper], Field(min_length=1)]
    """The papers."""
    published_models: dict[str, PublishedModel]
    """Slug of a preset -> the model's name in the published tables."""


class ModelCost(Closed):
    """What a stage takes for one model, in two digits."""

    texts: float
    """Texts, sentences or requests."""
    gpu_hours: float = 0
    cpu_hours: float = 0
    input_tokens: float = 0
    output_tokens: float = 0


class Costs(Closed):
    """docs/costs.yaml, which `cxprobe papers --count` writes."""

    presets: dict[str, dict[str, dict[str, ModelCost]]]
    """Preset -> stage -> model -> what it costs, as if nothing had been imported."""


def load_atlas(path: Path = ATLAS_FILE) -> Atlas:
    """Read docs/papers.yaml.

    Raises:
        DataError: One line for every fault of the file.
    """
    return validate(Atlas, read_yaml(path, DataError), path, DataError)


def faults_of_atlas(
    atlas: Atlas,
    pipeline: Mapping[str, Any],
    presets: Mapping[str, Mapping[str, Any]],
    is_file: Callable[[Path], bool],
) -> Iterator[str]:
    """Give what in the atlas is not so: stages, presets and files that are not there, and numbers that are left out.

    Args:
        atlas: The atlas.
        pipeline: The content of dvc.yaml.
        presets: Name -> the content of each preset.
        is_file: Whether there is a file under a path of the project.
    """
    running = {name: {one.stage for one in stage_items(pipeline, content)} for name, content in presets.items()}
    for paper in atlas.papers:
        if paper.preset not in presets:
            yield f"{paper.key}: there is no preset {paper.preset}"
        for entry in paper.entries:
            place = f"{paper.key}, {entry.place}"
            yield from (f"{place}: {fault}" for fault in _faults_of_entry(entry, pipeline, running, is_file))
            known = _models_of(presets.get(entry.preset or "", {}))
            yield from (
                f"{place}: {entry.preset} has no {slug} in its grid" for slug in entry.models if slug not in known
            )
        yield from (f"{paper.key}: {missing} has no line" for missing in _left_out(paper.entries))
    for slug, model in atlas.published_models.items():
        if not any(
            slug in content.get("models", {}) or slug in content.get("llms", {}) for content in presets.values()
        ):
            yield f"published_models.{slug}: no preset has this model"
        yield from (f"published_models.{slug}: there is no file {one}" for one in model.files if not is_file(Path(one)))


def _models_of(preset: Mapping[str, Any]) -> set[str]:
    """Return the models and llms that the grid of a preset names."""
    lines = [line for line in preset.get("grid", {}).values() if isinstance(line, Mapping)]
    return {slug for line in lines for key in ("models", "llms") for slug in line.get(key, ())}


def _faults_of_entry(
    entry: Entry,
    pipeline: Mapping[str, Any],
    running: Mapping[str, set[str]],
    is_file: Callable[[Path], bool],
) -> Iterator[str]:
    if entry.preset is not None and entry.preset not in running:
        yield f"there is no preset {entry.preset}"
    for stage in entry.stages:
        if stage not in pipeline["stages"]:
            yield f"dvc.yaml has no stage {stage}"
        elif entry.preset and entry.preset in running and stage not in running[entry.preset]:
            yield f"{stage} does not run with the preset {entry.preset}"
    written = [out for stage in entry.stages if stage in pipeline["stages"] for out in _outputs(pipeline, stage)]
    for path in entry.report if entry.stages else ():
        if not any(_is_below(path, out) for out in written):
            yield f"{path} is written by none of its stages"
    yield from (f"there is no file {path}" for path in entry.published if not is_file(Path(path)))


def _outputs(pipeline: Mapping[str, Any], stage: str) -> list[str]:
    content = pipeline["stages"][stage]
    content = content.get("do", content)
    written = [one for kind in ("outs", "metrics", "plots") for one in content.get(kind, ())]
    return [one if isinstance(one, str) else next(iter(one)) for one in written]


def _is_below(path: str, output: str) -> bool:
    """Return whether a path is an output or in it; in an output, ${item.model} stands for any one name."""
    pattern = re.sub(r"\\\$\\\{[^}]*\\\}", "[^/]+", re.escape(output))
    return re.fullmatch(rf"{pattern}(/.*)?", str(PurePosixPath(path))) is not None


def _left_out(entries: Sequence[Entry]) -> Iterator[str]:
    """Give the tables, figures and algorithms below the highest number of their kind that no entry is about."""
    known: dict[str, set[int]] = {}
    for entry in entries:
        for part in re.split(", | and ", entry.place):
            if match := _NUMBERED.match(part):
                known.setdefault(match[1], set()).update(range(int(match[2]), int(match[3] or match[2]) + 1))
    for kind, numbers in known.items():
        yield from (f"{kind} {number}" for number in range(1, max(numbers)) if number not in numbers)
