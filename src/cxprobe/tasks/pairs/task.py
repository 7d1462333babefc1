"""The task of minimal pairs: its implementation of `cxprobe.results.task.Task`, and its figures."""

import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import pandas as pd

from cxprobe.constructions.checking import FoundFaults, is_there
from cxprobe.constructions.construction import PEOPLE_FILE, People, load_people
from cxprobe.errors import CxprobeError
from cxprobe.files.schema import suggest
from cxprobe.files.tables import read_made_table
from cxprobe.files.writing import DATA
from cxprobe.models.params import Member, Series, earlier_checkpoints, series_of
from cxprobe.models.replies import PROMPTS_FOLDER
from cxprobe.models.texts import pair_table
from cxprobe.results.comparisons import best_baseline
from cxprobe.results.params import ReportParams, task_members
from cxprobe.results.published import Beside
from cxprobe.results.rates import ALL, divided_by
from cxprobe.results.schema import cluster_lists
from cxprobe.results.task import (
    Demand,
    Example,
    ExportedItems,
    ReportInputs,
    Shown,
    Task,
    read_demand,
    replied_demand,
    texts_of_pairs,
)
from cxprobe.tasks.pairs.ask import drawn_pairs, load_preference_prompts, preference_questions
from cxprobe.tasks.pairs.benchmarks import benchmark_files
from cxprobe.tasks.pairs.frames import PairsFile, fill_variant, lint_pairs, load_pairs, pairs_file, read_pairs_file
from cxprobe.tasks.pairs.make import render_pairs
from cxprobe.tasks.pairs.params import FORM, PairsParams, PairsStage, called_pairs
from cxprobe.tasks.pairs.sources import first_items, made_file, read_sources, unbalanced_cells
from cxprobe.text import fill, slots_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_BIASES = {"order": "bias (i)", "variant": "bias (ii)"}  # the two ways of asking that are compared -> the bias


class ConstructionPairs(NamedTuple):
    """The pairs of a construction, by entry of ``constructions``, and the nouns for people."""

    files: Mapping[str, PairsFile]
    people: People


class PairsTask(Task):
    """Minimal pairs: the project's own, and published benchmarks."""

    params = PairsStage
    title = "Minimal pairs"
    caveat = (
        "In single pairs, a preference for one name or answer weighs more than the meaning; contrasts cancel it. "
        "Variants in which one answer is always right are left out of the rate (results/make_pairs/unbalanced.csv)."
    )
    beside = Beside("Minimal pairs: percent beside published values, which are about other items", left_out="origin")

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
        kind = next(iter(items.people.types.values()))
        for name, pairs in items.files.items():
            values = pairs.first_words | (items.people.pronouns[kind.pronouns[0]] if pairs.people else {})
            for index, (letter, variant) in enumerate(pairs.variants.items()):
                design = " (own)" if variant.origin == "own" else ""
                for order in ("", ", switched") if pairs.switched and index == 0 else ("",):
                    slots = pairs.people[::-1] if order else pairs.people
                    for sentence in variant.contexts:
                        filled = values | dict(zip(slots, kind.nouns, strict=False))
                        context, good, bad = fill_variant(variant, filled, sentence)
                        rival = "" if sentence == "construction" else ", rival"
                        called = called_pairs(name).replace("pairs", "pair")
                        kind_of_item = f"{called}, variant {letter}{design}{order}{rival}"
                        yield Example(kind_of_item, context, good.strip(), bad.strip())

    # ---- checks

    def check_construction(self, folder: Path, faults: FoundFaults) -> None:
        """Check the pairs of meaning and of form; if the file of people has faults, check their format only."""
        if folder.name.endswith(FORM):
            faults.lines.append(f"{folder}: names that end in {FORM} are those of pairs of form; rename the folder")
        people = FoundFaults().attempt(load_people)
        for name in (folder.name, folder.name + FORM):
            path = folder / pairs_file(name).name
            faults.read(path, partial(read_pairs_file, name), lambda pairs: lint_pairs(pairs, people) if people else ())

    def check(self, params: ReportParams | None, faults: FoundFaults) -> None:
        """Check the constructions' pairs, the benchmarks' files, and the prompts that ask for preferences."""
        section = params.section(PairsParams) if params else None
        needed = section is None or bool(section.llms) or is_there(PROMPTS_FOLDER / "preferences.yaml")
        known = faults.attempt(load_preference_prompts) if needed else None
        if section and section.ask and known and section.ask.prompt not in known.prompts:
            what = f"params.yaml: pairs.ask.prompt: preferences has no prompt '{section.ask.prompt}'"
            faults.lines.append(what + suggest(section.ask.prompt, known.prompts))
        if params is None or section is None:
            return
        people = FoundFaults().attempt(load_people)
        for name in section.constructions:
            faults.require("pairs.constructions", name, pairs_file(name))
            with suppress(CxprobeError):  # its faults have been reported
                faults.notes += _notes_on_variants(name, load_pairs(name, people), people, params) if people else ()
        for name, benchmark in section.benchmarks.items():
            place = f"params.yaml: pairs.benchmarks.{name}: "
            faults.attempt(benchmark_files, DATA / "benchmarks" / name, benchmark, prefix=place)

    # ---- plans

    def demand(self, params: ReportParams) -> Iterator[Demand]:
        """Yield the texts that each model reads, and the prompts for each."""
        section = params.section(PairsParams)
        tables = read_sources(section, Path)
        for entry, asked in section.models.items():
            texts = texts_of_pairs(first_items(pairs, asked) for pairs in tables.values())
            yield from read_demand(params.models, "measure_pairs", [entry], texts)
        if section.ask and section.llms:
            drawn = pd.concat(drawn_pairs(section, tables, params.seed).values())
            questions = preference_questions(drawn, section.ask.prompt, load_preference_prompts())["question"].tolist()
            yield from replied_demand(params.llms, "ask_pairs", section.llms, questions)

    # ---- reports

    def shown(self, row: Mapping[Any, Any], rates: pd.DataFrame, items: ConstructionPairs) -> Shown | None:
        """Return the kind of pairs of a row."""
        return Shown(called_pairs(row["construction"]))

    def figures(self, inputs: ReportInputs) -> "dict[str, Figure]":
        """Return the rates of each kind of pairs by construction, and along series of models.

        They are those of meaning by what is asked, of real words and pseudowords, and of series; those without rows are
        left out. Mock models are drawn only if there are no others.

        Source:
            Oba & Sugawara 2026, Figures 2 to 4, 6 to 8.
        """
        from cxprobe.results.plots import dots, marks_of

        params, rates = cast(PairsStage, inputs.sections[self.name]), inputs.rates(self.name)
        items = (files.items.get(self.name) for files in inputs.constructions.values())
        contents = {name: content for pairs in items if pairs for name, content in pairs.files.items()}
        members, series = task_members(params), series_of(params.models, params.pairs.models)
        own = rates[rates["source"].isin(["real", "pseudo"]) & rates["construction"].isin(list(contents))]
        variants, whole = (_labelled(divided_by(own, *by), contents) for by in (["variant"], []))
        variants = variants[(variants["tests"] == "meaning") & (variants["source"] == "real")]
        both = whole[whole.groupby("construction")["source"].transform("nunique") == 2]
        seeing = {one.slug for one in members if not (one.is_baseline or one.is_mock)} - earlier_checkpoints(series)
        seeing = seeing or {one.slug for one in members if one.is_mock}
        labels, score = {one.slug: one.label for one in members}, params.pairs.evaluate.score
        figures = {}
        for name, title, panels, every in (
            ("meaning_by_variant", "Pairs of meaning by what is asked", "tests", variants),
            ("pseudowords", "Real words and pseudowords", "source", both),
        ):
            table = every[every["model"].isin(seeing)]
            if len(table):
                best = best_baseline(every, ["row", panels], members)
                drawn, title = table.assign(model=table["model"].map(labels)), f"{title}, {score.replace('_', ' ')}"
                marks = marks_of(drawn, row="row", panel=panels, kind="model", best=best)
                figures[name] = dots(marks, title=title)
        return figures | _along(rates, series, members, score)

    # ---- exports

    def export(self, params: ReportParams) -> ExportedItems:
        """Return this project's pairs."""
        made = [read_made_table(made_file(name)) for name in params.section(PairsParams).constructions]
        pairs = pd.concat(made, ignore_index=True)
        return ExportedItems({"pairs": pairs.assign(clusters=cluster_lists(pairs)).fillna("")})


def _labelled(rates: pd.DataFrame, contents: Mapping[str, PairsFile]) -> pd.DataFrame:
    """Return accuracies of constructions with tests, and row: the construction, and the variant with its question."""
    labels = []
    for construction, variant in rates[["construction", "variant"]].to_numpy().tolist():
        label = construction
        if variant:
            asked = contents[construction].variants[variant].continuation
            question = fill(asked, dict.fromkeys(slots_of(asked), "…") | contents[construction].first_words)
            shown = textwrap.shorten(question, 60, placeholder=" …")
            label = f"{construction}, {variant}\n{shown}"
        labels.append(label)
    tests = [contents[name].tests for name in rates["construction"]]
    labelled = rates.assign(tests=tests, row=labels).rename(columns={"value": "accuracy"})
    return labelled[labelled["measure"] == "accuracy"]


def _along(
    rates: pd.DataFrame, series: Mapping[str, Series], members: Sequence[Member], score: str
) -> "dict[str, Figure]":
    """Return a figure for each quantity of series, by_<quantity> and by_<quantity>_biases, with a curve a series."""
    from cxprobe.results.plots import curves

    whole = divided_by(rates[(rates["measure"] == "accuracy") & (rates["source"] != "pseudo")])
    panel = whole["construction"].where(whole["source"] == "real", whole["source"] + ": " + whole["construction"])
    whole = whole.rename(columns={"value": "accuracy"}).assign(panel=panel)
    of_all = rates[(rates["measure"] == "bias") & (rates["construction"] == ALL)]
    panel = of_all.get("compared", pd.Series(dtype=str)).map(_BIASES) + ", " + of_all["noun_type"]
    of_all = of_all.rename(columns={"value": "bias"}).assign(panel=panel)
    shown, figures = score.replace("_", " "), {}
    for axis in dict.fromkeys(one.axis for one in series.values()):
        steps = [(name, *step) for name, one in series.items() if one.axis == axis for step in one.models.items()]
        places = pd.DataFrame(steps, columns=["series", "model", axis]).astype({axis: float})
        how: Any = {"x": axis, "panels": "panel", "colours": "series"}
        if len(along := places.merge(whole, on="model")):
            best = best_baseline(whole, ["panel"], members)
            title = f"own ({shown})"
            figures[f"by_{axis}"] = curves(along, title, **how, best=best)
        if len(along := places.merge(of_all, on="model")):
            title = f"biases by noun type, {shown}"
            figures[f"by_{axis}_biases"] = curves(along, title, **how, value="bias", chance=None)
    return figures


def _notes_on_variants(name: str, content: PairsFile, people: People, params: ReportParams) -> Iterator[str]:
    """Yield a note on variants that rates leave out, since one answer is always right in them."""
    wanted = getattr(params.section(PairsParams).make.pairs_per_condition, content.tests)
    cells = unbalanced_cells(pair_table(render_pairs(name, content, people, wanted, params.seed)))
    if len(cells):
        listed = "; ".join(cells["variant"] + ": " + cells["reason"])
        yield (
            f"{pairs_file(name)}: rates of the construction leave out {len(cells)} of {len(content.variants)} "
            f"variants, where one answer is always right ({listed}); the report shows them one by one. To count them, "
            "let the right word vary, or add variants in which the other one is right"
        )
