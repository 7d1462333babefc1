"""The pairs of the toy construction, and those of all constructions of the project."""

from pathlib import Path

from conftest import PAIRS, PEOPLE, ROOT
from cxprobe.constructions.people import People, load_people
from cxprobe.pairs.frames import PairsFile, has_pairs, load_pairs


def load_toy(folder: Path, text: str = PAIRS, people: str = PEOPLE) -> tuple[PairsFile, People]:
    """Write a pairs.yaml of the construction x, and people, into a folder, and load them."""
    (folder / "people.yaml").write_text(people)
    (folder / "x").mkdir(exist_ok=True)
    (folder / "x" / "pairs.yaml").write_text(text)
    known = load_people(folder / "people.yaml")
    return load_pairs("x", known, folder), known


def load_all() -> tuple[dict[str, PairsFile], People]:
    """Load the project's constructions that have pairs, and its people."""
    people, folder = load_people(ROOT / "lexicon" / "people.yaml"), ROOT / "constructions"
    names = sorted(path.name for path in folder.iterdir() if has_pairs(path.name, folder))
    return {name: load_pairs(name, people, folder) for name in names}, people
