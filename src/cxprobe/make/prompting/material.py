"""The material of the questions about a construction: its own items, and those of imported files."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from cxprobe.constructions import load_items, render_inferences, render_reasonings
from cxprobe.make.prompting.cxnli import Repair, read_inference_file
from cxprobe.params import CONSTRUCTIONS_FOLDER, OWN, BuildPrompts
from cxprobe.records import Inference, Reasoning


class Material(NamedTuple):
    """The items that the questions about a construction are made of.

    Attributes:
        inferences: Name of a set -> its items about the construction.
        reasonings: The construction's reasoning items.
        sources: Name of a source of examples, as the parameters give it -> its items.
        repairs: Name of an imported set or source -> the repairs of its file.
    """

    inferences: Mapping[str, Sequence[Inference]]
    reasonings: Sequence[Reasoning]
    sources: Mapping[str, Sequence[Inference]]
    repairs: Mapping[str, Sequence[Repair]]


def pool_files(construction: str, settings: BuildPrompts) -> list[Path]:
    """Return the files that `load_pool` reads: the construction's own items, or those of all constructions."""
    if set(OWN) & _sources(settings, anywhere=True):
        return sorted(CONSTRUCTIONS_FOLDER.glob("*/items.yaml"))
    return [CONSTRUCTIONS_FOLDER / construction / "items.yaml"]


def load_pool(construction: str, settings: BuildPrompts) -> list[Inference]:
    """Return the items of the project from which examples for questions about a construction are drawn.

    These are the construction's own items and, where an entry of shots has ``of_the_construction: false``, those of
    all folders of ``constructions/``, whatever the grid contains: adding a construction to the grid changes no other
    construction's examples.

    Args:
        construction: Its name.
        settings: The sources of each number of shots.

    Raises:
        ConstructionError: Items cannot be read.
    """
    named, anywhere = _sources(settings), _sources(settings, anywhere=True)
    return [
        item
        for path in pool_files(construction, settings)
        for item in render_inferences(load_items(path.parent.name), path.parent.name)
        if item.set in anywhere or (item.set in named and item.construction == construction)
    ]


def material_files(construction: str, settings: BuildPrompts) -> list[Path]:
    """Return the files that `load_material` reads."""
    return [CONSTRUCTIONS_FOLDER / construction / "items.yaml", *_files(settings).values()]


def load_material(construction: str, settings: BuildPrompts, pool: Sequence[Inference], *, seed: int) -> Material:
    """Read the items to ask about a construction, and those to show as examples.

    Args:
        construction: Its name.
        settings: Which sets and files.
        pool: What `load_pool` returns.
        seed: The project's seed; it determines the order of the options.

    Raises:
        ConstructionError: Its items cannot be read.
        DataError: An imported file cannot be read.
    """
    items = load_items(construction)
    rendered = render_inferences(items, construction)
    sets, pools = ({of: [item for item in items if item.set == of] for of in OWN} for items in (rendered, pool))
    files = {of: read_inference_file(path, of) for of, path in _files(settings).items()}
    wanted: set[str] = set(settings.sets)
    asked = {of: [item for item in files[of].items if item.construction == construction] for of in settings.files}
    return Material(
        inferences={of: own for of, own in sets.items() if of in wanted} | asked,
        reasonings=render_reasonings(items, construction, seed=seed) if "reasoning" in settings.sets else [],
        sources=pools | {of: file.items for of, file in files.items()},
        repairs={of: file.repairs for of, file in files.items()},
    )


def _files(settings: BuildPrompts) -> dict[str, Path]:
    """Return the imported files: those asked about by the names of their sets, those of examples by their paths."""
    sources = sorted(_sources(settings) - set(OWN))
    return {of: Path(of) for of in sources} | {of: Path(path) for of, path in settings.files.items()}


def _sources(settings: BuildPrompts, *, anywhere: bool = False) -> set[str]:
    """Return the sources of examples; with ``anywhere``, those from which examples of any construction are drawn."""
    return {
        source for shots in settings.shots if not (anywhere and shots.of_the_construction) for source in shots.sources
    }
