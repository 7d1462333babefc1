"""The pairs of the toy construction, and those of all constructions of the project."""

from pathlib import Path

from conftest import PAIRS, PEOPLE, ROOT
from cxprobe.constructions.construction import People, load_people
from cxprobe.errors import ConstructionError
from cxprobe.files.schema import read_checked
from cxprobe.tasks.pairs.frames import PairsFile, load_pairs
from cxprobe.tasks.pairs.params import FORM


def write_toy(folder: Path, text: str = PAIRS, people: str = PEOPLE) -> tuple[PairsFile, People]:
    """Write a pairs.yaml of the construction x, and people, into a folder, and read them without further checks."""
    (folder / "people.yaml").write_text(people)
    (folder / "x").mkdir(exist_ok=True)
    path = folder / "x" / "pairs.yaml"
    path.write_text(text)
    content = read_checked(PairsFile, path, ConstructionError)
    return content, load_people(folder / "people.yaml")


def load_toy(folder: Path, text: str = PAIRS, people: str = PEOPLE) -> tuple[PairsFile, People]:
    """Write a pairs.yaml of the construction x, and people, into a folder, and load them."""
    _, known = write_toy(folder, text, people)
    return load_pairs("x", known, folder), known


def load_all() -> tuple[dict[str, PairsFile], People]:
    """Load the project's pairs by their names in params.yaml, and its people."""
    people, folder = load_people(ROOT / "lexicon" / "people.yaml"), ROOT / "constructions"
    names = sorted(path.parent.name for path in folder.glob("*/pairs.yaml"))
    names += sorted(path.parent.name + FORM for path in folder.glob("*/form_pairs.yaml"))
    return {name: load_pairs(name, people, folder) for name in names}, people
