"""The stages of dvc.yaml under some parameters: how often each would run, as DVC expands it."""

import re
from collections.abc import Mapping
from itertools import product
from pathlib import PurePosixPath
from typing import Any, NamedTuple

from cxprobe.errors import DataError

_REFERENCE = re.compile(r"\$\{([\w.-]+)\}")


class StageItems(NamedTuple):
    """A stage and what it runs for.

    Attributes:
        stage: Its name.
        kind: "make", "measure", "judge" or "report".
        items: One name for each run, as DVC writes it after "@"; a stage that runs once for itself has the name "".
    """

    stage: str
    kind: str
    items: tuple[str, ...]


def stage_items(pipeline: Mapping[str, Any], params: Mapping[str, Any]) -> list[StageItems]:
    """Return every stage of a pipeline that would run, in the order of the pipeline.

    Args:
        pipeline: The content of dvc.yaml.
        params: The content of a parameter file.

    Raises:
        DataError: A stage refers to parameters that are not there, or are neither a list nor a mapping.
    """
    found = []
    for name, stage in pipeline["stages"].items():
        if "foreach" in stage:
            items = tuple(_values(stage["foreach"], params, f"stages.{name}.foreach"))
            command = stage["do"]["cmd"]
        elif "matrix" in stage:
            axes = [_values(of, params, f"stages.{name}.matrix.{axis}") for axis, of in stage["matrix"].items()]
            items = tuple("-".join(one) for one in product(*axes))
            command = stage["cmd"]
        else:
            items, command = ("",), stage["cmd"]
        if items:
            found.append(StageItems(name, PurePosixPath(command.split()[1]).parent.name, items))
    return found


def _values(reference: Any, params: Mapping[str, Any], place: str) -> list[str]:
    """Return the elements of the list, or the keys of the mapping, that a reference such as ${grid.x} names."""
    value = reference
    if isinstance(reference, str):
        match = _REFERENCE.fullmatch(reference)
        if match is None:
            raise DataError(f"dvc.yaml: {place}: '{reference}' is no reference to parameters, such as ${{grid.labels}}")
        value = params
        for key in match[1].split("."):
            if not isinstance(value, Mapping) or key not in value:
                raise DataError(f"dvc.yaml: {place}: the parameters have no {match[1]}; add it to them")
            value = value[key]
    if not isinstance(value, list | Mapping):
        raise DataError(f"dvc.yaml: {place}: '{reference}' is {value!r}; a list or a mapping is needed")
    return [str(one) for one in value]
