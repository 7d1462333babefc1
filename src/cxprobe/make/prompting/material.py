"""The material of the questions about a construction: its own items, and those of imported files."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from cxprobe.constructions import load_items, render_inferences, render_reasonings
from cxprobe.errors import PromptError
from cxprobe.make.prompting.cxnli import Repair, read_inference_file
from cxprobe.make.prompting.reasoning_files import ReasoningFile, read_reasoning_file
from cxprobe.params import CONSTRUCTIONS_FOLDER, OWN, BuildPrompts
from cxprobe.records import Inference, Reasoning
from cxprobe.schema import suggest
from cxprobe.seeding import generator_for


class Material(NamedTuple):
    """The items that the questions about a construction are made of.

    Attributes:
        inferences: Name of a set -> its items about the construction.
        reasonings: The multiple-choice items about the construction: its own, then those of each imported set.
        sources: Name of a source of examples, as the parameters give it -> its items.
        repairs: Name of an imported set or source -> the repairs of its file; a set of multiple choice, which has a
            file for each construction, is named "<set>/<construction>".
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
    imported = [*_files(settings).values(), *_reasoning_files(construction, settings)]
    return [CONSTRUCTIONS_FOLDER / construction / "items.yaml", *imported]


def load_material(construction: str, settings: BuildPrompts, pool: Sequence[Inference], *, seed: int) -> Material:
    """Read the items to ask about a construction, and those to show as examples.

    Args:
        construction: Its name.
        settings: Which sets and files.
        pool: What `load_pool` returns.
        seed: The project's seed; it determines the order of the options, and that of the frames of imported sets.

    Raises:
        ConstructionError: Its items cannot be read.
        DataError: An imported file cannot be read.
        PromptError: The parameters have a file of multiple choice for a construction that there is not.
    """
    _require_constructions(settings)
    items = load_items(construction)
    rendered = render_inferences(items, construction)
    sets, pools = ({of: [item for item in items if item.set == of] for of in OWN} for items in (rendered, pool))
    files = {of: read_inference_file(path, of) for of, path in _files(settings).items()}
    wanted: set[str] = set(settings.sets)
    asked = {
        of: [item for item in files[of].items if item.construction == construction] for of in settings.inference_files
    }
    multiple = _read_reasonings(construction, settings)
    own = render_reasonings(items, construction, seed=seed) if "reasoning" in settings.sets else []
    return Material(
        inferences={of: some for of, some in sets.items() if of in wanted} | asked,
        reasonings=[*own, *(item for of, file in multiple.items() for item in _in_drawn_order(file.items, of, seed))],
        sources=pools | {of: file.items for of, file in files.items()},
        repairs={of: file.repairs for of, file in files.items()}
        | {f"{of}/{construction}": file.repairs for of, file in multiple.items()},
    )


def _files(settings: BuildPrompts) -> dict[str, Path]:
    """Return the imported inferences: those asked about by the names of their sets, examples by their paths."""
    sources = sorted(_sources(settings) - set(OWN))
    return {of: Path(of) for of in sources} | {of: Path(path) for of, path in settings.inference_files.items()}


def _reasoning_files(construction: str, settings: BuildPrompts) -> list[Path]:
    """Return the imported files of multiple choice about a construction, and those that choose among their rows."""
    sets = [own for own in settings.reasoning_files.values() if construction in own.constructions]
    paths = [path for own in sets for path in (own.constructions[construction], own.rows) if path is not None]
    return [Path(path) for path in dict.fromkeys(paths)]


def _read_reasonings(construction: str, settings: BuildPrompts) -> dict[str, ReasoningFile]:
    """Return name of a set -> its multiple-choice items about a construction."""
    return {
        of: read_reasoning_file(
            Path(own.constructions[construction]),
            of,
            construction,
            keep_doubtful=own.doubtful == "keep",
            rows=None if own.rows is None else Path(own.rows),
        )
        for of, own in settings.reasoning_files.items()
        if construction in own.constructions
    }


def _in_drawn_order(items: Sequence[Reasoning], of: str, seed: int) -> list[Reasoning]:
    """Return items in an order of their frames that is drawn, so that the first of them are a draw too."""
    frames = sorted({item.frame_id for item in items})
    order = generator_for(seed, "frames", of).permutation(len(frames))
    return [item for place in order for item in items if item.frame_id == frames[place]]


def _require_constructions(settings: BuildPrompts) -> None:
    """Refuse files for a construction that there is not: nothing would ever be asked about them."""
    known = sorted(path.parent.name for path in CONSTRUCTIONS_FOLDER.glob("*/items.yaml"))
    faults = [
        f"build_prompts.files.{of}.constructions: '{name}' is not a construction with items{suggest(name, known)}"
        for of, own in settings.reasoning_files.items()
        for name in own.constructions
        if name not in known
    ]
    if faults:
        raise PromptError("\n".join(faults))


def _sources(settings: BuildPrompts, *, anywhere: bool = False) -> set[str]:
    """Return the sources of examples; with ``anywhere``, those from which examples of any construction are drawn."""
    return {
        source for shots in settings.shots if not (anywhere and shots.of_the_construction) for source in shots.sources
    }
