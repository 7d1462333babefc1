"""The constructions of a project: their files, and whether there is one of a name."""

from collections.abc import Iterable
from pathlib import Path

from cxprobe.constructions import construction_names
from cxprobe.constructions.construction import CONSTRUCTIONS_FOLDER, load_construction
from cxprobe.errors import ConstructionError
from cxprobe.files.schema import suggest
from cxprobe.results.task import ConstructionFiles
from cxprobe.tasks.registry import TASKS


def read_constructions(names: Iterable[str]) -> dict[str, ConstructionFiles]:
    """Return name -> the files of a construction in the working directory.

    Raises:
        CxprobeError: A file has faults; `cxprobe check` tells those of all files.
    """
    contents = {}
    for name in names:
        found = [(task, entries) for task in TASKS.values() if (entries := task.items_in(name))]
        items = {task.name: task.read_items(entries, lambda path: path) for task, entries in found}
        contents[name] = ConstructionFiles(load_construction(name), items)
    return contents


def require_construction(name: str, constructions: Path = CONSTRUCTIONS_FOLDER) -> None:
    """Refuse a construction that a folder, by default that of the project in the working directory, does not have.

    Raises:
        ConstructionError: There is none; the message has a near match and all that there are.
    """
    names = construction_names(constructions)
    if name not in names:
        file = constructions / name / "construction.yaml"
        raise ConstructionError(f"{file}: there is no such file{suggest(name, names)}")
