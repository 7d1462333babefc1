"""params.yaml as a whole: what all tasks share, and one section for each task (`cxprobe.tasks.registry`).

`load_params` reads the file and reports all its faults at once: keys and values that are not allowed, unknown names,
and values that do not go together. ``params.schema.json`` is the same model for editors (`cxprobe check` writes it).
"""

import json
from collections.abc import Collection, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from pydantic import ConfigDict, Field, ValidationError, create_model

from cxprobe.constructions import construction_names
from cxprobe.constructions.construction import CONSTRUCTIONS_FOLDER
from cxprobe.errors import ParamsError, raise_faults
from cxprobe.files.schema import faults_of, read_yaml
from cxprobe.results.params import ReportParams, TaskParams
from cxprobe.run.mining import CorporaParams
from cxprobe.run.params import PARAMS_FILE, StageParams
from cxprobe.tasks.registry import TASKS

SCHEMA_FILE = Path("params.schema.json")


class Params(ReportParams, CorporaParams):
    """All parameters of a project; each task adds its section, which `Params.section` returns by its type."""

    model_config = ConfigDict(extra="forbid")

    def params_of(self, task: str) -> TaskParams:
        """Return the sections that the stages of a task read."""
        return TASKS[task].params.model_construct(None, **vars(self))


@cache
def whole_params() -> type[Params]:
    """Return the class of all parameters, with a field for the section of each task."""
    sections: dict[str, Any] = {}
    for name, task in TASKS.items():
        field = task.params.model_fields[name]
        sections[name] = (field.annotation, Field(description=field.description))
    return create_model("Params", __base__=Params, __doc__=Params.__doc__, **sections)


def load_params(path: Path = PARAMS_FILE, constructions: Path = CONSTRUCTIONS_FOLDER) -> Params:
    """Read and check a parameter file.

    Args:
        path: The file.
        constructions: The folder ``constructions`` whose sub-folders the tasks may name.

    Raises:
        ParamsError: One line for every fault of the file, each with its key, value and what is allowed.
    """
    content = read_yaml(path, ParamsError)
    known = construction_names(constructions)
    faults = dict.fromkeys([*faults_of(whole_params(), content), *_faults_between_sections(content, known)])
    raise_faults(ParamsError, (f"{path}: {fault}" for fault in faults))
    return whole_params().model_validate(content)


def schema_text() -> str:
    """Return the JSON Schema of params.yaml, with what the attributes' docstrings say as descriptions."""
    return json.dumps(whole_params().model_json_schema(), indent=2, ensure_ascii=False) + "\n"


def _faults_between_sections(content: Mapping[str, Any], constructions: Collection[str]) -> Iterator[str]:
    """Yield the faults between sections that are right in themselves; where one has faults, these come first."""
    parts: list[type[StageParams]] = [CorporaParams, ReportParams, *(task.params for task in TASKS.values())]
    for part in parts:
        try:
            params = part.model_validate(content)
        except ValidationError:
            continue
        yield from params.faults_between(constructions)
