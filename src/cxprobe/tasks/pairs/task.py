"""The task of minimal pairs: its implementation of `cxprobe.results.task.Task`."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import pandas as pd

from cxprobe.constructions.checking import FoundFaults
from cxprobe.constructions.people import PEOPLE_FILE, People, load_people, people_if_sound
from cxprobe.errors import CxprobeError
from cxprobe.files.tables import read_made_table
from cxprobe.files.writing import DATA
from cxprobe.models.prompts import PROMPTS_FOLDER
from cxprobe.models.texts import pair_table
from cxprobe.results.findings import ReportModels, estimate_of
from cxprobe.results.params import ReportParams
from cxprobe.results.rates import divided_by
from cxprobe.results.schema import cluster_lists
from cxprobe.results.task import (
    Demand,
    Example,
    PageTable,
    ReportInputs,
    Task,
    published_table,
    read_demand,
    replied_demand,
)
from cxprobe.results.words import in_full
from cxprobe.tasks.pairs.balance import unbalanced_cells, with_one_answer
from cxprobe.tasks.pairs.frames import (
    PairsFile,
    fill_variant,
    load_pairs,
    pairs_file,
    read_pairs_file,
)
from cxprobe.tasks.pairs.make import render_pairs
from cxprobe.tasks.pairs.params import FORM, PairsParams, PairsStage, called_pairs
from cxprobe.tasks.pairs.sources import (
    MADE,
    OWN_PAIRS,
    first_items,
    made_files,
    read_made,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_BESIDE = "evaluate_pairs/tables/beside_published"
_BESIDE_TITLE = "Minimal pairs beside published values, which are about other items"


@dataclass(frozen=True)
class ConstructionPairs:
    """The pairs of meaning and of form of a construction.

    Attributes:
        files: Entry of ``constructions`` -> the content of its file.
        people: The nouns that fill the slots of people.
    """

    files: Mapping[str, PairsFile]
    people: People

    def first_words(self, name: str) -> dict[str, str]:
        """Return the words of each slot for examples: those of the first rows of a file, and the first two people."""
        pairs, noun_type = self.files[name], next(iter(self.people.types.values()))
        pronouns = self.people.pronouns[noun_type.pronouns[0]] if pairs.people else {}
        return {**pairs.first_words, **pronouns, **dict(zip(pairs.people, noun_type.nouns, strict=False))}


class PairsTask(Task):
    """Minimal pairs: the project's own, and published benchmarks."""

    params = PairsStage
    title = "Minimal pairs"
    steps = ("make", "score", "evaluate", "ask")
    caveat = (
        "In single pairs, a preference for one name or answer weighs more than the meaning; contrasts cancel it. "
        "Variants in which one answer is always right are left out of the rate (results/make_pairs/unbalanced.csv)."
    )

    # ---- constructions

    def items_in(self, construction: str) -> list[str]:
        """Return the entries for the pairs of meaning and of form whose files the folder has."""
        return [name for name in (construction, construction + FORM) if pairs_file(name).is_file()]

    def read_items(self, entries: Sequence[str], use: Callable[[Path], Path]) -> ConstructionPairs:
        """Read the pairs of a construction, and the nouns for people."""
        people = load_people(use(PEOPLE_FILE))
        for name in entries:
            use(pairs_file(name))
        return ConstructionPairs({name: load_pairs(name, people) for name in entries}, people)

    def examples(self, items: ConstructionPairs) -> Iterator[Example]:
        """Yield an example of each variant and sentence; the first variant also with its people exchanged."""
        for name, pairs in items.files.items():
            values, pair = items.first_words(name), called_pairs(name).replace("pairs", "pair")
            nouns = next(iter(items.people.types.values())).nouns
            for index, (letter, variant) in enumerate(pairs.variants.items()):
                orders = {"": pairs.people}
                if pairs.switched and index == 0:
                    orders[", switched"] = pairs.people[::-1]
                for order, slots in orders.items():
                    filled = {**values, **dict(zip(slots, nouns, strict=False))}
                    for sentence in variant.contexts:
                        context, good, bad = fill_variant(variant, filled, sentence)
                        design = " (own)" if variant.origin == "own" else ""
                        rival = "" if sentence == "construction" else ", rival"
                        kind_of_item = f"{pair}, variant {letter}{design}{order}{rival}"
                        yield Example(kind_of_item, context, good.strip(), bad.strip())

    # ---- checks

    def check_construction(self, folder: Path, faults: FoundFaults) -> None:
        """Check the pairs of meaning and of form; if the file of people has faults, check their format only."""
        from cxprobe.tasks.pairs.checks import lint_pairs

        if folder.name.endswith(FORM):
            faults.lines.append(f"{folder}: names that end in {FORM} are those of pairs of form; rename the folder")
        people = people_if_sound()
        for name in (folder.name, folder.name + FORM):
            path = folder / pairs_file(name).name
            faults.read(path, partial(read_pairs_file, name), lambda pairs: lint_pairs(pairs, people) if people else ())

    def check_params(self, params: ReportParams, faults: FoundFaults) -> None:
        """Check that each construction has pairs, and each benchmark its files."""
        from cxprobe.tasks.pairs.benchmarks import benchmark_files

        section = params.section(PairsParams)
        people, contents = people_if_sound(), dict[str, PairsFile]()
        for name in section.constructions:
            faults.require("pairs.constructions", name, pairs_file(name))
            try:
                if people:
                    contents[name] = load_pairs(name, people)
                    faults.notes += _notes_on_variants(name, contents[name], people, params)
            except CxprobeError:  # its faults have been reported
                continue
        for name, benchmark in section.benchmarks.items():
            place = f"params.yaml: pairs.benchmarks.{name}: "
            faults.attempt(benchmark_files, DATA / "benchmarks" / name, benchmark, prefix=place)

    def check_shared_files(self, params: ReportParams | None, faults: FoundFaults) -> None:
        """Check the prompts that ask for preferences, and that they include the one that params.yaml names."""
        from cxprobe.tasks.pairs.ask import load_preference_prompts

        section = params.section(PairsParams) if params else None
        ask = section.ask if section else None
        faults.check_prompts(
            PROMPTS_FOLDER / "preferences.yaml",
            load_preference_prompts,
            needed=section is None or bool(section.llms),
            named={"pairs.ask.prompt": ("prompts", ask.prompt)} if ask else {},
        )

    # ---- plans

    def demand(self, params: ReportParams) -> Iterator[Demand]:
        """Yield the texts that each model reads, and the prompts for each."""
        from cxprobe.tasks.pairs.ask import draw_from_sources, load_preference_prompts, preference_questions

        section = params.section(PairsParams)
        tables = {source: read_made(files) for source, files in made_files(section).items()}
        for entry, asked in section.models.items():
            texts: set[str] = set()
            for source, pairs in tables.items():
                table = first_items(pairs, asked) if source == OWN_PAIRS else pairs
                for side in ("good", "bad"):
                    texts |= {*(table["context"] + table[side])}
                    # Continuations are scored without their contexts too.
                    texts |= {*table.loc[table["context"] != "", side].str.lstrip()}
            yield from read_demand(params.models, "measure_pairs", [entry], texts)
        if section.ask and section.llms:
            drawn = pd.concat(draw_from_sources(section, tables, params.seed).values())
            questions = preference_questions(drawn, section.ask.prompt, load_preference_prompts())["question"].tolist()
            yield from replied_demand(params.llms, "ask_pairs", section.llms, questions)

    # ---- reports

    def row_label(self, row: Mapping[Any, Any], items: ConstructionPairs) -> str:
        """Return the kind of pairs of a row."""
        return called_pairs(row["construction"])

    def figures(self, inputs: ReportInputs) -> "dict[str, Figure]":
        """Return the rates of each kind of pairs by construction, and along series of models."""
        from cxprobe.tasks.pairs.figures import figures_of_pairs

        items = (files.items.get(self.name) for files in inputs.constructions.values())
        contents = {name: content for pairs in items if pairs for name, content in pairs.files.items()}
        return figures_of_pairs(inputs, cast(PairsStage, inputs.sections[self.name]), contents)

    def tables(self, column: str, value: str, inputs: ReportInputs, models: ReportModels) -> Iterator[PageTable]:
        """Yield a model's rates on each benchmark."""
        for name in inputs.stage.params.section(PairsParams).benchmarks if column == "model" else ():
            rates = inputs.rates(self.name)
            of_it = rates[(rates["source"] == name) & (rates["model"] == value) & (rates["measure"] == "accuracy")]
            rows = [
                [", ".join(part for part in (row["construction"], row["group"]) if part), in_full(estimate_of(row))]
                for row in pd.concat([divided_by(of_it), divided_by(of_it, "group")]).to_dict("records")
            ]
            yield PageTable(f"Benchmark {name}", self.accuracy, ["group", "rate [95 % interval], n"], rows)

    def published(self, construction: str | None, inputs: ReportInputs, models: ReportModels) -> Iterator[PageTable]:
        """Yield the accuracies on pairs of meaning beside published ones."""
        table = inputs.table(_BESIDE)
        if len(table):
            known = table["construction"].isin(list(inputs.constructions))
            rows = table[table["construction"] == construction] if construction else table[~known]
            yield published_table(rows, _BESIDE_TITLE, _BESIDE, models)

    # ---- exports

    def dataset(self, params: ReportParams) -> dict[str, pd.DataFrame]:
        """Return this project's pairs."""
        pairs = read_pair_tables(params.section(PairsParams))
        return {"pairs": pairs.assign(clusters=cluster_lists(pairs)).fillna("")}

    def pairs(self, params: ReportParams) -> pd.DataFrame:
        """Return this project's pairs, with the column one_answer, see `Task.pairs`."""
        return with_one_answer(read_pair_tables(params.section(PairsParams)))


def read_pair_tables(section: PairsParams) -> pd.DataFrame:
    """Read the project's own minimal pairs."""
    tables = [read_made_table(MADE / f"{name}.parquet") for name in section.constructions]
    return pd.concat(tables, ignore_index=True)


def _notes_on_variants(name: str, content: PairsFile, people: People, params: ReportParams) -> Iterator[str]:
    """Yield a note on variants that rates leave out, since one answer is always right in them."""
    pairs_per_condition: int = getattr(params.section(PairsParams).make.pairs_per_condition, content.tests)
    cells = unbalanced_cells(pair_table(render_pairs(name, content, people, pairs_per_condition, params.seed)))
    if len(cells):
        listed = "; ".join(f"{row['variant']}: {row['reason']}" for _, row in cells.iterrows())
        yield (
            f"{pairs_file(name)}: rates of the construction leave out {len(cells)} of {len(content.variants)} "
            f"variants, where one answer is always right ({listed}); the report shows them one by one. To count them, "
            "let the right word vary, or add variants in which the other one is right"
        )
