"""What there is to ask about a construction: its own items, and those of files from elsewhere."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from cxprobe.params import CONSTRUCTIONS_FOLDER
from cxprobe.prompting.cxnli import Repair, read_inference_file
from cxprobe.prompting.items import load_items, render_inferences, render_reasonings
from cxprobe.prompting_params import OWN, AskLlms
from cxprobe.records import Inference, Reasoning


class Material(NamedTuple):
    """What the questions about a construction are made of.

    Attributes:
        inferences: Name of a set -> its items about the construction.
        reasonings: The construction's reasoning items.
        sources: Name of a source of examples, as the parameters give it -> its items.
        repairs: Name of a set or source from elsewhere -> what had to be repaired in its file.
    """

    inferences: Mapping[str, Sequence[Inference]]
    reasonings: Sequence[Reasoning]
    sources: Mapping[str, Sequence[Inference]]
    repairs: Mapping[str, Sequence[Repair]]


def pool_files(construction: str, settings: AskLlms) -> list[Path]:
    """Return the files that `load_pool` reads: the construction's own items, or those of all that have any."""
    if set(OWN) & _sources(settings, anywhere=True):
        return sorted(CONSTRUCTIONS_FOLDER.glob("*/items.yaml"))
    return [CONSTRUCTIONS_FOLDER / construction / "items.yaml"]


def load_pool(construction: str, settings: AskLlms) -> list[Inference]:
    """Return those of the project's own items that examples for questions about a construction are drawn from.

    They are the construction's own, and where a setting of shots is not ``of_the_construction``, those of all folders
    of ``constructions/``, whatever the grid asks about: adding a construction to the grid changes no other's examples.

    Args:
        construction: Its name.
        settings: Which sources, of which constructions.

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


def inference_table(items: Sequence[Inference]) -> pd.DataFrame:
    """Return items as a table, a row each."""
    return pd.DataFrame([asdict(item) for item in items], columns=[field.name for field in fields(Inference)])


def inferences_of(table: pd.DataFrame) -> list[Inference]:
    """Return the items of an `inference_table`."""
    return [Inference(**{str(name): value for name, value in row.items()}) for row in table.to_dict("records")]


def material_files(construction: str, settings: AskLlms) -> list[Path]:
    """Return the files that `load_material` reads."""
    return [CONSTRUCTIONS_FOLDER / construction / "items.yaml", *_files(settings).values()]


def load_material(construction: str, settings: AskLlms, pool: Sequence[Inference], *, seed: int) -> Material:
    """Read what there is to ask about a construction, and to show as examples.

    Args:
        construction: Its name.
        settings: Which sets and files.
        pool: What `load_pool` returns.
        seed: The project's seed; it decides the order of options.

    Raises:
        ConstructionError: Its items cannot be read.
        DataError: A file from elsewhere cannot be read.
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


def _files(settings: AskLlms) -> dict[str, Path]:
    """Return the files that are asked about, by their names, and those that examples come from, by their paths."""
    sources = sorted(_sources(settings) - set(OWN))
    return {of: Path(of) for of in sources} | {of: Path(path) for of, path in settings.files.items()}


def _sources(settings: AskLlms, *, anywhere: bool = False) -> set[str]:
    """Return the sources of examples; with ``anywhere``, those from which examples of any construction are drawn."""
    return {
        source for shots in settings.shots if not (anywhere and shots.of_the_construction) for source in shots.sources
    }
