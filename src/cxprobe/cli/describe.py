"""The command ``cxprobe describe``."""

import csv
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from cxprobe.errors import DataError

if TYPE_CHECKING:
    from cxprobe.cli.page import BlindRate, Content


def describe() -> None:
    """Write constructions/README.md: what each construction is, examples of its items, what blind models get."""
    from cxprobe.files.writing import write_bytes
    from cxprobe.run.params import CONSTRUCTIONS_FOLDER

    path = CONSTRUCTIONS_FOLDER / "README.md"
    write_bytes(make_page().encode(), path)
    print(f"{path} says what the data say")


def make_page() -> str:
    """Return the page about the constructions in the working directory, with the results that are tracked there.

    Raises:
        CxprobeError: A file has faults; `cxprobe check` tells those of all files.
    """
    from cxprobe.cli.page import page_of
    from cxprobe.constructions.people import load_people
    from cxprobe.run.params import CONSTRUCTIONS_FOLDER

    people = load_people()
    folders = [path for path in sorted(CONSTRUCTIONS_FOLDER.glob("*")) if path.is_dir()]
    return page_of({folder.name: _read(folder) for folder in folders}, people, list(_blind_rates()))


def _read(folder: Path) -> "Content":
    from cxprobe.cli.page import Content
    from cxprobe.constructions.construction import load_construction
    from cxprobe.constructions.people import load_people
    from cxprobe.pairs.frames import has_pairs, load_pairs
    from cxprobe.prompts.items import load_items
    from cxprobe.scenarios.rules import load_scenarios

    name = folder.name
    return Content(
        load_construction(name),
        load_pairs(name, load_people()) if has_pairs(name) else None,
        load_items(name) if (folder / "items.yaml").is_file() else None,
        load_scenarios(name) if (folder / "scenarios.yaml").is_file() else None,
    )


Row = Mapping[str, str]
_SETS = {"templatic": "inference", "challenge": "inference, challenge set", "reasoning": "reasoning"}
# A tracked table of results -> what is asked in one of its rows.
_ITEMS: Mapping[str, Callable[[Row], str]] = {
    "report_pairs": lambda row: "minimal pairs" if row["words"] == "real" else "minimal pairs, pseudowords",
    "report_prompts": lambda row: _SETS.get(row["set"], row["set"]),
    "report_scenarios": lambda row: f"scenario {row['scenario']}",
}


def _blind_rates() -> "Iterator[BlindRate]":
    """Give what blind models get on pairs, inferences, reasoning items and scenarios, as far as there are results."""
    from cxprobe.cli.page import BlindRate
    from cxprobe.files.writing import RESULTS
    from cxprobe.lm.params import members_of
    from cxprobe.run.params import load_params

    models = load_params().models or {}
    blind = {member.slug for member in members_of(models, models) if member.is_blind}
    for stage, items in _ITEMS.items():
        path = RESULTS / stage / "accuracy.csv"
        try:
            for row in _rows(path):
                if row["model"] in blind:
                    accuracy, low, high, n = (float(row[column]) for column in ("accuracy", "low", "high", "n"))
                    yield BlindRate(row["construction"], items(row), row["model"], accuracy, low, high, int(n))
        except (KeyError, ValueError, csv.Error) as fault:
            raise DataError(
                f"{path}: is no table of accuracies ({fault}); `dvc repro {stage}` makes it anew"
            ) from fault


def _rows(path: Path) -> Iterator[Row]:
    """Give the rows of a table; none where there is no file."""
    from cxprobe.files.reading import read_text

    if path.exists():
        yield from csv.DictReader(read_text(path, DataError).splitlines())
