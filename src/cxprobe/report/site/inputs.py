"""What the pages are made of: the tables and figures of the reports that ran, and the files of the constructions."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pandas as pd
from PIL import Image

from cxprobe.constructions.construction import CONSTRUCTIONS_FOLDER, Construction, load_construction
from cxprobe.constructions.people import PEOPLE_FILE, People, load_people
from cxprobe.errors import DataError
from cxprobe.files.tables import read_table
from cxprobe.files.writing import RESULTS
from cxprobe.pairs.frames import PairsFile, load_pairs, pairs_file
from cxprobe.pairs.params import construction_of_pairs
from cxprobe.prompts.items import ConstructionItems, load_items
from cxprobe.run.params import LINES, Params
from cxprobe.run.stage import Stage
from cxprobe.scenarios.rules import Scenarios, load_scenarios

_SETTINGS: Mapping[str, tuple[str, ...]] = {
    "recognition": ("make", "embed", "probe", "tune"),
    "scenarios": ("make", "score"),
    "pairs": ("make", "score", "judge", "ask"),
    "prompts": ("make", "score", "judge"),
}
_FILES = {"scenarios": "scenarios.yaml", "prompts": "items.yaml"}


@dataclass(frozen=True)
class About:
    """The files of a construction; None for one that no line of work needed; of pairs those that params.yaml names."""

    construction: Construction
    pairs: Mapping[str, PairsFile]
    scenarios: Scenarios | None
    items: ConstructionItems | None


@dataclass(frozen=True)
class Picture:
    """A figure of a report.

    Attributes:
        path: Relative to results/.
        title: What it shows.
        construction: Which it is about; "" for several.
    """

    path: str
    title: str
    construction: str


@dataclass
class Run:
    """What a run has left for its report.

    Attributes:
        stage: Notes what is read; has the parameters.
        lines: The lines of work that ran.
        people: The nouns of minimal pairs; None if there are no pairs.
        constructions: Folder -> its files: those that most lines of work ask about first.
        slots: Construction -> the table, relative to results/, of the words that corpora have in its slots.
    """

    stage: Stage
    lines: list[str] = field(init=False)
    people: People | None = field(init=False)
    constructions: dict[str, About] = field(init=False)
    slots: dict[str, Path] = field(init=False)
    _tables: dict[str, pd.DataFrame] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Look for what ran, which params.yaml says; what it does not name may still be on disk."""
        sections = {line: getattr(self.params, line) for line in LINES}
        self.lines = [
            line for line, own in sections.items() if own.constructions or (line == "pairs" and own.benchmarks)
        ]
        for line in self.lines:
            if sections[line].constructions:
                self.stage.use(RESULTS / f"report_{line}" / "accuracy.csv")
        has_pairs = bool(sections["pairs"].constructions)
        self.people = load_people(self.stage.use(PEOPLE_FILE)) if has_pairs else None
        asked = [
            name for own in sections.values() for name in dict.fromkeys(map(construction_of_pairs, own.constructions))
        ]
        ordered = sorted(dict.fromkeys(asked), key=lambda name: -asked.count(name))
        self.constructions = {name: self._about(name) for name in ordered}
        mined = ((name, self.params.mining.constructions.get(name)) for name in ordered)
        paths = {name: Path("mine_sentences", corpus, name, "slots.csv") for name, corpus in mined if corpus}
        self.slots = {name: path for name, path in paths.items() if (RESULTS / path).exists()}

    @property
    def params(self) -> Params:
        """The parameters of the run."""
        return self.stage.params

    @property
    def settings(self) -> dict[str, str]:
        """Dotted name of a parameter -> its value, of the lines that ran."""
        return self.stage.settings(*(f"{line}.{step}" for line in self.lines for step in _SETTINGS[line]), "report")

    def table(self, path: str) -> pd.DataFrame:
        """Return a table by its path relative to results/, without suffix; an empty one if its line did not run."""
        if path not in self._tables:
            file = RESULTS / f"{path}.csv"
            there = path.split("/")[0].partition("_")[2] in self.lines and file.exists()
            self._tables[path] = read_table(self.stage.use(file)) if there else pd.DataFrame()
        return self._tables[path]

    def path_of_ways(self, model: str, construction: str, table: str) -> str:
        """Return where the table of a run is in which pairs were asked in several ways."""
        return f"judge_pairs/runs/ways/{model}/{construction}/own/{table}"

    def pictures(self) -> list[Picture]:
        """Return the figures of the reports; each has its own title, as `cxprobe.run.results` writes it."""
        found = []
        for path in (own for line in self.lines for own in sorted((RESULTS / f"report_{line}/figures").glob("*.png"))):
            with Image.open(path) as image:
                title = image.info["Title"].replace("\n", " ")
            named = [slug for slug in path.stem.split("_") if slug in self.constructions]
            found.append(Picture(path.relative_to(RESULTS).as_posix(), title, "".join(named)))
        return found

    def scenarios(self, construction: str) -> Scenarios:
        """Return the scenarios of a construction that params.yaml names.

        Raises:
            DataError: It is not named there, so its file was not read.
        """
        scenarios = self.constructions[construction].scenarios if construction in self.constructions else None
        if scenarios is None:
            raise DataError(
                f"{construction} has results of scenarios, and scenarios.constructions does not name it; `dvc repro`"
            )
        return scenarios

    def _about(self, name: str) -> About:
        folder = CONSTRUCTIONS_FOLDER / name
        self.stage.use(folder / "construction.yaml")
        asked = {line for line in _FILES if name in getattr(self.params, line).constructions}
        pairs = [one for one in self.params.pairs.constructions if construction_of_pairs(one) == name]
        for path in (*(folder / _FILES[line] for line in asked), *map(pairs_file, pairs)):
            self.stage.use(path)
        return About(
            load_construction(name),
            {one: load_pairs(one, self.people) for one in pairs if self.people is not None},
            load_scenarios(name) if "scenarios" in asked else None,
            load_items(name) if "prompts" in asked else None,
        )
