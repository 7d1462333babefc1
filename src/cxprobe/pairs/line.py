"""The line of work of minimal pairs: its implementation of `cxprobe.report.line.Line`."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import pandas as pd

from cxprobe.constructions.checking import FoundFaults
from cxprobe.constructions.people import PEOPLE_FILE, People, load_people
from cxprobe.errors import CxprobeError
from cxprobe.files.writing import DATA
from cxprobe.lm.prompts import PROMPTS_FOLDER
from cxprobe.pairs.balance import fixed_preferences, unbalanced_cells, with_one_answer
from cxprobe.pairs.frames import PAPER_FORMAT, PairsFile, fill_variant, load_pairs, pairs_file, read_pairs_file
from cxprobe.pairs.judge import ANSWERED
from cxprobe.pairs.make import pair_table, render_pairs
from cxprobe.pairs.params import FORM, PairsParams, PairsStage, called_pairs, construction_of_pairs
from cxprobe.pairs.rated import items_of_pairs
from cxprobe.pairs.sources import MADE, OWN_PAIRS, first_items, made_files, read_made
from cxprobe.pairs.wording import wording_of
from cxprobe.people.ratings import RatedItem
from cxprobe.report.answers import cluster_lists, other_where_wrong, read_made_table
from cxprobe.report.findings import (
    CHANCE_IN_BOTH,
    HALF,
    Blind,
    Finding,
    Question,
    ReportModels,
    against_blind,
    grouped_rows,
    rate_of,
)
from cxprobe.report.inputs import ReportInputs
from cxprobe.report.line import Demand, Example, Line, PageSection, PageTable, read_demand, replied_demand
from cxprobe.report.params import ReportParams
from cxprobe.report.published import published_table
from cxprobe.report.verdict import BESIDE_CONTROL
from cxprobe.report.words import in_full, number

_FEWEST_FRAMES = 30  # with fewer frames, the report warns about the interval
_MARGINS = {"meaning": "mean margin", "place": "for the person named first", "name": "for either name"}
_SENTENCES = {"construction": "sentences with the construction", "rival": "their rivals"}
_WAYS: Mapping[str, tuple[Question, str]] = {
    "recognised": ("form", "probe trained on other frames"),
    "expected": ("meaning", "likelihood"),
    "said": ("words", "asked in words"),
}
_COUNTS = ("both_right", "first_alone", "second_alone", "both_wrong")
_EVERY_VARIANT = ("every_variant", "every_variant_")  # of rates of form: the column, and what begins its interval's
_BESIDE = "report_pairs/tables/beside_published"
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
        """Return slot -> its words in the first rows of a file, with the first two people; for examples."""
        pairs, noun_type = self.files[name], next(iter(self.people.types.values()))
        pronouns = self.people.pronouns[noun_type.pronouns[0]] if pairs.people else {}
        return {**pairs.first_words, **pronouns, **dict(zip(pairs.people, noun_type.nouns, strict=False))}


class PairsLine(Line):
    """Minimal pairs: the project's own, and published benchmarks."""

    params = PairsStage
    title = "Minimal pairs"
    asked_by = "by minimal pairs"
    steps = ("make", "score", "judge", "ask")
    divided = ("tests", "words")
    overview_columns = ("minimal pairs",)

    # ---- constructions

    def items_in(self, construction: str) -> list[str]:
        """Return the entries for the pairs of meaning and of form, as far as the folder has their files."""
        return [name for name in (construction, construction + FORM) if pairs_file(name).is_file()]

    def read_items(self, entries: Sequence[str], use: Callable[[Path], Path]) -> ConstructionPairs:
        """Read the pairs of a construction, and the nouns for people."""
        people = load_people(use(PEOPLE_FILE))
        for name in entries:
            use(pairs_file(name))
        return ConstructionPairs({name: load_pairs(name, people) for name in entries}, people)

    def examples(self, items: ConstructionPairs) -> Iterator[Example]:
        """Yield an example of each variant and sentence; of the first variant also with its people exchanged."""
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

    def overview(self, items: ConstructionPairs | None) -> Sequence[str]:
        """Return how many variants and frames there are."""
        files = items.files.values() if items else ()
        return ["; ".join(f"{len(pairs.variants)} variants of {len(pairs.frames)} frames" for pairs in files)]

    def asked_in(self, row: Mapping[Any, Any]) -> str:
        """Return the kind of pairs of a row."""
        return called_pairs(row["construction"]) + (", pseudowords" if row["words"] == "pseudo" else "")

    def blind_rates(self, construction: str, params: ReportParams) -> pd.DataFrame:
        """Return what blind models get on the pairs of meaning and of form, see `cxprobe.pairs.described`."""
        from cxprobe.pairs.described import blind_rates

        return pd.concat([pd.DataFrame(), *(blind_rates(name, params) for name in self.items_in(construction))])

    # ---- checks

    def check_construction(self, folder: Path, faults: FoundFaults) -> None:
        """Check the pairs of meaning and of form; only their format if the file of people has faults."""
        from cxprobe.pairs.checks import lint_pairs

        if folder.name.endswith(FORM):
            faults.lines.append(
                f"{folder}: what ends in {FORM} are the pairs of form of a construction; rename the folder"
            )
        people = _people_if_sound()
        for name in (folder.name, folder.name + FORM):
            path = folder / pairs_file(name).name
            faults.read(path, partial(read_pairs_file, name), lambda pairs: lint_pairs(pairs, people) if people else ())

    def check_params(self, params: ReportParams, faults: FoundFaults) -> None:
        """Check that each construction has pairs, and each benchmark its files."""
        from cxprobe.pairs.benchmarks import benchmark_files
        from cxprobe.pairs.pseudowords import require_wuggy

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
        from cxprobe.pairs.asking import load_preference_prompts

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
        """Yield pairs for people to judge, as many as there are frames, so that each frame has every noun type."""
        if not pairs_file(construction).is_file():
            return
        people = load_people()
        pairs = load_pairs(construction, people)
        yield from items_of_pairs(render_pairs(construction, pairs, people, len(pairs.frames), seed))

    # ---- plans

    def demand(self, params: ReportParams) -> Iterator[Demand]:
        """Yield how much each model reads, and how much each is asked in words."""
        from cxprobe.pairs.asking import draw_pairs, load_preference_prompts, preference_questions

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
            yield from read_demand(params.models, "score_pairs", [entry], texts)
        if section.ask and section.llms:
            questions: list[str] = []
            for source, table in tables.items():
                by = ["construction", "words"] if source == OWN_PAIRS else section.benchmarks[source].by
                drawn = draw_pairs(table, by, section.ask.pairs_per_construction, params.seed)
                of_source = preference_questions(drawn, section.ask.prompt, load_preference_prompts())
                questions += of_source["question"].tolist()
            yield from replied_demand(params.llms, "ask_pairs", section.llms, questions)

    # ---- reports

    def findings(self, inputs: ReportInputs, models: ReportModels) -> Iterator[Finding]:
        """Yield the rates of pairs with real words. The headline is "right in both orders" if pairs have two orders."""
        path = self.accuracy
        rates, sentences = inputs.table(path), inputs.table("report_pairs/tables/sentences")
        several = dict(sentences.groupby("construction")["sentence"].nunique() > 1) if len(sentences) else {}
        margins = _margins_in_words(inputs)
        preferences = {}
        against = against_blind(inputs.table("report_pairs/tables/comparisons"), "construction")
        for (model, construction, words), rows in fixed_preferences(sentences).items():
            if words == "real":
                where = [f" ({_SENTENCES[row['sentence']]})" if several[construction] else "" for row in rows]
                lowest, highest = (f"{in_full(rate_of(row))} of variant {row['variant']}" for row in rows)
                preferences[model, construction] = f"right in {lowest}{where[0]}, and in {highest}{where[1]}"
        for (name,), of_pairs in grouped_rows(rates[rates["words"] == "real"] if len(rates) else rates, "construction"):
            tests, both = str(of_pairs["tests"].iloc[0]), _right_in_both(of_pairs)
            blind, blind_in_both = models.best(of_pairs), models.best(both)
            for index, row in of_pairs.iterrows():
                model, called = str(row["model"]), str(row.get("format", PAPER_FORMAT))
                settled = next((one for one in BESIDE_CONTROL.values() if one.words == row.get("verdict")), None)
                finding = partial(
                    Finding,
                    self.name,
                    construction_of_pairs(name),
                    model,
                    models.question(model, tests),
                    table=path,
                    run=name,
                    against=against.get((model, name)),
                    control=rate_of(row, "control_accuracy", "control_") if settled else None,
                    settled=settled,
                    clusters=int(row["clusters"]) if "clusters" in row else None,
                )
                way = called_pairs(name) + (f", {called}" if called != PAPER_FORMAT else "")
                of_form = tests == "form"
                yield finding(
                    way,
                    rate_of(row),
                    blind,
                    headline=tests != "control" and index not in both.index,
                    note=f"right in all variants: {in_full(rate_of(row, *_EVERY_VARIANT))}" if of_form else "",
                    preference=preferences.get((model, name), ""),
                )
                if index in both.index:
                    rate = rate_of(both.loc[[index]].iloc[0])
                    in_one = f"right in one order: {in_full(rate_of(row))}"
                    yield finding(
                        f"{way}, right in both orders",
                        rate,
                        blind_in_both,
                        chance=CHANCE_IN_BOTH,
                        headline=tests != "control",
                        note=margins.get((model, name), "") + in_one,
                        preference=in_one if rate.high < CHANCE_IN_BOTH and row["high"] >= HALF else "",
                    )
        yield from self._without_rate(inputs, models, set(rates.get("construction", ())))

    def _without_rate(self, inputs: ReportInputs, models: ReportModels, rated: set[str]) -> Iterator[Finding]:
        """Yield findings without a rate, for constructions where one answer is always right in every wording."""
        path = "report_pairs/tables/unbalanced"
        for (name, model), cells in grouped_rows(inputs.table(path), "construction", "model"):
            if name in rated:
                continue
            notes = []
            for _, row in cells[cells["words"] == "real"].iterrows():
                notes.append(f"{row['right']} not {row['wrong']}: {in_full(rate_of(row))}")
            finding = partial(Finding, self.name, construction_of_pairs(name), model, models.question(model, "form"))
            yield finding(called_pairs(name), None, None, path, run=name, note="; ".join(notes))

    def sections(self, construction: str, inputs: ReportInputs, models: ReportModels) -> Iterator[PageSection]:
        """Yield a section on the same pairs asked in three ways, and one on the rates by wording."""
        items = inputs.constructions[construction].items.get(self.name)
        if items is None:
            return
        ways = list(_findings_of_ways(construction, items, inputs, models))
        if ways:
            yield PageSection(
                "The same minimal pairs, asked in three ways",
                "A probe that was trained on other frames takes one of the two texts, the model finds one more "
                "probable, and, asked in words, names one. The blind model is a probe on counts of words.",
                ways,
                list(_agreement(items, inputs, models)),
            )
        variants = list(_findings_of_variants(construction, items, inputs, models))
        if variants:
            yield PageSection(
                "By wording of the minimal pairs",
                "A rule without the construction, such as “the first person mentioned”, can be right in one wording "
                "and is then wrong in another. Each wording is shown with the words of its first frame.",
                variants,
                judged=False,
            )

    def tables(self, column: str, value: str, inputs: ReportInputs, models: ReportModels) -> Iterator[PageTable]:
        """Yield a model's rates on each benchmark."""
        del models
        for name in inputs.stage.params.section(PairsParams).benchmarks if column == "model" else ():
            path = f"report_pairs/tables/benchmarks/{name}/accuracy"
            table = inputs.table(path)
            rows = [[str(row["group"]), in_full(rate_of(row))] for _, row in table.iterrows() if row["model"] == value]
            yield PageTable(f"Benchmark {name}", path, ["group", "rate [95 % interval], n"], rows)

    def published(self, construction: str | None, inputs: ReportInputs, models: ReportModels) -> Iterator[PageTable]:
        """Yield the accuracies on pairs of meaning beside published ones."""
        table = inputs.table(_BESIDE)
        if len(table):
            known = table["construction"].isin(list(inputs.constructions))
            rows = table[table["construction"] == construction] if construction else table[~known]
            yield published_table(rows, _BESIDE_TITLE, _BESIDE, models)

    def reservations(self, construction: str, inputs: ReportInputs) -> Iterator[str]:
        """Yield caveats for variants that no rate has or that words answer, and for kinds of pairs with few frames."""
        cells = inputs.table("report_pairs/tables/unbalanced")
        cells = cells[cells["words"] == "real"].drop_duplicates(["construction", "variant"]) if len(cells) else cells
        for (name,), rows in grouped_rows(cells, "construction"):
            if construction_of_pairs(name) == construction:
                listed = "; ".join(f"{row['variant']}: {row['reason']}" for _, row in rows.iterrows())
                called = called_pairs(name).capitalize()
                yield f"{called}: variants in which one answer is always right are left out of the rate ({listed})."
        rates = inputs.table(self.accuracy)
        for (name,), of_pairs in grouped_rows(rates if "clusters" in rates else rates.head(0), "construction"):
            frames = int(of_pairs["clusters"].min())
            if construction_of_pairs(name) == construction and frames < _FEWEST_FRAMES:
                yield (
                    f"{called_pairs(name).capitalize()}: only {frames} frame{'s' * (frames != 1)} (frames that share "
                    f"a word count as one): with fewer than {_FEWEST_FRAMES}, the interval says little about others."
                )
        for _, row in inputs.table(f"report_pairs/tables/{ANSWERED}").iterrows():
            if row["construction"] == construction and row["model"] == row[ANSWERED]:
                yield (
                    f"Minimal pairs, variant {row['variant']}: {row['model']} gets {in_full(rate_of(row))} from single "
                    "words, so the variant asks nothing about the construction; rates of several constructions leave "
                    "it out."
                )

    def powered(self, construction: str, part: str, inputs: ReportInputs) -> str:
        """Return the name of the pairs of a part."""
        del construction, inputs
        return called_pairs(part).capitalize()

    # ---- exports

    def dataset(self, params: ReportParams) -> dict[str, pd.DataFrame]:
        """Return this project's pairs."""
        pairs = read_pair_tables(params.section(PairsParams))
        return {"pairs": pairs.assign(clusters=cluster_lists(pairs)).fillna("")}

    def pairs(self, params: ReportParams) -> pd.DataFrame:
        """Return this project's pairs, with the column one_answer, see `Line.pairs`."""
        return with_one_answer(read_pair_tables(params.section(PairsParams)))

    def answers(self, params: ReportParams, judged: Path) -> pd.DataFrame:
        """Return the decisions by every score on minimal pairs: the project's own, and those of benchmarks."""
        section = params.section(PairsParams)
        folders = {"": judged} if section.constructions else {}
        folders |= {name: judged / "benchmarks" / name for name in section.benchmarks}
        tables = []
        for benchmark, folder in folders.items():
            scores, items = (read_made_table(folder / f"{name}.parquet") for name in ("scores", "items"))
            keys = ["model", "id", "scheme", "score"]
            deciding = pd.MultiIndex.from_frame(scores[keys]).isin(pd.MultiIndex.from_frame(items[keys]))
            if benchmark:
                scores = scores.assign(construction=benchmark, words="own", variant="", balanced=True)
            right, wrong = (pd.Series(side, index=scores.index) for side in ("good", "bad"))
            tables.append(
                scores.assign(
                    line="benchmarks" if benchmark else self.name,
                    source=scores["words"],
                    item=scores["id"],
                    asked=scores["score"],
                    decides=deciding & scores["balanced"].astype(bool),
                    correct=scores["accuracy"],
                    chosen=other_where_wrong(scores["accuracy"], right, wrong),
                    gold=right,
                    clusters=cluster_lists(scores),
                )
            )
        return pd.concat(tables, ignore_index=True)


def read_pair_tables(section: PairsParams) -> pd.DataFrame:
    """Read the project's own minimal pairs."""
    tables = [read_made_table(MADE / f"{name}.parquet") for name in section.constructions]
    return pd.concat(tables, ignore_index=True)


def _notes_on_variants(name: str, content: PairsFile, people: People, params: ReportParams) -> Iterator[str]:
    """Yield a note on variants of a construction that no rate will have, since one answer is always right there."""
    per_cell: int = getattr(params.section(PairsParams).make.per_cell, content.tests)
    cells = unbalanced_cells(pair_table(render_pairs(name, content, people, per_cell, params.seed)))
    if len(cells) and not content.one_answer:
        listed = "; ".join(f"{row['variant']}: {row['reason']}" for _, row in cells.iterrows())
        yield (
            f"{pairs_file(name)}: rates of the construction leave out {len(cells)} of {len(content.variants)} "
            f"variants, where one answer is always right ({listed}); the report shows them one by one. To have them "
            "counted, let the right word vary, or add variants in which the other one is right; if it is meant, say "
            "one_answer: true there"
        )


def _people_if_sound() -> People | None:
    try:
        return load_people()
    except CxprobeError:  # the check of the lexicon reports its faults
        return None


def _right_in_both(rates: pd.DataFrame) -> pd.DataFrame:
    """Return the rates of pairs with two orders; accuracy is how often both orders are right."""
    columns = {"both": "accuracy", "both_low": "low", "both_high": "high", "both_n": "n"}
    return rates.drop(columns=[*columns.values()]).rename(columns=columns).dropna(subset="n")


def _margins_in_words(inputs: ReportInputs) -> dict[tuple[str, ...], str]:
    """Return (model, pairs) -> the parts of the mean margin that a reader must know, see `effects_on_margins`."""
    table, told = inputs.table("report_pairs/tables/margins"), {}
    table = table[(table["words"] == "real") & table["effect"].isin(_MARGINS)] if len(table) else table
    for key, rows in grouped_rows(table, "model", "construction"):
        parts = []
        for effect, margin, low, high in rows[["effect", "margin", "low", "high"]].itertuples(False, None):
            parts.append(f"{_MARGINS[effect]} {margin:+.3f} nats [{low:+.3f}, {high:+.3f}]")
        told[key] = ", ".join(parts) + "; "
    return told


def _path_of_ways(model: str, pairs: str, table: str) -> str:
    """Return the path of a table of the run that compares ways of asking."""
    return f"judge_pairs/runs/ways/{model}/{pairs}/own/{table}"


def _findings_of_ways(
    construction: str, items: ConstructionPairs, inputs: ReportInputs, models: ReportModels
) -> Iterator[Finding]:
    """Yield the rate of each model on the same pairs in each way; the blind model is a probe on counts of words."""
    for model, name in product(models.with_pages, items.files):
        path = _path_of_ways(model, name, "ways")
        rates = {str(row["way"]): rate_of(row) for _, row in inputs.table(path).iterrows()}
        blind = Blind("counts of words", rates["words"]) if "words" in rates else None
        for way, (question, called) in _WAYS.items():
            if way in rates:
                asked = f"{called_pairs(name)}: {called}"
                yield Finding("pairs", construction, model, question, asked, rates[way], blind, path, headline=False)


def _agreement(items: ConstructionPairs, inputs: ReportInputs, models: ReportModels) -> Iterator[PageTable]:
    """Yield tables of the agreement between every two ways on the same pairs."""
    head = ["model", "first", "second", "kappa", "pairs", "both right", "first alone", "second alone", "both wrong"]
    title = "Agreement of the ways, pair by pair: Cohen's kappa, 0 for none beyond what the rates give and 1 for all"
    for model, name in product(models.with_pages, items.files):
        path, rows = _path_of_ways(model, name, "agreement"), []
        for _, row in inputs.table(path).iterrows():
            known = pd.notna(row["kappa"]) and pd.notna(row["low"])
            kappa = f"{row['kappa']:.2f} [{row['low']:.2f}, {row['high']:.2f}]" if known else "not defined"
            counts = [str(int(row[count])) for count in _COUNTS]
            rows.append([models.label(model), row["first"], row["second"], kappa, number(row["n"]), *counts])
        yield PageTable(f"{title} ({called_pairs(name)})", path, head, rows)


def _findings_of_variants(
    construction: str, items: ConstructionPairs, inputs: ReportInputs, models: ReportModels
) -> Iterator[Finding]:
    """Yield the rate of each model on each wording of the minimal pairs."""
    path = "report_pairs/tables/sentences"
    table, rates = inputs.table(path), inputs.table("report_pairs/accuracy")
    formats = dict(zip(rates["construction"], rates["format"], strict=True)) if "format" in rates else {}
    for name, pairs in items.files.items() if len(table) else ():
        of_pairs = table[(table["construction"] == name) & (table["words"] == "real")]
        several = of_pairs["sentence"].nunique() > 1
        for _, row in of_pairs[of_pairs["model"].isin(models.with_pages)].iterrows():
            variant, model = str(row["variant"]), str(row["model"])
            asked = ""
            if variant in pairs.variants:
                asked_so = pairs.variants[variant].in_format(formats.get(name, PAPER_FORMAT).partition(",")[0])
                context, good, bad = fill_variant(asked_so, items.first_words(name), row["sentence"])
                asked = f"{context}{good} Not: {bad.strip()}"
            way = f"{variant}{', ' + row['sentence'] if several else ''}: {asked}"
            question: Question = "form" if pairs.tests == "form" else "meaning"
            yield Finding("pairs", construction, model, question, way, rate_of(row), None, path)
