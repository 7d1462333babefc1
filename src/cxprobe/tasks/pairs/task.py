"""The task of minimal pairs: its implementation of `cxprobe.results.task.Task`."""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import pandas as pd

from cxprobe.constructions.checking import FoundFaults
from cxprobe.constructions.people import PEOPLE_FILE, People, load_people
from cxprobe.errors import CxprobeError
from cxprobe.files.writing import DATA
from cxprobe.labels.ratings import RatedItem
from cxprobe.models.params import PairClassifier
from cxprobe.models.prompts import PROMPTS_FOLDER
from cxprobe.results.answers import cluster_lists, read_made_table
from cxprobe.results.contrast_verdicts import FEWEST_FRAMES
from cxprobe.results.findings import NO_RATE, Baseline, Finding, Question, ReportModels, estimate_of, findings_of_rates
from cxprobe.results.inputs import ReportInputs
from cxprobe.results.members import task_members
from cxprobe.results.params import ReportParams
from cxprobe.results.rates import ALL
from cxprobe.results.schema import CHANCE_IN_BOTH
from cxprobe.results.task import (
    Demand,
    Example,
    PageSection,
    PageTable,
    Task,
    published_table,
    read_demand,
    replied_demand,
)
from cxprobe.results.words import in_full, number
from cxprobe.tasks.pairs.balance import unbalanced_cells, with_one_answer
from cxprobe.tasks.pairs.contrast_rates import CONDITION
from cxprobe.tasks.pairs.contrasts import NAMES, ContrastsFile, contrasts_file, filled_cells, load_contrasts
from cxprobe.tasks.pairs.evaluate import answered_variants, fixed_preferences
from cxprobe.tasks.pairs.frames import PAPER_FORMAT, PairsFile, fill_variant, load_pairs, pairs_file, read_pairs_file
from cxprobe.tasks.pairs.make import pair_table, render_pairs
from cxprobe.tasks.pairs.params import FORM, PairsParams, PairsStage, called_pairs, construction_of_pairs
from cxprobe.tasks.pairs.rated import items_of_pairs
from cxprobe.tasks.pairs.sources import CONTRASTS, MADE, OWN_PAIRS, first_items, made_files, read_made
from cxprobe.tasks.pairs.wording import wording_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_FEWEST_FRAMES = 30  # with fewer frames, the report warns about the interval
_MARGINS = {"": "mean margin", "place": "for the person named first", "name": "for either name"}
_SENTENCES = {"construction": "sentences with the construction", "rival": "their rivals"}
_WAYS: Mapping[str, tuple[Question, str]] = {
    "recognised": ("form", "probe trained on other frames"),
    "expected": ("meaning", "likelihood"),
    "said": ("words", "asked in words"),
}
_COUNTS = ("both_right", "first_alone", "second_alone", "both_wrong")
_BESIDE = "evaluate_pairs/tables/beside_published"
_BESIDE_TITLE = "Minimal pairs beside published values, which are about other items"


@dataclass(frozen=True)
class ConstructionPairs:
    """The pairs of meaning and of form of a construction.

    Attributes:
        files: Entry of ``constructions`` -> the content of its file.
        people: The nouns that fill the slots of people.
        contrasts: Its contrasts; None if it has no file of them.
    """

    files: Mapping[str, PairsFile]
    people: People
    contrasts: ContrastsFile | None = None

    def first_words(self, name: str) -> dict[str, str]:
        """Return the words of each slot for examples: those of the first rows of a file, and the first two people."""
        pairs, noun_type = self.files[name], next(iter(self.people.types.values()))
        pronouns = self.people.pronouns[noun_type.pronouns[0]] if pairs.people else {}
        return {**pairs.first_words, **pronouns, **dict(zip(pairs.people, noun_type.nouns, strict=False))}


class PairsTask(Task):
    """Minimal pairs: the project's own, and published benchmarks."""

    params = PairsStage
    title = "Minimal pairs"
    asked_by = "by minimal pairs"
    steps = ("make", "score", "evaluate", "ask")

    # ---- constructions

    def items_in(self, construction: str) -> list[str]:
        """Return the entries for the pairs of meaning and of form whose files the folder has."""
        return [name for name in (construction, construction + FORM) if pairs_file(name).is_file()]

    def read_items(self, entries: Sequence[str], use: Callable[[Path], Path]) -> ConstructionPairs:
        """Read the pairs of a construction, and the nouns for people."""
        people = load_people(use(PEOPLE_FILE))
        for name in entries:
            use(pairs_file(name))
        construction, contrasts = construction_of_pairs(entries[0]), None
        if contrasts_file(construction).is_file():
            use(contrasts_file(construction))
            contrasts = load_contrasts(construction, people)
        return ConstructionPairs({name: load_pairs(name, people) for name in entries}, people, contrasts)

    def examples(self, items: ConstructionPairs) -> Iterator[Example]:
        """Yield an example of each variant, sentence and format; the first variant also with its people exchanged."""
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
                for name_of_format in variant.formats:
                    context, good, bad = fill_variant(variant.in_format(name_of_format), values)
                    yield Example(f"{pair}, variant {letter}, format {name_of_format}", context, good, bad)

        if items.contrasts:
            yield from _examples_of_contrasts(items.contrasts, items.people)

    def baseline_rates(self, construction: str, params: ReportParams) -> pd.DataFrame:
        """Return the rates of baselines on the pairs of meaning and of form, see `cxprobe.tasks.pairs.preview`."""
        from cxprobe.tasks.pairs.preview import baseline_rates

        return pd.concat([pd.DataFrame(), *(baseline_rates(name, params) for name in self.items_in(construction))])

    # ---- checks

    def check_construction(self, folder: Path, faults: FoundFaults) -> None:
        """Check the pairs of meaning and of form; if the file of people has faults, check their format only."""
        from cxprobe.tasks.pairs.checks import lint_pairs

        if folder.name.endswith(FORM):
            faults.lines.append(f"{folder}: names that end in {FORM} are those of pairs of form; rename the folder")
        people = _people_if_sound()
        for name in (folder.name, folder.name + FORM):
            path = folder / pairs_file(name).name
            faults.read(path, partial(read_pairs_file, name), lambda pairs: lint_pairs(pairs, people) if people else ())
        path = contrasts_file(folder.name)
        contrasts = faults.attempt(load_contrasts, folder.name, people) if people and path.is_file() else None
        if contrasts and (n := len(contrasts.held_out)) < FEWEST_FRAMES:
            faults.notes.append(f"{path}: has {n} rows of held_out; a verdict takes {FEWEST_FRAMES}, so write more")

    def check_params(self, params: ReportParams, faults: FoundFaults) -> None:
        """Check that each construction has pairs, and each benchmark its files."""
        from cxprobe.tasks.pairs.benchmarks import benchmark_files
        from cxprobe.tasks.pairs.pseudowords import require_wuggy

        section = params.section(PairsParams)
        people, contents = _people_if_sound(), dict[str, PairsFile]()
        for name in section.constructions:
            faults.require("pairs.constructions", name, pairs_file(name))
            try:
                if people:
                    contents[name] = load_pairs(name, people)
                    faults.notes += _notes_on_variants(name, contents[name], people, params)
            except CxprobeError:  # its faults have been reported
                continue
        for name, content in contents.items():
            if content.tests == "meaning" and content.control not in section.constructions:
                lacking = f"{content.control} is not in pairs.constructions" if content.control else "has no control"
                faults.notes.append(f"{pairs_file(name)}: {lacking}, so no rate will say whether a model knows {name}")
        for name in contents:
            if faults.attempt(wording_of, name, contents, section.make, prefix="params.yaml: ") is None:
                break
        if section.make.pseudowords == "wuggy" and any(content.content_slots for content in contents.values()):
            faults.attempt(require_wuggy, prefix="params.yaml: ")
        for name, benchmark in section.benchmarks.items():
            place = f"params.yaml: pairs.benchmarks.{name}: "
            faults.attempt(benchmark_files, DATA / "benchmarks" / name, benchmark, prefix=place)

    def check_shared_files(self, params: ReportParams | None, faults: FoundFaults) -> None:
        """Check the prompts that ask for preferences, and that they include the one that params.yaml names."""
        from cxprobe.tasks.pairs.asking import load_preference_prompts

        section = params.section(PairsParams) if params else None
        ask = section.ask if section else None
        faults.check_prompts(
            PROMPTS_FOLDER / "preferences.yaml",
            load_preference_prompts,
            needed=section is None or bool(section.llms),
            named={"pairs.ask.prompt": ("prompts", ask.prompt)} if ask else {},
        )

    # ---- people

    def rated_items(self, construction: str, seed: int) -> Iterator[RatedItem]:
        """Yield pairs for people to judge: one per frame and condition, so that each frame has every noun type."""
        if not pairs_file(construction).is_file():
            return
        people = load_people()
        pairs = load_pairs(construction, people)
        yield from items_of_pairs(render_pairs(construction, pairs, people, len(pairs.frames), seed))

    # ---- plans

    def demand(self, params: ReportParams) -> Iterator[Demand]:
        """Yield the texts that each model reads, and the questions that each is asked in words."""
        from cxprobe.tasks.pairs.asking import draw_from_sources, load_preference_prompts, preference_questions

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

    def row_label(self, row: Mapping[Any, Any], items: Any) -> str:
        """Return the kind of pairs of a row about contrasts, or about all pairs of a construction with real words."""
        if row["facet"] == CONDITION and row["measure"] == "above_zero":
            return CONTRASTS
        if row["facet"] or row["source"] != "real" or row["measure"] not in ("accuracy", "both_orders"):
            return ""
        return called_pairs(row["construction"]) + (", right in both orders" if row["measure"] == "both_orders" else "")

    def baseline(self, row: Mapping[Any, Any], inputs: ReportInputs) -> Mapping[Any, Any] | None:
        """Return the baseline of a contrast: the rate of the neutral condition or of the rival, as its row says."""
        if row["facet"] != CONDITION:
            return None
        return _condition_of(inputs.rates(self.name), row, row["baseline"])

    def preference(self, row: Mapping[Any, Any], inputs: ReportInputs) -> str:
        """Return the wordings in which a model is mostly wrong and mostly right, or its rate in one order."""
        rates = inputs.rates(self.name)
        if row["measure"] == "both_orders":
            return _in_one_order(_rates_at(rates)[row["model"], row["construction"], "accuracy"])
        of_model = rates[(rates["model"] == row["model"]) & (rates["construction"] == row["construction"])]
        texts = []
        for wording in fixed_preferences(of_model)[row["model"], row["construction"], row["source"]]:
            variant, _, sentence = wording["level"].partition(".")
            where = f" ({_SENTENCES[sentence]})" if sentence else ""
            texts.append(f"{in_full(estimate_of(wording))} of variant {variant}{where}")
        return "right in {}, and in {}".format(*texts)

    def findings(self, inputs: ReportInputs, models: ReportModels) -> Iterator[Finding]:
        """Yield the rates of pairs with real words. The headline is "right in both orders" if pairs have two orders."""
        contents, rates, margins = _contents(inputs), inputs.rates(self.name), _margins_in_words(inputs)
        at, clusters, settings = _rates_at(rates), _clusters(inputs), inputs.sections[self.name].of_task.make
        with_contrasts = set(rates.loc[rates["source"] == CONTRASTS, "construction"])
        members = task_members(inputs.sections[self.name])
        trained = [member.slug for member in members if isinstance(member.spec, PairClassifier)]
        for finding in findings_of_rates(self, inputs, models):
            if finding.source == CONTRASTS:
                note = _contrast_in_words(rates, finding) + _of_trained(rates, finding, trained)
                yield replace(finding, question=models.question(finding.model, "meaning"), note=note)
                continue
            name, tests = finding.run, contents[finding.run].tests
            place, is_both, note = (finding.model, name), finding.chance == CHANCE_IN_BOTH, ""
            if is_both:
                note = margins.get(place, "") + _in_one_order(at[*place, "accuracy"])
            elif (*place, "every_variant") in at:
                note = f"right in all variants: {in_full(estimate_of(at[*place, 'every_variant']))}"
            called, wording = called_pairs(name), wording_of(name, contents, settings).called
            yield replace(
                finding,
                way=finding.way if wording == PAPER_FORMAT else finding.way.replace(called, f"{called}, {wording}"),
                question=models.question(finding.model, "form" if tests == "form" else "meaning"),
                headline=_is_headline(tests, name, with_contrasts) and (is_both or (*place, "both_orders") not in at),
                note=note,
                clusters=clusters.get(place),
            )
        yield from self._without_rate(inputs, models)

    def _without_rate(self, inputs: ReportInputs, models: ReportModels) -> Iterator[Finding]:
        """Yield findings without a rate, for constructions where one answer is always right in every wording."""
        rates, cells = inputs.rates(self.name), _unbalanced(inputs)
        rated = {ALL, *rates.loc[rates["decides"], "construction"]}
        of_wordings = rates[(rates["facet"] == "variant") & (rates["source"] == "real")]
        of_wordings = of_wordings[~of_wordings["construction"].isin(rated)]
        for (name, model), rows in of_wordings.groupby(["construction", "model"], sort=False):
            notes = []
            for row in rows.to_dict("records"):
                right, wrong, _ = cells.get((str(name), row["level"]), ("", "", ""))
                notes.append(f"{right} not {wrong}: {in_full(estimate_of(row))}")
            construction, way = construction_of_pairs(str(name)), called_pairs(str(name))
            question = models.question(str(model), "form")
            finding = Finding(
                self.name, construction, str(model), question, way, rate=None, baseline=None, table=self.accuracy
            )
            yield replace(finding, source="real", run=str(name), note="; ".join(notes), verdict=NO_RATE)

    def figures(self, inputs: ReportInputs) -> "dict[str, Figure]":
        """Return the rates of each kind of pairs by construction, and along series of models."""
        from cxprobe.tasks.pairs.figures import figures_of_pairs

        tests = {name: pairs.tests for name, pairs in _contents(inputs).items()}
        return figures_of_pairs(inputs, cast(PairsStage, inputs.sections[self.name]), tests)

    def sections(self, construction: str, inputs: ReportInputs, models: ReportModels) -> Iterator[PageSection]:
        """Yield a section on the same pairs asked in three ways, and one on each wording."""
        items = inputs.constructions[construction].items.get(self.name)
        if items is None:
            return
        rates = inputs.rates(self.name)
        of_it = rates[(rates["source"] == "real") & rates["model"].isin(models.with_pages)]
        of_it = of_it[of_it["construction"].isin(items.files)]
        ways = list(_findings_of_ways(construction, of_it))
        if ways:
            yield PageSection(
                "The same minimal pairs, asked in three ways",
                "A probe that was trained on other frames selects one of the two texts, the model finds one more "
                "probable, and it names one when asked in words. The baseline is a probe on counts of words.",
                ways,
                list(_agreement(items, inputs, models)),
            )
        variants = list(_findings_of_variants(construction, items, of_it, inputs))
        if variants:
            yield PageSection(
                "By wording of the minimal pairs",
                "A rule without the construction, such as “the first person mentioned”, can be right in one wording "
                "and is then wrong in another. Each wording is shown with the words of its first frame.",
                variants,
                has_verdicts=False,
            )

    def tables(self, column: str, value: str, inputs: ReportInputs, models: ReportModels) -> Iterator[PageTable]:
        """Yield a model's rates on each benchmark."""
        for name in inputs.stage.params.section(PairsParams).benchmarks if column == "model" else ():
            rates = inputs.rates(self.name)
            of_it = rates[(rates["source"] == name) & (rates["model"] == value) & (rates["measure"] == "accuracy")]
            rows = [
                [", ".join(part for part in (row["construction"], row["level"]) if part), in_full(estimate_of(row))]
                for row in of_it[of_it["facet"].isin(["", "group"])].to_dict("records")
            ]
            yield PageTable(f"Benchmark {name}", self.accuracy, ["group", "rate [95 % interval], n"], rows)

    def published(self, construction: str | None, inputs: ReportInputs, models: ReportModels) -> Iterator[PageTable]:
        """Yield the accuracies on pairs of meaning beside published ones."""
        table = inputs.table(_BESIDE)
        if len(table):
            known = table["construction"].isin(list(inputs.constructions))
            rows = table[table["construction"] == construction] if construction else table[~known]
            yield published_table(rows, _BESIDE_TITLE, _BESIDE, models)

    def reservations(self, construction: str, inputs: ReportInputs) -> Iterator[str]:
        """Yield caveats for variants that the rate leaves out or that single words answer, and for few frames."""
        cells, clusters = _unbalanced(inputs), _clusters(inputs)
        names = [name for name in _contents(inputs) if construction_of_pairs(name) == construction]
        for name in names:
            listed = "; ".join(f"{variant}: {cell[2]}" for (of, variant), cell in cells.items() if of == name)
            called = called_pairs(name).capitalize()
            if listed:
                yield f"{called}: variants in which one answer is always right are left out of the rate ({listed})."
        for name in names:
            frames = min((number for (_, of), number in clusters.items() if of == name), default=_FEWEST_FRAMES)
            if frames < _FEWEST_FRAMES:
                yield (
                    f"{called_pairs(name).capitalize()}: only {frames} frame{'s' * (frames != 1)} (frames that share "
                    f"a word count as one): with fewer than {_FEWEST_FRAMES}, the interval says little about others."
                )
        rates, params = inputs.rates(self.name), inputs.sections[self.name]
        of_it = rates[(rates["facet"] == "variant") & (rates["source"] == "real")].rename(columns={"level": "variant"})
        of_it = of_it[of_it["construction"] == construction]
        meaning = [name for name in names if _contents(inputs)[name].tests == "meaning"]
        of_it = of_it[of_it["construction"].isin(meaning)]
        for row in answered_variants(of_it, task_members(params), params.report.limit).to_dict("records"):
            yield (
                f"Minimal pairs, variant {row['variant']}: {row['model']} gets {in_full(estimate_of(row))} from single "
                "words, so the variant asks nothing about the construction; rates of several constructions leave "
                "it out."
            )

    # ---- exports

    def dataset(self, params: ReportParams) -> dict[str, pd.DataFrame]:
        """Return this project's pairs."""
        pairs = read_pair_tables(params.section(PairsParams))
        return {"pairs": pairs.assign(clusters=cluster_lists(pairs)).fillna("")}

    def pairs(self, params: ReportParams) -> pd.DataFrame:
        """Return this project's pairs, with the column one_answer, see `Task.pairs`."""
        return with_one_answer(read_pair_tables(params.section(PairsParams)))


def _examples_of_contrasts(content: ContrastsFile, people: People) -> Iterator[Example]:
    """Yield the first cell of each condition, of the first frame that is held out."""
    kind = people.types[NAMES[0]]
    seen = set[str]()
    for cell in filled_cells(content, content.held_out[0], kind.nouns[:2], people.pronouns[kind.pronouns[0]]):
        if cell.condition not in seen:
            seen.add(cell.condition)
            yield Example(f"contrast, {cell.condition}", cell.context, cell.right.strip(), cell.wrong.strip())


def _is_headline(tests: str, name: str, with_contrasts: Collection[str]) -> bool:
    """Return True for pairs whose rate the overview has; contrasts replace the pairs of meaning there."""
    return tests == "form" or (tests == "meaning" and name not in with_contrasts)


def _condition_of(rates: pd.DataFrame, row: Mapping[Any, Any], condition: str) -> Mapping[Any, Any] | None:
    """Return the rate of another condition with the model, construction and measure of a row."""
    keys = ["model", "construction", "facet", "measure"]
    is_of_row = (rates[keys] == [row[key] for key in keys]).all(axis=1) & (rates["level"] == condition)
    return next(iter(rates[is_of_row].to_dict("records")), None)


def _contrast_in_words(rates: pd.DataFrame, finding: Finding) -> str:
    """Describe a contrast in nats: the contrast, its control, and its difference from each other condition."""
    of_it = rates[(rates["model"] == finding.model) & (rates["construction"] == finding.construction)]
    contrasts = of_it[(of_it["facet"] == CONDITION) & (of_it["measure"] == "contrast")]
    called = {"construction": "contrast", "control": "control", "less_neutral": "above neutral"}
    called |= {"less_rival": "above rival", "less_shuffled": "above shuffled"}
    texts = []
    for row in contrasts[contrasts["level"].isin(called)].to_dict("records"):
        texts.append(f"{called[row['level']]} {row['value']:+.3f} [{row['low']:+.3f}, {row['high']:+.3f}]")
    return f"in nats: {', '.join(texts)}" if texts else ""


def _of_trained(rates: pd.DataFrame, finding: Finding, trained: Collection[str]) -> str:
    """Return the share of frames above 0 that classifiers reach, which were trained on the texts of other frames."""
    keys = {"construction": finding.construction, "facet": CONDITION, "level": "construction", "measure": "above_zero"}
    found = rates[(rates[[*keys]] == pd.Series(keys)).all(axis=1) & rates["model"].isin(trained)]
    texts = [f"{row['model']} {in_full(estimate_of(row))}" for row in found.to_dict("records")]
    return f"; learnt from other frames: {', '.join(texts)}" if texts else ""


def read_pair_tables(section: PairsParams) -> pd.DataFrame:
    """Read the project's own minimal pairs."""
    tables = [read_made_table(MADE / f"{name}.parquet") for name in section.constructions]
    return pd.concat(tables, ignore_index=True)


def _notes_on_variants(name: str, content: PairsFile, people: People, params: ReportParams) -> Iterator[str]:
    """Yield a note on variants that rates leave out, since one answer is always right in them."""
    pairs_per_condition: int = getattr(params.section(PairsParams).make.pairs_per_condition, content.tests)
    cells = unbalanced_cells(pair_table(render_pairs(name, content, people, pairs_per_condition, params.seed)))
    if len(cells) and not content.one_answer:
        listed = "; ".join(f"{row['variant']}: {row['reason']}" for _, row in cells.iterrows())
        yield (
            f"{pairs_file(name)}: rates of the construction leave out {len(cells)} of {len(content.variants)} "
            f"variants, where one answer is always right ({listed}); the report shows them one by one. To count them, "
            "let the right word vary, or add variants in which the other one is right; if this is intended, write "
            "one_answer: true in the file"
        )


def _people_if_sound() -> People | None:
    try:
        return load_people()
    except CxprobeError:  # the check of the lexicon reports its faults
        return None


def _contents(inputs: ReportInputs) -> dict[str, PairsFile]:
    """Return the content of the file of each entry of ``constructions``."""
    items = (files.items.get("pairs") for files in inputs.constructions.values())
    return {name: content for pairs in items if pairs for name, content in pairs.files.items()}


def _rates_at(rates: pd.DataFrame) -> dict[tuple[str, str, str], dict[Any, Any]]:
    """Return the rates of all pairs with real words, by model, construction and measure."""
    whole = rates[(rates["facet"] == "") & (rates["source"] == "real")].to_dict("records")
    return {(row["model"], row["construction"], row["measure"]): row for row in whole}


def _in_one_order(accuracy: Mapping[Any, Any]) -> str:
    return f"right in one order: {in_full(estimate_of(accuracy))}"


def _margins_in_words(inputs: ReportInputs) -> dict[tuple[str, str], str]:
    """Return the main parts of the mean margin in words, by model and pairs; see `effects_on_margins`."""
    rates, parts = inputs.rates("pairs"), defaultdict[tuple[str, str], list[str]](list)
    margins = rates[(rates["measure"] == "margin") & (rates["source"] == "real") & rates["level"].isin(_MARGINS)]
    for row in margins.to_dict("records"):
        part = f"{_MARGINS[row['level']]} {row['value']:+.3f} nats [{row['low']:+.3f}, {row['high']:+.3f}]"
        parts[row["model"], row["construction"]].append(part)
    return {place: f"{', '.join(of_place)}; " for place, of_place in parts.items()}


def _clusters(inputs: ReportInputs) -> dict[tuple[str, str], int]:
    """Return the number of clusters behind the interval of the pairs with real words, by model and pairs."""
    rows = inputs.table("evaluate_pairs/tables/clusters").to_dict("records")
    return {(row["model"], row["construction"]): int(row["clusters"]) for row in rows if row["source"] == "real"}


def _unbalanced(inputs: ReportInputs) -> dict[tuple[str, str], tuple[str, str, str]]:
    """Return the right word, the wrong word and the reason of variants with one answer, by pairs and variant."""
    rows = inputs.table("make_pairs/unbalanced").astype(str).to_dict("records")
    return {(row["construction"], row["variant"]): (row["right"], row["wrong"], row["reason"]) for row in rows}


def _findings_of_ways(construction: str, rates: pd.DataFrame) -> Iterator[Finding]:
    """Yield the rate of each model on the same pairs in each way; the baseline is a probe on counts of words."""
    for (model, name), rows in rates[rates["facet"] == "way"].groupby(["model", "construction"], sort=False):
        by_way = {row["level"]: estimate_of(row) for row in rows.to_dict("records")}
        baseline = Baseline("counts of words", by_way["words"]) if "words" in by_way else None
        for way, (question, called) in _WAYS.items():
            if way in by_way:
                asked = f"{called_pairs(str(name))}: {called}"
                finding = partial(Finding, "pairs", construction, str(model), question, asked, by_way[way], baseline)
                yield finding("evaluate_pairs/rates", source="real", run=str(name), headline=False)


def _agreement(items: ConstructionPairs, inputs: ReportInputs, models: ReportModels) -> Iterator[PageTable]:
    """Yield tables of the agreement between every two ways on the same pairs."""
    head = ["model", "first", "second", "kappa", "pairs", "both right", "first alone", "second alone", "both wrong"]
    title = "Agreement of two ways, pair by pair: Cohen's kappa, 0 for agreement by chance and 1 for full agreement"
    path = "evaluate_pairs/tables/agreement"
    table = inputs.table(path)
    for name in items.files if len(table) else ():
        rows = []
        for _, row in table[(table["construction"] == name) & table["model"].isin(models.with_pages)].iterrows():
            is_known = pd.notna([row["kappa"], row["low"]]).all()
            kappa = f"{row['kappa']:.2f} [{row['low']:.2f}, {row['high']:.2f}]" if is_known else "not defined"
            counts = [str(int(row[count])) for count in _COUNTS]
            rows.append([models.label(row["model"]), row["first"], row["second"], kappa, number(row["n"]), *counts])
        yield PageTable(f"{title} ({called_pairs(name)})", path, head, rows)


def _findings_of_variants(
    construction: str, items: ConstructionPairs, rates: pd.DataFrame, inputs: ReportInputs
) -> Iterator[Finding]:
    """Yield the rate of each model on each wording of the minimal pairs."""
    contents, settings = _contents(inputs), inputs.sections["pairs"].of_task.make
    of_wordings = rates[rates["facet"].isin(["variant", "sentence"])]
    for name, pairs in items.files.items():
        of_pairs = of_wordings[of_wordings["construction"] == name]
        rivals = of_pairs[of_pairs["facet"] == "sentence"]
        format_ = wording_of(name, contents, settings).format
        for row in (rivals if len(rivals) else of_pairs).to_dict("records"):
            variant, _, sentence = row["level"].partition(".")
            asked = ""
            if variant in pairs.variants:
                asked_so = pairs.variants[variant].in_format(format_)
                context, good, bad = fill_variant(asked_so, items.first_words(name), sentence or "construction")
                asked = f"{context}{good} Not: {bad.strip()}"
            way = f"{variant}{', ' + sentence if sentence else ''}: {asked}"
            question: Question = "form" if pairs.tests == "form" else "meaning"
            finding = partial(Finding, "pairs", construction, row["model"], question, way, estimate_of(row), None)
            yield finding("evaluate_pairs/rates", source="real", run=name)
