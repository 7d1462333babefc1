"""What a stage's work is handed: its item, its parameters and its folders."""

import json
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic

from typing_extensions import TypeVar

from cxprobe.errors import DataError, ParamsError
from cxprobe.params import Params
from cxprobe.processes import Job
from cxprobe.projects import construction_names
from cxprobe.schema import Closed, suggest
from cxprobe.stages.provenance import md5_of
from cxprobe.storage import DATA, RESULTS, read_json

# Parameters that only say where the work runs, by the last part of their name: the numbers do not follow from them.
PLACEMENT = frozenset(
    ("accelerator", "connections", "devices", "engine", "jobs", "num_nodes", "retries", "strategy", "timeout")
)
# The sections of params.yaml that describe an item: argument of the script -> section.
_SECTIONS = {"model": "models", "llm": "llms", "benchmark": "benchmarks", "corpus": "corpora"}

_SLUG = re.compile(r"[a-z0-9][a-z0-9-]*")

# The model of the file of parameters that a stage reads: params.yaml, unless the stage does not belong to the pipeline.
P = TypeVar("P", bound=Closed, default=Params)


@dataclass
class Stage(Generic[P]):
    """What a stage's work is handed.

    Attributes:
        name: The script's name = the section of params.yaml = the folder of outputs.
        item: "model", "llm", "construction" ... -> slug, as far as the script takes them.
        params: All parameters of the stage's file.
        of: Which keys of ``item`` name the folders, in this order; None for all of them.
        inputs: Path of what was read -> its MD5 at that moment; filled by `use`.
        job: What is to be done of a measuring stage.
    """

    name: str
    item: Mapping[str, str]
    params: P
    of: tuple[str, ...] | None = None
    inputs: dict[str, str] = field(default_factory=dict)
    job: Job = field(default_factory=Job)

    def refuse_unknown(self) -> None:
        """Refuse an item that the file of parameters does not have, since its name becomes a part of paths.

        Raises:
            ParamsError: It is not there, or is no name.
        """
        for key, slug in self.item.items():
            known = self._known(key)
            if not _SLUG.fullmatch(slug):
                raise ParamsError(f"--{key} {slug}: a name has small letters, digits and hyphens only")
            if known is not None and slug not in known:
                raise ParamsError(
                    f"--{key} {slug}: {_SECTIONS.get(key, f'{key}s/')} has no '{slug}'{suggest(slug, list(known))}"
                )

    def _known(self, key: str) -> Collection[str] | None:
        """Return the names that an item may have; None for one that nothing lists."""
        if key == "construction" and isinstance(self.params, Params):
            return construction_names(Path())
        return getattr(self.params, _SECTIONS.get(key, ""), None)

    def use(self, path: Path) -> Path:
        """Note a file, or a folder that DVC made, as an input of the stage and return it.

        Raises:
            DataError: It does not exist.
        """
        if not path.exists():
            made = path.parts[0] in (DATA.name, RESULTS.name) and "raw" not in path.parts
            raise DataError(
                f"{path} is missing; `dvc repro` makes it, `dvc pull` fetches it from the team's remote"
                if made
                else f"{path} is missing; write it, or take what needs it out of `grid` in params.yaml"
            )
        self.inputs[str(path)] = md5_of(path)
        return path

    def has_finished(self) -> bool:
        """Return whether the stage has a record of the same parameters and inputs, and its data; code is not compared.

        Raises:
            OSError: The record cannot be read.
        """
        path = self.results / "record.json"
        if not path.is_file() or not self.data.exists():
            return False
        record = read_json(path)
        same = record["params"] == {"stage": self.name, **self.item, **self.own_settings()}
        return same and all(Path(name).exists() and md5_of(Path(name)) == md5 for name, md5 in record["inputs"].items())

    @property
    def data(self) -> Path:
        """The path, without a suffix, of the data that the stage makes for its item."""
        return DATA.joinpath(self.name, *self._parts())

    @property
    def results(self) -> Path:
        """The folder of the results that the stage has for its item."""
        return RESULTS.joinpath(self.name, *self._parts())

    def settings(self, *sections: str) -> dict[str, str]:
        """Return the parameters that decide on the numbers: the seed and those of some sections of the file.

        Args:
            sections: Names of sections, or of parts of them, such as "build_recognition.generated".

        Returns:
            Dotted name -> value as JSON writes it; without parameters that only say where the work runs. The part of a
            section is not in the names, so that runs on "generated" and on "mined" have the same ones.
        """
        return {name: value for name, value in self._flattened(*sections) if not _is_placement(name)}

    def own_settings(self) -> dict[str, str]:
        """Return the settings of the stage's own section and of what its item names in the file.

        The entry of a model is called "model.name" and so on whatever the model's slug is, so that the same parameter
        has the same name in every run.
        """
        every = self.params.model_dump(mode="json")
        own = self.settings(self.name) if self.name in every else self.settings()
        for key, slug in self.item.items():
            section = every.get(_SECTIONS.get(key, ""), {})
            own |= {f"{key}.{name}": _shown(value) for name, value in _flatten(section.get(slug, {}))}
        return own

    def placement(self) -> dict[str, str]:
        """Return the parameters of the stage's own section that only say where the work runs."""
        if self.name not in type(self.params).model_fields:
            return {}
        return {name: value for name, value in self._flattened(self.name) if _is_placement(name)}

    def _parts(self) -> list[str]:
        return [self.item[key] for key in (self.item if self.of is None else self.of)]

    def _flattened(self, *sections: str) -> Iterator[tuple[str, str]]:
        every = self.params.model_dump(mode="json")
        if "seed" in every:
            yield "seed", _shown(every["seed"])
        for section in sections:
            content: Any = every
            named, *_ = parts = section.split(".")
            for part in parts:
                content = content[part]
            yield from ((f"{named}.{name}", _shown(value)) for name, value in _flatten(content or {}))


def _flatten(content: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for key, value in content.items():
        if isinstance(value, Mapping):
            yield from ((f"{key}.{rest}", leaf) for rest, leaf in _flatten(value))
        else:
            yield key, value


def _shown(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _is_placement(name: str) -> bool:
    return not PLACEMENT.isdisjoint(name.split("."))
