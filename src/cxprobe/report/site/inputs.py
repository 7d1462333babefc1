"""What the pages are made of: the tables of the reports that ran, the records beside them, and the constructions."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from cxprobe.constructions.construction import Construction, load_construction
from cxprobe.constructions.people import PEOPLE_FILE, People, load_people
from cxprobe.errors import DataError
from cxprobe.files.tables import read_table
from cxprobe.files.writing import RESULTS, read_json
from cxprobe.pairs.frames import PairsFile, load_pairs
from cxprobe.prompts.items import Items, load_items
from cxprobe.report.site.ways import tables_of_ways
from cxprobe.run.params import CONSTRUCTIONS_FOLDER, Params
from cxprobe.scenarios.rules import Scenarios, load_scenarios

Use = Callable[[Path], Path]
_TABLES: Mapping[str, tuple[str, ...]] = {
    "recognition": ("accuracy", "tables/recognition", "tables/card", "tables/comparisons"),
    "scenarios": ("accuracy", "tables/comparisons"),
    "pairs": (
        "accuracy",
        "tables/beside_published",
        "tables/biases",
        "tables/card",
        "tables/comparisons",
        "tables/noun_types",
        "tables/sentences",
        "tables/series",
        "tables/series_biases",
        "tables/unbalanced",
        "tables/variants",
    ),
    "prompts": (
        "accuracy",
        "tables/accuracy_answerable",
        "tables/accuracy_by_test",
        "tables/cards",
        "tables/comparisons",
        "tables/inference_beside_published",
        "tables/reasoning_beside_published",
    ),
}
_SECTIONS: Mapping[str, tuple[str, ...]] = {
    "recognition": ("generate_sentences", "build_recognition", "extract_features", "fit_probes", "tune_probes"),
    "scenarios": ("build_scenarios", "fill_scenarios"),
    "pairs": ("build_pairs", "score_pairs", "judge_pairs", "ask_pairs"),
    "prompts": ("build_prompts", "score_answers", "judge_answers"),
}
_OF_SCENARIOS = ("accuracy", "flips", "accuracy_beside_published", "flips_beside_published")


@dataclass(frozen=True)
class About:
    """The files of a construction; None for one that no line of work needed."""

    construction: Construction
    pairs: PairsFile | None
    scenarios: Scenarios | None
    items: Items | None


@dataclass(frozen=True)
class Run:
    """What a run has left for its report.

    Attributes:
        params: Its parameters.
        tables: Path relative to results/, without suffix -> the table; those of lines that did not run are absent.
        constructions: Folder -> its files, those of the lines that ran.
        people: The nouns of minimal pairs; None if there are no pairs.
        figures: The figures of the reports, relative to results/.
        hashes: Path of what the reports have read -> its MD5.
        settings: Dotted name of a parameter -> its value, of the lines that ran.
    """

    params: Params
    tables: Mapping[str, pd.DataFrame]
    constructions: Mapping[str, About]
    people: People | None
    figures: Sequence[str]
    hashes: Mapping[str, str]
    settings: Mapping[str, str]

    def table(self, path: str) -> pd.DataFrame:
        """Return a table, or one without rows and columns if its line of work did not run."""
        return self.tables.get(path, pd.DataFrame())

    def scenarios(self, construction: str) -> Scenarios:
        """Return the scenarios of a construction that the grid of scenarios names.

        Raises:
            DataError: It is not named there, so its file was not read.
        """
        found = self.constructions[construction].scenarios
        if found is None:
            raise DataError(
                f"{construction} has results of scenarios, and grid.scenarios does not name it; `dvc repro`"
            )
        return found

    @property
    def lines(self) -> list[str]:
        """The lines of work that ran."""
        return [
            line for line in (*_TABLES, "benchmarks") if any(path.startswith(f"report_{line}/") for path in self.tables)
        ]


def read_run(params: Params, use: Use, settings: Mapping[str, str]) -> Run:
    """Read everything that the pages need; what `grid` does not name is not looked for, though it may be on disk.

    Args:
        params: The parameters of the run.
        use: Is told each file before it is read, and returns it.
        settings: Dotted name of a parameter -> its value, see `sections_of`.

    Raises:
        DataError: A table is missing.
    """
    tables = {path: read_table(use(RESULTS / f"{path}.csv")) for path in _paths(params)}
    hashes, figures = dict[str, str](), list[str]()
    for report in _reports(params):
        record = read_json(use(RESULTS / report / "tables" / "record.json"))
        hashes |= {str(path): str(md5) for path, md5 in record["inputs"].items()}
        figures += [f"{report}/{path}" for path in record["artifacts"] if path.endswith(".png")]
    people = load_people(use(PEOPLE_FILE)) if "pairs" in _lines(params) else None
    abouts = {name: _about(name, params, people, use) for name in _constructions(params)}
    return Run(params, tables, abouts, people, figures, dict(sorted(hashes.items())), settings)


def sections_of(params: Params) -> list[str]:
    """Return the sections of params.yaml that decide on the numbers of the lines of work that run."""
    return [section for line in _lines(params) for section in _SECTIONS[line]] + ["cards"]


def _lines(params: Params) -> list[str]:
    return [line for line in _TABLES if getattr(params.lines, line)]


def _reports(params: Params) -> list[str]:
    """Return the folders below results/ of the reports that the grid names."""
    return [f"report_{line}" for line in _lines(params)] + [
        f"report_benchmarks/{name}" for name in params.grid.benchmarks.benchmarks
    ]


def _paths(params: Params) -> Iterator[str]:
    for line in _lines(params):
        yield from (f"report_{line}/{stem}" for stem in _TABLES[line])
        if line == "scenarios":
            for name in params.grid.scenarios.constructions:
                yield from (f"report_scenarios/tables/{name}/{stem}" for stem in _OF_SCENARIOS)
    yield from tables_of_ways(params)
    yield from (f"report_benchmarks/{name}/accuracy" for name in params.grid.benchmarks.benchmarks)


def _constructions(params: Params) -> list[str]:
    """Return the constructions of the grid: those that most lines of work ask about first."""
    grid = params.grid
    asked = [
        name
        for line, names in (
            ("recognition", grid.recognition.constructions),
            ("pairs", grid.pairs.constructions),
            ("scenarios", grid.scenarios.constructions),
            ("prompts", grid.prompts.constructions),
        )
        if line in _lines(params)
        for name in names
    ]
    return sorted(dict.fromkeys(asked), key=lambda name: -asked.count(name))


def _about(name: str, params: Params, people: People | None, use: Use) -> About:
    grid, lines, folder = params.grid, _lines(params), CONSTRUCTIONS_FOLDER / name
    use(folder / "construction.yaml")
    has = {
        line: line in lines and name in names
        for line, names in (
            ("pairs", grid.pairs.constructions),
            ("scenarios", grid.scenarios.constructions),
            ("prompts", grid.prompts.constructions),
        )
    }
    for line, file in (("pairs", "pairs.yaml"), ("scenarios", "scenarios.yaml"), ("prompts", "items.yaml")):
        if has[line]:
            use(folder / file)
    return About(
        load_construction(name),
        load_pairs(name, people) if people is not None and has["pairs"] else None,
        load_scenarios(name) if has["scenarios"] else None,
        load_items(name) if has["prompts"] else None,
    )
