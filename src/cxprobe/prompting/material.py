"""What there is to ask about a construction: its own items, and those of files from elsewhere."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from cxprobe.params import CONSTRUCTIONS_FOLDER
from cxprobe.prompting.cxnli import Repair, read_inference_file
from cxprobe.prompting.items import load_items, render_inferences, render_reasonings
from cxprobe.prompting_params import AskLlms
from cxprobe.records import Inference, Reasoning

_OWN: tuple[str, ...] = ("templatic", "challenge")


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


def material_files(construction: str, settings: AskLlms) -> list[Path]:
    """Return the files that `load_material` reads."""
    return [CONSTRUCTIONS_FOLDER / construction / "items.yaml", *_files(settings).values()]


def load_material(construction: str, settings: AskLlms, *, seed: int) -> Material:
    """Read what there is to ask about a construction, and to show as examples.

    Args:
        construction: Its name.
        settings: Which sets and files.
        seed: The project's seed; it decides the order of options.

    Raises:
        ConstructionError: Its items cannot be read.
        DataError: A file from elsewhere cannot be read.
    """
    items = load_items(construction)
    rendered = render_inferences(items, construction)
    sets: dict[str, list[Inference]] = {of: [item for item in rendered if item.set == of] for of in _OWN}
    files = {of: read_inference_file(path, of) for of, path in _files(settings).items()}
    wanted: set[str] = set(settings.sets)
    asked = {of: [item for item in files[of].items if item.construction == construction] for of in settings.files}
    return Material(
        inferences={of: own for of, own in sets.items() if of in wanted} | asked,
        reasonings=render_reasonings(items, construction, seed=seed) if "reasoning" in settings.sets else [],
        sources=sets | {of: file.items for of, file in files.items()},
        repairs={of: file.repairs for of, file in files.items()},
    )


def _files(settings: AskLlms) -> dict[str, Path]:
    """Return the files that are asked about, by their names, and those that examples come from, by their paths."""
    sources = sorted({source for shots in settings.shots for source in shots.sources} - set(_OWN))
    return {of: Path(of) for of in sources} | {of: Path(path) for of, path in settings.files.items()}
